package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Prenote is an entry of ACH without money, which asks the bank of a contact whether the contact's account is
// there. It goes out as a credit over ACH to the contact would, and leaves nothing in the books.
type Prenote struct {
	bun.BaseModel `bun:"table:ach_prenotes,alias:pn" json:"-"`

	Tenant      access.Tenant     `bun:"tenant,pk" json:"-"`
	ID          PrenoteID         `bun:"id,pk" json:"-"`
	Customer    customers.UID     `bun:"customer" json:"-"`
	Contact     contacts.UID      `bun:"contact" json:"-"` // whose account number it has when its file is made
	Origin      string            `bun:"origin" json:"-"`  // routing number of the bank that sends it
	Class       rails.SECCode     `bun:"class" json:"-"`
	CompanyID   string            `bun:"company_id" json:"-"`
	CompanyName string            `bun:"company_name" json:"-"`
	Account     rails.AccountType `bun:"account" json:"-"`
	BankID      string            `bun:"bank_id" json:"-"` // routing number of the contact's bank
	Name        string            `bun:"name" json:"-"`    // of the contact
	Reference   string            `bun:"reference" json:"-"`
	SettlesOn   time.Time         `bun:"settles_on,type:date" json:"-"`
	SendAt      time.Time         `bun:"send_at" json:"-"`       // from then on it waits for a file
	Withdrawn   bool              `bun:"withdrawn" json:"-"`     // nobody asks for it any more
	File        MessageID         `bun:"file,nullzero" json:"-"` // in which it went out
	Trace       string            `bun:"trace" json:"-"`         // its number there; '' before
	ReturnCode  string            `bun:"return_code" json:"-"`   // with which it came back, such as R03
	NoticeCode  string            `bun:"notice_code" json:"-"`   // of a notice of change, such as C01
	// what the notice says is right; of an account number, its last digits
	RightLast4   string            `bun:"right_last4" json:"-"`
	RightRouting string            `bun:"right_routing" json:"-"`
	RightAccount rails.AccountType `bun:"right_account" json:"-"`
}

// PrenoteID is the number of a prenote.
type PrenoteID int64

// PrenoteOf says whose account a prenote asks about, and in the name of which account.
type PrenoteOf struct {
	Account   accounts.UID
	Contact   contacts.UID
	Reference string
}

// prenoteDescription is the description of the batches of prenotes.
const prenoteDescription = "PRENOTE"

// PrenoteTx queues a prenote for the next file of ACH, in one transaction with what it is for. It returns the
// faults for which a credit over ACH to the contact would be refused. Nothing is held or booked.
func (s *Service) PrenoteTx(
	ctx context.Context, tx bun.Tx, by access.Caller, of PrenoteOf, now time.Time,
) (*Prenote, error) {
	o := &Order{
		Sender: Party{UID: of.Account}, Receiver: Receiver{Contact: of.Contact}, Speed: string(Economy),
		Amount: "0.01", Currency: string(usDollar), Notes: prenoteDescription, ExternalReferenceID: of.Reference,
	}
	f, err := s.gatherTx(ctx, tx, by.Tenant, wantedBy([]*Order{o}, now))
	if err != nil {
		return nil, err
	}
	account, err := f.party(s, by, "sender", o.Sender)
	if err != nil {
		return nil, fault.Called(err, depositWords)
	}
	o.SECCode = account.class(o.entryType())
	if err := o.Form(); err != nil {
		return nil, fault.Called(err, depositWords)
	}
	p, err := f.drawOrder(s, by, o, now) // which is not made
	if err != nil {
		return nil, fault.Called(o.called(err), depositWords)
	}
	slot := calendar.Default().Plan(calendar.ACH, now, time.Time{})
	n := &Prenote{
		Tenant: by.Tenant, Customer: p.Customer, Contact: of.Contact, Origin: p.entry.Origin, Class: p.entry.Class,
		CompanyID: p.entry.CompanyID, CompanyName: p.entry.CompanyName, Account: p.entry.Account,
		BankID: p.details.BankID, Name: p.ReceiverName, Reference: of.Reference, SettlesOn: slot.Settles,
		SendAt: slot.Sent,
	}
	if err := db.Raw(tx, `SELECT nextval('ach_prenote_ids')`).Scan(ctx, &n.ID); err != nil {
		return nil, fmt.Errorf("number a prenote: %w", err)
	}
	return n, db.InsertAtCommit(ctx, []*Prenote{n})
}

// WithdrawTx keeps a prenote from going out, unless it is in a file already.
func WithdrawTx(ctx context.Context, tenant access.Tenant, id PrenoteID) error {
	return db.ExecAtCommit(ctx,
		`UPDATE ach_prenotes SET withdrawn = true WHERE tenant = $1 AND id = $2 AND file IS NULL`,
		tenant, int64(id))
}

// batch returns the batch that a prenote belongs to if it goes out now.
func (n *Prenote) batch(f *file) nacha.Batch {
	if !n.SettlesOn.After(calendar.Today(f.now)) { // its file is late
		n.SettlesOn = f.settles()
	}
	return nacha.Batch{
		Class: n.Class, CompanyID: n.CompanyID, CompanyName: n.CompanyName, Description: prenoteDescription,
		Effective: n.SettlesOn, Only: rails.Credit, Bank: n.Origin,
	}
}

