// Package verifications finds out for customers whether the accounts of their contacts are there, before they
// pay them.
package verifications

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/seal"
	"bankgraph/core/states"
)

// UID is a verification's number.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// Method says how an account is verified.
type Method string

const (
	// Prenote is an entry of ACH without money, which the contact's bank returns if the account is not there
	Prenote Method = "PRENOTE"
	// SmallDeposits are two credits of random amounts, which the contact reads from its statement and tells
	SmallDeposits Method = "SMALL_DEPOSITS"
)

// Methods lists them.
var Methods = []Method{Prenote, SmallDeposits}

// State is the state of a verification.
type State string

const (
	Pending         State = "PENDING"          // the contact's bank may still answer the prenote
	AwaitingAmounts State = "AWAITING_AMOUNTS" // somebody has to say what the deposits were
	Verified        State = "VERIFIED"
	Corrected       State = "CORRECTED" // the contact's bank says what of the account is otherwise
	Failed          State = "FAILED"
	Expired         State = "EXPIRED" // nobody has said in time what the deposits were
	Cancelled       State = "CANCELLED"
	Superseded      State = "SUPERSEDED" // the contact has another account since
)

// open are the states of a verification whose end is not known. A contact has one such at a time.
var open = []State{Pending, AwaitingAmounts}

// The steps that a verification can take.
var (
	confirming  = states.Step[State]{From: []State{AwaitingAmounts}, To: Verified, Else: ErrOver}
	cancelling  = states.Step[State]{From: open, To: Cancelled, Else: ErrOver}
	superseding = states.Step[State]{
		From: append(slices.Clone(open), Verified, Corrected),
		To:   Superseded, Else: ErrOver,
	}
)

