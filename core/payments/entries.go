package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/banks"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/core/virtualaccounts"
	"bankgraph/db"
)

// Received is an entry of ACH by which another bank credits (rest/CONTRACT.md, incoming credits over ACH) or
// debits an account here (rest/CONTRACT.md, incoming debits). It is a payment if it moves money, unless no
// account has its number. An entry that is not taken goes back with a reason.
type Received struct {
	bun.BaseModel `bun:"table:ach_received,alias:ar" json:"-"`

	Tenant    access.Tenant   `bun:"tenant,pk" json:"-"`
	ID        int64           `bun:"id,pk" json:"-"`
	Direction rails.EntryType `bun:"direction" json:"-"` // what it does to the account here
	Message   MessageID       `bun:"message" json:"-"`   // the file in which it came
	Line      int             `bun:"line" json:"-"`
	Batch     int             `bun:"batch" json:"-"` // the number of its batch in the file
	Alike     int             `bun:"alike" json:"-"` // which one it is there of those that say the same, from 1
	// its number, from the bank that sent it
	Trace string `bun:"trace" json:"-"`
	// the day that its bank asks for, though it may have passed
	SettlesOn    time.Time         `bun:"settles_on,type:date" json:"-"`
	Payment      UID               `bun:"payment,nullzero" json:"-"`
	Bank         string            `bun:"bank" json:"-"`   // that sent it
	Origin       string            `bun:"origin" json:"-"` // that it was sent to, and its return comes from
	Class        rails.SECCode     `bun:"class" json:"-"`
	CompanyID    string            `bun:"company_id" json:"-"`
	CompanyName  string            `bun:"company_name" json:"-"`
	Description  string            `bun:"description" json:"-"`
	Account      rails.AccountType `bun:"account" json:"-"`
	Name         string            `bun:"name" json:"-"`
	IndividualID string            `bun:"individual_id" json:"-"`
	Data         string            `bun:"data" json:"-"`
	Minor        int64             `bun:"amount" json:"-"` // 0 if it only asks or tells something
	Number       seal.Value        `bun:"embed:number_" json:"-"`
	ReturnCode   string            `bun:"return_code" json:"-"` // '' if it does not go back
	ReturnedAt   *time.Time        `bun:"returned_at" json:"-"` // when that was decided
	File         MessageID         `bun:"file,nullzero" json:"-"`
	ReturnTrace  string            `bun:"return_trace" json:"-"`
	// what only an entry of IAT says, which its return repeats, sealed; nil for other classes
	Abroad []byte `bun:"abroad_sealed,type:bytea" json:"-"`
}

// ReceivedColumn names the column for which the account numbers of entries that came in are sealed
// (seal.Place). It keeps the former name of the table, to which the sealed values are bound.
const ReceivedColumn = "ach_debits.number"

// ReceivedAbroadColumn names the column for which what only entries of IAT that came in say is sealed
// (seal.Place).
const ReceivedAbroadColumn = "ach_received.abroad"

func (e *Received) place() seal.Place { return e.placeOf(ReceivedColumn) }

func (e *Received) placeOf(column string) seal.Place {
	return seal.Place{Tenant: int64(e.Tenant), Column: column, Row: e.ID}
}

// The reasons of ACH for which entries go back.
const (
	noFunds       = "R01"
	closed        = "R02"
	unknown       = "R03"
	wrongNumber   = "R04"
	unauthorized  = "R10" // by a consumer
	blocked       = "R16"
	unprocessable = "R17"
	notTaken      = "R20"
	notWantedHere = "R23"
	notAuthorized = "R29" // by a company
)

// corporate are the classes of entries between companies.
var corporate = map[rails.SECCode]bool{rails.CCD: true, rails.CTX: true}

// notWanted returns the return reason, by the entry's class, of an entry that nobody has agreed to.
func notWanted(class string) string {
	if corporate[rails.SECCode(class)] {
		return notAuthorized
	}
	return unauthorized
}

// isReceived reports whether an entry of another bank is for an account: it moves money, asks whether the
// account is there, or tells its holder something.
func isReceived(b *nacha.Batch, e *nacha.Entry) bool {
	return e.Dishonour == nil && e.Contest == nil && b.Class != rails.ENR && (e.Number != "" || e.Wrong != nil)
}

