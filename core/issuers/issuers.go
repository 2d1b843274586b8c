package issuers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/users"
	"bankgraph/db"
)

// Tables are those of this domain, and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"issuers"},
	Reads: map[string]string{
		"tenants": "an issuer is read with the realm and the zone of its bank",
	},
}

// Service keeps the issuers of every bank, and checks their tokens.
type Service struct {
	db      *db.DB
	users   *users.Service
	now     func() time.Time
	fetch   Fetch
	waiting chan struct{}

	mu   sync.Mutex
	book *book
}

// New makes the service. now is the bank's clock; without fetch, no issuer can be asked for its keys.
func New(d *db.DB, u *users.Service, now func() time.Time, fetch Fetch) *Service {
	if fetch == nil {
		fetch = func(context.Context, string, bool) ([]byte, error) {
			return nil, errors.New("this program fetches nothing")
		}
	}
	return &Service{db: d, users: u, now: now, fetch: fetch, waiting: make(chan struct{}, mostWaiting)}
}

// Add lets the bank accept an issuer's tokens. A field that will not do is a fault on that field; ErrExists
// when the bank accepts them already, ErrTaken when another bank does. One that was disabled is added anew.
func (s *Service) Add(ctx context.Context, draft Draft) (*Issuer, error) {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return nil, err
	}
	added, err := draft.check()
	if err != nil {
		return nil, err
	}
	added.Tenant, added.CreatedAt = caller.Tenant, s.now()
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if err := freeTx(ctx, tx, added); err != nil {
			return err
		}
		_, err := tx.NewInsert().Model(&added).On("CONFLICT (tenant, url, audience) DO UPDATE").
			Set("user_claims = excluded.user_claims, partner_claim = excluded.partner_claim, entity_claim = excluded.entity_claim").
			Set("subject_claim = excluded.subject_claim, scope = excluded.scope, id_tokens = excluded.id_tokens, longest_life = excluded.longest_life").
			Set("algorithms = excluded.algorithms, created_at = excluded.created_at, disabled_at = NULL").Exec(ctx)
		if err != nil {
			return err
		}
		return recordTx(ctx, tx, caller, "addIssuer", nil, &added)
	})
	if err != nil {
		return nil, fmt.Errorf("add issuer %s: %w", draft.URL, err)
	}
	s.forget()
	return &added, nil
}

// freeTx refuses an issuer that is accepted with this audience: a token says nothing else about the bank it
// is for. The lock lets one at a time ask, over all banks, because no constraint that begins with the tenant
// can.
func freeTx(ctx context.Context, tx bun.Tx, added Issuer) error {
	if _, err := tx.ExecContext(ctx, `LOCK TABLE issuers IN SHARE ROW EXCLUSIVE MODE`); err != nil {
		return err
	}
	var tenants []access.Tenant
	err := tx.NewRaw(`SELECT tenant FROM issuers WHERE url = ? AND audience = ? AND disabled_at IS NULL`,
		added.URL, added.Audience).Scan(ctx, &tenants)
	switch {
	case err != nil || len(tenants) == 0:
		return err
	case tenants[0] == added.Tenant:
		return ErrExists
	}
	return ErrTaken
}

// List returns all issuers of the bank by address and audience, disabled ones too.
func (s *Service) List(ctx context.Context) ([]*Issuer, error) {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return nil, err
	}
	var all []*Issuer
	if err := s.db.NewSelect().Model(&all).Where("i.tenant = ?", caller.Tenant).Order("i.url", "i.audience").
		Scan(ctx); err != nil {
		return nil, fmt.Errorf("list issuers: %w", err)
	}
	return all, nil
}

// Disable ends the acceptance of an issuer's tokens, for one audience or, when it is empty, for all. They die
// within the time that a verified token is remembered.
func (s *Service) Disable(ctx context.Context, url, audience string) error {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		var all []*Issuer
		err := tx.NewSelect().Model(&all).Where("i.tenant = ?", caller.Tenant).Where("i.url = ?", url).
			Where("? IN ('', i.audience)", audience).
			Order("i.audience").For("UPDATE").Scan(ctx)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return ErrNotFound
		}
		all = slices.DeleteFunc(all, func(one *Issuer) bool { return one.DisabledAt != nil })
		if len(all) == 0 {
			return ErrDisabled
		}
		for _, one := range all {
			if err := disableTx(ctx, tx, caller, one, s.now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("disable issuer %s: %w", url, err)
	}
	s.forget()
	return nil
}

