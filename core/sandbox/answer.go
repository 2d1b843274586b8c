package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
)

// Verdict is what a network, or the bank on the other side, says of a payment that went out
// (rest/CONTRACT.md, sandbox plays).
type Verdict string

const (
	Settled       Verdict = "SETTLED"
	Rejected      Verdict = "REJECTED" // a request for payment, too
	Returned      Verdict = "RETURNED" // the money comes back, asked for or not
	Noticed       Verdict = "NOTICE_OF_CHANGE"
	RecallRefused Verdict = "RECALL_REFUSED" // the other bank keeps what it was asked for
	Paid          Verdict = "PAID"           // a request for payment
)

var verdicts = []string{
	string(Settled), string(Rejected), string(Returned), string(Noticed), string(RecallRefused), string(Paid),
}

// Answer is what a request says about how a payment is answered.
type Answer struct {
	Payment payments.UID `json:"-"` // the target of the change
	Verdict Verdict      `json:"answer"`
	Code    string       `json:"code,omitempty"`          // of ISO 20022 or ACH
	Amount  string       `json:"paymentAmount,omitempty"` // that is returned or paid; all of it if empty
	// what is right, by a notice of change
	Number  string            `json:"correctedAccountNumber,omitempty"`
	Routing string            `json:"correctedRoutingNumber,omitempty"`
	Account rails.AccountType `json:"correctedAccountType,omitempty"`
}

// The faults of answers.
var (
	// ErrUnsent is returned for a payment that its network does not have yet.
	ErrUnsent = fault.New(fault.State, "sandbox.unsent", "the payment has not been sent over a network")
	// ErrNoAnswer is returned for an answer that nobody gives to such a payment.
	ErrNoAnswer = fault.New(fault.State, "sandbox.no_answer", "nobody answers such a payment in this way")
)

// errNoReason is returned for a code of another network than the payment's.
var errNoReason = fault.Field(play, "code", fault.NoMatch,
	"must be a reason of ISO 20022, such as AC03; over ACH a return code, such as R03")

// notices are what each code of a notice of change corrects.
var notices = map[string]struct{ number, routing, account bool }{
	"C01": {number: true}, "C02": {routing: true}, "C03": {number: true, routing: true}, "C05": {account: true},
	"C06": {number: true, account: true}, "C07": {number: true, routing: true, account: true},
}

// PlayAnswer lets the network, or the bank on the other side, answer a payment that went out. It comes beside
// what the amount makes the sandbox answer: before it, after it or once more.
func (s *Service) PlayAnswer(
	ctx context.Context, of payments.UID, draft Answer, options changes.RequestOptions,
) (changes.Outcome[Played], error) {
	caller, err := s.answer.Require(ctx, of.String())
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[Played]{}, err
	}
	return s.answer.Do(ctx, caller, changes.Target{UID: of.String()}, draft, options)
}

// longestOf are the longest account numbers that notices of change have. C01 has room for an IBAN, which an
// entry to an account abroad names.
var longestOf = map[string]int{"C01": 29, "C03": 17, "C06": 17, "C07": 17}

func (d *Answer) check() error {
	c := check.Of(play)
	c.Required("answer", string(d.Verdict))
	if d.Verdict != "" {
		d.Verdict = Verdict(check.OneOf(c, "answer", string(d.Verdict), verdicts...))
	}
	if c.AtMost("code", d.Code, 4); d.Code != "" && payments.MeaningOf(d.Code) == "" {
		c.Fail("code", fault.Malformed, "must be a reason of ISO 20022, or a code of ACH, such as AC03, "+
			"R03 or C01")
	}
	if d.Amount != "" && d.Verdict != Returned && d.Verdict != Paid {
		c.Fail("paymentAmount", fault.Malformed, "must be left out: only what is returned or paid has an amount")
	}
	c.BankAmount("paymentAmount", d.Amount, 13)
	c.AccountNumber("correctedAccountNumber", d.Number)
	c.Routing("correctedRoutingNumber", d.Routing)
	d.Account = rails.AccountType(check.OneOf(c, "correctedAccountType", string(d.Account),
		string(rails.Checking),
		string(rails.Savings), string(rails.GL), string(rails.Loan)))
	says := notices[d.Code]
	if d.Verdict == Noticed {
		if d.Code = cmp.Or(d.Code, "C01"); notices[d.Code] == (struct{ number, routing, account bool }{}) {
			c.Fail("code", fault.Malformed, "must be C01, C02, C03, C05, C06 or C07")
		}
		says = notices[d.Code]
		if says.number {
			c.AtMost("correctedAccountNumber", d.Number, longestOf[d.Code])
		}
	}
	for _, one := range []struct {
		field, is string
		wanted    bool
	}{
		{"correctedAccountNumber", d.Number, says.number},
		{"correctedRoutingNumber", d.Routing, says.routing},
		{"correctedAccountType", string(d.Account), says.account},
	} {
		switch {
		case one.wanted && d.Verdict == Noticed:
			c.Required(one.field, one.is)
		case one.is != "":
			c.Fail(one.field, fault.Malformed, "must be left out: the answer says nothing of it")
		}
	}
	return c.Err()
}

