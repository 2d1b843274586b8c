package verifications

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/db"
)

// atATime is how many verifications one transaction of Work deals with, and watchedAtATime how many a call
// looks at in search of those of which something has come. Where more are watched, the next call goes on
// behind them.
const (
	atATime        = 100
	watchedAtATime = 5000
)

// Work ends the verifications of the caller's bank whose time has come, or of which something has come back,
// and returns how many it has changed. It is for workers: any number may call it at a time, and each has
// others.
func (s *Service) Work(ctx context.Context) (done int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	now, err := s.now(ctx, caller.Tenant)
	if err != nil {
		return 0, err
	}
	now = now.Truncate(time.Microsecond) // as it is kept
	b := s.db.PrimaryBatch()
	late := db.Queue(b, findingDue, caller.Tenant, now)
	watched := db.Queue(b, looking, caller.Tenant, s.looked.Last(caller.Tenant))
	if err := b.Send(ctx); err != nil {
		return 0, fmt.Errorf("look at verifications of contacts: %w", err)
	}
	page, err := watched.One()
	if err != nil {
		return 0, err
	}
	next, due := page.next()
	for _, v := range late.Items {
		due = append(due, v.UID)
	}
	if len(due) > 0 {
		err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
			done, err = s.workTx(ctx, tx, caller, due, now)
			return err
		})
	}
	s.looked.Give(caller.Tenant, next)
	if err != nil {
		return 0, fmt.Errorf("end verifications of contacts: %w", err)
	}
	return done, nil
}

// looked is what a look at watched verifications has found.
type looked struct {
	Read int   `bun:"read"`
	Last UID   `bun:"last"`
	Came []UID `bun:"came,array"` // of which something has come
}

// next returns those of which something has come, atATime at most, and behind which one the next look begins;
// 0 from the first one on.
func (l *looked) next() (place UID, came []UID) {
	switch {
	case len(l.Came) > atATime:
		return l.Came[atATime-1], l.Came[:atATime]
	case l.Read < watchedAtATime:
		return 0, l.Came
	}
	return l.Last, l.Came
}

// came is what has come of a verification so far: of its deposits the first that has gone back, or that its
// prenote has come back, and the first notice of change.
type came struct {
	UID    UID            `bun:"uid"`
	State  payments.State `bun:"state"` // of the deposit; '' where none has gone back
	Code   string         `bun:"code"`
	Reason string         `bun:"reason"`
	Notice string         `bun:"notice"`
	// of a prenote
	Left      bool              `bun:"left"` // the network has its file
	SettlesOn *time.Time        `bun:"settles_on"`
	Last4     string            `bun:"last4"`
	Routing   string            `bun:"routing"`
	Account   rails.AccountType `bun:"account"`
}

// back joins what has come of the deposits or the prenote of cv, of the bank $1: each is looked up.
var back = fmt.Sprintf(`LEFT JOIN LATERAL (SELECT pay.state, pay.reason, d.return_code FROM payments AS pay
	  LEFT JOIN payment_details AS d ON d.tenant = $1 AND d.payment = pay.uid
	  WHERE pay.tenant = $1 AND pay.uid IN (cv.deposit_1, cv.deposit_2) AND pay.state IN (%s)
	  ORDER BY pay.uid LIMIT 1) AS b ON true
	LEFT JOIN LATERAL (SELECT a.code FROM ach_answers AS a
	  WHERE a.tenant = $1 AND a.payment IN (cv.deposit_1, cv.deposit_2) AND a.code LIKE 'C__'
	  ORDER BY a.message, a.line LIMIT 1) AS n ON true
	LEFT JOIN LATERAL (SELECT * FROM ach_prenotes AS p WHERE p.tenant = $1 AND p.id = cv.prenote
		LIMIT 1) AS pn ON true`, quoted(payments.GoneBack))

func quoted[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = "'" + string(word) + "'"
	}
	return strings.Join(all, ", ")
}

