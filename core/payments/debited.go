package payments

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/banks"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Debited is an entry of ACH by which another bank debits an account here (rest/CONTRACT.md, incoming debits). It is a
// payment unless no account has its number. What is not paid goes back with a reason.
type Debited struct {
	bun.BaseModel `bun:"table:ach_debits,alias:ad" json:"-"`

	Tenant       access.Tenant     `bun:"tenant,pk" json:"-"`
	ID           int64             `bun:"id,pk" json:"-"`
	Message      MessageID         `bun:"message" json:"-"` // the file in which it came
	Line         int               `bun:"line" json:"-"`
	Trace        string            `bun:"trace" json:"-"` // its number, by which the bank that sent it knows it
	SettlesOn    time.Time         `bun:"settles_on,type:date" json:"-"`
	Payment      UID               `bun:"payment,nullzero" json:"-"`
	Bank         string            `bun:"bank" json:"-"`   // that sent it
	Origin       string            `bun:"origin" json:"-"` // to which it was sent: where its return comes from
	Class        rails.SECCode     `bun:"class" json:"-"`
	CompanyID    string            `bun:"company_id" json:"-"`
	CompanyName  string            `bun:"company_name" json:"-"`
	Description  string            `bun:"description" json:"-"`
	Account      rails.AccountType `bun:"account" json:"-"`
	Name         string            `bun:"name" json:"-"`
	IndividualID string            `bun:"individual_id" json:"-"`
	Data         string            `bun:"data" json:"-"`
	Minor        int64             `bun:"amount" json:"-"`
	Number       seal.Value        `bun:"embed:number_" json:"-"`
	ReturnCode   string            `bun:"return_code" json:"-"` // '' if it does not go back
	ReturnedAt   *time.Time        `bun:"returned_at" json:"-"` // when that was decided
	File         MessageID         `bun:"file,nullzero" json:"-"`
	ReturnTrace  string            `bun:"return_trace" json:"-"`
}

// DebitedColumn names the column for which the account numbers of entries that came in are sealed (seal.Place).
const DebitedColumn = "ach_debits.number"

func (d *Debited) place() seal.Place {
	return seal.Place{Tenant: int64(d.Tenant), Column: DebitedColumn, Row: d.ID}
}

// The reasons of ACH for which entries go back.
const (
	noFunds       = "R01"
	closed        = "R02"
	unknown       = "R03"
	unauthorized  = "R10" // by a consumer
	blocked       = "R16"
	notDebitable  = "R20"
	notAuthorized = "R29" // by a company
)

// corporate are the classes of entries between companies.
var corporate = map[rails.SECCode]bool{rails.CCD: true, rails.CTX: true}

// notWanted is the reason for which an entry goes back that nobody has agreed to.
func notWanted(class string) string {
	if corporate[rails.SECCode(class)] {
		return notAuthorized
	}
	return unauthorized
}

// isDebit reports whether an entry of another bank debits an account.
func isDebit(e *nacha.Entry) bool {
	return e.Direction == rails.Debit && e.Kind == nacha.Live && e.Dishonour == nil && e.Contest == nil &&
		e.Amount.Minor > 0 && e.Number != ""
}

// The last times at which people may decide on a debit: at the end of the banking day after it came, and before its
// return would be late, which has to be with the other bank when the second banking day after settlement opens.
const (
	decisionCutOff = 17 * time.Hour          // in the bank's zone
	returnCutOff   = calendar.Clock(22 * 60) // in New York, of the day after settlement
)

// decideUntil returns until when people may decide on a debit that came at a time.
func decideUntil(came, settlesOn time.Time, zone *time.Location) time.Time {
	next := calendar.Next(ledger.Day(came.In(zone)), 1)
	until := time.Date(next.Year(), next.Month(), next.Day(), 0, 0, 0, 0, zone).Add(decisionCutOff)
	if latest := returnCutOff.On(calendar.Next(settlesOn, 1)); latest.Before(until) {
		return latest
	}
	return until
}

type knownDebit struct {
	Trace     string    `bun:"trace"`
	SettlesOn time.Time `bun:"settles_on,type:date"`
	Payment   UID       `bun:"payment"`
}

type debitID struct {
	ID int64 `bun:"id"`
}

var (
	// two workers who have the same file take its entries one after the other
	lockingFile   = db.NewQuery[messageID](`SELECT id FROM network_messages WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE`)
	readingDebits = db.NewQuery[knownDebit](`SELECT trace, settles_on, coalesce(payment, 0) AS payment FROM ach_debits
		WHERE tenant = $1 AND trace = ANY($2::text[])`)
	takingDebitIDs = db.NewQuery[debitID](`SELECT nextval('ach_debit_ids') AS id FROM generate_series(1, $1::bigint)`)
)

