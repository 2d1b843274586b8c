// Package screening compares the other side of a payment with lists of names, such as those of sanctions. A
// payment that a listed name is found in waits until the bank's compliance people have looked at it.
package screening

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/events"
	"bankgraph/core/rails/plain"
	"bankgraph/db"
)

// Tables lists the tables of this domain (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"payment_screenings", "screening_lists", "screening_names"},
	Reads: map[string]string{
		"tenant_settings": "whether people look at all payments, in the statement that asks for the lists",
	},
}

// Service keeps the lists of every bank.
type Service struct {
	db  *db.DB
	now func() time.Time

	mu      sync.Mutex
	indexes map[access.Tenant]*kept
}

// kept is the index of a bank's lists in memory.
type kept struct {
	versions int64
	*Index
}

// New makes the service.
func New(d *db.DB, now func() time.Time) *Service {
	return &Service{db: d, now: now, indexes: map[access.Tenant]*kept{}}
}

// Name is a name of a list.
type Name struct {
	bun.BaseModel `bun:"table:screening_names,alias:sn"`

	Tenant    access.Tenant `bun:"tenant,pk"`
	List      string        `bun:"list,pk"`
	Line      int64         `bun:"line,pk"` // of the file
	Name      string        `bun:"name"`
	Program   string        `bun:"program"`   // why it is listed, in the list's own words
	Reference string        `bun:"reference"` // by what the list knows it
}

// Match is a listed name that somebody may be.
type Match struct {
	List      string `json:"list"`
	Name      string `json:"name"`
	Program   string `json:"program"`
	Reference string `json:"reference"`
}

// Status says what became of a screening.
type Status string

const (
	Pending  Status = "PENDING"  // people look at it
	Released Status = "RELEASED" // the payment goes on
	Rejected Status = "REJECTED" // the payment is cancelled
)

// Object is the name of screenings in the record and in faults.
const Object = "screening"

// Screening is what the comparison of a payment with the lists has found, and what people decided. It is for
// the bank's own people alone.
type Screening struct {
	bun.BaseModel `bun:"table:payment_screenings,alias:scr" json:"-"`

	Tenant    access.Tenant `bun:"tenant,pk" json:"-"`
	Payment   int64         `bun:"payment,pk" json:"payment"`
	Name      string        `bun:"name" json:"name"` // that was compared
	Matches   []Match       `bun:"matches,type:jsonb" json:"matches"`
	Status    Status        `bun:"status" json:"status"`
	CreatedAt time.Time     `bun:"created_at" json:"createdAt"`
	// when it is rejected without a person; nil for never
	ExpiresAt     *time.Time `bun:"expires_at" json:"expiresAt"`
	DecidedAt     *time.Time `bun:"decided_at" json:"decidedAt"`
	DecidedClient string     `bun:"decided_client" json:"decidedClient"`
	DecidedLogin  string     `bun:"decided_login" json:"decidedLogin"`
	Reason        string     `bun:"reason" json:"reason"` // of the decision
}

// DecidedBy returns the login of who decided, or else the API key; "" if nobody did.
func (s *Screening) DecidedBy() string { return cmp.Or(s.DecidedLogin, s.DecidedClient) }

// Asked is how a bank screens: with which lists, and whether people look at all payments.
type Asked struct {
	Versions int64 `bun:"versions"` // of its lists, which grow with each import; 0 for no list
	All      bool  `bun:"screen_all"`
}

var asking = db.NewQuery[Asked](`SELECT
	coalesce((SELECT sum(l.version) FROM screening_lists AS l WHERE l.tenant = $1), 0)::bigint AS versions,
	coalesce((SELECT s.screen_all FROM tenant_settings AS s WHERE s.tenant = $1), false) AS screen_all`)

// Ask asks how a bank screens.
func Ask(b *db.Batch, tenant access.Tenant) *db.Rows[Asked] { return db.Queue(b, asking, tenant) }

