package payments

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Notice is a notice of change (NOC) of ACH: the bank on the other side of a payment has taken its entry, and
// says what later entries should have (rest/CONTRACT.md, notices of change). It changes nothing by itself:
// people correct the contact, or have it follow the notice (contacts.ApplyNotice).
type Notice struct {
	bun.BaseModel `bun:"table:ach_notices,alias:an" json:"-"`

	Tenant  access.Tenant `bun:"tenant,pk" json:"-"`
	ID      MessageID     `bun:"id,pk" json:"-"`
	Payment UID           `bun:"payment" json:"-"`
	Number  int32         `bun:"number" json:"-"` // of the payment's step that tells of it; 0 if none does
	Code    string        `bun:"code" json:"-"`   // C01 to C13
	Data    []byte        `bun:"data_sealed,type:bytea" json:"-"`
	// version of the contact when it came; 0 without one
	Contact int32     `bun:"contact_version,nullzero" json:"-"`
	At      time.Time `bun:"at" json:"-"` // by the bank's clock

	// who asked for the contact to follow it, and what that waited for; empty where nobody has
	Approval    changes.UID  `bun:"approval,nullzero" json:"-"`
	MakerClient string       `bun:"maker_client" json:"-"`
	MakerLogin  string       `bun:"maker_login" json:"-"` // '' for a program
	MakerReach  access.Reach `bun:"maker_reach" json:"-"`
	AppliedAt   *time.Time   `bun:"applied_at" json:"-"` // nil: the contact does not follow it
	Waiting     bool         `bun:"waiting,scanonly" json:"-"`

	// what the entry had
	Routing string            `bun:"routing,scanonly" json:"-"`
	Account rails.AccountType `bun:"account,scanonly" json:"-"`
	Last4   string            `bun:"last4,scanonly" json:"-"` // of the account number
	Way     rails.EntryType   `bun:"way,scanonly" json:"-"`

	Right nacha.Change `bun:"-" json:"-"` // what is right, opened
	Whole bool         `bun:"-" json:"-"` // the reader may read whole account numbers
}

// NoticeColumn names the column for which what notices of change say is sealed (seal.Place).
const NoticeColumn = "ach_notices.data"

func (n *Notice) place() seal.Place {
	return seal.Place{Tenant: int64(n.Tenant), Column: NoticeColumn, Row: int64(n.ID)}
}

// open opens what a notice says, for a reader who may read it whole or not.
func (n *Notice) open(keys *seal.Keys, whole bool) error {
	data, err := keys.Open(seal.Value{Sealed: n.Data}, n.place())
	if err != nil {
		return fmt.Errorf("open notice of change %d: %w", n.ID, err)
	}
	n.Right, n.Whole = *nacha.Corrected(n.Code, data), whole
	return nil
}

// NoticeState says whether a contact follows a notice of change.
type NoticeState string

const (
	NoticeOpen    NoticeState = "OPEN"
	NoticeWaiting NoticeState = "WAITING" // the change of the contact waits for a second person
	NoticeApplied NoticeState = "APPLIED"
)

// State says whether the contact was changed as the notice says, by the operation for that.
func (n *Notice) State() NoticeState {
	switch {
	case n.AppliedAt != nil:
		return NoticeApplied
	case n.Waiting:
		return NoticeWaiting
	}
	return NoticeOpen
}

// AppliedBy is who asked for the contact to follow the notice: a login, or else the API key; empty while
// nobody does, and where the reader may not know.
func (n *Notice) AppliedBy() string {
	if n.State() == NoticeOpen {
		return ""
	}
	return cmp.Or(n.MakerLogin, n.MakerClient)
}

// Meaning returns the code in plain words.
func (n *Notice) Meaning() string { return MeaningOf(n.Code) }

// RightNumber returns the account number that is right, masked for readers who may not change contacts; "" if
// the notice says nothing of it.
func (n *Notice) RightNumber() string {
	if n.Whole || n.Right.Account == "" {
		return n.Right.Account
	}
	return seal.Mask(n.Right.Account).Masked()
}

// RightRouting returns the routing number that is right; "" if the notice says nothing of it.
func (n *Notice) RightRouting() string { return n.Right.Routing }

// RightAccount returns what kind of account it is; "" if the notice says nothing of it.
func (n *Notice) RightAccount() rails.AccountType { return n.Right.AccountType }

// RightName returns the name that is right; "" if the notice says nothing of it.
func (n *Notice) RightName() string { return n.Right.Name }

// RightID returns the identification number that is right; "" if the notice says nothing of it.
func (n *Notice) RightID() string { return n.Right.ID }

// Original returns the transaction code of the entry; 0 if it is not known.
func (n *Notice) Original() int { return nacha.TransactionCode(n.Account, n.Way) }

// Corrected returns the transaction code that is right; 0 if the notice says nothing of it.
func (n *Notice) Corrected() int {
	return nacha.TransactionCode(n.Right.AccountType, cmp.Or(n.Right.Direction, n.Way))
}

// noticed is what is read of a payment that a notice of change is about.
type noticed struct {
	Payment UID      `bun:"payment"`
	Contact int32    `bun:"contact_version"` // 0 without one
	Codes   []string `bun:"codes,array"`     // of the notices that came before
}

