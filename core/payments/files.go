package payments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// The bounds of a file of ACH, and of how much of it is in memory at a time beside its text.
const (
	mostEntries    = 20_000    // unless a test says otherwise
	mostTraces     = 9_999_999 // the seven digits behind the bank's
	entriesAtATime = 500
)

// How many files a routing number may have on a day, and how many of these are kept for the windows, so that
// neither returns made one by one nor what fills many files use up those that later payments need.
const (
	mostFiles      = len(modifiers)
	filesOfWindows = 16
)

// lastWindow returns when the last window of ACH began; midnight in New York before the first window of a
// day.
func lastWindow(now time.Time) time.Time {
	today := calendar.Today(now)
	begun := calendar.Clock(0).On(today)
	for _, window := range calendar.Default().ACH {
		if at := window.On(today); calendar.IsBankingDay(today) && !at.After(now) {
			begun = at
		}
	}
	return begun
}

// filesBy returns how many files a routing number may have of a day by now: those of later windows are kept.
func filesBy(now time.Time) int {
	today, windows, later := calendar.Today(now), calendar.Default().ACH, 0
	for _, window := range windows {
		if calendar.IsBankingDay(today) && window.On(today).After(now) {
			later++
		}
	}
	return mostFiles - filesOfWindows*later/len(windows)
}

// numbers says how far a routing number has come in numbering its files and entries.
type numbers struct {
	Day   time.Time `bun:"day,type:date"` // of the last file, in New York
	Files int       `bun:"files"`         // of that day
	Trace int       `bun:"trace"`         // of the last entry
}

// waitingEntry is an entry that goes out in the next file, with what it says.
type waitingEntry struct {
	Entry    `bun:",extend"`
	Pay      Payment `bun:"embed:pay_"`
	Details  Details `bun:"embed:pd_"`
	BankName string  `bun:"bank_name"`
}

// waitingForFile is what waits for a file, with the origin of each: since when, and whether it is one of the
// bank's own entries, or a return made on request. Prenotes may wait from a later time on.
const waitingForFile = `FROM (SELECT origin, taken_at, true AS sent FROM ach_entries
		  WHERE tenant = $1 AND taken_at IS NOT NULL AND file IS NULL
		UNION ALL SELECT origin, returned_at, false FROM ach_received
		  WHERE tenant = $1 AND returned_at IS NOT NULL AND file IS NULL
		UNION ALL SELECT origin, asked_at, false FROM ach_reversals
		  WHERE tenant = $1 AND file IS NULL AND answered_at IS NULL
		UNION ALL SELECT origin, send_at, true FROM ach_prenotes
		  WHERE tenant = $1 AND file IS NULL AND NOT withdrawn) AS w`

// filledBy is when a file is made of what waits for it, at the latest, if the last window began at a time.
func filledBy(window string) string {
	return "greatest(w.taken_at, " + window + "::timestamptz) + interval '1 minute'"
}

var (
	// findingOrigin finds a routing number whose next file is to be made: when no more entries are about to
	// come into it, and a minute after the first one, or after the window, at the latest. Returns made on
	// request get a file of their own at once while the day has enough files left ($5); then they wait for a
	// window, the last of which began at $7. Everything of an origin that has no files left until the next
	// window ($6) waits. $2 and $3 are those of sendable.
	findingOrigin = db.NewQuery[Entry](`SELECT w.origin ` + waitingForFile + `
		LEFT JOIN ach_origins AS o ON o.tenant = $1 AND o.origin = w.origin AND o.day = $4::date
		WHERE w.taken_at <= $3::timestamptz AND (` + filledBy("$7") + ` <= $3::timestamptz
			OR NOT EXISTS (SELECT FROM payments AS pay WHERE pay.rail = 'ACH' AND ` + sendable + `))
		  AND coalesce(o.files, 0) < CASE WHEN w.sent OR w.taken_at < $7::timestamptz THEN $6::int ELSE $5::int END
		  AND w.origin > $8::text
		ORDER BY w.origin LIMIT 1`)
	lockingNumbers = db.NewQuery[numbers](`SELECT day, files, trace FROM ach_origins
		WHERE tenant = $1 AND origin = $2
		FOR UPDATE`)
)

// leastRoom is the part of a file's room that it is made with at least, where all of it takes too long: a day
// has few files.
const leastRoom = 8

