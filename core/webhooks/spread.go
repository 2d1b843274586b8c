package webhooks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// postedObject is the kind of object whose events are posted.
const postedObject = "payment"

// atATime bounds the events that are looked through for a page of the feed, or for some webhooks, and
// toldAtATime those of one transaction that tells everybody: an event may be told to twenty webhooks of each
// of four parties, and other work of the bank waits until that is done.
const (
	atATime     = 500
	toldAtATime = 100
)

// cursor is how far deliveries have been made of the events of a bank.
type cursor struct {
	bun.BaseModel `bun:"table:webhook_cursors,alias:wc"`

	Tenant access.Tenant `bun:"tenant,pk"`
	Epoch  int64         `bun:"epoch"`
	Seq    int64         `bun:"seq"`
}

// Spread makes deliveries of the next events of the caller's bank, for each webhook that is to be told, and
// of events that are to be posted again. The place in the feed moves in the same transaction, so no event is
// left out, and none gets two deliveries for a webhook. It returns how many events it has gone through.
func (s *Service) Spread(ctx context.Context) (spread int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		at, err := s.beginTx(ctx, tx, caller.Tenant)
		if err != nil || at == nil {
			return err
		}
		next, err := s.spreadTx(ctx, tx, caller.Tenant, *at)
		if err != nil {
			return err
		}
		caughtUp, err := s.catchUpTx(ctx, tx, caller.Tenant, next)
		if err != nil {
			return err
		}
		replayed, err := s.replayOneTx(ctx, tx, caller.Tenant, next)
		spread = int(next.Seq-at.Seq) + caughtUp + replayed
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("make deliveries of events: %w", err)
	}
	return spread, nil
}

// beginTx locks the bank's place in the feed. It returns nil if no webhook is to be told, or another worker
// is at it. Events from before the oldest webhook are skipped.
func (s *Service) beginTx(ctx context.Context, tx bun.Tx, tenant access.Tenant) (*events.Cursor, error) {
	var from struct {
		Least *int64 `bun:"least"`
	}
	err := db.Raw(tx, `SELECT min(since_seq) AS least FROM webhooks WHERE tenant = ? AND status = ?`, tenant,
		Active).
		Scan(ctx, &from)
	if err != nil || from.Least == nil {
		return nil, err
	}
	if _, err := db.Raw(tx,
		`INSERT INTO webhook_cursors (tenant, epoch, seq) VALUES (?, 0, 0) ON CONFLICT DO NOTHING`,
		tenant).Exec(ctx); err != nil {
		return nil, err
	}
	at := new(cursor)
	err = tx.NewSelect().Model(at).Where("wc.tenant = ?", tenant).For("UPDATE SKIP LOCKED").Scan(ctx)
	if noRows(err) {
		return nil, nil
	}
	return &events.Cursor{Epoch: at.Epoch, Seq: max(at.Seq, *from.Least)}, err
}

// kindTx is events.KindTx for places that are kept in the bank's own database: if the events after a place
// have been removed, it goes on with those that are left.
func kindTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, at events.Cursor, most int,
) ([]events.Placed, events.Cursor, error) {
	found, end, _, err := events.KindTx(ctx, tx, tenant, postedObject, at, most)
	if errors.Is(err, events.ErrPurged) {
		found, end, _, err = events.KindTx(ctx, tx, tenant, postedObject, events.Cursor{}, most)
	}
	return found, end, err
}

// spreadTx makes deliveries of the next events, and returns the place that it has reached.
func (s *Service) spreadTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, at events.Cursor,
) (events.Cursor, error) {
	found, end, err := kindTx(ctx, tx, tenant, at, toldAtATime)
	if err != nil || end == at {
		return at, err
	}
	if err := s.deliverTx(ctx, tenant, found, deliverNew, transactNew, nil); err != nil {
		return at, err
	}
	_, err = db.Raw(tx, `UPDATE webhook_cursors SET epoch = ?, seq = ? WHERE tenant = ?`,
		end.Epoch, end.Seq, tenant).
		Exec(ctx)
	return end, err
}

const (
	// mostWaiting is how many deliveries of a webhook wait for their first try before it falls behind: it is
	// told of later events as those are posted. So one that nobody answers costs no row for each event, and no
	// time of those who tell others. Those that its receiver has refused wait for hours, and it answers others:
	// there may be more.
	mostWaiting    = 500
	mostWaitingAll = 5 * mostWaiting
	// lookedAfter is how many webhooks that are behind, or whose events are posted again, are looked at
	// together, and looksEvery how often those of which as much waits as before.
	lookedAfter = 8
	looksEvery  = 5 * time.Second
	// mostTogether is how many webhooks catch up together.
	mostTogether = 16
)

