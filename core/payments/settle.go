package payments

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/db"
)

// dueEntries finds the entries whose time has come, if the network has their file.
var dueEntries = db.NewQuery[found](`SELECT pay.uid FROM payments AS pay
	WHERE pay.tenant = $1 AND pay.state = 'SENT' AND pay.settles_at <= $2
	  AND EXISTS (SELECT FROM ach_entries AS e JOIN network_messages AS nm ON nm.tenant = e.tenant
	    AND nm.id = e.file
	    WHERE e.tenant = $1 AND nm.tenant = $1 AND e.payment = pay.uid AND nm.handed_at IS NOT NULL)
	ORDER BY pay.settles_at, pay.uid ` + limitAtATime)

// SettleEntries settles the entries of ACH whose time has come, and those that take credits back, and returns
// how many: ACH says nothing of an entry that nobody sends back. Entries whose file the network has not taken
// yet do not settle.
func (s *Service) SettleEntries(ctx context.Context) (settled int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	due, err := s.find(ctx, dueEntries, caller.Tenant, now)
	var back []UID
	if err == nil {
		back, err = s.find(ctx, dueReversals, caller.Tenant, now)
	}
	for _, some := range []struct {
		due      []UID
		reversal bool
	}{{due, false}, {back, true}} {
		n, failed := s.settleAll(ctx, caller, now, some.due, some.reversal)
		settled, err = settled+n, errors.Join(err, failed)
	}
	if err != nil {
		return settled, fmt.Errorf("settle entries of ACH: %w", err)
	}
	return settled, nil
}

// settleAll settles entries of payments, or those that take them back.
func (s *Service) settleAll(
	ctx context.Context, caller access.Caller, now time.Time, due []UID, reversal bool,
) (int, error) {
	at := s.paces.At(caller.Tenant, "settle entries of ACH", atATime)
	return changes.AllOrEach(ctx, at, due, changes.Numbered[UID], func(uids []UID) (int, error) {
		answers := make([]*incoming, len(uids))
		for i, uid := range uids {
			answers[i] = &incoming{over: rails.ACH, says: accepted, payment: uid, reversal: reversal}
		}
		err := s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
			lost, err := s.answerAllTx(ctx, tx, caller, now, answers)
			if err != nil {
				return err
			}
			told, err := leftTx(ctx, tx, caller.Tenant, now, new(incoming), lost)
			return errors.Join(err, db.InsertAtCommit(ctx, told))
		})
		return unlessFailed(len(uids), err)
	})
}

// Answered is a line of a file of ACH that was taken in: a return, a notice of change, or an entry.
type Answered struct {
	bun.BaseModel `bun:"table:ach_answers,alias:aa" json:"-"`

	Tenant  access.Tenant `bun:"tenant,pk" json:"-"`
	Message MessageID     `bun:"message,pk" json:"-"` // the file
	Line    int           `bun:"line,pk" json:"-"`
	Trace   string        `bun:"trace" json:"-"` // of the entry
	Payment UID           `bun:"payment,nullzero" json:"-"`
	Code    string        `bun:"code" json:"code"` // R03, C01 …; entry, or untaken
}

type (
	answeredLine struct {
		Line    int `bun:"line"`
		Payment UID `bun:"payment"` // that it was about; 0 if about none
	}
	traced struct {
		Trace    string `bun:"trace"`
		Payment  UID    `bun:"payment"`
		Reversal bool   `bun:"reversal"`
		Booked   bool   `bun:"booked"`
		Bank     string `bun:"bank"` // that it went to
		// what it did to the account at that bank; "" of an entry without a payment
		Way   rails.EntryType `bun:"way"`
		Class rails.SECCode   `bun:"class"`
		// the day on which it settled; nil of an entry without a payment, and of returns
		Settled *time.Time `bun:"settled"`
		// of an entry without a payment
		Prenote PrenoteID `bun:"prenote"`
	}
)