// went is an entry of ACH that went out, as another bank has it.
type went struct {
	Trace       string            `bun:"trace"` // '' before
	Class       rails.SECCode     `bun:"class"`
	CompanyID   string            `bun:"company_id"`
	CompanyName string            `bun:"company_name"`
	Description string            `bun:"description"`
	Origin      string            `bun:"origin"`
	Account     rails.AccountType `bun:"account"`
	Way         rails.EntryType   `bun:"entry_type"`
	BankID      string            `bun:"bank_id"`
	Sealed      []byte            `bun:"number_sealed"`
	Name        string            `bun:"name"`
	// of an entry to an account abroad
	Currency money.Currency `bun:"currency"`
	Country  string         `bun:"bank_country"`
	Abroad   []byte         `bun:"abroad_sealed"`
}

// playAnswerTx writes an answer to a payment.
func (s *Service) playAnswerTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, d Answer,
) (Played, error) {
	kinds := []string{"pacs.008", "pain.013"}
	if d.Verdict == RecallRefused {
		kinds = []string{"camt.056"}
	}
	of, err := exchangedTx(ctx, tx, at, kinds...)
	if err == nil && (of.In || of.Rail == rails.Book) {
		err = ErrNoAnswer
	}
	if err != nil {
		return Played{}, err
	}
	amount, err := d.amount(of)
	if err != nil {
		return Played{}, err
	}
	if of.Rail == rails.ACH {
		return s.answerEntryTx(ctx, tx, of, d, amount)
	}
	if of.ID == 0 {
		return Played{}, ErrUnsent
	}
	if d.Verdict != Noticed && d.Code != "" && len(d.Code) != 4 {
		return Played{}, errNoReason
	}
	read, err := s.readMessage(tx.Caller.Tenant, of)
	if err != nil {
		return Played{}, err
	}
	from, to, write := d.answers(of.Rail, read, amount)
	if write == nil {
		return Played{}, ErrNoAnswer
	}
	return s.beginTx(ctx, tx, of.Rail, of.Customer, func(_ iso20022.Group, id int64) iso20022.Message {
		return write(of.Rail, id, tx.Now)
	}, from, to)
}

// amount returns how much of a payment is returned or paid: what is asked for, or all of it.
func (d *Answer) amount(of *exchanged) (money.Amount, error) {
	if d.Amount == "" {
		return money.Of(of.Minor, of.Currency), nil
	}
	amount, err := money.Parse(d.Amount, of.Currency)
	if err != nil || amount.Minor <= 0 {
		return amount, fault.Field(play, "paymentAmount", fault.Malformed,
			"must be an amount of "+string(of.Currency)+", more than 0")
	}
	return amount, nil
}