// catchesUp is the condition of webhooks w that catch up. A replay goes first, up to where the webhook is
// behind; what comes then is told once, in its order.
const catchesUp = "w.behind_from IS NOT NULL AND w.replay_from >= least(w.replay_to, w.behind_from)"

// catchUpTx goes on with a webhook that has fallen behind, of which few enough deliveries wait by now, and
// with others that are between its place and the one that it reaches: however many are behind, they read the
// feed together from where they meet. Parties take turns. It returns how many entries of the record it has
// gone through.
func (s *Service) catchUpTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, now events.Cursor,
) (int, error) {
	at := s.now()
	w, err := s.nextTx(ctx, tx, tenant, at, &s.behind, "w.behind_at", func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where(catchesUp)
	})
	if err != nil || w == nil {
		return 0, err
	}
	found, end, err := kindTx(ctx, tx, tenant, events.Cursor{Epoch: now.Epoch, Seq: *w.BehindFrom}, atATime)
	if err != nil {
		return 0, err
	}
	var others []int64
	err = db.Raw(tx, `SELECT w.uid FROM webhooks AS w WHERE w.tenant = ?0 AND w.status = ?1 AND w.uid <> ?2
		AND w.behind_from >= ?3 AND w.behind_from < ?4 AND `+catchesUp+` AND NOT `+fullText("w", "?0")+`
		ORDER BY w.behind_from, w.uid LIMIT ?5 FOR NO KEY UPDATE OF w SKIP LOCKED`, tenant, Active, w.UID,
		*w.BehindFrom, end.Seq, mostTogether-1).Scan(ctx, &others)
	if err != nil && !noRows(err) {
		return 0, err
	}
	together := append(others, int64(w.UID))
	if err := s.deliverTx(ctx, tenant, found, deliverLater, transactLater, together); err != nil {
		return 0, err
	}
	// until they are told of all that others are, or were before they were disabled, or the feed ends
	told := end.Seq
	if end.Seq == *w.BehindFrom {
		told = math.MaxInt64
	}
	err = db.ExecAtCommit(ctx, `UPDATE webhooks SET behind_at = $4::timestamptz,
		behind_from = CASE WHEN $5::bigint < greatest($6::bigint, behind_to) THEN $3::bigint END,
		behind_to = CASE WHEN $5::bigint < greatest($6::bigint, behind_to) THEN behind_to END,
		replay_from = greatest(replay_from, least(replay_to, $3::bigint))
		WHERE tenant = $1 AND uid = ANY($2::bigint[])`, tenant, together, end.Seq, at, told, now.Seq)
	return int(max(0, end.Seq-*w.BehindFrom)), err
}

// nextTx locks the active webhook for which which holds that is to be told of events of the past next; nil if
// there is none. Parties take turns, so that nobody's many webhooks keep those of others waiting; order is
// that of each party's. One of which enough deliveries wait is looked at again later.
func (s *Service) nextTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, at time.Time, turns *changes.Turns[customers.UID],
	order string, which func(*bun.SelectQuery) *bun.SelectQuery,
) (*turn, error) {
	var all []*turn
	err := tx.NewSelect().Model(&all).Column("uid", "behind_from", "replay_from", "replay_to").
		ColumnExpr("p.party").Join("CROSS JOIN LATERAL (SELECT "+partyOf+" AS party) AS p", tenant).
		Where("w.tenant = ?", tenant).Where("w.status = ?", Active).Apply(which).
		// nor after a clock that was ahead
		Where("(w.behind_at IS NULL OR w.behind_at NOT BETWEEN ? AND ?)", at, at.Add(looksEvery)).
		OrderExpr("p.party <= ?, p.party, "+order+", w.uid", turns.Last(tenant)).Limit(lookedAfter).
		For("NO KEY UPDATE OF w SKIP LOCKED").Scan(ctx)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	turns.Give(tenant, all[0].Party)
	uids := make([]UID, len(all))
	for i, w := range all {
		uids[i] = w.UID
	}
	var full []UID
	err = db.Raw(tx, `UPDATE webhooks AS b SET behind_at = ? WHERE b.tenant = ? AND b.uid IN (?) AND `+
		fullText("b", strconv.FormatInt(int64(tenant), 10))+` RETURNING b.uid`, at.Add(looksEvery), tenant,
		bun.List(uids)).
		Scan(ctx, &full)
	if err != nil && !noRows(err) {
		return nil, err
	}
	open := slices.IndexFunc(all, func(w *turn) bool { return !slices.Contains(full, w.UID) })
	if open < 0 {
		return nil, nil
	}
	return all[open], nil
}