var (
	readingAnswered = db.NewQuery[answeredLine](`SELECT line, coalesce(payment, 0) AS payment FROM ach_answers
		WHERE tenant = $1 AND message = $2
		AND line = ANY($3::int[])`)
	readingAllAnswered = db.NewQuery[answeredLine](`SELECT line, coalesce(payment, 0) AS payment FROM ach_answers
		WHERE tenant = $1 AND message = $2`)
	// readingTraces reads the newest entry of a trace number: after ten million entries the numbers begin
	// anew.
	readingTraces = db.NewQuery[traced](`SELECT DISTINCT ON (trace) trace, sent.payment, reversal, booked,
		  prenote, way, class, settled,
		  coalesce(nullif(bank, ''), pd.bank_id, '') AS bank
		FROM (
		  SELECT trace, payment, file, false AS reversal, false AS booked, 0 AS prenote, '' AS bank,
		    entry_type AS way, class, settles_on AS settled FROM ach_entries
		  WHERE tenant = $1 AND trace = ANY($2::text[]) AND file IS NOT NULL
		  UNION ALL SELECT trace, payment, file, true, booked, 0, '', 'DEBIT', '', settles_at::date
		  FROM ach_reversals
		  WHERE tenant = $1 AND trace = ANY($2::text[]) AND file IS NOT NULL
		  UNION ALL SELECT trace, 0, file, false, false, id, bank_id, '', '', NULL FROM ach_prenotes
		  WHERE tenant = $1 AND trace = ANY($2::text[]) AND file IS NOT NULL
		) AS sent LEFT JOIN payment_details AS pd ON pd.tenant = $1 AND pd.payment = sent.payment
		ORDER BY trace, file DESC`)
	// readingReturnTraces reads the newest return of ours of a trace number, of a payment.
	readingReturnTraces = db.NewQuery[traced](`SELECT DISTINCT ON (return_trace) return_trace AS trace, payment,
		  false AS reversal, false AS booked, 0 AS prenote, bank, direction AS way, class,
		  NULL::date AS settled FROM ach_received
		WHERE tenant = $1 AND return_trace = ANY($2::text[]) AND file IS NOT NULL AND payment IS NOT NULL
		ORDER BY return_trace, file DESC`)
)

// takeFile takes in a file of ACH: the returns, notices of change and entries for accounts in it, some at a
// time, each once. Each transaction writes which lines it took, so that a file that is read again, as after a
// stop, goes on where it was. A line with a fault goes back, or is left for people, and stops no other one,
// nor does one that cannot be taken in at present. It reports whether it took all, and notes where it did
// not, so that people hear of a file that stays so. A file that did not come whole is kept for people, and
// does nothing. After some time it returns errGoesOn.
func (s *Service) takeFile(
	ctx context.Context, caller access.Caller, now time.Time, from Arrived, until time.Time,
) (whole bool, err error) {
	file, lines := readFile(from, now)
	before, unfinished, err := s.beginFile(ctx, caller.Tenant, now, file)
	if err != nil {
		return false, fmt.Errorf("file %s: %w", file.id, err)
	}
	whole, err = s.takeFresh(ctx, caller, now, file, before, lines, until)
	if errors.Is(err, errGoesOn) {
		return false, err
	}
	if whole == unfinished && !db.IsUnavailable(err) && ctx.Err() == nil {
		err = errors.Join(err, s.noteUnfinished(ctx, caller.Tenant, now, file, !whole))
	}
	if err != nil {
		err = fmt.Errorf("file %s: %w", file.id, err)
	}
	return whole, err
}

// beginFile puts a file on record. If an earlier try has begun with it, it returns the lines that are on
// record, by their numbers, and whether that try could not take in all.
func (s *Service) beginFile(
	ctx context.Context, tenant access.Tenant, now time.Time, file *incoming,
) (before map[int]*answeredLine, unfinished bool, err error) {
	err = s.inTurn(ctx, tenant, func(ctx context.Context, tx bun.Tx) error {
		b := db.TxBatch(tx)
		onRecord, ids := db.Queue(b, readingFile, tenant, file.id), db.Queue(b, takingMessageIDs, 1)
		if err := b.Send(ctx); err != nil {
			return err
		}
		before, unfinished = map[int]*answeredLine{}, false
		if len(onRecord.Items) == 0 {
			file.number = ids.Items[0].ID
			return db.InsertAtCommit(ctx, []*Message{file.message(s.keys, tenant, now)})
		}
		file.number, unfinished = onRecord.Items[0].ID, onRecord.Items[0].Unfinished
		again := db.TxBatch(tx)
		done := db.Queue(again, readingAllAnswered, tenant, file.number)
		err := again.Send(ctx)
		for _, d := range done.Items {
			before[d.Line] = d
		}
		return err
	})
	return before, unfinished, err
}

// noteUnfinished notes since when a file has lines that cannot be taken in, or that all are.
func (s *Service) noteUnfinished(
	ctx context.Context, tenant access.Tenant, now time.Time, file *incoming, unfinished bool,
) error {
	var since *time.Time
	if unfinished {
		since = &now
	}
	return s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := db.Raw(tx, `UPDATE network_messages SET unfinished_since = ? WHERE tenant = ? AND id = ?`,
			since, tenant, file.number).Exec(ctx)
		return err
	})
}

// filesAtATime is how long one call of Receive takes in files; it takes some lines of each at least.
const filesAtATime = time.Second / 2