// The deadlines of decisions on a debit: the end of the banking day after it came, and the last time at which
// its return still reaches the other bank before that opens on the second banking day after settlement.
const (
	decisionCutOff = 17                      // o'clock in the bank's zone
	returnCutOff   = calendar.Clock(22 * 60) // in New York, of the day after settlement
)

// decideUntil returns the deadline of a decision on a debit that came at a time: the earlier of the two.
func decideUntil(came, settlesOn time.Time, zone *time.Location) time.Time {
	next := calendar.Next(ledger.Day(came.In(zone)), 1)
	until := time.Date(next.Year(), next.Month(), next.Day(), decisionCutOff, 0, 0, 0, zone)
	if latest := returnUntil(settlesOn); latest.Before(until) {
		return latest
	}
	return until
}

// returnUntil returns the last time at which the return of an entry that settles on a day still comes in
// time.
func returnUntil(settlesOn time.Time) time.Time { return returnCutOff.On(calendar.Next(settlesOn, 1)) }

// saidEntry is all that tells an entry from others. Banks number the entries of each batch anew, so two of
// one number, day, amount and company may be two payments: they are if anything else differs.
type saidEntry struct {
	Trace        string          `bun:"trace"`
	SettlesOn    time.Time       `bun:"settles_on,type:date"`
	Direction    rails.EntryType `bun:"direction"`
	Minor        int64           `bun:"amount"`
	CompanyID    string          `bun:"company_id"`
	Class        rails.SECCode   `bun:"class"`
	Description  string          `bun:"description"`
	Batch        int             `bun:"batch"` // its number; notKept if that was not kept
	IndividualID string          `bun:"individual_id"`
	Name         string          `bun:"name"`
	Alike        int             `bun:"alike"` // which one of its file it is of those that say the same
}

// notKept is the number of a batch of an entry that an earlier release took in.
const notKept = -1

// knownEntry is an entry that is on record.
type knownEntry struct {
	saidEntry `bun:",extend"`

	Hash    []byte    `bun:"number_hash"` // of the account
	Message MessageID `bun:"message"`
	File    string    `bun:"file_id"`
	Line    int       `bun:"line"`
	Payment UID       `bun:"payment"`
}

// numberedEntry is an entry with the account that it names, by the hash of the number, or by the number
// itself.
type numberedEntry struct {
	saidEntry

	number string
}

// said returns what tells an entry from others.
func (e *Received) said() saidEntry {
	return saidEntry{
		e.Trace, ledger.Day(e.SettlesOn.UTC()), e.Direction, e.Minor, e.CompanyID, e.Class, e.Description,
		e.Batch, e.IndividualID, e.Name, e.Alike,
	}
}

// countAlike numbers the entries of a whole file that say the same: each is an entry of its own, and the file
// that comes again has as many.
func countAlike(entries []*incoming) {
	seen := map[numberedEntry]int{}
	for _, a := range entries {
		r := receivedOf(a)
		is := numberedEntry{r.said(), strings.ToUpper(strings.TrimSpace(r.number))} // as its hash takes it
		seen[is]++
		a.alike = seen[is]
	}
}

type receivedID struct {
	ID int64 `bun:"id"`
}

var (
	// lockingFile makes two workers with the same file take its entries one after the other.
	lockingFile = db.NewQuery[messageID](`SELECT id FROM network_messages
		WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE`)
	readingReceived = db.NewQuery[knownEntry](`SELECT ar.trace, ar.settles_on, ar.direction, ar.amount,
		ar.company_id, ar.class, ar.description, coalesce(ar.batch, -1) AS batch, ar.individual_id, ar.name,
		ar.alike, ar.number_hash, ar.message, nm.message_id AS file_id, ar.line,
		coalesce(ar.payment, 0) AS payment
		FROM ach_received AS ar JOIN network_messages AS nm ON nm.tenant = ar.tenant AND nm.id = ar.message
		WHERE ar.tenant = $1 AND nm.tenant = $1 AND ar.trace = ANY($2::text[])
		  AND ar.settles_on = ANY($3::text[]::date[]) AND ar.message <> $4`)
	takingReceivedIDs = db.NewQuery[receivedID](`SELECT nextval('ach_debit_ids') AS id
		FROM generate_series(1, $1::bigint)`)
)

