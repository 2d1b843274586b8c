package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
)

// Debit is what a request says about an entry of ACH by which a company at another bank debits an account
// (rest/CONTRACT.md, sandbox plays).
type Debit struct {
	Account      accounts.UID `json:"accountUID"` // that is debited
	Number       string       `json:"accountNumber,omitempty"`
	Amount       string       `json:"paymentAmount"`
	CompanyID    string       `json:"achCompanyID,omitempty"`
	CompanyName  string       `json:"companyName,omitempty"`
	CompanyBank  string       `json:"companyBankId,omitempty"` // a routing number
	SECCode      string       `json:"secCode,omitempty"`
	IndividualID string       `json:"transactionIdNumber,omitempty"`
	Description  string       `json:"description,omitempty"` // of the batch
	Date         time.Time    `json:"paymentDate,omitzero"`  // on which it settles; midnight UTC
}

// The company that debits where a request does not say, and the classes of debits that a play takes.
const (
	playedCompany     = "9100011223"
	playedCompanyName = "Other bank's co"
)

var playedClasses = []string{
	string(rails.CCD), string(rails.CTX), string(rails.PPD), string(rails.WEB),
	string(rails.TEL), string(rails.IAT),
}

// PlayDebit lets a company at another bank debit an account that the caller sees, over ACH. What the bank
// makes of it shows in a second or two.
func (s *Service) PlayDebit(
	ctx context.Context, draft Debit, options changes.RequestOptions,
) (changes.Outcome[Played], error) {
	caller, err := s.debit.Require(ctx, "")
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[Played]{}, err
	}
	return s.debit.Do(ctx, caller, changes.Target{}, draft, options)
}

func (d *Debit) check() error {
	c := check.Of(play)
	if d.Account == 0 {
		c.Required("accountUID", "")
	}
	c.Required("paymentAmount", d.Amount)
	c.BankAmount("paymentAmount", d.Amount, 8)
	d.CompanyID, d.CompanyName = cmp.Or(d.CompanyID, playedCompany), cmp.Or(d.CompanyName, playedCompanyName)
	d.CompanyBank, d.Description = cmp.Or(d.CompanyBank, playedBank), cmp.Or(d.Description, "PAYMENT")
	c.ACHCompanyID("achCompanyID", d.CompanyID)
	c.Routing("companyBankId", d.CompanyBank)
	d.SECCode = check.OneOf(c, "secCode", ident.Upper(cmp.Or(d.SECCode, string(rails.CCD))), playedClasses...)
	c.AccountNumber("accountNumber", d.Number)
	c.AtMost("accountNumber", d.Number, 17)
	asEntry(c, d.CompanyName, d.Description, d.IndividualID)
	return c.Err()
}

// debitTx writes the file of ACH with the entry of another bank.
func (s *Service) debitTx(ctx context.Context, tx *changes.Tx, _ changes.Target, d Debit) (Played, error) {
	of, err := s.paidTx(ctx, tx, d.Account)
	if err != nil {
		return Played{}, err
	}
	if d.Number != "" {
		if of.number, err = s.numberTx(ctx, tx, d.Number); err != nil {
			return Played{}, err
		}
	}
	return s.entryTx(ctx, tx, of, d.Amount, &entry{
		direction: rails.Debit, class: rails.SECCode(d.SECCode), companyID: d.CompanyID, companyName: d.CompanyName,
		description: d.Description, bank: d.CompanyBank, individualID: d.IndividualID, date: d.Date,
	})
}

// entry is an entry of ACH by which another bank credits or debits an account.
type entry struct {
	direction                           rails.EntryType
	class                               rails.SECCode
	companyID, companyName, description string
	bank, individualID, remittance      string
	date                                time.Time // on which it settles; today if zero
}

// entryTx writes the file of ACH with an entry of another bank for an account.
func (s *Service) entryTx(
	ctx context.Context, tx *changes.Tx, of *paid, said string, e *entry,
) (Played, error) {
	amount, err := money.Parse(said, "USD")
	if err != nil || amount.Minor <= 0 {
		return Played{}, fault.Field(play, "paymentAmount", fault.Malformed,
			"must be an amount of USD, more than 0, with at most 2 decimals")
	}
	today := calendar.Next(calendar.Today(tx.Now), 0)
	switch {
	case e.date.IsZero():
		e.date = today
	case e.date.Before(calendar.Today(tx.Now)) || e.date.After(today.AddDate(1, 0, 0)):
		return Played{}, fault.Field(play, "paymentDate", fault.Max,
			"must be from today to a year ahead, in New York")
	}
	return s.fileTx(ctx, tx, of.Customer, func(number int64) (string, error) {
		return e.file(of, amount, number, tx.Now)
	})
}

// fileTx writes a file of ACH of other banks, and records whose play it is.
func (s *Service) fileTx(
	ctx context.Context, tx *changes.Tx, customer int64, compose func(number int64) (string, error),
) (Played, error) {
	if _, err := s.customers.HoldTx(ctx, tx, tx.Caller, customers.UID(customer)); err != nil {
		return Played{}, err
	}
	row := &message{Tenant: tx.Caller.Tenant, Rail: rails.ACH, Answer: 1, DueAt: tx.Now, Customer: customer}
	if err := tx.NewRaw(`SELECT nextval('sandbox_messages_ids')`).Scan(ctx, &row.ID); err != nil {
		return Played{}, err
	}
	row.Asked = calendar.Today(tx.Now).Format("20060102") + fmt.Sprintf("%015d", row.ID)
	body, err := compose(row.ID)
	var wrong nacha.Fault
	if errors.As(err, &wrong) {
		err = fault.Field(play, "payment", fault.Malformed, "cannot be sent over ACH: "+wrong.Reason)
	}
	if err != nil {
		return Played{}, err
	}
	row.Body = s.keys.Encrypt(body, row.place())
	if _, err := tx.NewInsert().Model(row).Exec(ctx); err != nil {
		return Played{}, err
	}
	done := Played{MessageID: row.Asked, Rail: rails.ACH}
	return done, tx.Record(ctx, changes.Change{
		UID: messageName(row.Asked), Customer: customer, Version: 1, After: &done,
	})
}