// SealFiles puts entries of ACH whose money was taken into a file, which then waits to be handed to the
// network, and returns how many. Each of the bank's routing numbers has files of its own; one call makes one
// file, of the first routing number that has something which can be written.
func (s *Service) SealFiles(ctx context.Context) (sealed int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.redateEntries(ctx, caller, now); err != nil {
		return 0, fmt.Errorf("plan late entries of ACH anew: %w", err)
	}
	at := s.paces.At(caller.Tenant, "seal files of ACH", mostEntries)
	for origin, more := "", true; more && sealed == 0; {
		var failed, wrong error
		most := max(s.entriesOfFile/leastRoom, min(at.Size(), s.entriesOfFile))
		sealed, origin, failed, wrong = s.sealNext(ctx, caller, now, origin, most)
		more = origin != "" && wrong == nil
		if db.IsTimeout(wrong) { // the next file has fewer entries, and other numbers may have few
			at.Slower(most)
			more = origin != "" && ctx.Err() == nil
		} else if sealed > 0 {
			at.Faster(mostEntries)
		}
		err = errors.Join(err, failed, wrong)
	}
	if err != nil {
		return sealed, fmt.Errorf("seal a file of ACH: %w", err)
	}
	return sealed, nil
}

// sealNext makes a file, of so many entries at most, for the first routing number behind after that has
// something waiting. It returns how many entries are in it, and the routing number; "" if there is none.
// failed says what cannot be written.
func (s *Service) sealNext(
	ctx context.Context, caller access.Caller, now time.Time, after string, most int,
) (sealed int, origin string, failed, err error) {
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		sealed, origin, failed = 0, "", nil // of a try that was rolled back
		b := db.TxBatch(tx)
		waiting := db.Queue(b, findingOrigin, caller.Tenant, db.Texts(customers.Working), now,
			calendar.Today(now).Format(time.DateOnly), mostFiles-filesOfWindows, filesBy(now), lastWindow(now), after)
		ids := db.Queue(b, takingMessageIDs, 1)
		if err := b.Send(ctx); err != nil || len(waiting.Items) == 0 {
			return err
		}
		if held, err := s.sendingHeld(ctx, tx, caller.Tenant); held || err != nil {
			return err
		}
		origin = waiting.Items[0].Origin
		f := &file{
			tenant: caller.Tenant, origin: origin, id: ids.Items[0].ID, now: now,
			traces: map[UID]string{}, backs: map[int64]string{}, reversals: map[UID]string{},
			most: most,
		}
		if err := f.numberTx(ctx, tx); err != nil || f.numbers.Files >= mostFiles {
			return err // somebody else has made the last one
		}
		for _, fill := range []func(context.Context, *Service, bun.Tx) (error, error){
			f.fillTx, f.returnTx, f.reverseTx, f.prenoteTx,
		} {
			some, err := fill(ctx, s, tx)
			if failed = errors.Join(failed, some); err != nil {
				return err
			}
		}
		if err := f.keepTx(ctx); err != nil {
			return err
		}
		if sealed = f.entries(); sealed == 0 {
			return nil
		}
		return f.writeTx(ctx, s)
	})
	if err != nil {
		sealed = 0
	}
	return sealed, origin, failed, err
}

// file is a file of ACH that is being made.
type file struct {
	tenant  access.Tenant
	origin  string
	id      MessageID
	now     time.Time
	numbers numbers
	body    bytes.Buffer
	writer  *nacha.Writer
	batch   nacha.Batch
	usable  bool // the batch
	traces  map[UID]string
	backs   map[int64]string // the traces of returns, by the entry of another bank that goes back
	kept    []int64          // entries of other banks that can never go back
	// the traces of entries that take credits back
	reversals map[UID]string
	prenotes  []*Prenote
	most      int   // entries that it has room for
	minor     int64 // the amounts of its payments
}

// entries returns how many entries are in the file.
func (f *file) entries() int {
	return len(f.traces) + len(f.backs) + len(f.reversals) + len(f.prenotes)
}

// filesSkipped is how many of a day's files a restore counts as sent.
const filesSkipped = 10

