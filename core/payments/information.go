package payments

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// InformationRequest is what one bank asks another about a payment over an instant network: what is missing
// in it, or wrong (rest/CONTRACT.md, requests for information). It moves no money, and does not change the
// payment.
type InformationRequest struct {
	bun.BaseModel `bun:"table:information_requests,alias:ir" json:"-"`

	Tenant    access.Tenant `bun:"tenant,pk" json:"-"`
	ID        MessageID     `bun:"id,pk" json:"-"` // of its message
	Payment   UID           `bun:"payment" json:"payment"`
	Rail      rails.Rail    `bun:"rail" json:"deliveryMethod"`
	Direction Direction     `bun:"direction" json:"direction"` // In for one of the other bank
	Bank      string        `bun:"bank" json:"bank"`           // the other bank's routing number
	MessageID string        `bun:"message_id" json:"messageId"`
	Codes     string        `bun:"codes" json:"codes"` // of what is missing or wrong: MS01 IN04
	// its words may name people and accounts: they are sealed, and stand in no record
	Asked []byte    `bun:"asked_sealed,type:bytea" json:"-"`
	At    time.Time `bun:"at" json:"-"`
	// the message that answers it; 0 before
	Answer     MessageID  `bun:"answer,nullzero" json:"-"`
	AnsweredAt *time.Time `bun:"answered_at" json:"answeredAt"`
	Answered   []byte     `bun:"answer_sealed,type:bytea" json:"-"`

	Said  InformationDraft `bun:"-" json:"-"` // what was asked, opened
	Heard []string         `bun:"-" json:"-"` // what was answered, opened
}

// InitiatingParty returns who asks. InformationIn must have opened the request's words.
func (r *InformationRequest) InitiatingParty() string { return r.Said.Party }

// Missing returns what is missing. InformationIn must have opened the request's words.
func (r *InformationRequest) Missing() []*InformationItem { return r.Said.Missing }

// Incorrect returns what is wrong. InformationIn must have opened the request's words.
func (r *InformationRequest) Incorrect() []*InformationItem { return r.Said.Incorrect }

// InformationDraft is what a request for information says.
type InformationDraft struct {
	Missing   []*InformationItem `json:"missingInformation,omitempty"`
	Incorrect []*InformationItem `json:"incorrectInformation,omitempty"`
	Party     string             `json:"initiatingPartyName"` // who asks
}

// InformationItem is one thing that is missing or wrong.
type InformationItem struct {
	Code string `json:"code"`
	Info string `json:"additionalInfo,omitempty"`
}

// MostInformationRequests bounds the requests about one payment, each way.
const MostInformationRequests = 100

// narrative is the code of what has no code of its own, and is told in words.
const narrative = "NARR"

// MissingCodes lists what may be missing, IncorrectCodes what may be wrong, by network.
var (
	MissingCodes   = []string{"MS01", narrative}
	IncorrectCodes = map[rails.Rail][]string{
		rails.RTP: {"IN01", "IN04", "IN06", "IN15", "IN19", "IN38", "IN39", "MM20", "MM21", narrative},
		rails.FedNow: {
			"IN02", "IN03", "IN06", "IN07", "IN08", "IN13", "IN14", "IN15", "IN16", "IN38", "IN39",
			"MM20", "MM21", "MM25", "MM26", "MM27", "MM28", "MM29", "MM30", "MM31", "MM32", "MM35", narrative,
		},
	}
)