// line returns the prenote as a file of ACH has it, with this account number.
func (n *Prenote) line(number string) nacha.Entry {
	return nacha.Entry{
		Account: n.Account, Direction: rails.Credit, Kind: nacha.Prenote, Amount: money.Of(0, usDollar),
		Routing: n.BankID, Number: number, Name: n.Name, ID: n.Reference,
	}
}

// waitingPrenote is a prenote that goes out in the next file.
type waitingPrenote struct {
	Prenote  `bun:",extend"`
	Sealed   []byte `bun:"sealed"` // the contact's account number
	BankName string `bun:"bank_name"`
}

// prenoteTx writes the waiting prenotes into the file. failed says which cannot be written: they go on
// waiting.
func (f *file) prenoteTx(ctx context.Context, s *Service, tx bun.Tx) (failed, err error) {
	var rows []*waitingPrenote
	err = tx.NewSelect().Model(&rows).ColumnExpr("pn.*, k.bank_account_number_sealed AS sealed").
		ColumnExpr(`coalesce((SELECT a.bank_name FROM accounts AS a
			WHERE a.tenant = ?0 AND a.bank_id = pn.origin LIMIT 1), '') AS bank_name`, f.tenant).
		Join("JOIN contacts AS k ON k.tenant = pn.tenant AND k.uid = pn.contact").
		Where("pn.tenant = ?0 AND k.tenant = ?0", f.tenant).Where("pn.origin = ?", f.origin).
		Where("pn.file IS NULL AND NOT pn.withdrawn AND pn.send_at <= ?", f.now).
		OrderExpr("pn.company_id, pn.company_name, pn.class, pn.settles_on, pn.id").
		Limit(int64(max(0, f.most-f.entries()))).Scan(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range rows {
		trace, err := f.addPrenote(s, n)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("prenote %d: %w", n.ID, err))
			continue
		}
		n.Trace = trace
		f.prenotes = append(f.prenotes, &n.Prenote)
	}
	return failed, nil
}

func (f *file) addPrenote(s *Service, n *waitingPrenote) (trace string, err error) {
	if err := f.begin(n.BankName, n.batch(f)); err != nil {
		return "", err
	}
	number, err := s.keys.Open(seal.Value{Sealed: n.Sealed},
		seal.Place{Tenant: int64(n.Tenant), Column: contacts.NumberColumn, Row: int64(n.Contact)})
	if err != nil {
		return "", fmt.Errorf("open the account number of contact %s: %w", n.Contact, err)
	}
	return f.writer.Entry(n.line(number))
}

// prenotedTx writes which prenotes the file has, at the end of the transaction.
func (f *file) prenotedTx(ctx context.Context) error {
	if len(f.prenotes) == 0 {
		return nil
	}
	var ids []int64
	var traces, days []string
	for _, n := range f.prenotes {
		ids, traces = append(ids, int64(n.ID)), append(traces, n.Trace)
		days = append(days, n.SettlesOn.Format(time.DateOnly))
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_prenotes AS pn
		SET file = $2, trace = n.trace, settles_on = n.day::date
		FROM unnest($3::bigint[], $4::text[], $5::text[]) AS n(id, trace, day)
		WHERE pn.tenant = $1 AND pn.id = n.id`, f.tenant, f.id, ids, traces, days)
}

// prenotesAnsweredTx writes what other banks say of prenotes, at the end of the transaction. The first return
// counts, and the first notice of change.
func prenotesAnsweredTx(ctx context.Context, tenant access.Tenant, answers []*incoming) error {
	var ids []int64
	var returns, notices, last4s, routings, types []string
	for _, a := range answers {
		if a.prenote == 0 {
			continue
		}
		ids = append(ids, int64(a.prenote))
		if a.says == returned {
			returns, notices = append(returns, a.code), append(notices, "")
		} else {
			returns, notices = append(returns, ""), append(notices, a.code)
		}
		c := a.change
		if c == nil {
			c = new(nacha.Change)
		}
		last4s, routings = append(last4s, seal.Mask(c.Account).Last4), append(routings, c.Routing)
		types = append(types, string(c.AccountType))
	}
	if len(ids) == 0 {
		return nil
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_prenotes AS pn
		SET return_code = CASE WHEN pn.return_code = '' THEN n.return ELSE pn.return_code END,
		  notice_code = CASE WHEN pn.notice_code = '' THEN n.notice ELSE pn.notice_code END,
		  right_last4 = CASE WHEN pn.notice_code = '' THEN n.last4 ELSE pn.right_last4 END,
		  right_routing = CASE WHEN pn.notice_code = '' THEN n.routing ELSE pn.right_routing END,
		  right_account = CASE WHEN pn.notice_code = '' THEN n.account ELSE pn.right_account END
		FROM (SELECT id, max(code) AS return, max(notice) AS notice, max(last4) AS last4, max(routing) AS routing,
		    max(account) AS account
		  FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
		    AS u(id, code, notice, last4, routing, account) GROUP BY id) AS n
		WHERE pn.tenant = $1 AND pn.id = n.id`, tenant, ids, returns, notices, last4s, routings, types)
}