// answers returns what answers a message of a bank, from whom and to whom; write is nil if nobody answers it
// in this way.
func (d *Answer) answers(
	over rails.Rail, m iso20022.Message, amount money.Amount,
) (from, to string, write writing) {
	operator := payments.Profiles[over].Operator
	switch m := m.(type) {
	case *iso20022.CreditTransfer:
		act := Act{Says: iso20022.Settled}
		switch d.Verdict {
		case Settled:
		case Rejected:
			act = Act{Says: iso20022.Rejected, Reason: cmp.Or(d.Code, "AC03")}
		case Returned:
			return m.Receiver, m.Sender, returning(m, cmp.Or(d.Code, "AC04"), amount)
		default:
			return "", "", nil
		}
		return operator, m.Sender, act.writing(m)
	case *iso20022.PaymentRequest:
		switch d.Verdict {
		case Rejected:
			return m.DebtorAgent, m.CreditorAgent, answersRequest(m, cmp.Or(d.Code, "CUST"))
		case Paid:
			return m.DebtorAgent, m.CreditorAgent, paysRequest(m, amount)
		}
	case *iso20022.Recall:
		return m.Receiver, m.Sender, answersRecall(m, iso20022.RecallRefused, cmp.Or(d.Code, "CUST"))
	}
	return "", "", nil
}

// answerEntryTx writes a file of ACH that answers an entry.
func (s *Service) answerEntryTx(
	ctx context.Context, tx *changes.Tx, about *exchanged, d Answer, amount money.Amount,
) (Played, error) {
	of := new(went)
	err := tx.NewRaw(`SELECT e.trace, e.class, e.company_id, e.company_name, e.description, e.origin, e.account,
		  e.entry_type, e.currency, pd.bank_id, pd.bank_country, pd.number_sealed, pd.abroad_sealed,
		  CASE pay.entry_type WHEN 'CREDIT' THEN pay.receiver_name ELSE pay.sender_name END AS name
		FROM ach_entries AS e JOIN payments AS pay ON pay.tenant = e.tenant AND pay.uid = e.payment
		JOIN payment_details AS pd ON pd.tenant = e.tenant AND pd.payment = e.payment
		WHERE e.tenant = ?0 AND pay.tenant = ?0 AND pd.tenant = ?0 AND e.payment = ?1`, tx.Caller.Tenant,
		about.Payment).
		Scan(ctx, of)
	switch {
	case errors.Is(err, sql.ErrNoRows): // it waits for repair, and is no entry yet
		return Played{}, ErrUnsent
	case err != nil:
		return Played{}, err
	case !slices.Contains([]Verdict{Returned, Noticed}, d.Verdict):
		return Played{}, ErrNoAnswer.Saying("ACH says nothing of an entry but a return or a notice of change")
	case of.Trace == "":
		return Played{}, ErrUnsent
	case d.Verdict == Returned && d.Code != "" && (d.Code[0] != 'R' || len(d.Code) != 3):
		return Played{}, errNoReason
	}
	number, err := s.keys.Open(seal.Value{Sealed: of.Sealed},
		seal.Place{Tenant: int64(tx.Caller.Tenant), Column: payments.NumberColumn, Row: int64(about.Payment)})
	if err != nil {
		return Played{}, fmt.Errorf("open the number of payment %s: %w", about.Payment, err)
	}
	batch := nacha.Batch{
		Class: of.Class, CompanyID: of.CompanyID, CompanyName: of.CompanyName, Description: of.Description,
		Bank: of.Origin[:8], Only: of.Way,
	}
	e := nacha.Entry{
		Account: of.Account, Direction: of.Way, Amount: amount, Routing: of.BankID, Number: cmp.Or(number, "0"),
		Name:  of.Name,
		Trace: of.Trace,
	}
	if of.Class == rails.IAT {
		batch.Abroad = payments.WayAbroad(of.Country, of.Currency)
		e.International, err = payments.OpenAbroad(s.keys, of.Abroad,
			seal.Place{Tenant: int64(tx.Caller.Tenant), Column: payments.AbroadColumn, Row: int64(about.Payment)})
		if err != nil {
			return Played{}, err
		}
	}
	q := Sequel{Code: cmp.Or(d.Code, "R03")}
	e = answered(q, batch, e)
	if d.Verdict == Noticed {
		e.Change.Account, e.Change.Routing = d.Number, d.Routing
		e.Change.AccountType, e.Change.Direction = d.Account, of.Way
		e.Change.Data = e.Change.Written()
	}
	return s.fileTx(ctx, tx, about.Customer, func(number int64) (string, error) {
		var text bytes.Buffer
		err := writeFile(&text, nacha.Header{
			Origin: of.Origin, OriginName: "BANK", DestinationName: "FEDERAL RESERVE BANK",
		}, []back{{batch, e}}, number, tx.Now)
		return text.String(), err
	})
}