// receiveEntriesTx takes in the entries of a file that are for accounts here and not on record. Each that
// moves money becomes a payment, which waits for its settlement or for people, or goes back. An entry that
// comes again in another file counts once, and people see that it came.
func (s *Service) receiveEntriesTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, in *incoming, lines []*incoming,
) error {
	fresh, rows, again, err := s.freshTx(ctx, tx, caller.Tenant, now, in, lines)
	if err != nil {
		return err
	}
	w := want{created: len(fresh), screened: true}
	for _, e := range fresh {
		w.payees = append(w.payees, Party{Number: e.names})
		w.banks = append(w.banks, banks.Routing(e.Bank))
		if e.Direction == rails.Credit {
			w.virtual = append(w.virtual, e.names)
		}
	}
	work := &entryWork{intake: s.intake(caller, now)}
	if work.f, err = s.gatherTx(ctx, tx, caller.Tenant, w); err != nil {
		return err
	}
	var entries []*Entry
	var received []*Received
	var waiting []*Payment
	var screened []*positivepay.Screened
	for _, e := range fresh {
		received = append(received, &e.Received)
		if e.faulty != "" { // no payment comes of it
			e.ReturnCode, e.ReturnedAt, e.row.Code = e.faulty, &now, e.faulty
			continue
		}
		to, virtual := work.f.holder(s, e)
		if to == nil {
			e.ReturnCode, e.ReturnedAt = unknown, &now
			e.row.Code = e.ReturnCode
			continue
		}
		if e.Minor == 0 { // it is on record, and asks for nothing more
			continue
		}
		p := work.receive(e, to, virtual)
		e.Payment, e.row.Payment, entries = p.UID, p.UID, append(entries, e.entry(p))
		switch code := cmp.Or(to.untaken(), notCreditable(virtual)); {
		case code != "":
			e.ReturnCode, e.ReturnedAt, e.row.Code = code, &now, code
			work.refuse(p, code)
		case work.f.screenReceived(p, now):
			work.begin(p, Screening, "")
		case e.Direction == rails.Debit && to.PositivePay:
			waiting, screened = append(waiting, p), append(screened, e.screened(p))
		default:
			work.begin(p, Validated, "")
		}
	}
	exceptions, err := work.screenDebitsTx(ctx, tx, waiting, screened)
	if err != nil {
		return err
	}
	return errors.Join(work.writeTx(ctx, tx), db.InsertAtCommit(ctx, entries),
		db.InsertAtCommit(ctx, received),
		db.InsertAtCommit(ctx, exceptions), db.InsertAtCommit(ctx, rows), db.InsertAtCommit(ctx, again))
}

// screenDebitsTx puts debits of accounts with positive pay into the states that their rules lead to, and
// returns what is to be written of that.
func (w *entryWork) screenDebitsTx(
	ctx context.Context, tx bun.Tx, waiting []*Payment, screened []*positivepay.Screened,
) ([]*positivepay.Exception, error) {
	exceptions, err := positivepay.ScreenTx(ctx, tx, w.caller, w.now, screened,
		func(d *positivepay.Screened) time.Time {
			return decideUntil(w.now, d.DebitDate, w.caller.Location())
		})
	if err != nil {
		return nil, err
	}
	for i, e := range exceptions {
		to, reason := enteredWith(e)
		w.begin(waiting[i], to, reason)
		w.changes = append(w.changes, screenedDebit(e))
	}
	return exceptions, nil
}

// holder returns the account that an entry is for, and the virtual account on it that a credit names; nil if
// no account kept here has its number at its routing number.
func (f *facts) holder(s *Service, e *arrivedEntry) (to *party, virtual *virtualaccounts.Creditable) {
	if e.Direction == rails.Credit {
		to, virtual = f.creditor(s, e.names)
	} else {
		to = f.parties[f.numbered(s, e.names)]
	}
	if to == nil || to.BankID != e.Origin || to.SystemOfRecord != accounts.InternalCore ||
		f.books.Of(to.Account) == nil {
		return nil, nil
	}
	return to, virtual
}

// arrivedEntry is an entry for an account here, as it is taken in.
type arrivedEntry struct {
	Received

	number     string // of the account
	names      string // likewise, without the signs that no account here has
	remittance string
	sameDay    bool
	abroad     *nacha.International // of an entry of IAT, or nil
	way        nacha.Abroad
	row        *Answered // of the line
	faulty     string    // the return reason of an entry that has a fault; "" if it has none
}