// SkipTraces skips numbers of entries and files of ACH in a database that was restored from a backup. They
// may have been used since the backup: what comes back under such a number must not be taken for a new entry,
// nor a new file for a copy. The files out there may be of a later day than the backup's last. For origins
// that the backup does not have, numberTx skips numbers. times is that of db.SkipNumbers.
func SkipTraces(ctx context.Context, d *db.DB, tenant access.Tenant, times int64, now time.Time) error {
	return d.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(`UPDATE ach_origins SET trace = (trace + ?0) % ?1, day = greatest(day, ?5::date),
			files = least(CASE WHEN day < ?5::date THEN 0 ELSE files END + ?2, ?3) WHERE tenant = ?4`,
			times*db.Skipped, mostTraces-mostEntries, times*filesSkipped, mostFiles, tenant,
			calendar.Today(now).Format(time.DateOnly)).Exec(ctx)
		return err
	})
}

// numberTx locks the numbers of the origin, so that files are made one after the other.
func (f *file) numberTx(ctx context.Context, tx bun.Tx) error {
	today := calendar.Today(f.now)
	// An origin that is new here may have used numbers in each of the databases from which the bank was
	// restored.
	if _, err := tx.NewRaw(`INSERT INTO ach_origins (tenant, origin, day, files, trace)
		SELECT ?0, ?1, ?2, least(restored * ?3, ?4), restored * ?5 % ?6
		FROM (SELECT coalesce(max(epoch) - 1, 0) AS restored FROM sending_resumptions WHERE tenant = ?0) AS r
		ON CONFLICT (tenant, origin) DO NOTHING`,
		f.tenant, f.origin, today, filesSkipped, mostFiles-filesOfWindows,
		db.Skipped, mostTraces-mostEntries).Exec(ctx); err != nil {
		return err
	}
	b := db.TxBatch(tx)
	locked := db.Queue(b, lockingNumbers, f.tenant, f.origin)
	if err := b.Send(ctx); err != nil {
		return err
	}
	f.numbers = *locked.Items[0]
	if !f.numbers.Day.Equal(today) {
		f.numbers.Day, f.numbers.Files = today, 0
	}
	if f.numbers.Trace+mostEntries > mostTraces {
		f.numbers.Trace = 0
	}
	return nil
}

// inBatches is the order of entries in a file, which an index has. Entries of IAT to different countries that
// follow each other in it have batches of their own.
const inBatches = "ae.party, ae.company_id, ae.company_name, ae.class, ae.description, ae.same_day, " +
	"ae.settles_on, ae.entry_type, ae.payment"

// nextTx reads the next entries that which selects, after last.
func (f *file) nextTx(
	ctx context.Context, tx bun.Tx, most int, which func(*bun.SelectQuery) *bun.SelectQuery,
	last *waitingEntry,
) (rows []*waitingEntry, err error) {
	q := tx.NewSelect().Model(&rows).
		ColumnExpr("ae.*, sa.bank_name").
		ColumnExpr("pay.uid AS pay_uid, pay.amount AS pay_amount, pay.currency AS pay_currency").
		ColumnExpr("pay.receiver_name AS pay_receiver_name, pay.notes AS pay_notes").
		ColumnExpr("pay.sender_name AS pay_sender_name, pay.entry_type AS pay_entry_type, pay.direction AS "+
			"pay_direction").
		ColumnExpr("pay.external_reference_id AS pay_external_reference_id").
		ColumnExpr("pd.number_sealed AS pd_number_sealed, pd.benefit_sealed AS pd_benefit_sealed").
		ColumnExpr("pd.abroad_sealed AS pd_abroad_sealed, pd.bank_id AS pd_bank_id").
		ColumnExpr("pd.bank_country AS pd_bank_country, pd.remittance AS pd_remittance").
		ColumnExpr("pd.reference AS pd_reference, pd.originator_information AS pd_originator_information").
		Join("JOIN payments AS pay ON pay.tenant = ae.tenant AND pay.uid = ae.payment").
		Join("JOIN payment_details AS pd ON pd.tenant = ae.tenant AND pd.payment = ae.payment").
		Join("JOIN accounts AS sa ON sa.tenant = pay.tenant AND sa.uid = coalesce(pay.sender_account, "+
			"pay.receiver_account)").
		Where("ae.tenant = ?0 AND pay.tenant = ?0 AND pd.tenant = ?0 AND sa.tenant = ?0", f.tenant).
		Where("ae.origin = ?", f.origin).Apply(which)
	if last != nil {
		q.Where("("+inBatches+") > (?, ?, ?, ?, ?, ?, ?, ?, ?)", last.Party, last.CompanyID, last.CompanyName,
			last.Class, last.Description, last.SameDay, last.SettlesOn, last.EntryType, last.Payment)
	}
	err = q.OrderExpr(inBatches).Limit(int64(min(entriesAtATime, most-f.entries()))).Scan(ctx)
	return rows, err
}

