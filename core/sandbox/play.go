package sandbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/virtualaccounts"
)

// Credit is what a request says about a payment that a customer of another bank makes (rest/CONTRACT.md,
// sandbox plays).
type Credit struct {
	Account accounts.UID `json:"accountUID"` // that is credited
	// a virtual account on it, under whose number it is credited
	Virtual      string `json:"virtualAccountNumber,omitempty"`
	Amount       string `json:"paymentAmount"`
	Currency     string `json:"paymentCurrency"`
	Rail         string `json:"deliveryMethod"`
	SenderName   string `json:"senderName,omitempty"`
	SenderNumber string `json:"senderAccountNumber,omitempty"`
	SenderBank   string `json:"senderBankId,omitempty"` // a routing number
	Reference    string `json:"externalReferenceId,omitempty"`
	Notes        string `json:"paymentNotes,omitempty"`
	CreditEntry
}

// Recall is what a request says about another bank that asks for its money back.
type Recall struct {
	Payment payments.UID `json:"-"` // the target of the change
	Code    string       `json:"reversalCode,omitempty"`
	Notes   string       `json:"reversalNotes,omitempty"`
}

// Played is the answer to a play: the message that is on its way to the bank.
type Played struct {
	MessageID string     `json:"messageId"`
	Rail      rails.Rail `json:"deliveryMethod"`
}

// play is the name of plays in the record and in faults.
const play = "play"

// The faults of plays.
var (
	ErrNoSandbox = fault.New(fault.State, "sandbox.not_sandbox",
		"the bank is not connected to simulated networks")
	ErrNoAccount = fault.New(fault.NotFound, "play.account",
		"must be an account of the bank that the caller sees")
	ErrNoVirtual = fault.New(fault.NotFound, "play.virtual_account",
		"must be the number of a virtual account on the account").
		On("virtualAccountNumber")
	ErrNoCredit = fault.New(fault.State, "sandbox.not_incoming",
		"only a payment that came in over a network is asked back by another bank")
)

// who plays the other bank where a request does not say.
const (
	playedBank   = "021000021"
	playedName   = "Customer of another bank"
	playedNumber = "8800112233"
)

// PlayCredit lets a customer of another bank pay an account that the caller sees. What the bank makes of it
// shows in a second or two.
func (s *Service) PlayCredit(
	ctx context.Context, draft Credit, options changes.RequestOptions,
) (changes.Outcome[Played], error) {
	caller, err := s.pay.Require(ctx, "")
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[Played]{}, err
	}
	return s.pay.Do(ctx, caller, changes.Target{}, draft, options)
}

// PlayRecall lets the bank that sent a payment ask for its money back.
func (s *Service) PlayRecall(
	ctx context.Context, of payments.UID, draft Recall, options changes.RequestOptions,
) (changes.Outcome[Played], error) {
	caller, err := s.recall.Require(ctx, of.String())
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[Played]{}, err
	}
	return s.recall.Do(ctx, caller, changes.Target{UID: of.String()}, draft, options)
}

func (d *Credit) check() error {
	c := check.Of(play)
	if d.Account == 0 {
		c.Required("accountUID", "")
	}
	c.Required("paymentAmount", d.Amount)
	c.BankAmount("paymentAmount", d.Amount, 13)
	d.Currency = string(c.Currency("paymentCurrency", cmp.Or(d.Currency, "USD")))
	c.Required("deliveryMethod", d.Rail)
	if d.Rail != "" {
		d.Rail = check.OneOf(c, "deliveryMethod", d.Rail, string(rails.FedNow), string(rails.RTP),
			string(rails.Fedwire), string(rails.ACH))
	}
	for _, text := range []struct{ field, is string }{
		{"senderName", d.SenderName}, {"externalReferenceId", d.Reference}, {"paymentNotes", d.Notes},
	} {
		ascii(c, text.field, text.is)
	}
	if d.Rail == string(rails.ACH) {
		d.checkEntry(c)
	} else {
		d.noEntry(c)
	}
	d.SenderName, d.SenderBank = cmp.Or(d.SenderName, playedName), cmp.Or(d.SenderBank, playedBank)
	d.SenderNumber = cmp.Or(d.SenderNumber, playedNumber)
	c.AtMost("senderName", d.SenderName, 140)
	c.AccountNumber("senderAccountNumber", d.SenderNumber)
	c.AccountNumber("virtualAccountNumber", d.Virtual)
	c.Routing("senderBankId", d.SenderBank)
	c.AtMost("externalReferenceId", d.Reference, 35)
	c.AtMost("paymentNotes", d.Notes, 140)
	return c.Err()
}