// freshTx returns, of lines that are not on record, the entries that did not come before, and the rows of all
// lines; again tells people of those that are the same as one of an earlier file. Lines of one file are never
// the same.
func (s *Service) freshTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, now time.Time, in *incoming, lines []*incoming,
) (fresh []*arrivedEntry, rows []*Answered, again []*Message, err error) {
	var numbers []int32
	var traces, days []string
	for _, a := range lines {
		numbers, traces = append(numbers, int32(a.line)), append(traces, a.entry.Trace)
		days = append(days, receivedOf(a).SettlesOn.Format(time.DateOnly))
	}
	b := db.TxBatch(tx)
	locked := db.Queue(b, lockingFile, tenant, in.number)
	done := db.Queue(b, readingAnswered, tenant, in.number, numbers)
	found := db.Queue(b, readingReceived, tenant, traces, days, in.number)
	ids := db.Queue(b, takingReceivedIDs, len(lines))
	if err := errors.Join(b.Send(ctx), locked.Err); err != nil {
		return nil, nil, nil, err
	}
	before, known := map[int]bool{}, map[numberedEntry]*knownEntry{}
	for _, d := range done.Items {
		before[d.Line] = true
	}
	for _, k := range found.Items {
		k.SettlesOn = ledger.Day(k.SettlesOn.UTC())
		known[numberedEntry{k.saidEntry, string(k.Hash)}] = k
	}
	var same []*incoming
	for i, a := range lines {
		if before[a.line] {
			continue
		}
		e := s.received(a, tenant, ids.Items[i].ID, in.number)
		e.row = &Answered{Tenant: tenant, Message: in.number, Line: a.line, Trace: e.Trace, Code: "entry"}
		rows = append(rows, e.row)
		if k := s.knownAs(e, known); k != nil {
			e.row.Payment = k.Payment
			a.wrong = fmt.Sprintf("the same entry came in line %d of file %s", k.Line, k.File)
			same = append(same, a)
			continue
		}
		fresh = append(fresh, e)
	}
	again, err = leftTx(ctx, tx, tenant, now, in, same)
	return fresh, rows, again, err
}

// knownAs returns the entry on record that an entry is; nil if it is none of them.
func (s *Service) knownAs(e *arrivedEntry, known map[numberedEntry]*knownEntry) *knownEntry {
	said := e.said()
	for _, hash := range s.keys.Hashes(int64(e.Tenant), ReceivedColumn, e.number) {
		for _, batch := range []int{e.Batch, notKept} {
			said.Batch = batch
			if k := known[numberedEntry{said, string(hash)}]; k != nil {
				return k
			}
		}
	}
	return nil
}

// received returns the entry of a line.
func (s *Service) received(a *incoming, tenant access.Tenant, id int64, in MessageID) *arrivedEntry {
	r := receivedOf(a)
	r.Tenant, r.ID, r.Message, r.faulty = tenant, id, in, a.back
	r.Number, r.names = s.keys.Seal(r.number, r.place()), partless.Replace(r.number)
	if r.abroad != nil {
		r.keepAbroad(s.keys)
	}
	return r
}

// partless takes out of an account number what other banks part it by, as ACH lets them: accounts here, and
// virtual accounts, have letters and digits alone, so this makes no number that of another account.
var partless = strings.NewReplacer("-", "", " ", "")

// receivedOf returns what an entry says.
func receivedOf(a *incoming) *arrivedEntry {
	e, batch := a.entry, a.batch
	r := &arrivedEntry{
		Received: Received{
			Direction: e.Direction, Line: a.line, Trace: e.Trace, SettlesOn: batch.Effective,
			Bank: nacha.Routing(batch.Bank), Origin: e.Routing, Class: batch.Class, CompanyID: batch.CompanyID,
			CompanyName: batch.CompanyName, Description: batch.Description, Account: e.Account, Name: e.Name,
			IndividualID: e.ID, Data: e.Data, Minor: e.Amount.Minor, Batch: batch.Number, Alike: a.alike,
		},
		number: cmp.Or(e.Number, nacha.Blank), remittance: e.Remittance, sameDay: batch.SameDay,
		abroad: e.International, way: batch.Abroad,
	}
	if !r.SettlesOn.IsZero() { // as of one with a fault
		r.SettlesOn = calendar.Next(r.SettlesOn, 0)
	}
	if e.Wrong != nil && len(e.Routing) == 9 {
		r.Origin = nacha.Routing(e.Routing[:8]) // it came here by these
	}
	if r.abroad != nil { // its batch has no name: the originator is the company
		r.CompanyName = r.abroad.Originator.Name
	}
	return r
}