// add writes an entry, or what is made of it, in its batch, and returns its trace number.
func (f *file) add(
	s *Service, row *waitingEntry, batch nacha.Batch, made func(nacha.Entry) nacha.Entry,
) (trace string, err error) {
	if err := f.begin(row.BankName, batch); err != nil {
		return "", err
	}
	row.Details.Tenant, row.Details.Payment = f.tenant, row.Payment
	if err := errors.Join(row.Details.openBenefit(s.keys), row.Details.openAbroad(s.keys)); err != nil {
		return "", err
	}
	number, err := s.keys.Open(seal.Value{Sealed: row.Details.Number.Sealed}, row.Details.place())
	if err != nil {
		return "", fmt.Errorf("open the number of the other side: %w", err)
	}
	return f.writer.Entry(made(row.line(&row.Pay, &row.Details, number)))
}

// begin begins the file if it has not begun, and a new batch unless the next entry belongs to the present
// one.
func (f *file) begin(bankName string, batch nacha.Batch) (err error) {
	if f.writer == nil {
		if f.writer, err = nacha.NewWriter(&f.body, header(f.origin, bankName, f.now, &f.numbers)); err != nil {
			return err
		}
	}
	if batch != f.batch {
		err := f.writer.Batch(batch)
		if f.batch, f.usable = batch, err == nil; err != nil {
			return err
		}
	}
	if !f.usable {
		return errors.New("its batch cannot be written")
	}
	return nil
}

// writeTx ends the file, and writes it with what it did to its entries, at the end of the transaction.
func (f *file) writeTx(ctx context.Context, s *Service) error {
	totals, err := f.writer.Close()
	if err != nil {
		return err
	}
	h := header(f.origin, "", f.now, &f.numbers)
	m := &Message{
		Tenant: f.tenant, ID: f.id, Rail: rails.ACH, Direction: Out, Kind: kindOfFile, At: f.now,
		MessageID: fileID(&h), Code: shownTotals(totals),
	}
	m.Body = s.keys.Encrypt(f.body.String(), m.place())
	if err := db.InsertAtCommit(ctx, []*Message{m}); err != nil {
		return err
	}
	var uids []int64
	var traces []string
	for uid, trace := range f.traces {
		uids, traces = append(uids, int64(uid)), append(traces, trace)
	}
	err = db.ExecAtCommit(ctx, `UPDATE ach_entries AS e SET file = $2, trace = n.trace
		FROM unnest($3::bigint[], $4::text[]) AS n(payment, trace)
		WHERE e.tenant = $1 AND e.payment = n.payment`, f.tenant, f.id, uids, traces)
	if err != nil {
		return err
	}
	if err := errors.Join(f.returnedTx(ctx), f.reversedTx(ctx), f.prenotedTx(ctx)); err != nil {
		return err
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_origins SET day = $3::date, files = $4, trace = $5
		WHERE tenant = $1 AND origin = $2`, f.tenant, f.origin, f.numbers.Day.Format(time.DateOnly),
		f.numbers.Files+1, f.numbers.Trace+f.entries())
}

// kindOfFile is the message kind of a file of ACH.
const kindOfFile = "nacha"

// fileID returns the id that tells files of ACH apart: origin, day, time and modifier.
func fileID(h *nacha.Header) string {
	return h.Origin + "-" + h.CreatedAt.In(calendar.Zone()).
		Format("20060102-1504") + "-" + string(rune(h.Modifier))
}

// shownTotals describes what is in a file.
func shownTotals(t nacha.Totals) string {
	text := fmt.Sprintf("%d entries", t.Entries)
	for _, of := range []struct {
		word string
		sum  money.Amount
	}{{"", t.Credits}, {" debited", t.Debits}} {
		if of.sum.Minor > 0 {
			text += ", " + of.sum.String() + " " + string(of.sum.Currency) + of.word
		}
	}
	return text
}