func disableTx(ctx context.Context, tx bun.Tx, caller access.Caller, one *Issuer, now time.Time) error {
	disabled := *one
	disabled.DisabledAt = &now
	if _, err := tx.NewUpdate().Model(&disabled).Column("disabled_at").WherePK().Exec(ctx); err != nil {
		return err
	}
	return recordTx(ctx, tx, caller, "disableIssuer", one, &disabled)
}

// recordTx writes down whom the bank trusts from now on, or no more.
func recordTx(ctx context.Context, tx bun.Tx, caller access.Caller, action string, was, is *Issuer) error {
	entry := audit.Entry{
		Action: action, Decision: audit.Done, Object: "issuer",
		UID: is.URL + " " + is.Audience,
	}.By(caller)
	entry.Before, entry.After = audit.Diff(was, is)
	return audit.WriteTx(ctx, tx, entry)
}

// Reach asks an issuer for its keys now, and tells how many it shows.
func (s *Service) Reach(ctx context.Context, url string) (keys int, err error) {
	if _, err := access.Require(ctx, access.ManageClients); err != nil {
		return 0, err
	}
	found, err := (&keyring{issuer: url, fetch: s.fetch}).load(ctx)
	return len(found), err
}

// remembered is how long this process trusts what it read of issuers.
const remembered = 10 * time.Second

// book is every issuer that any bank accepts, by address: a few rows for each bank. So a token that names
// another issuer costs nothing.
type book struct {
	read time.Time
	of   map[string]*trusted
}

// trusted is an issuer with the rows of the banks that accept it.
type trusted struct {
	rows []*row
	ring *keyring
}

type row struct {
	Issuer `bun:",extend"`
	Realm  string `bun:"realm,scanonly"`
	Zone   string `bun:"zone,scanonly"`

	location *time.Location
}

// by is the row that a token counts for: that whose audience it names. One that names those of several
// banks is for none of them.
func (t *trusted) by(standard jwt.Claims) (*row, error) {
	var found *row
	for _, one := range t.rows {
		switch {
		case !standard.Audience.Contains(one.Audience):
		case found == nil:
			found = one
		case found.Tenant != one.Tenant:
			return nil, access.RefuseToken("its audiences are of several banks")
		}
	}
	if found == nil {
		return nil, access.RefuseToken("it is for another audience than the bank accepts of this issuer")
	}
	return found, nil
}

// trusting finds an issuer as it was at most ten seconds ago; nil when no bank accepts it.
func (s *Service) trusting(ctx context.Context, issuer string) (*trusted, error) {
	s.mu.Lock()
	known, now := s.book, s.now()
	s.mu.Unlock()
	if known != nil && now.Sub(known.read) < remembered && !now.Before(known.read) {
		return known.of[issuer], nil
	}
	var all []*row
	err := s.db.NewSelect().Model(&all).ColumnExpr("?TableColumns, t.code AS realm, t.zone").
		Join("JOIN tenants AS t ON t.id = i.tenant").
		Where("i.disabled_at IS NULL").Order("i.tenant", "i.url", "i.audience").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the issuers: %w", err)
	}
	fresh := &book{read: now, of: map[string]*trusted{}}
	for _, one := range all {
		if one.location, err = time.LoadLocation(one.Zone); err != nil {
			return nil, fmt.Errorf("read the zone of tenant %d: %w", one.Tenant, err)
		}
		if fresh.of[one.URL] == nil {
			fresh.of[one.URL] = &trusted{}
		}
		fresh.of[one.URL].rows = append(fresh.of[one.URL].rows, one)
	}
	s.keep(fresh)
	return fresh.of[issuer], nil
}

// keep remembers the issuers. The keys of those that were known before stay known.
func (s *Service) keep(fresh *book) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for url, trusted := range fresh.of {
		if s.book != nil && s.book.of[url] != nil {
			trusted.ring = s.book.of[url].ring
			continue
		}
		trusted.ring = &keyring{issuer: url, fetch: s.fetch, now: s.now, waiting: s.waiting}
	}
	s.book = fresh
}

// forget has the issuers read anew by the next token. Their keys stay known.
func (s *Service) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.book != nil {
		s.book = &book{of: s.book.of}
	}
}