// file is the file of ACH with the entry.
func (e *entry) file(of *paid, amount money.Amount, number int64, now time.Time) (string, error) {
	var body bytes.Buffer
	w, err := nacha.NewWriter(&body, nacha.Header{
		Origin: payments.FedACH, OriginName: "FEDERAL RESERVE BANK", Destination: of.BankID,
		DestinationName: of.BankName, CreatedAt: now, Reference: fmt.Sprintf("%08d", number%100_000_000),
		FirstTrace: int(number%9_999_999) + 1,
	})
	if err == nil {
		err = w.Batch(nacha.Batch{
			Class: e.class, CompanyID: e.companyID, CompanyName: e.companyName, Description: e.description,
			Effective: e.date, Only: e.direction, Bank: e.bank, Abroad: e.way(),
		})
	}
	if err == nil {
		data := ""
		if e.class == rails.WEB || e.class == rails.TEL {
			data = "S"
		}
		_, err = w.Entry(nacha.Entry{
			Account: of.accountType(), Direction: e.direction, Amount: amount, Routing: of.BankID, Number: of.number,
			Name: of.Name, ID: e.individualID, Data: data, Remittance: e.remittance,
			International: e.abroad(of, amount),
		})
	}
	if err == nil {
		_, err = w.Close()
	}
	return body.String(), err
}

// way is what the batch of an entry of IAT says of the way of its money; nothing for other classes.
func (e *entry) way() nacha.Abroad {
	if e.class != rails.IAT {
		return nacha.Abroad{}
	}
	return nacha.Abroad{Exchange: nacha.FixedToFixed, Country: "US", From: "USD", To: "USD"}
}

// abroad is what an entry of IAT says beside, as it comes from a company in Berlin; nil for other classes.
func (e *entry) abroad(of *paid, amount money.Amount) *nacha.International {
	if e.class != rails.IAT {
		return nil
	}
	return &nacha.International{
		Purpose: "BUS", ForeignAmount: amount.Minor,
		Originator: nacha.Side{
			Name: e.companyName, Street: "Unter den Linden 1", City: "Berlin", Country: "DE", PostalCode: "10117",
		},
		Receiver: nacha.Side{
			Street: "1 Main Street", City: "Columbus", State: "OH", Country: "US", PostalCode: "43215",
		},
		From: nacha.Agent{Name: "Bank of Berlin", Kind: nacha.BIC, ID: "BOBEDEBB", Country: "DE"},
		To: nacha.Agent{
			Name: cmp.Or(of.BankName, of.BankID), Kind: nacha.National, ID: of.BankID, Country: "US",
		},
	}
}

// numberTx returns the account number that an entry names. That of an account which the caller does not see
// is not there: the entry has a number that no account has.
func (s *Service) numberTx(ctx context.Context, tx *changes.Tx, number string) (string, error) {
	var of []struct{ Customer, Owner int64 }
	err := tx.NewRaw(`SELECT a.customer, c.owner FROM accounts AS a JOIN customers AS c ON c.tenant = a.tenant
		AND c.uid = a.customer
		WHERE a.tenant = ?0 AND c.tenant = ?0 AND a.number_hash IN (?1) AND a.deleted_at IS NULL`, tx.Caller.Tenant,
		bun.List(s.keys.Hashes(int64(tx.Caller.Tenant), accounts.NumberColumn, number))).Scan(ctx, &of)
	for _, a := range of {
		if !tx.Caller.Sees(a.Customer, a.Owner) {
			return strings.Repeat("0", len(number)), err
		}
	}
	return number, err
}

// accountType is what ACH takes the account for.
func (p *paid) accountType() rails.AccountType {
	switch p.SubType {
	case accounts.Savings, accounts.CD, accounts.MoneyMarket, accounts.HealthSavings:
		return rails.Savings
	}
	return rails.Checking
}

// paidTx reads the account of a play, which the caller sees, with its number.
func (s *Service) paidTx(ctx context.Context, tx *changes.Tx, account accounts.UID) (*paid, error) {
	of := new(paid)
	err := tx.NewRaw(`SELECT a.number_sealed, a.bank_id, a.bank_name, a.sub_type, a.customer, c.owner,
		c.legal_name, t.sandbox
		FROM accounts AS a JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
		  JOIN tenants AS t ON t.id = a.tenant
		WHERE a.tenant = ? AND c.tenant = ? AND t.id = ? AND a.uid = ? AND a.deleted_at IS NULL`,
		tx.Caller.Tenant, tx.Caller.Tenant, tx.Caller.Tenant, account).Scan(ctx, of)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && !tx.Caller.Sees(of.Customer, of.Owner):
		return nil, ErrNoAccount.On("accountUID")
	case err != nil:
		return nil, err
	case !of.Sandbox:
		return nil, ErrNoSandbox
	}
	of.number, err = s.keys.Open(seal.Value{Sealed: of.Sealed},
		seal.Place{Tenant: int64(tx.Caller.Tenant), Column: accounts.NumberColumn, Row: int64(account)})
	if err != nil {
		return nil, fmt.Errorf("open the number of account %s: %w", account, err)
	}
	return of, nil
}