// The faults of requests for information.
var (
	// ErrNoInformation is returned for a payment over a network that carries no requests for information.
	ErrNoInformation = fault.New(fault.State, "rfi.rail",
		"information is asked about payments over RTP and FedNow, and about incoming requests for "+
			"payment over RTP")
	// ErrInformationEarly is returned for a payment that the other bank does not have yet, or has refused.
	ErrInformationEarly = fault.New(fault.State, "rfi.status",
		"the payment must be PROCESSED, returned, or have been asked back")
	// ErrOwnRequest is returned for a request for payment of ours: the bank that is asked to pay may have
	// questions, not the one that asks.
	ErrOwnRequest = fault.New(fault.State, "rfi.own_request",
		"only the bank that received a request for payment can ask for information about it")
	// ErrOtherRail is returned for a code that belongs to another network.
	ErrOtherRail = fault.New(fault.Invalid, "rfi.code_of_other_network",
		"is no code of the payment's network")
	// ErrManyRequests is returned for a payment about which MostInformationRequests have been sent.
	ErrManyRequests = fault.New(fault.State, "rfi.many", fmt.Sprintf(
		"%d requests about the payment have been sent, and no more can be", MostInformationRequests))
	// ErrNoPayment is returned for a payment that does not exist, or is not the caller's.
	ErrNoPayment = fault.New(fault.NotFound, "rfi.no_payment", "no such payment").On("paymentId")
)

// instant reports whether a network carries requests for information.
func instant(over rails.Rail) bool { return over == rails.FedNow || over == rails.RTP }

// mayAsk returns why no information can be asked about a payment; nil if it can.
func (p *Payment) mayAsk() error {
	switch {
	case !instant(p.Rail), p.Incoming() && p.EntryType == rails.Debit && p.Rail != rails.RTP:
		return ErrNoInformation
	case p.Asks():
		return ErrOwnRequest
	case !p.Incoming() && !clarifiable(p.Status()):
		return ErrInformationEarly.Saying("the payment is " + string(p.Status()) + ": " +
			ErrInformationEarly.Message).
			With(string(p.State))
	}
	return nil
}

// clarifiable reports whether the other bank has a payment of this status, or has had it.
func clarifiable(status Status) bool {
	switch status {
	case StatusProcessed, StatusReversalAccepted, StatusReversalPartly, StatusReversalRejected:
		return true
	}
	return strings.HasPrefix(string(status), "RETURNED")
}

// codes returns the codes of what is missing and of what is wrong.
func (d *InformationDraft) codes() string {
	var all []string
	for _, item := range slices.Concat(d.Missing, d.Incorrect) {
		all = append(all, item.Code)
	}
	return strings.Join(all, " ")
}

// lacks returns items as a message carries them: words too long for one entry go on in further entries of the
// same code.
func lacks(items []*InformationItem) (all []iso20022.Lack) {
	for _, item := range items {
		text := []rune(item.Info)
		for first := true; first || len(text) > 0; first = false {
			n := min(len(text), iso20022.LackText)
			all = append(all, iso20022.Lack{Code: item.Code, Text: string(text[:n])})
			text = text[n:]
		}
	}
	return all
}

// items is the reverse of lacks.
func items(all []iso20022.Lack) (items []*InformationItem) {
	whole := false // the entry before is full
	for _, lack := range all {
		if whole && items[len(items)-1].Code == lack.Code {
			items[len(items)-1].Info += lack.Text
		} else {
			items = append(items, &InformationItem{Code: lack.Code, Info: lack.Text})
		}
		whole = len([]rune(lack.Text)) == iso20022.LackText
	}
	return items
}

// The columns for which the words of requests for information are sealed (seal.Place).
const (
	AskedColumn    = "information_requests.asked"
	AnsweredColumn = "information_requests.answer"
)

func (r *InformationRequest) place(column string) seal.Place {
	return seal.Place{Tenant: int64(r.Tenant), Column: column, Row: int64(r.ID)}
}

// sealed seals words as JSON.
func (r *InformationRequest) sealed(keys *seal.Keys, column string, words any) ([]byte, error) {
	text, err := json.Marshal(words)
	if err != nil {
		return nil, err
	}
	return keys.Encrypt(string(text), r.place(column)), nil
}