var (
	findingDue = db.NewQuery[came](fmt.Sprintf(`SELECT cv.uid FROM contact_verifications AS cv
		WHERE cv.tenant = $1 AND cv.due_at <= $2::timestamptz ORDER BY cv.due_at, cv.uid LIMIT %d`, atATime))
	// looking compares the next watched verifications after a number with what has come. The limit is a part of
	// the text, so that the planner knows that few are compared.
	looking = db.NewQuery[looked](fmt.Sprintf(`WITH page AS MATERIALIZED (
		  SELECT uid, deposit_1, deposit_2, prenote, notice_code FROM contact_verifications
		  WHERE tenant = $1 AND due_at IS NOT NULL AND uid > $2::bigint ORDER BY uid LIMIT %d)
		SELECT count(*) AS read, coalesce(max(cv.uid), 0) AS last,
		  coalesce(array_agg(cv.uid ORDER BY cv.uid) FILTER (WHERE b.state IS NOT NULL OR pn.return_code <> ''
		    OR coalesce(n.code, pn.notice_code, '') <> '' AND cv.notice_code = ''), '{}') AS came
		FROM page AS cv `+back, watchedAtATime))
	reading = db.NewQuery[came](`SELECT cv.uid, coalesce(b.state, '') AS state,
		coalesce(b.return_code, pn.return_code, '') AS code,
		coalesce(b.reason, '') AS reason, coalesce(n.code, pn.notice_code, '') AS notice, pn.settles_on,
		coalesce(pn.right_last4, '') AS last4, coalesce(pn.right_routing, '') AS routing,
		coalesce(pn.right_account, '') AS account, EXISTS (SELECT FROM network_messages AS nm
		  WHERE nm.tenant = $1 AND nm.id = pn.file AND nm.handed_at IS NOT NULL) AS left
		FROM contact_verifications AS cv ` + back + ` WHERE cv.tenant = $1 AND cv.uid = ANY($2::bigint[])`)
)

// workTx locks those of some verifications that nobody else is at, and writes what has become of them.
func (s *Service) workTx(
	ctx context.Context, tx bun.Tx, worker access.Caller, due []UID, now time.Time,
) (done int, err error) {
	var all []*Verification
	err = tx.NewSelect().Model(&all).Where("cv.tenant = ?", worker.Tenant).
		Where("cv.uid IN (?)", bun.List(due)).
		Where("cv.due_at IS NOT NULL").OrderExpr("cv.uid").For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	uids := make([]UID, len(all))
	for i, v := range all {
		uids[i] = v.UID
	}
	b := db.TxBatch(tx)
	found := db.QueueMany(b, reading, func(c *came) UID { return c.UID }, worker.Tenant, uids)
	ids := audit.TakeIDs(b, len(all))
	if err := b.Send(ctx); err != nil {
		return 0, err
	}
	var moved []*Verification
	var record []events.Recorded
	for i, v := range all {
		was := *v
		action := v.settle(found.Of[v.UID][0], now)
		if v.DueAt == was.DueAt && action == "" {
			continue
		}
		if moved = append(moved, v); action == "" {
			continue
		}
		v.Version, v.UpdatedAt = v.Version+1, now
		r := changes.Change{
			Action: action, Object: object, UID: v.UID, Customer: int64(v.Customer), Version: v.Version, Before: &was,
			After: v,
		}.Recorded(worker, "")
		r.Entry.ID = ids.Items[i].ID
		record = append(record, r)
	}
	if len(moved) == 0 {
		return 0, nil
	}
	if err := writeTx(ctx, worker.Tenant, moved); err != nil || len(record) == 0 {
		return len(moved), err
	}
	return len(moved), events.RecordAllTx(ctx, record)
}