// errGoesOn is returned for a file that is long, and of which the next call takes more.
var errGoesOn = errors.New("the file goes on")

// takeFresh takes in those lines of a file that are not on record, some at a time, and reports whether it
// took all. It returns errGoesOn when its time is over and some lines are on record that were not. Else what
// fails, and what is of nothing, would come first again, and the file would never end.
func (s *Service) takeFresh(
	ctx context.Context, caller access.Caller, now time.Time, file *incoming, before map[int]*answeredLine,
	lines []*incoming, until time.Time,
) (whole bool, err error) {
	var answers, entries, left []*incoming
	for _, a := range lines {
		switch {
		case a.wrong != "" && a.back == "":
			left = append(left, a)
		case a.entry != nil:
			entries = append(entries, a)
		default:
			answers = append(answers, a)
		}
	}
	countAlike(entries) // of the whole file
	at := s.paces.At(caller.Tenant, "take lines of files of ACH", atATime)
	is := func(a *incoming) changes.Thing { return changes.Thing{ID: int64(file.number), Line: a.line} }
	whole, failures, further := true, 0, false
	unheard := func(a *incoming) bool { return before[a.line] == nil }
	for _, kind := range []struct {
		lines []*incoming
		take  takingLines
	}{{answers, s.takeLinesTx}, {entries, s.receiveEntriesTx}, {left, s.leaveLinesTx}} {
		fresh := slices.DeleteFunc(kind.lines, func(a *incoming) bool { return before[a.line].settles(a) })
		for some := range slices.Chunk(fresh, atATime) {
			if further && err == nil && time.Now().After(until) {
				return false, errGoesOn
			}
			further = further || slices.ContainsFunc(some, unheard)
			_, failed := changes.AllOrEach(ctx, at, some, is, func(some []*incoming) (int, error) {
				err := s.inTurn(ctx, caller.Tenant, func(ctx context.Context, tx bun.Tx) error {
					return kind.take(ctx, tx, caller, now, file, some)
				})
				return unlessFailed(len(some), err)
			})
			if failed == nil {
				continue
			}
			whole, err = false, errors.Join(err, failed)
			if failures++; failures == mostFailures || db.IsUnavailable(failed) || ctx.Err() != nil {
				return false, err
			}
		}
	}
	return whole, err
}

// mostFailures is after how many failures of lines that were taken in together a file is read no further.
const mostFailures = 10

// settles reports whether a line of a file is on record, so that nothing is to be done about it: one that was
// of nothing when it came first may be of something by now.
func (d *answeredLine) settles(a *incoming) bool {
	return d != nil && (d.Payment != 0 || a.says != returned && a.says != dishonoured)
}

// takingLines takes in lines of a file.
type takingLines func(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, in *incoming, lines []*incoming) error

// fileOnRecord is a file that came before.
type fileOnRecord struct {
	ID         MessageID `bun:"id"`
	Unfinished bool      `bun:"unfinished"` // it has lines that could not be taken in
}

var readingFile = db.NewQuery[fileOnRecord](`SELECT id, unfinished_since IS NOT NULL AS unfinished
	FROM network_messages
	WHERE tenant = $1 AND rail = 'ACH' AND direction = 'IN' AND message_id = $2`)

// takeLinesTx takes in those lines of a file that are not on record, or were of nothing when they came first.
// What another bank than the one that an entry went to says of it is kept, and does nothing: it could give
// back money that it does not have. People are told of a return, and of a dishonour, of which nothing comes.
func (s *Service) takeLinesTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, in *incoming, lines []*incoming,
) error {
	before, of, returns, err := onRecordTx(ctx, tx, caller.Tenant, in.number, lines)
	if err != nil {
		return err
	}
	var fresh, heard, lost []*incoming
	var rows []*Answered
	for _, a := range lines {
		told := before[a.line]
		if told.settles(a) {
			continue
		}
		t := of[a.of]
		if a.says == dishonoured {
			if t = returns[a.of]; t != nil && !strings.HasPrefix(t.Bank, a.from) {
				t = nil
			}
		}
		if t != nil {
			a.payment, a.booked, a.prenote = t.Payment, t.Booked, t.Prenote
			a.reversal = t.Reversal && a.says == returned
		}
		if told != nil { // of nothing, until somebody said what had left before a restore (NoteLeft)
			if t != nil && t.Payment != 0 && a.lost(t) == "" {
				fresh, heard = append(fresh, a), append(heard, a)
			}
			continue
		}
		if a.wrong = a.lost(t); a.wrong != "" {
			lost = append(lost, a)
		} else if t != nil && strings.HasPrefix(t.Bank, a.from) {
			fresh = append(fresh, a)
		}
		rows = append(rows, &Answered{
			Tenant: caller.Tenant, Message: in.number, Line: a.line, Trace: a.of, Payment: a.payment, Code: a.code,
		})
	}
	nothing, err := s.answerAllTx(ctx, tx, caller, now, fresh)
	if err != nil {
		return err
	}
	for _, a := range nothing {
		if before[a.line] == nil { // of others people were told
			lost = append(lost, a)
		}
	}
	told, err := leftTx(ctx, tx, caller.Tenant, now, in, lost)
	return errors.Join(err, db.InsertAtCommit(ctx, rows), db.InsertAtCommit(ctx, told),
		heardTx(ctx, caller.Tenant, in.number, heard), prenotesAnsweredTx(ctx, caller.Tenant, fresh))
}

