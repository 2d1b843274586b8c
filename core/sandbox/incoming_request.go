package sandbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
)

// Request is what a request says about a customer of another bank that asks to be paid (rest/CONTRACT.md,
// sandbox plays): by a request for payment over FedNow or RTP, or a drawdown over Fedwire.
type Request struct {
	Account        accounts.UID `json:"accountUID"` // that is to pay
	Amount         string       `json:"paymentAmount"`
	Rail           string       `json:"deliveryMethod"`
	CreditorName   string       `json:"creditorName,omitempty"`
	CreditorNumber string       `json:"creditorAccountNumber,omitempty"`
	CreditorBank   string       `json:"creditorBankId,omitempty"` // a routing number
	Reference      string       `json:"externalReferenceId,omitempty"`
	Notes          string       `json:"paymentNotes,omitempty"`
	On             time.Time    `json:"requestedExecutionDate,omitzero"` // midnight UTC; today if zero
	Expires        time.Time    `json:"expiryDate,omitzero"`             // the last day; as ours if zero
	Modifiable     bool         `json:"amountModificationAllowed,omitempty"`
	Early          bool         `json:"earlyPayment,omitempty"`
}

// who asks where a request does not say, and where it is at home
const playedCreditor = "Supplier at another bank"

var playedAddress = postal.Address{
	Line1: "40 Harbor Street", City: "Riverton", State: "OH",
	PostalCode: "43215", CountryCode: "US",
}

// PlayRequest lets a customer of another bank ask an account that the caller sees for a payment. What the
// bank makes of it shows in a second or two.
func (s *Service) PlayRequest(
	ctx context.Context, draft Request, options changes.RequestOptions,
) (changes.Outcome[Played], error) {
	caller, err := s.request.Require(ctx, "")
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[Played]{}, err
	}
	return s.request.Do(ctx, caller, changes.Target{}, draft, options)
}

func (d *Request) check() error {
	c := check.Of(play)
	if d.Account == 0 {
		c.Required("accountUID", "")
	}
	c.Required("paymentAmount", d.Amount)
	c.BankAmount("paymentAmount", d.Amount, 13)
	c.Required("deliveryMethod", d.Rail)
	if d.Rail != "" {
		d.Rail = check.OneOf(c, "deliveryMethod", d.Rail, string(rails.FedNow), string(rails.RTP),
			string(rails.Fedwire))
	}
	for _, text := range []struct{ field, is string }{
		{"creditorName", d.CreditorName}, {"externalReferenceId", d.Reference}, {"paymentNotes", d.Notes},
	} {
		ascii(c, text.field, text.is)
	}
	d.CreditorName = cmp.Or(d.CreditorName, playedCreditor)
	d.CreditorNumber = cmp.Or(d.CreditorNumber, playedNumber)
	c.AtMost("creditorName", d.CreditorName, 140)
	c.AccountNumber("creditorAccountNumber", d.CreditorNumber)
	c.Routing("creditorBankId", d.CreditorBank)
	c.AtMost("externalReferenceId", d.Reference, 35)
	c.AtMost("paymentNotes", d.Notes, 140)
	if d.Rail == string(rails.Fedwire) {
		for _, only := range []struct {
			field string
			given bool
		}{
			{"expiryDate", !d.Expires.IsZero()},
			{"amountModificationAllowed", d.Modifiable},
			{"earlyPayment", d.Early},
		} {
			if only.given {
				c.Fail(only.field, fault.Forbidden, "is for deliveryMethod FEDNOW and RTP")
			}
		}
	}
	return c.Err()
}

// requestTx writes the request of another bank.
func (s *Service) requestTx(
	ctx context.Context, tx *changes.Tx, _ changes.Target, d Request,
) (Played, error) {
	of, err := s.paidTx(ctx, tx, d.Account)
	if err != nil {
		return Played{}, err
	}
	amount, err := money.Parse(d.Amount, "USD")
	if err != nil || amount.Minor <= 0 {
		return Played{}, fault.Field(play, "paymentAmount", fault.Malformed,
			"must be an amount of USD, more than 0, with at most 2 decimals")
	}
	today := calendar.Today(tx.Now)
	if d.On.IsZero() {
		d.On = today
	}
	for _, day := range []struct {
		field string
		is    time.Time
	}{{"requestedExecutionDate", d.On}, {"expiryDate", d.Expires}} {
		if !day.is.IsZero() && (day.is.Before(today) || day.is.After(today.AddDate(1, 0, 0))) {
			return Played{}, fault.Field(play, day.field, fault.Max, "must be from today to a year ahead, in New York")
		}
	}
	if !d.Expires.IsZero() && d.Expires.Before(d.On) {
		return Played{}, fault.Field(play, "expiryDate", fault.Min, "must not be before requestedExecutionDate")
	}
	over := rails.Rail(d.Rail)
	if d.CreditorBank == "" {
		if d.CreditorBank, err = reachedTx(ctx, tx, over, of.BankID); err != nil {
			return Played{}, err
		}
	}
	return s.beginTx(ctx, tx, over, of.Customer, func(g iso20022.Group, id int64) iso20022.Message {
		own := strconv.FormatInt(id, 10)
		r := &iso20022.PaymentRequest{
			Group: g, RequestID: own, ExecutionDate: d.On, InstructionID: own, EndToEndID: cmp.Or(d.Reference, own),
			UETR: uuid.NewString(), Modifiable: d.Modifiable, Early: d.Early, Amount: amount, ChargeBearer: "SLEV",
			Debtor:      iso20022.Party{Name: of.Name, Account: of.number},
			Creditor:    iso20022.Party{Name: d.CreditorName, Account: d.CreditorNumber, Address: playedAddress},
			DebtorAgent: of.BankID, CreditorAgent: d.CreditorBank, Remittance: d.Notes,
		}
		if !d.Expires.IsZero() {
			last := d.Expires
			r.ExpiresAt = time.Date(last.Year(), last.Month(), last.Day(), 23, 59, 59, 0, calendar.Zone())
		}
		return r
	}, d.CreditorBank, of.BankID)
}

// reaches are the conditions for a bank of the directory that a network reaches (banks.Entry.Reached).
var reaches = map[rails.Rail]string{
	rails.FedNow: "lower(b.fednow_status COLLATE \"C\") = 'active' AND (b.fednow_services = '' OR 'CRDT' = " +
		"ANY(string_to_array(b.fednow_services, ' ')))",
	rails.RTP: "lower(b.rtp_status COLLATE \"C\") = 'active' AND (b.rtp_services = '' OR 'CRDT' = " +
		"ANY(string_to_array(b.rtp_services, ' ')))",
	rails.Fedwire: "b.fedwire_transfer AND NOT b.fedwire_settlement_only",
}

// reachedTx returns the routing number of a bank that can be paid over a network: the first of the directory
// that is not the bank itself.
func reachedTx(ctx context.Context, tx *changes.Tx, over rails.Rail, but string) (number string, err error) {
	err = tx.NewRaw(`SELECT b.national_id FROM banks AS b WHERE b.country = 'US' AND b.national_id <> ?
		AND `+reaches[over]+` ORDER BY b.ref LIMIT 1`, but).Scan(ctx, &number)
	if errors.Is(err, sql.ErrNoRows) {
		return playedBank, nil
	}
	return number, err
}