// fullText is the condition that enough deliveries of a webhook of a bank wait.
func fullText(webhook, tenant string) string {
	wait := func(which string, most int) string {
		return `EXISTS (SELECT FROM webhook_deliveries AS d WHERE d.tenant = ` + tenant +
			` AND d.webhook = ` + webhook + `.uid AND d.state = 'WAITING'` + which + ` OFFSET ` +
			strconv.Itoa(most-1) + `)`
	}
	return "(" + wait(" AND d.tries = 0", mostWaiting) + " OR " + wait("", mostWaitingAll) + ")"
}

// falling wraps the text that makes deliveries of new events: a webhook that is told of one, and of which
// enough waits already, falls behind from the last of these events on.
func falling(deliver string) string {
	return `WITH told AS (` + deliver + ` RETURNING webhook)
	UPDATE webhooks AS b SET behind_at = $6::timestamptz,
	  behind_from = (SELECT max(seq) FROM unnest($4::bigint[]) AS seq)
	WHERE b.tenant = $1 AND b.uid IN (SELECT webhook FROM told) AND b.behind_from IS NULL AND ` +
		fullText("b", "$1")
}

// replayOneTx goes on with one webhook whose events are to be posted again, as far as it has been told of
// them where it is behind, and if few enough of its deliveries wait. Parties take turns; of each party's it
// is the one that was asked for first. It returns how many entries of the record it has gone through.
func (s *Service) replayOneTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, now events.Cursor,
) (int, error) {
	w, err := s.nextTx(ctx, tx, tenant, s.now(), &s.replays, "w.behind_at NULLS FIRST, w.replay_to",
		func(q *bun.SelectQuery) *bun.SelectQuery {
			return q.Where("w.replay_from < least(w.replay_to, w.behind_from, ?)", now.Seq)
		})
	if err != nil || w == nil {
		return 0, err
	}
	found, end, err := kindTx(ctx, tx, tenant, events.Cursor{Epoch: now.Epoch, Seq: w.ReplayFrom}, atATime)
	if err != nil {
		return 0, err
	}
	told := now.Seq // what nobody was told of yet comes in its order
	if w.BehindFrom != nil {
		told = min(told, *w.BehindFrom)
	}
	found = slices.DeleteFunc(found, func(e events.Placed) bool { return e.Seq > told })
	if err := s.deliverTx(ctx, tenant, found, deliverAgain, transactAgain, []int64{int64(w.UID)}); err != nil {
		return 0, err
	}
	to := end.Seq
	if to <= w.ReplayFrom { // the feed ends here
		to = w.ReplayTo
	}
	to = min(to, told)
	_, err = db.Raw(tx, `UPDATE webhooks SET replay_from = ? WHERE tenant = ? AND uid = ?`, to,
		tenant, w.UID).Exec(ctx)
	return int(to - w.ReplayFrom), err
}

// deliverTx makes deliveries of events at the end of the transaction: for each webhook, or only for some,
// that sees the payment and asks for its state and network. It also makes those of the transactions of
// virtual accounts that the same steps made, for each webhook that asks for these. Events that are about no
// step of a payment are not posted.
func (s *Service) deliverTx(
	ctx context.Context, tenant access.Tenant, of []events.Placed, text, transactions string, only []int64,
) error {
	var uids, seqs []int64
	var numbers []int32
	var times []time.Time
	for _, event := range of {
		uid, err := strconv.ParseInt(event.UID, 10, 64)
		if err != nil {
			continue
		}
		uids, numbers, seqs = append(uids, uid), append(numbers, event.Version), append(seqs, event.Seq)
		times = append(times, event.At)
	}
	if len(uids) == 0 {
		return nil
	}
	err := db.ExecAtCommit(ctx, text, tenant, uids, numbers, seqs, times, s.now(), only, stateWords, statusWords)
	if err != nil {
		return err
	}
	return db.ExecAtCommit(ctx, transactions, tenant, uids, numbers, seqs, times, s.now(), only)
}

// deliverText returns a statement that makes deliveries, for webhooks of which a condition holds; again says
// what becomes of a delivery that is there already.
func deliverText(which, again string) string {
	return `INSERT INTO webhook_deliveries (tenant, webhook, customer, payment, number, seq, state, due_at,
		created_at)
	SELECT w.tenant, w.uid, w.customer, pay.uid, e.number, min(e.seq), 'WAITING', $6::timestamptz,
	  $6::timestamptz
	FROM unnest($2::bigint[], $3::int[], $4::bigint[], $5::timestamptz[]) AS e(uid, number, seq, at)
	JOIN payments AS pay ON pay.tenant = $1 AND pay.uid = e.uid
	JOIN payment_steps AS st ON st.tenant = $1 AND st.payment = e.uid AND st.number = e.number
	LEFT JOIN customers AS payer ON payer.tenant = $1 AND payer.uid = pay.customer
	LEFT JOIN customers AS payee ON payee.tenant = $1 AND payee.uid = pay.receiver_customer
	` + toldOf("payer.owner, payee.owner", "payer.uid, payee.uid") + `
	WHERE ` + which + ` AND 'PAYMENT' = ANY(w.topics) AND (w.rails = '{}' OR pay.rail = ANY(w.rails))
		AND (w.statuses = '{}' OR EXISTS (SELECT FROM unnest($8::text[], $9::text[]) AS s(state, word)
			WHERE s.state = st.state AND s.word = ANY(w.statuses)))
	GROUP BY w.tenant, w.uid, w.customer, pay.uid, e.number ORDER BY min(e.seq), w.uid
	ON CONFLICT ` + again
}