// takeDebitsTx takes in entries of a file that debit accounts here and are not on record: each becomes a payment, which
// waits for its settlement or for people, or goes back. An entry that comes again, in whatever file, counts once.
func (s *Service) takeDebitsTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, in MessageID, lines []*answer,
) error {
	fresh, rows, err := s.freshTx(ctx, tx, caller.Tenant, in, now, lines)
	if err != nil {
		return err
	}
	w := want{created: len(fresh)}
	for _, e := range fresh {
		w.payees = append(w.payees, Party{Number: e.number})
		w.banks = append(w.banks, banks.Routing(e.Bank))
	}
	work := &debitWork{intake: s.intake(caller, now)}
	if work.f, err = s.gatherTx(ctx, tx, caller.Tenant, w); err != nil {
		return err
	}
	var entries []*Entry
	var debits []*Debited
	var waiting []*Payment
	var screened []*positivepay.Screened
	for _, e := range fresh {
		debits = append(debits, &e.Debited)
		to := work.f.parties[work.f.numbered(s, e.number)]
		if to == nil || to.BankID != e.Origin || to.SystemOfRecord != accounts.InternalCore || work.f.books.Of(to.Account) == nil {
			e.ReturnCode, e.ReturnedAt = unknown, &now
			e.row.Code = e.ReturnCode
			continue
		}
		p := work.receive(e, to)
		e.Payment, e.row.Payment, entries = p.UID, p.UID, append(entries, e.entry(p))
		switch code := to.undebitable(); {
		case code != "":
			e.ReturnCode, e.ReturnedAt, e.row.Code = code, &now, code
			work.refuse(p, code)
		case to.PositivePay:
			waiting, screened = append(waiting, p), append(screened, work.f.screened(e, p))
		default:
			work.begin(p, Validated, "")
		}
	}
	exceptions, err := positivepay.ScreenTx(ctx, tx, caller, now, screened, func(d *positivepay.Screened) time.Time {
		return decideUntil(now, d.DebitDate, caller.Location())
	})
	if err != nil {
		return err
	}
	for i, e := range exceptions {
		if e.Status == positivepay.AutoMatched {
			work.begin(waiting[i], Validated, "")
		} else {
			work.begin(waiting[i], OnHold, "positive pay: "+string(e.Reason))
		}
		work.told = append(work.told, changes.Change{
			Action: "screenDebit", Object: positivepay.ExceptionObject, UID: e.UID, Customer: int64(e.Customer),
			Version: e.Version, After: e,
		})
	}
	return errors.Join(work.writeTx(ctx, tx), db.InsertAtCommit(ctx, entries), db.InsertAtCommit(ctx, debits),
		db.InsertAtCommit(ctx, exceptions), db.InsertAtCommit(ctx, rows))
}

// arrivedDebit is an entry that debits an account here, as it is taken in.
type arrivedDebit struct {
	Debited

	number     string // of the account
	remittance string
	sameDay    bool
	row        *Answered // of the line
}

// freshTx returns the entries of lines that are not on record, and the rows of all lines that are not.
func (s *Service) freshTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, in MessageID, now time.Time, lines []*answer,
) (fresh []*arrivedDebit, rows []*Answered, err error) {
	var numbers []int32
	var traces []string
	for _, a := range lines {
		numbers, traces = append(numbers, int32(a.line)), append(traces, a.debit.Trace)
	}
	b := db.TxBatch(tx)
	locked := db.Queue(b, lockingFile, tenant, in)
	done := db.Queue(b, readingAnswered, tenant, in, numbers)
	found, ids := db.Queue(b, readingDebits, tenant, traces), db.Queue(b, takingDebitIDs, len(lines))
	if err := errors.Join(b.Send(ctx), locked.Err); err != nil {
		return nil, nil, err
	}
	before, known := map[int]bool{}, map[string]UID{}
	for _, d := range done.Items {
		before[d.Line] = true
	}
	key := func(trace string, day time.Time) string { return trace + " " + day.Format(time.DateOnly) }
	for _, k := range found.Items {
		known[key(k.Trace, k.SettlesOn)] = k.Payment
	}
	for i, a := range lines {
		if before[a.line] {
			continue
		}
		e := s.debited(a, tenant, ids.Items[i].ID, in, now)
		e.row = &Answered{Tenant: tenant, Message: in, Line: a.line, Trace: e.Trace, Code: "entry"}
		rows = append(rows, e.row)
		if of, again := known[key(e.Trace, e.SettlesOn)]; again {
			e.row.Payment = of
			continue
		}
		known[key(e.Trace, e.SettlesOn)] = 0
		fresh = append(fresh, e)
	}
	return fresh, rows, nil
}