func (d *Recall) check() error {
	c := check.Of(play)
	d.Code = cmp.Or(check.OneOf(c, "reversalCode", d.Code, payments.ReversalCodes...), "DUPL")
	c.AtMost("reversalNotes", d.Notes, 105)
	ascii(c, "reversalNotes", d.Notes)
	return c.Err()
}

// ascii demands what networks carry.
func ascii(c *check.Fields, field, text string) {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		c.Fail(field, fault.Malformed, "must be letters, digits and signs of ASCII")
	}
}

// paid is the account that is credited, or debited.
type paid struct {
	Sealed   []byte           `bun:"number_sealed"`
	BankID   string           `bun:"bank_id"`
	BankName string           `bun:"bank_name"`
	SubType  accounts.SubType `bun:"sub_type"`
	Customer int64            `bun:"customer"`
	Owner    int64            `bun:"owner"`
	Name     string           `bun:"legal_name"`
	Sandbox  bool             `bun:"sandbox"`

	number string
}

// payTx writes the credit of another bank.
func (s *Service) payTx(ctx context.Context, tx *changes.Tx, _ changes.Target, d Credit) (Played, error) {
	to, err := s.paidTx(ctx, tx, d.Account)
	if err != nil {
		return Played{}, err
	}
	if d.Virtual != "" {
		if err := s.virtualTx(ctx, tx, d); err != nil {
			return Played{}, err
		}
		to.number = d.Virtual
	}
	amount, err := money.Parse(d.Amount, money.Currency(d.Currency))
	if err != nil || amount.Minor <= 0 || amount.Currency != "USD" {
		return Played{}, fault.Field(play, "paymentAmount", fault.Malformed,
			"must be an amount of USD, more than 0, with at most 2 decimals")
	}
	over := rails.Rail(d.Rail)
	if over == rails.ACH {
		return s.entryTx(ctx, tx, to, d.Amount, d.entry())
	}
	return s.beginTx(ctx, tx, over, to.Customer, func(g iso20022.Group, id int64) iso20022.Message {
		own := strconv.FormatInt(id, 10)
		return &iso20022.CreditTransfer{
			Group: g, InstructionID: own, TransactionID: own, EndToEndID: cmp.Or(d.Reference, own),
			UETR: uuid.NewString(), Amount: amount, SettlementDate: calendar.Next(calendar.Today(tx.Now), 0),
			AcceptedAt: tx.Now, ChargeBearer: "SLEV", Sender: d.SenderBank, Receiver: to.BankID,
			DebtorAgent:   iso20022.Agent{Routing: d.SenderBank},
			CreditorAgent: iso20022.Agent{Routing: to.BankID, Name: to.BankName},
			Debtor:        iso20022.Party{Name: d.SenderName, Account: d.SenderNumber},
			Creditor:      iso20022.Party{Name: to.Name, Account: to.number}, Remittance: d.Notes,
		}
	}, d.SenderBank, to.BankID)
}

// virtualTx returns ErrNoVirtual if no virtual account on the account has the number of a credit.
func (s *Service) virtualTx(ctx context.Context, tx *changes.Tx, d Credit) error {
	var there bool
	hashes := s.keys.Hashes(int64(tx.Caller.Tenant), virtualaccounts.NumberColumn, d.Virtual)
	err := tx.NewRaw(`SELECT EXISTS (SELECT FROM virtual_accounts WHERE tenant = ? AND account = ?
		AND number_hash IN ?)`, tx.Caller.Tenant, d.Account, bun.Tuple(hashes)).Scan(ctx, &there)
	if err == nil && !there {
		err = ErrNoVirtual
	}
	return err
}

// exchanged is a payment, with a message of it that the bank has sent or got.
type exchanged struct {
	ID       int64          `bun:"id"` // of the message; 0 if there is none
	Rail     rails.Rail     `bun:"rail"`
	Body     []byte         `bun:"body"`
	Customer int64          `bun:"customer"`
	Sandbox  bool           `bun:"sandbox"`
	Payment  payments.UID   `bun:"uid"`
	In       bool           `bun:"incoming"`
	Minor    int64          `bun:"amount"`
	Currency money.Currency `bun:"currency"`
}