// toldOf joins the active webhooks w that see what belongs to partners and customers. They are looked up for
// each event, in indexes of those that are active: whoever has thousands of webhooks, or has had them and
// deleted them, keeps no event from those of others.
func toldOf(partners, customers string) string {
	return `CROSS JOIN LATERAL (
	  SELECT b.* FROM webhooks AS b WHERE b.tenant = $1 AND b.reach = 'Bank' AND b.status = 'Active'
	  UNION ALL SELECT p.* FROM webhooks AS p WHERE p.tenant = $1 AND p.customer IN (` + partners + `)
	    AND p.reach = 'Partner' AND p.status = 'Active'
	  UNION ALL SELECT o.* FROM webhooks AS o WHERE o.tenant = $1 AND o.customer IN (` + customers + `)
	    AND o.reach = 'Customer' AND o.status = 'Active') AS w`
}

// transactText is deliverText for the transactions of virtual accounts.
func transactText(which, again string) string {
	return `INSERT INTO webhook_deliveries (tenant, webhook, customer, posting, seq, state, due_at, created_at)
	SELECT w.tenant, w.uid, w.customer, vp.id, min(e.seq), 'WAITING', $6::timestamptz, $6::timestamptz
	FROM unnest($2::bigint[], $3::int[], $4::bigint[], $5::timestamptz[]) AS e(uid, number, seq, at)
	JOIN virtual_postings AS vp ON vp.tenant = $1 AND vp.payment = e.uid AND vp.step = e.number
	JOIN payments AS pay ON pay.tenant = $1 AND pay.uid = e.uid
	JOIN customers AS c ON c.tenant = $1 AND c.uid = vp.customer
	` + toldOf("c.owner", "c.uid") + `
	WHERE ` + which + ` AND 'TRANSACTION' = ANY(w.topics) AND (w.rails = '{}' OR pay.rail = ANY(w.rails))
	GROUP BY w.tenant, w.uid, w.customer, vp.id ORDER BY min(e.seq), vp.id, w.uid
	ON CONFLICT ` + again
}

const (
	// asNew is the condition of webhooks that are told of new events.
	asNew = `$7::bigint[] = '{}' AND e.seq > w.since_seq
		AND (w.behind_from IS NULL OR e.seq <= w.behind_from)`
	// asAgain is the condition of events of a replay.
	asAgain = `e.seq <= w.replay_to
		AND (w.replay_since IS NULL OR e.at >= w.replay_since OR e.seq > w.replay_after)`
	// asBefore is the condition of events that a webhook is told again, and asLater that of those that it is
	// told as it catches up.
	asBefore = `w.uid = ANY($7::bigint[]) AND ` + asAgain +
		` AND (w.behind_from IS NULL OR e.seq <= w.behind_from)`
	asLater = `w.uid = ANY($7::bigint[]) AND e.seq > w.behind_from
		AND (e.seq > w.since_seq OR e.seq <= w.behind_to OR e.seq > w.replay_from AND ` + asAgain + `)`
	// onceMore posts again what is there already.
	onceMore = ` DO UPDATE SET state = 'WAITING', due_at = excluded.due_at, tries = 0,
		tried_at = NULL, done_at = NULL WHERE webhook_deliveries.state <> 'WAITING'`
)

var (
	deliverNew    = falling(deliverText(asNew, "DO NOTHING"))
	deliverLater  = deliverText(asLater, "DO NOTHING")
	deliverAgain  = deliverText(asBefore, "(tenant, webhook, payment, number)"+onceMore)
	transactNew   = falling(transactText(asNew, "DO NOTHING"))
	transactLater = transactText(asLater, "DO NOTHING")
	transactAgain = transactText(asBefore, "(tenant, webhook, posting)"+onceMore)
)

// stateWords and statusWords are the states of payments, and the published words for them.
var stateWords, statusWords = func() (states, words []string) {
	for _, state := range payments.States {
		states, words = append(states, string(state)), append(words, string(state.Status()))
	}
	return states, words
}()