// debited is the entry of a line.
func (s *Service) debited(a *answer, tenant access.Tenant, id int64, in MessageID, now time.Time) *arrivedDebit {
	e, batch := a.debit, a.batch
	d := &arrivedDebit{
		Debited: Debited{
			Tenant: tenant, ID: id, Message: in, Line: a.line, Trace: e.Trace, SettlesOn: calendar.Next(batch.Effective, 0),
			Bank: nacha.Routing(batch.Bank), Origin: e.Routing, Class: batch.Class, CompanyID: batch.CompanyID,
			CompanyName: batch.CompanyName, Description: batch.Description, Account: e.Account, Name: e.Name,
			IndividualID: e.ID, Data: e.Data, Minor: e.Amount.Minor,
		},
		number: e.Number, remittance: e.Remittance, sameDay: batch.SameDay,
	}
	if today := calendar.Next(calendar.Today(now), 0); d.SettlesOn.Before(today) {
		d.SettlesOn = today // a file that came late
	}
	d.Number = s.keys.Seal(d.number, d.place())
	return d
}

// receive makes a payment of an entry. It has no state yet.
func (w *debitWork) receive(e *arrivedDebit, from *party) *Payment {
	service := calendar.ACH
	if e.sameDay {
		service = calendar.SameDayACH
	}
	settles := calendar.SettlesAt(service, e.SettlesOn, w.now)
	p := &Payment{
		Tenant: e.Tenant, UID: w.f.uids[0], Customer: from.Customer, Direction: In, EntryType: rails.Debit, Rail: rails.ACH,
		Minor: e.Minor, Currency: usDollar, Date: e.SettlesOn, ExternalReferenceID: e.IndividualID, Notes: e.Description,
		Channel: string(rails.ACH), SenderAccount: from.Account, SenderName: from.Name, ReceiverName: e.CompanyName,
		SettlesAt: &settles, MakerClient: w.caller.Client, MakerLogin: w.caller.LoginID, CreatedAt: w.now, UpdatedAt: w.now,
	}
	w.f.uids = w.f.uids[1:]
	w.by[p.UID] = p
	p.details = &Details{
		Tenant: p.Tenant, Payment: p.UID, BankID: e.Bank, BankName: w.f.bankName(e.Bank), Remittance: e.remittance,
		Reference: e.IndividualID,
	}
	return p
}

const usDollar money.Currency = "USD"

// bankName returns what the directory calls a bank; empty for one that it does not know.
func (f *facts) bankName(number string) string {
	if bank, err := banks.First(f.banks, banks.Routing(number)); err == nil && bank != nil {
		return bank.Name
	}
	return ""
}

// entry is what ACH says of the payment.
func (e *arrivedDebit) entry(p *Payment) *Entry {
	return &Entry{
		Tenant: p.Tenant, Payment: p.UID, Origin: e.Origin, EntryType: rails.Debit, Class: e.Class, CompanyID: e.CompanyID,
		CompanyName: e.CompanyName, Description: e.Description, Account: e.Account, SameDay: e.sameDay, SettlesOn: e.SettlesOn,
		Trace: e.Trace,
	}
}

// screened is what positive pay asks of an entry.
func (f *facts) screened(e *arrivedDebit, p *Payment) *positivepay.Screened {
	return &positivepay.Screened{
		Payment: int64(p.UID), Customer: p.Customer, Account: p.SenderAccount, Type: positivepay.ACH, CompanyID: e.CompanyID,
		Name: e.CompanyName, BankID: e.Bank, BankName: p.details.BankName, Class: string(e.Class),
		IndividualID: e.IndividualID, Amount: p.Amount(), DebitDate: e.SettlesOn,
	}
}

// undebitable returns why ACH does not debit an account, as a reason of ACH; "" if it does.
func (a *party) undebitable() string {
	switch {
	case a.Status == accounts.Closed:
		return closed
	case a.Status != accounts.Active, !customers.InBusiness(a.CustomerStatus),
		a.PartnerStatus != "" && !customers.InBusiness(a.PartnerStatus):
		return blocked
	case a.Currency != usDollar, !a.ACH, accountTypes[string(a.SubType)] == rails.Loan:
		return notDebitable
	}
	return ""
}