var readingNoticed = db.NewQuery[noticed](`SELECT pd.payment, coalesce(k.version, 0) AS contact_version,
	  array(SELECT n.code FROM ach_notices AS n WHERE n.tenant = $1 AND n.payment = pd.payment) AS codes
	FROM payment_details AS pd LEFT JOIN contacts AS k ON k.tenant = $1 AND k.uid = pd.contact
	WHERE pd.tenant = $1 AND pd.payment = ANY($2::bigint[])`)

// noticesTx reads what it takes to take in notices of change. Their payments are locked.
func (in *intake) noticesTx(ctx context.Context, tx bun.Tx, answers []*incoming) error {
	var about []UID
	for _, a := range answers {
		if a.change != nil && a.payment != 0 {
			about = append(about, a.payment)
		}
	}
	if len(about) == 0 {
		return nil
	}
	b := db.TxBatch(tx)
	before := db.Queue(b, readingNoticed, in.caller.Tenant, about)
	ids := db.Queue(b, takingMessageIDs, len(about))
	if err := b.Send(ctx); err != nil {
		return err
	}
	for _, n := range before.Items {
		in.noticed[n.Payment] = n
	}
	for _, id := range ids.Items {
		in.ids = append(in.ids, id.ID)
	}
	return nil
}

// notice takes in a notice of change about a payment that went out; p is nil if none is known. The payment
// stays where it is. If it is Sent or Settled, a step of its own tells of the notice. Of two notices with one
// code the first counts.
func (in *intake) notice(a *incoming, p *Payment) {
	if p == nil || p.Incoming() || notices[a.code] == "" {
		return
	}
	known := in.noticed[p.UID]
	if known == nil || slices.Contains(known.Codes, a.code) {
		return
	}
	known.Codes = append(known.Codes, a.code)
	n := &Notice{
		Tenant: p.Tenant, ID: in.ids[0], Payment: p.UID, Code: a.code, Contact: known.Contact, At: in.now,
	}
	in.ids = in.ids[1:]
	n.Data = in.s.keys.Encrypt(a.change.Data, n.place())
	if p.State == Sent || p.State == Settled {
		was := *p
		in.enter(&was, p, p.State, "receiveNotice", because(a.code, notices[a.code]))
		n.Number = p.Version
	}
	in.notices = append(in.notices, n)
}

var readingNotices db.QueryCache[Notice]

// NoticesOf reads the last notices of change about each payment, MostOfPayment at most, in their order, for
// callers who see whose it is. What they say is sealed: OpenNotices opens it.
func (s *Service) NoticesOf(ctx context.Context, b *db.Batch, of []UID, last int) *db.Many[UID, Notice] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, Notice](err)
	}
	return s.noticesOf(b, caller, of, min(last, MostOfPayment))
}

// inNotices are the SQL expressions of what may be NULL, and of what the entry of a notice had.
var inNotices = map[string]string{
	"contact_version": "coalesce(an.contact_version, 0)",
	"approval":        "coalesce(an.approval, 0)", "waiting": waitsForApproval,
	"routing": "pd.bank_id", "last4": "pd.number_last4", "account": "ae.account", "way": "ae.entry_type",
}

// waitsForApproval is the SQL condition that the change of the contact waits for a second person.
const waitsForApproval = `EXISTS (SELECT FROM approvals AS q WHERE q.tenant = $1 AND q.uid = an.approval
	AND q.status = 'Open')`

func (s *Service) noticesOf(
	b *db.Batch, reader access.Caller, of []UID, last int,
) *db.Many[UID, Notice] {
	text := readingNotices.Get(reader.Reach, func() string {
		from := maps.Clone(inNotices)
		// the bank's own people are nobody to others
		for _, column := range []string{"maker_client", "maker_login"} {
			from[column] = reader.Reach.OfPeople("an."+column, "an.maker_reach", "pay.customer", "an.at")
		}
		return lastOf(db.Select[Notice](db.Columns{}, from).
			Join("JOIN payments AS pay ON pay.tenant = an.tenant AND pay.uid = an.payment").
			Join("JOIN payment_details AS pd ON pd.tenant = an.tenant AND pd.payment = an.payment").
			Join("JOIN ach_entries AS ae ON ae.tenant = an.tenant AND ae.payment = an.payment").
			Where("an.tenant = $1 AND pay.tenant = $1 AND pd.tenant = $1 AND ae.tenant = $1").
			Where(reader.Reach.Scope("pay.customer")).Where("an.payment = p.payment").String(), "id")
	})
	return db.QueueMany(b, text, func(n *Notice) UID { return n.Payment }, reader.Tenant,
		reader.ScopeCustomer(), of, last)
}

// OpenNotices opens notices that were read for the caller. Whoever may change contacts reads account numbers
// whole: it takes them to correct a contact.
func (s *Service) OpenNotices(ctx context.Context, all []*Notice) error {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return err
	}
	for _, n := range all {
		if err := n.open(s.keys, caller.May(access.ManageContacts)); err != nil {
			return err
		}
	}
	return nil
}