// settle does to a verification what has come, and what is due. It returns what the record calls that; ""
// where there is nothing to tell.
func (v *Verification) settle(c *came, now time.Time) (action string) {
	switch {
	case c.State != "":
		why := c.Reason
		if why == "" {
			why = "the deposit is " + string(c.State.Status())
		}
		v.fail(c.Code, strings.TrimPrefix(why, c.Code+": "))
		return "failContactVerification"
	case c.Code != "":
		v.fail(c.Code, cmp.Or(payments.MeaningOf(c.Code), "the prenote came back"))
		return "failContactVerification"
	}
	if c.Notice != "" && v.NoticeCode == "" {
		v.NoticeCode, v.RightLast4, v.RightRouting, v.RightAccount = c.Notice, c.Last4, c.Routing, c.Account
		action = "noteContactVerification"
		if v.Method == Prenote {
			v.end(Corrected)
			return action
		}
	}
	switch {
	case v.DueAt.After(now):
	case v.State == AwaitingAmounts:
		v.end(Expired)
		return "expireContactVerification"
	case v.State == Pending:
		return v.take(c, now)
	default: // nothing can come back any more
		v.DueAt = nil
	}
	return action
}

// take ends a verification well whose prenote nobody has answered in time. Time begins when the prenote has
// left and settled.
func (v *Verification) take(c *came, now time.Time) (action string) {
	until := calendar.Clock(0).On(calendar.Next(calendar.Today(now), 1)) // it has not left: look again tomorrow
	if c.Left && c.SettlesOn != nil {
		if until = answerUntil(*c.SettlesOn); !until.After(now) {
			v.verify(now)
			return "completeContactVerification"
		}
	}
	v.DueAt = &until
	return ""
}

// writeTx writes what has become of verifications, at the end of the transaction.
func writeTx(ctx context.Context, tenant access.Tenant, all []*Verification) error {
	var uids []int64
	var versions []int32
	var states, codes, reasons, notices, last4s, routings, types []string
	var due, expires, verified []*time.Time
	var updated []time.Time
	for _, v := range all {
		uids, versions, states = append(uids, int64(v.UID)), append(versions, v.Version),
			append(states, string(v.State))
		codes, reasons, notices = append(codes, v.FailureCode), append(reasons, v.Failure),
			append(notices, v.NoticeCode)
		due, expires, verified = append(due, v.DueAt), append(expires, v.ExpiresAt), append(verified, v.VerifiedAt)
		last4s, routings, types = append(last4s, v.RightLast4), append(routings, v.RightRouting),
			append(types, string(v.RightAccount))
		updated = append(updated, v.UpdatedAt)
	}
	return db.ExecAtCommit(ctx, `UPDATE contact_verifications AS cv
		SET state = n.state, failure_code = n.code,
		failure = n.reason, notice_code = n.notice, due_at = n.due, expires_at = n.expires,
		  verified_at = n.verified, updated_at = n.updated,
		version = n.version, right_last4 = n.last4, right_routing = n.routing, right_account = n.account
		FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[],
		  $8::timestamptz[], $9::timestamptz[], $10::timestamptz[], $11::int[], $12::text[], $13::text[],
		  $14::text[])
		  AS n(uid, state, code, reason, notice, due, expires, verified, updated, version, last4, routing, account)
		WHERE cv.tenant = $1 AND cv.uid = n.uid`, tenant, uids, states, codes, reasons, notices, due,
		expires, verified, updated, versions, last4s, routings, types)
}

type dueAt struct {
	At *time.Time `bun:"at"`
}

var findingNext = db.NewQuery[dueAt](`SELECT min(due_at) AS at FROM contact_verifications
	WHERE tenant = $1 AND due_at > $2::timestamptz`)

// Next returns when the next verification of the caller's bank ends by itself, after a time; nil if none
// does.
func (s *Service) Next(ctx context.Context, after time.Time) (*time.Time, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	b := s.db.PrimaryBatch()
	next := db.Queue(b, findingNext, caller.Tenant, after)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	return next.Items[0].At, next.Err
}