// onRecordTx finds what is on record of the lines of a file: by their numbers, which of them came before; by
// trace number, what has left that they are about, and which returns of ours.
func onRecordTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, file MessageID, lines []*incoming,
) (before map[int]*answeredLine, of, returns map[string]*traced, err error) {
	var numbers []int32
	var traces []string
	for _, a := range lines {
		numbers, traces = append(numbers, int32(a.line)), append(traces, a.of)
	}
	b := db.TxBatch(tx)
	done := db.Queue(b, readingAnswered, tenant, file, numbers)
	found := db.Queue(b, readingTraces, tenant, traces)
	back := db.Queue(b, readingReturnTraces, tenant, traces)
	if err := b.Send(ctx); err != nil {
		return nil, nil, nil, err
	}
	before, of, returns = map[int]*answeredLine{}, map[string]*traced{}, map[string]*traced{}
	for _, d := range done.Items {
		before[d.Line] = d
	}
	for _, t := range found.Items {
		of[t.Trace] = t
	}
	for _, t := range back.Items {
		returns[t.Trace] = t
	}
	return before, of, returns, nil
}

// heardTx writes which payments lines are about that were of nothing when they came first, at the end of the
// transaction.
func heardTx(ctx context.Context, tenant access.Tenant, file MessageID, lines []*incoming) error {
	if len(lines) == 0 {
		return nil
	}
	var numbers []int32
	var uids []int64
	for _, a := range lines {
		numbers, uids = append(numbers, int32(a.line)), append(uids, int64(a.payment))
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_answers AS aa SET payment = n.payment
		FROM unnest($3::int[], $4::bigint[]) AS n(line, payment)
		WHERE aa.tenant = $1 AND aa.message = $2 AND aa.line = n.line`, tenant, file, numbers, uids)
}

// readFile reads a file of ACH that has arrived, and what it says of entries.
func readFile(from Arrived, now time.Time) (file *incoming, lines []*incoming) {
	sum := sha256.Sum256(from.Body)
	file = &incoming{over: rails.ACH, body: from.Body, kind: kindOfFile, id: fmt.Sprintf("%x", sum[:8])}
	head, totals, err := nacha.Receive(bytes.NewReader(from.Body), func(b nacha.Batch, e nacha.Entry) error {
		a := &incoming{over: rails.ACH, line: e.Line, amount: e.Amount, from: b.Bank, of: e.Trace}
		switch {
		case e.Wrong != nil:
			a.wrong, a.entry, a.batch = e.Wrong.Error(), &e, b
			if e.Wrong.Forward && isReceived(&b, &e) {
				a.back = a.faulty(now)
			}
		case e.Return != nil:
			a.of, a.code, a.why, a.says = e.Return.OriginalTrace, e.Return.Code, e.Return.Information, returned
			a.way, a.made = e.Direction, now
		case e.Dishonour != nil:
			a.of, a.code, a.says = e.Dishonour.ReturnTrace, e.Dishonour.Code, dishonoured
			a.way = e.Direction
		case e.Change != nil:
			a.of, a.code, a.change = e.Change.OriginalTrace, e.Change.Code, e.Change
		case isReceived(&b, &e):
			a.entry, a.batch = &e, b
		default: // what is said of a return of ours, or for nobody here: people see the file
			a.of, a.code = e.Trace, "entry"
		}
		lines = append(lines, a)
		return nil
	})
	if err != nil {
		file.kind, file.code = unreadable, cut(err.Error(), mostOfCode)
		return file, nil
	}
	for _, a := range lines {
		if !head.CreatedAt.IsZero() && head.CreatedAt.Before(a.made) { // it has waited to be taken in
			a.made = head.CreatedAt
		}
	}
	file.id = fileID(&head) + "-" + file.id
	file.code = fmt.Sprintf("%d entries", totals.Entries)
	return file, lines
}