// exchangedTx reads a payment that the caller sees, with the first message of these kinds that went the way
// of the payment.
func exchangedTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, kinds ...string,
) (*exchanged, error) {
	of, caller := new(exchanged), tx.Caller
	err := tx.NewRaw(`SELECT coalesce(m.id, 0) AS id, pay.rail, m.body, pay.customer, t.sandbox, pay.uid,
		pay.direction = 'IN' AS incoming, pay.amount, pay.currency FROM payments AS pay
		JOIN tenants AS t ON t.id = pay.tenant LEFT JOIN network_messages AS m ON m.tenant = ?0
		  AND m.payment = pay.uid AND m.kind IN (?3) AND m.direction = pay.direction
		WHERE pay.tenant = ?0 AND t.id = ?0 AND pay.uid = ?2 AND `+caller.Reach.ScopeTx("pay.customer")+`
		ORDER BY m.id LIMIT 1`, caller.Tenant, caller.ScopeCustomer(), at.UID, bun.List(kinds)).Scan(ctx, of)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, payments.ErrNotFound
	case err != nil:
		return nil, err
	case !of.Sandbox:
		return nil, ErrNoSandbox
	}
	return of, nil
}

// recallTx writes that the bank that sent a payment asks for it back.
func (s *Service) recallTx(ctx context.Context, tx *changes.Tx, at changes.Target, d Recall) (Played, error) {
	of, err := exchangedTx(ctx, tx, at, "pacs.008")
	if err == nil && (!of.In || of.ID == 0) {
		err = ErrNoCredit
	}
	if err != nil {
		return Played{}, err
	}
	read, err := s.readMessage(tx.Caller.Tenant, of)
	if err != nil {
		return Played{}, err
	}
	t, is := read.(*iso20022.CreditTransfer)
	if !is {
		return Played{}, ErrNoCredit
	}
	why := iso20022.Reason{Code: d.Code}
	if d.Notes != "" {
		why.Text = []string{d.Notes}
	}
	return s.beginTx(ctx, tx, of.Rail, of.Customer, func(g iso20022.Group, _ int64) iso20022.Message {
		return &iso20022.Recall{
			Group: g, CaseID: g.ID, OriginalAmount: t.Amount, OriginalDate: t.SettlementDate, Reason: why,
			Original: original(t, iso20022.Original{
				InstructionID: t.InstructionID, EndToEndID: t.EndToEndID, TransactionID: t.TransactionID, UETR: t.UETR,
			}),
			Sender: t.Sender, Receiver: t.Receiver,
		}
	}, t.Sender, t.Receiver)
}

// beginTx writes a message that another bank begins, and records whose play it is.
func (s *Service) beginTx(
	ctx context.Context, tx *changes.Tx, over rails.Rail, customer int64,
	compose func(iso20022.Group, int64) iso20022.Message, from, to string,
) (Played, error) {
	if _, err := s.customers.HoldTx(ctx, tx, tx.Caller, customers.UID(customer)); err != nil {
		return Played{}, err
	}
	row := &message{Tenant: tx.Caller.Tenant, Rail: over, Answer: 1, DueAt: tx.Now, Customer: customer}
	if err := tx.NewRaw(`SELECT nextval('sandbox_messages_ids')`).Scan(ctx, &row.ID); err != nil {
		return Played{}, err
	}
	g := group(over, from, to, row.ID, tx.Now)
	row.Asked = g.ID
	if err := s.write(row, compose(g, row.ID)); err != nil {
		var wrong *iso20022.FieldError
		if errors.As(err, &wrong) {
			return Played{}, fault.Field(play, "payment", fault.Malformed,
				"cannot be sent over "+string(over)+": "+wrong.Reason)
		}
		return Played{}, err
	}
	if _, err := tx.NewInsert().Model(row).Exec(ctx); err != nil {
		return Played{}, err
	}
	done := Played{MessageID: g.ID, Rail: over}
	return done, tx.Record(ctx, changes.Change{
		UID: messageName(g.ID), Customer: customer,
		Version: 1, After: &done,
	})
}

type messageName string

func (n messageName) String() string { return string(n) }