var reading = db.NewQuery[Name](`SELECT list, line, name, program, reference FROM screening_names
	WHERE tenant = $1 ORDER BY list, line`)

// Screen is what the payments of a transaction are compared with. Nil lets all pass.
type Screen struct {
	all   bool
	index *Index
}

// ScreenTx returns what payments of a bank are compared with: the lists that it had when it was asked, or
// later ones. They are kept in memory and read anew when they have changed.
func (s *Service) ScreenTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, asked *Asked,
) (*Screen, error) {
	return s.screen(ctx, func() *db.Batch { return db.TxBatch(tx) }, tenant, asked)
}

func (s *Service) screen(
	ctx context.Context, batch func() *db.Batch, tenant access.Tenant, asked *Asked,
) (*Screen, error) {
	if asked.Versions == 0 && !asked.All {
		return nil, nil
	}
	screen := &Screen{all: asked.All}
	if asked.Versions == 0 {
		return screen, nil
	}
	s.mu.Lock()
	is := s.indexes[tenant]
	s.mu.Unlock()
	if is == nil || is.versions != asked.Versions {
		b := batch()
		names := db.Queue(b, reading, tenant)
		if err := b.Send(ctx); err != nil {
			return nil, fmt.Errorf("read the lists that payments are screened with: %w", err)
		}
		is = &kept{asked.Versions, NewIndex(names.Items)}
		s.mu.Lock()
		s.indexes[tenant] = is
		s.mu.Unlock()
	}
	screen.index = is.Index
	return screen, nil
}

// Find returns the listed names that a name may be, and whether people look at the payment. They do if a bank
// with lists gets a name that has no form in ASCII, which is all that networks carry: in letters of another
// script, or ones that look like Latin ones, no listed name is found.
func (s *Screen) Find(name string) (found []Match, look bool) {
	if s == nil || s.index == nil {
		return nil, s.All()
	}
	found = s.index.Find(name)
	return found, s.all || len(found) > 0 || !plain.Is(plain.ASCII(name))
}

// All reports whether people look at all payments.
func (s *Screen) All() bool { return s != nil && s.all }

// Found is a payment that people have to look at.
type Found struct {
	Payment int64
	Name    string // that was compared
	Matches []Match
	At      time.Time
	Expires *time.Time // nil for never
}

// WriteTx keeps what payments of a bank were found with, at the end of the transaction.
func WriteTx(ctx context.Context, tenant access.Tenant, all []Found) error {
	if len(all) == 0 {
		return nil
	}
	var of []int64
	var names, matches []string
	var expires []*time.Time
	for _, one := range all {
		text, err := json.Marshal(append([]Match{}, one.Matches...)) // [] for none
		if err != nil {
			return fmt.Errorf("write the screening of payment %d: %w", one.Payment, err)
		}
		of, names, matches = append(of, one.Payment), append(names, one.Name), append(matches, string(text))
		expires = append(expires, one.Expires)
	}
	return db.ExecAtCommit(ctx, `INSERT INTO payment_screenings (tenant, payment, name, matches, status,
		created_at, expires_at)
		SELECT $1, n.payment, n.name, n.matches::jsonb, $5, $6, n.expires_at
		FROM unnest($2::bigint[], $3::text[], $4::text[], $7::timestamptz[]) AS n(payment, name,
			matches, expires_at)`, tenant, of, names, matches, Pending, all[0].At, expires)
}