// open opens the words of a request.
func (r *InformationRequest) open(keys *seal.Keys) error {
	for _, c := range []struct {
		column string
		sealed []byte
		words  any
	}{{AskedColumn, r.Asked, &r.Said}, {AnsweredColumn, r.Answered, &r.Heard}} {
		text, err := keys.Open(seal.Value{Sealed: c.sealed}, r.place(c.column))
		if err == nil && text != "" {
			err = json.Unmarshal([]byte(text), c.words)
		}
		if err != nil {
			return fmt.Errorf("open request for information %s: %w", r.MessageID, err)
		}
	}
	return nil
}

var informing db.QueryCache[InformationRequest]

// InformationPart is which of the requests for information about a payment are read, and whether with their
// words, which are sealed.
type InformationPart struct {
	Last  int // so many, up to MostInformationShown
	Words bool
}

// MostInformationShown is how many requests for information a payment can have.
const MostInformationShown = 2 * MostInformationRequests

var withoutWords = db.ColumnsOf[InformationRequest]("Tenant", "ID", "Payment", "Rail", "Direction", "Bank",
	"MessageID", "Codes", "At", "Answer", "AnsweredAt")

// inRequests are the SQL expressions of the columns of requests for information that may be NULL.
var inRequests = map[string]string{"answer": "coalesce(ir.answer, 0)"}

// InformationRequestsOf reads the last requests for information about each payment, in their order, for
// callers who see whose it is. Their words are sealed: InformationIn opens those that were read.
func (s *Service) InformationRequestsOf(
	ctx context.Context, b *db.Batch, of []UID, part InformationPart,
) *db.Many[UID, InformationRequest] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, InformationRequest](err)
	}
	type key struct {
		reach access.Reach
		words bool
	}
	text := informing.Get(key{caller.Reach, part.Words}, func() string {
		want := db.Columns{}
		if !part.Words {
			want = withoutWords
		}
		last := db.Select[InformationRequest](want, inRequests).Where("ir.tenant = $1").
			Where("ir.payment = pay.uid").OrderExpr("ir.id DESC").String() + " LIMIT $4::bigint"
		return "SELECT r.* FROM payments AS pay CROSS JOIN LATERAL (" + last +
			") AS r WHERE pay.tenant = $1" +
			" AND pay.uid = ANY($3::bigint[]) AND " + caller.Reach.Scope("pay.customer") +
			" ORDER BY r.payment, r.id"
	})
	return db.QueueMany(b, text, func(r *InformationRequest) UID { return r.Payment }, caller.Tenant,
		caller.ScopeCustomer(), of, min(part.Last, MostInformationShown))
}

// InformationIn opens the words of requests that were read for the caller.
func (s *Service) InformationIn(ctx context.Context, requests []*InformationRequest) error {
	if _, err := access.Require(ctx, access.ViewPayments); err != nil {
		return err
	}
	for _, r := range requests {
		if err := r.open(s.keys); err != nil {
			return err
		}
	}
	return nil
}

// InformationHistory is what was asked about a payment, both ways.
type InformationHistory struct {
	Payment  *Payment
	Requests []*InformationRequest
}

// InformationHistory reads what was asked about a payment over an instant network, from the first request on.
func (s *Service) InformationHistory(ctx context.Context, uid UID) (*InformationHistory, error) {
	if _, err := access.Require(ctx, access.ViewPayments); err != nil {
		return nil, err
	}
	b := s.db.Batch()
	found := s.FindMany(ctx, b, []UID{uid}, db.ColumnsOf[Payment]("UID", "Rail"))
	requests := s.InformationRequestsOf(ctx, b, []UID{uid},
		InformationPart{Last: MostInformationShown, Words: true})
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	switch {
	case found.Err != nil:
		return nil, found.Err
	case requests.Err != nil:
		return nil, requests.Err
	case len(found.Of[uid]) == 0:
		return nil, ErrNoPayment
	case !instant(found.Of[uid][0].Rail):
		return nil, ErrNoInformation
	}
	h := &InformationHistory{found.Of[uid][0], requests.Of[uid]}
	return h, s.InformationIn(ctx, h.Requests)
}
