package live

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/alerts"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/files"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// Tables lists what this domain reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Reads: map[string]string{
		"events":         "one statement serves all who listen, however many kinds of objects they ask for",
		"audit_seals":    "events come in the order of the seals of their entries",
		"audit_restores": "a record that goes on in a restored database ends all streams",
		"payments":       "who is paid sees a payment too: nobody else's stream reads it",
		"customers":      "which partner sees what a customer has: nobody else's stream reads it",
	},
}

// Service watches the feeds of the banks that somebody listens to, each with one statement at a time.
type Service struct {
	db *db.DB

	mu    sync.Mutex
	feeds map[access.Tenant]*feed
}

// New makes the service.
func New(d *db.DB) *Service { return &Service{db: d, feeds: map[access.Tenant]*feed{}} }

const (
	payment = "payment"
	file    = "file"
	account = "account"
)

// Payments listens to changes of payments that the caller sees: of one customer, as who pays or is paid, or
// of one payment, unless these are 0. It begins after a cursor of the feed, or now if there is none.
func (s *Service) Payments(
	ctx context.Context, customer customers.UID, uid payments.UID, since string,
) (*Listener, error) {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return nil, err
	}
	return s.listen(ctx, wish{
		caller: caller, object: payment, uid: int64(uid),
		customer: int64(customer),
	}, since)
}

// Files listens to changes of bulk files, as Payments does.
func (s *Service) Files(
	ctx context.Context, customer customers.UID, uid files.FileUID, since string,
) (*Listener, error) {
	caller, err := access.Require(ctx, access.ViewFiles)
	if err != nil {
		return nil, err
	}
	return s.listen(ctx, wish{caller: caller, object: file, uid: int64(uid), customer: int64(customer)}, since)
}

// BalanceAlerts listens to balance alerts that fire, as Payments does: of the accounts of one customer, or of
// one account. The changes name the account.
func (s *Service) BalanceAlerts(
	ctx context.Context, customer customers.UID, uid accounts.UID, since string,
) (*Listener, error) {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return nil, err
	}
	return s.listen(ctx, wish{
		caller: caller, object: account, kind: alerts.EventKind, uid: int64(uid), customer: int64(customer),
	}, since)
}

// Listeners is how many in this process listen to a bank.
func (s *Service) Listeners(tenant access.Tenant) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.feeds[tenant]
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.listeners)
}

func (s *Service) listen(ctx context.Context, what wish, since string) (*Listener, error) {
	from, err := s.place(ctx, what.caller.Tenant, since)
	if err != nil {
		return nil, err
	}
	l := &Listener{wish: what, db: s.db, ready: make(chan struct{}, 1), behind: true, at: from}
	l.feed = s.join(l)
	select {
	case <-l.feed.begun:
		return l, nil
	case <-ctx.Done():
		l.Close()
		return nil, context.Cause(ctx)
	}
}

// place reads a cursor as a place of the present epoch. Without one it is the end of the record: the feed may
// not have handed out yet what another listener has had already.
func (s *Service) place(
	ctx context.Context, tenant access.Tenant, since string,
) (at events.Cursor, err error) {
	if since == "" {
		end, _, err := read(ctx, s.db, tenant, nowhere)
		if err != nil {
			return at, err
		}
		return events.Cursor{Epoch: end.Epoch, Seq: end.Last}, nil
	}
	cursor, err := events.ParseCursor(since)
	if err != nil {
		return at, err
	}
	ctx, cancel := db.Reading(ctx)
	defer cancel()
	err = s.db.RunInTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		func(ctx context.Context, tx bun.Tx) error {
			at, err = events.PlaceTx(ctx, tx, tenant, cursor)
			return err
		})
	if err != nil {
		err = fmt.Errorf("listen since %s: %w", since, err)
	}
	return at, err
}

// join adds a listener to the feed of its bank, which begins with the first.
func (s *Service) join(l *Listener) *feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.feeds[l.caller.Tenant]
	if f == nil {
		f = &feed{
			tenant: l.caller.Tenant, service: s, begun: make(chan struct{}), listeners: map[*Listener]bool{},
		}
		s.feeds[f.tenant] = f
		go f.watch()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners[l] = true
	return f
}

// forget ends a feed that nobody listens to any more. It reports whether it did.
func (s *Service) forget(f *feed) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.listeners) > 0 {
		return false
	}
	if s.feeds[f.tenant] == f {
		delete(s.feeds, f.tenant)
	}
	return true
}

const (
	every    = 150 * time.Millisecond // how often a feed is read
	atATime  = 500                    // entries of the record in one read
	longest  = 5 * time.Second        // of one read
	mostLate = 256                    // changes that wait for one listener
)

// reading is the one statement that reads the record of a bank: the first row tells where it ends, the others
// are the next entries after a number.
var reading = db.NewQuery[row](`SELECT * FROM (
	SELECT 0::bigint AS seq, coalesce((SELECT max(epoch) FROM audit_restores WHERE tenant = $1), 1) AS epoch,
		coalesce((SELECT max(seq) FROM audit_seals WHERE tenant = $1), 0) AS last,
		'epoch'::timestamptz AS at, '' AS kind,
		'' AS object, 0::bigint AS uid, 0 AS version, 0::bigint AS customer, 0::bigint AS owner, 0::bigint AS payee,
		0::bigint AS payee_owner
	UNION ALL
	SELECT e.seq, 0, 0, e.at, e.kind, e.object, e.number, e.version, e.customer,
		coalesce((SELECT c.owner FROM customers AS c WHERE c.tenant = $1 AND c.uid = e.customer), 0), e.payee,
		coalesce((SELECT c.owner FROM customers AS c WHERE c.tenant = $1 AND c.uid = e.payee), 0)
	FROM (SELECT n.*, coalesce((SELECT p.receiver_customer FROM payments AS p
			WHERE p.tenant = $1 AND p.uid = n.number AND n.object = 'payment'), 0) AS payee
		FROM (SELECT s.seq, coalesce(v.at, 'epoch') AS at, coalesce(v.kind, '') AS kind,
				coalesce(v.object, '') AS object,
				coalesce(CASE WHEN v.uid ~ '^[0-9]{1,18}$' THEN v.uid::bigint END, 0) AS number,
				coalesce(v.version, 0) AS version, coalesce(v.customer, 0) AS customer
			FROM audit_seals AS s LEFT JOIN events AS v ON v.tenant = $1 AND v.entry = s.entry
			WHERE s.tenant = $1 AND s.seq > $2::bigint ORDER BY s.seq LIMIT $3::bigint) AS n) AS e) AS r
	ORDER BY r.seq`)

// read returns where the record of a bank ends, and its next entries after a number.
func read(
	ctx context.Context, d *db.DB, tenant access.Tenant, after int64,
) (end *row, next []*row, err error) {
	b := d.PrimaryBatch()
	found := db.Queue(b, reading, tenant, after, int64(atATime))
	if err = b.Send(ctx); err == nil {
		err = found.Err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the feed after %d: %w", after, err)
	}
	return found.Items[0], found.Items[1:], nil
}

// nowhere is after every entry: a read from there tells only where the record ends.
const nowhere = math.MaxInt64