// Verification is one attempt to find out whether a contact's account is there.
type Verification struct {
	bun.BaseModel `bun:"table:contact_verifications,alias:cv" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	UID      UID           `bun:"uid,pk" json:"uid"`
	Contact  contacts.UID  `bun:"contact" json:"contact"`
	Customer customers.UID `bun:"customer" json:"-"`      // whose contact it is
	Account  accounts.UID  `bun:"account" json:"account"` // from which it is done
	Method   Method        `bun:"method" json:"method"`
	State    State         `bun:"state" json:"state"`
	Tries    int32         `bun:"tries" json:"wrongTries"` // that had wrong amounts
	// the deposits; their amounts stand in the payments alone
	First       payments.UID       `bun:"deposit_1,nullzero" json:"-"`
	Second      payments.UID       `bun:"deposit_2,nullzero" json:"-"`
	Prenote     payments.PrenoteID `bun:"prenote,nullzero" json:"-"`
	ExpiresAt   *time.Time         `bun:"expires_at" json:"-"` // until when the amounts are waited for
	DueAt       *time.Time         `bun:"due_at" json:"-"`     // when something is done by itself, or nil
	VerifiedAt  *time.Time         `bun:"verified_at" json:"-"`
	FailureCode string             `bun:"failure_code" json:"failureCode"` // of a return, such as R03
	Failure     string             `bun:"failure" json:"failure"`
	NoticeCode  string             `bun:"notice_code" json:"noticeCode"` // of a notice of change, such as C01
	// what the notice of change says is right, of an account number its end
	RightLast4   string            `bun:"right_last4" json:"rightLast4"`
	RightRouting string            `bun:"right_routing" json:"rightRoutingNumber"`
	RightAccount rails.AccountType `bun:"right_account" json:"rightAccountType"`
	MakerClient  string            `bun:"maker_client" json:"-"`
	MakerLogin   string            `bun:"maker_login" json:"-"` // '' for a program
	MakerReach   access.Reach      `bun:"maker_reach" json:"-"`
	CreatedAt    time.Time         `bun:"created_at" json:"-"`
	UpdatedAt    time.Time         `bun:"updated_at" json:"-"`
	Version      int32             `bun:"version" json:"-"`
}

// Recorded returns what the record of changes leaves out. Who did what the entry itself says, to whom may
// know.
func (v *Verification) Recorded() map[string]audit.Field {
	return map[string]audit.Field{
		"MakerClient": {}, "MakerLogin": {}, "MakerReach": {},
		"First": {}, "Second": {}, "Prenote": {}, "ExpiresAt": {}, "DueAt": {}, "VerifiedAt": {},
	}
}

// StartedBy is who started the verification: a login, or else the API key; empty where the reader
// may not know.
func (v *Verification) StartedBy() string { return cmp.Or(v.MakerLogin, v.MakerClient) }

// mostTries is how many wrong tries end a verification.
const mostTries = 3

// TriesLeft is how many wrong tries would end the verification, or were left at its end; nil for one that has
// no amounts.
func (v *Verification) TriesLeft() *int32 {
	if v.Method != SmallDeposits {
		return nil
	}
	return new(mostTries - v.Tries)
}

// Notice is what the notice of change says in words; empty without one.
func (v *Verification) Notice() string { return payments.MeaningOf(v.NoticeCode) }

// CorrectedNumber is the end of the account number that the notice of change says is right; nil without one.
func (v *Verification) CorrectedNumber() *seal.Value {
	number := seal.Value{Last4: v.RightLast4}
	return number.Shown()
}

// CorrectedType is the kind of account that the notice says is right; empty without one.
func (v *Verification) CorrectedType() string { return string(v.RightAccount) }

// The time that verifications take.
const (
	daysToConfirm = 14 // in which the amounts have to be said
	daysToAnswer  = 3  // banking days after its settlement that a prenote may be answered in
	watchedDays   = 5  // banking days in which a return undoes a verification
)

// watched returns until when a return undoes a verification that is done at a time.
func watched(now time.Time) time.Time {
	return calendar.SettlesAt(calendar.ACH, calendar.Next(calendar.Today(now), watchedDays), now)
}

// answerUntil returns when a prenote that settles on a day counts as taken by the contact's bank.
func answerUntil(settles time.Time) time.Time {
	return calendar.SettlesAt(calendar.ACH, calendar.Next(settles, daysToAnswer), settles)
}

// verify ends a verification well.
func (v *Verification) verify(now time.Time) {
	until := watched(now)
	v.State, v.VerifiedAt, v.DueAt, v.ExpiresAt = Verified, &now, &until, nil
}

// end ends a verification otherwise.
func (v *Verification) end(to State) { v.State, v.DueAt, v.ExpiresAt = to, nil, nil }

// fail ends a verification with the reason.
func (v *Verification) fail(code, why string) {
	v.end(Failed)
	v.FailureCode, v.Failure = code, why
}

// A contact is verified only so often: each try lets somebody guess, and bothers who has the account.
const (
	mostOfContact = 5
	withinDays    = 30
)

// mostOpen is how many verifications of a customer may be open at a time: what may come of them is looked for
// with that of all others.
const mostOpen = 10_000

// The faults of verifications.
var (
	ErrNotFound = fault.New(fault.NotFound, "contactVerification.not_found", "no such verification")
	// ErrContact is returned for a contact that does not exist, or that the caller may not see.
	ErrContact = fault.New(fault.NotFound, "contactVerification.contact",
		"must be a contact of the customer").On("contact")
	// ErrContactState is returned for a contact that waits for a second person.
	ErrContactState = fault.New(fault.State, "contactVerification.contact_state",
		"only an active contact is verified").On("contact")
	// ErrOpen is returned for a contact that is being verified already.
	ErrOpen = fault.New(fault.Conflict, "contactVerification.open",
		"the contact is being verified already").On("contact")
	// ErrMany is returned for a contact that was to be verified too often.
	ErrMany = fault.New(fault.State, "contactVerification.many",
		"the contact was to be verified five times in 30 days: try it again later").On("contact")
	// ErrManyOpen is returned for a customer that has as many open verifications as there may be.
	ErrManyOpen = fault.New(fault.State, "contactVerification.many_open",
		fmt.Sprintf("%d contacts of the customer are being verified, as many as may be at a time: "+
			"try it again when some have ended", mostOpen)).On("contact")
	// ErrOver is returned for a verification that is over, or that has no amounts to confirm.
	ErrOver = fault.New(fault.State, "contactVerification.over", "the verification is over")
	// ErrEarly is returned while nobody can know the amounts of deposits.
	ErrEarly = fault.New(fault.State, "contactVerification.early",
		"the deposits have not both settled: nobody can know their amounts")
)