// receive makes a payment of an entry for an account. virtual is the virtual account on it that the entry
// names, or nil. The payment has no state yet.
func (w *entryWork) receive(e *arrivedEntry, of *party, virtual *virtualaccounts.Creditable) *Payment {
	service := calendar.ACH
	if e.sameDay {
		service = calendar.SameDayACH
	}
	on := e.SettlesOn
	if today := calendar.Next(calendar.Today(w.now), 0); on.Before(today) {
		on = today // the file came late
	}
	settles := calendar.SettlesAt(service, on, w.now)
	p := &Payment{
		Tenant: e.Tenant, UID: w.f.uids[0], Customer: of.Customer, Direction: In, EntryType: e.Direction,
		Rail: rails.ACH, Minor: e.Minor, Currency: usDollar, Date: on, ExternalReferenceID: e.IndividualID,
		Notes: e.Description, Channel: string(rails.ACH), SettlesAt: &settles, MakerClient: w.caller.Client,
		MakerLogin: w.caller.LoginID, CreatedAt: w.now, UpdatedAt: w.now,
	}
	if e.Direction == rails.Debit {
		p.SenderAccount, p.SenderName, p.ReceiverName = of.Account, of.Name, e.CompanyName
	} else {
		p.ReceiverAccount, p.ReceiverCustomer, p.ReceiverName, p.SenderName = of.Account, of.Customer,
			of.Name, e.CompanyName
	}
	if virtual != nil {
		p.Virtual = virtual.UID
	}
	w.f.uids = w.f.uids[1:]
	w.by[p.UID] = p
	p.details = &Details{
		Tenant: p.Tenant, Payment: p.UID, BankID: e.Bank, BankName: w.f.bankName(e.Bank), Remittance: e.remittance,
		Reference: e.IndividualID,
	}
	if e.abroad != nil {
		p.details.fromAbroad(e.abroad)
	}
	return p
}

const usDollar money.Currency = "USD"

// bankName returns the directory's name of a bank; "" for a bank that it does not know.
func (f *facts) bankName(number string) string {
	if bank, err := banks.First(f.banks, banks.Routing(number)); err == nil && bank != nil {
		return bank.Name
	}
	return ""
}

// entry returns what ACH says of the payment.
func (e *arrivedEntry) entry(p *Payment) *Entry {
	entry := &Entry{
		Tenant: p.Tenant, Payment: p.UID, Origin: e.Origin, EntryType: e.Direction, Class: e.Class,
		CompanyID:   e.CompanyID,
		CompanyName: e.CompanyName, Description: e.Description, Account: e.Account, SameDay: e.sameDay,
		SettlesOn: p.Date,
		Trace:     e.Trace,
	}
	if e.abroad != nil {
		entry.Purpose, entry.Currency = e.abroad.Purpose, e.way.To
	}
	return entry
}

// screened returns what positive pay is asked about an entry.
func (e *Received) screened(p *Payment) *positivepay.Screened {
	return &positivepay.Screened{
		Payment: int64(p.UID), Customer: p.Customer, Account: p.SenderAccount, Type: positivepay.ACH,
		CompanyID: e.CompanyID, Name: e.CompanyName, BankID: e.Bank, BankName: p.details.BankName,
		Class: string(e.Class), IndividualID: e.IndividualID, Amount: p.Amount(), DebitDate: p.Date,
	}
}

// untaken returns why an account takes no entry of ACH, as a return reason; "" if it takes them.
func (a *party) untaken() string {
	switch {
	case a.SystemOfRecord != accounts.InternalCore:
		return unknown
	case a.Status == accounts.Closed:
		return closed
	case a.blocked():
		return blocked
	case a.Currency != usDollar, !a.ACH, accountTypes[string(a.SubType)] == rails.Loan:
		return notTaken
	}
	return ""
}

// notCreditable returns why a virtual account takes no credit, as a return reason of ACH; "" if it takes
// them, or if there is no virtual account.
func notCreditable(virtual *virtualaccounts.Creditable) string {
	switch {
	case virtual == nil || virtual.Status == virtualaccounts.Active:
		return ""
	case virtual.Status == virtualaccounts.Closed:
		return closed
	}
	return blocked
}
