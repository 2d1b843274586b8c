// Package waterfalls runs batches of book transfers of the bank itself: one after the other, in the order of
// their indexes, until one cannot be made.
package waterfalls

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/seal"
)

// UID is a batch's number.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseUID reads a batch's number from decimal digits.
func ParseUID(field, text string) (UID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil {
		return 0, fault.Field("waterfall", field, fault.Number, "must be the digits of a waterfall UID")
	}
	return UID(n), nil
}

// ParseID reads the UUID of a batch.
func ParseID(field, text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || id == uuid.Nil {
		return uuid.Nil, fault.Field("waterfall", field, fault.Malformed, "must be a UUID")
	}
	return id, nil
}

// Status says how far a batch has come (rest/CONTRACT.md, waterfalls).
type Status string

const (
	Received        Status = "RECEIVED"         // stored; no payment is made yet
	Processing      Status = "PROCESSING"       // its payments are being made
	PendingApproval Status = "PENDING_APPROVAL" // waits until people have decided on the payment where it stands
	Processed       Status = "PROCESSED"        // all payments are made
	Stopped         Status = "STOPPED"          // one could not be made; those after it are never begun
)

// Waterfall is a batch of book transfers.
type Waterfall struct {
	bun.BaseModel `bun:"table:waterfalls,alias:wf" json:"-"`

	Tenant              access.Tenant `bun:"tenant,pk" json:"-"`
	UID                 UID           `bun:"uid,pk" json:"uid"`
	UUID                uuid.UUID     `bun:"waterfall_id,type:uuid" json:"waterfallId"`
	Customer            customers.UID `bun:"customer" json:"-"` // the institution that runs it
	ExternalReferenceID string        `bun:"external_reference_id" json:"externalReferenceId"`
	Status              Status        `bun:"status" json:"status"`
	Payments            int32         `bun:"payments" json:"payments"`
	Made                int32         `bun:"made" json:"madePayments"`
	WaitsFor            payments.UID  `bun:"waits_for,nullzero" json:"-"`
	Maker               access.Maker  `bun:"maker,type:jsonb" json:"-"`
	MakerClient         string        `bun:"maker_client" json:"-"`
	MakerLogin          string        `bun:"maker_login" json:"-"`
	WorkedAt            *time.Time    `bun:"worked_at" json:"-"` // or accepted; the longest ago is next
	CreatedAt           time.Time     `bun:"created_at" json:"-"`
	UpdatedAt           time.Time     `bun:"updated_at" json:"-"`
	Version             int32         `bun:"version" json:"-"`
}

// WaterfallID is the UUID by which callers know the batch.
func (w *Waterfall) WaterfallID() string { return w.UUID.String() }

// CreatedBy is the login of who asked for the batch, or else the API key.
func (w *Waterfall) CreatedBy() string {
	if w.MakerLogin != "" {
		return w.MakerLogin
	}
	return w.MakerClient
}

// StepStatus says what became of a step.
type StepStatus string

const (
	StepWaiting StepStatus = "WAITING"          // for its turn
	StepPending StepStatus = "PENDING_APPROVAL" // its payment waits for people, and the batch with it
	StepMade    StepStatus = "MADE"             // its payment has moved the money
	// it could not be made, or people refused it: the batch ended here
	StepFailed StepStatus = "FAILED"
	StepNotRun StepStatus = "NOT_RUN" // a step before it failed; it is never begun
)

// StepFault is why a step could not be made. It has no account number.
type StepFault struct {
	Field   string `json:"field"`   // '' for the whole step
	Code    string `json:"code"`    // such as NOTFOUND, STATUS
	Message string `json:"message"` // in plain words
}

// Step is one book transfer of a batch, and what became of it.
type Step struct {
	bun.BaseModel `bun:"table:waterfall_steps,alias:ws" json:"-"`

	Tenant    access.Tenant   `bun:"tenant,pk" json:"-"`
	ID        StepID          `bun:"id,pk" json:"-"`
	Waterfall UID             `bun:"waterfall" json:"-"`
	Index     int32           `bun:"payment_index" json:"-"`
	Status    StepStatus      `bun:"status" json:"-"`
	Minor     int64           `bun:"amount" json:"-"`
	Currency  money.Currency  `bun:"currency" json:"-"`
	Notes     string          `bun:"notes" json:"-"`
	Found     json.RawMessage `bun:"faults,type:json" json:"-"` // []StepFault
	Draft     []byte          `bun:"draft_sealed,type:bytea" json:"-"`
	Payment   payments.UID    `bun:"payment,nullzero" json:"-"`
}

// PaymentIndex is the number that the request gives the step: steps run in the order of these.
func (s *Step) PaymentIndex() int32 { return s.Index }

// Amount is what the step pays.
func (s *Step) Amount() money.Amount { return money.Of(s.Minor, s.Currency) }

// Faults are why the step could not be made; none for others.
func (s *Step) Faults() (all []StepFault) {
	_ = json.Unmarshal(s.Found, &all) // written by this package
	return all
}

// fails ends the step with the reason why.
func (s *Step) fails(why ...StepFault) {
	text, err := json.Marshal(why)
	if err != nil {
		text = json.RawMessage("[]")
	}
	s.Status, s.Found = StepFailed, text
}

// StepID is the number of a step among those of all batches.
type StepID int64

func (id StepID) String() string { return strconv.FormatInt(int64(id), 10) }

// stepBits is how many bits of a StepID are the step's own.
const stepBits = 10

func stepID(of UID, step int) StepID { return StepID(int64(of)<<stepBits | int64(step)) }

// DraftColumn names the column for which steps are sealed (seal.Place).
const DraftColumn = "waterfall_steps.draft"

func (s *Step) place() seal.Place {
	return seal.Place{Tenant: int64(s.Tenant), Column: DraftColumn, Row: int64(s.ID)}
}

// seals keeps what the request says of the step.
func (s *Step) seals(keys *seal.Keys, d *payments.Draft) error {
	text, err := json.Marshal(d)
	if err == nil {
		s.Draft = keys.Encrypt(string(text), s.place())
	}
	return err
}

// open reads what the request says of the step.
func (s *Step) open(keys *seal.Keys) (d payments.Draft, err error) {
	text, err := keys.Open(seal.Value{Sealed: s.Draft}, s.place())
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal([]byte(text), &d)
}

// The faults of batches.
var (
	ErrNotFound = fault.New(fault.NotFound, "waterfall.not_found", "no such waterfall")
	// ErrNoInstitution is returned to callers whose token names no legal entity, so that no institution runs
	// the batch.
	ErrNoInstitution = fault.New(fault.Unauthenticated, "waterfall.no_institution",
		"the access token names no institution that runs the batch")
	// ErrReference is returned for a reference that another batch of the bank has.
	ErrReference = fault.New(fault.Conflict, "waterfall.reference",
		"another waterfall has this reference").On("externalReferenceId")
)