// DecideTx writes what people decided on a payment, which is locked, at the end of the transaction; or the
// bank itself, if nobody did. The record has the reason in an entry of no customer, which nobody outside the
// bank reads.
func DecideTx(
	ctx context.Context, tx bun.Tx, by access.Caller, now time.Time, payment int64, to Status, reason string,
) error {
	const action = "decideScreening"
	uid := strconv.FormatInt(payment, 10)
	err := events.RecordTx(ctx, tx,
		audit.Entry{Action: action, Decision: audit.Done, Object: Object, UID: uid, Reason: reason}.By(by),
		events.Event{Tenant: by.Tenant, Kind: action, Object: Object, UID: uid, Version: 1})
	if err != nil {
		return err
	}
	return db.ExecAtCommit(ctx, `UPDATE payment_screenings
		SET status = $3, decided_at = $4, decided_client = $5,
		decided_login = $6, reason = $7 WHERE tenant = $1 AND payment = $2`,
		by.Tenant, payment, to, now, by.Client, by.LoginID, reason)
}

// expired is a screening that nobody has decided in time.
type expired struct {
	Payment int64 `bun:"payment"`
}

var findingExpired = db.NewQuery[expired](`SELECT payment FROM payment_screenings
	WHERE tenant = $1 AND status = 'PENDING' AND expires_at <= $2::timestamptz
	ORDER BY expires_at, payment LIMIT 250`)

// Expired reads the payments of the caller's bank that still wait for people after their time, those that
// have waited longest first, some at a time.
func (s *Service) Expired(ctx context.Context, now time.Time) (of []int64, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	rows, err := db.ReadPrimary(ctx, s.db, findingExpired, caller.Tenant, now)
	for _, row := range rows {
		of = append(of, row.Payment)
	}
	return of, err
}

type upcoming struct {
	At *time.Time `bun:"at"`
}

var findingUpcoming = db.NewQuery[upcoming](`SELECT min(expires_at) AS at FROM payment_screenings
	WHERE tenant = $1 AND status = 'PENDING' AND expires_at > $2::timestamptz`)

// Next returns when the next screening of the caller's bank expires after a time; nil if none does.
func (s *Service) Next(ctx context.Context, after time.Time) (*time.Time, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	rows, err := db.ReadPrimary(ctx, s.db, findingUpcoming, caller.Tenant, after)
	if err != nil {
		return nil, err
	}
	return rows[0].At, nil
}

// RejectedTx returns which payments people have rejected.
func RejectedTx[P ~int64](ctx context.Context, tx bun.Tx, tenant access.Tenant, of []P) (map[P]bool, error) {
	var rejected []P
	err := tx.NewRaw(`SELECT payment FROM payment_screenings
		WHERE tenant = ? AND payment IN (?) AND status = ?`,
		tenant, bun.List(of), Rejected).Scan(ctx, &rejected)
	if err != nil {
		return nil, fmt.Errorf("read what people have rejected: %w", err)
	}
	all := map[P]bool{}
	for _, uid := range rejected {
		all[uid] = true
	}
	return all, nil
}

// ReopenTx lets people look again at payments on which they have decided, at the end of the transaction. What
// they decided stays in the record.
func ReopenTx[P ~int64](ctx context.Context, tenant access.Tenant, of []P) error {
	if len(of) == 0 {
		return nil
	}
	return db.ExecAtCommit(ctx, `UPDATE payment_screenings
		SET status = $3, decided_at = NULL, decided_client = '',
		decided_login = '', reason = '' WHERE tenant = $1 AND payment = ANY($2)`, tenant, of, Pending)
}

var showing = db.NewQuery[Screening](db.Select[Screening](db.Columns{}, nil).
	Where("scr.tenant = $1").Where("scr.payment = ANY($2)").String())

// OfPayments reads what payments were found with: of each one screening at most, and of none for callers
// outside the bank.
func OfPayments[P ~int64](ctx context.Context, b *db.Batch, of []P) *db.Many[P, Screening] {
	caller, err := access.Require(ctx, access.ScreenPayments)
	if err != nil {
		return db.Refuse[P, Screening](err)
	}
	if caller.Reach != access.OfBank {
		of = nil
	}
	return db.QueueMany(b, showing, func(r *Screening) P { return P(r.Payment) }, caller.Tenant, of)
}
