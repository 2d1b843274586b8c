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

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"issuers"},
	Reads: map[string]string{
		"tenants": "an issuer is read with the realm and the zone of its bank",
	},
}

// Service keeps the issuers of every bank, and verifies their tokens.
type Service struct {
	db    *db.DB
	users *users.Service
	now   func() time.Time
	fetch Fetch

	mu   sync.Mutex
	book *book
}

// New makes the service. now is the bank's clock. If fetch is nil, the keys of issuers cannot be read.
func New(d *db.DB, u *users.Service, now func() time.Time, fetch Fetch) *Service {
	if fetch == nil {
		fetch = func(context.Context, string, bool) ([]byte, error) {
			return nil, errors.New("this program fetches nothing")
		}
	}
	return &Service{db: d, users: u, now: now, fetch: fetch}
}

// Add makes the bank accept an issuer's tokens. It returns a fault for each wrong field, ErrExists if the
// bank accepts them already, and ErrTaken if another bank does. A disabled issuer can be added again; its
// links to users end with that.
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
		if err := users.EndLinksTx(ctx, tx, caller, added.URL, added.Audience); err != nil {
			return err
		}
		_, err := tx.NewInsert().Model(&added).On("CONFLICT (tenant, url, audience) DO UPDATE").
			Set("user_claims = excluded.user_claims, partner_claim = excluded.partner_claim, " +
				"entity_claim = excluded.entity_claim").
			Set("subject_claim = excluded.subject_claim, scope = excluded.scope, id_tokens = excluded.id_tokens, " +
				"longest_life = excluded.longest_life").
			Set("algorithms = excluded.algorithms, created_at = excluded.created_at, disabled_at = NULL").
			Exec(ctx)
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

// freeTx returns ErrExists or ErrTaken if an issuer is accepted with this audience already: nothing else in a
// token tells which bank it is for. A lock over all banks replaces a unique constraint, as every key begins
// with the tenant.
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

// List returns all issuers of the bank, sorted by address and audience, including disabled ones.
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

// Disable stops accepting an issuer's tokens, for one audience or, if it is empty, for all. It takes effect
// within the time for which a verified token is remembered.
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

// recordTx records that the bank trusts an issuer, or no longer does.
func recordTx(ctx context.Context, tx bun.Tx, caller access.Caller, action string, was, is *Issuer) error {
	entry := audit.Entry{
		Action: action, Decision: audit.Done, Object: "issuer",
		UID: is.URL + " " + is.Audience,
	}.By(caller)
	entry.Before, entry.After = audit.Diff(was, is)
	return audit.WriteTx(ctx, tx, entry)
}

// Reach reads an issuer's keys now, and returns how many there are.
func (s *Service) Reach(ctx context.Context, url string) (keys int, err error) {
	if _, err := access.Require(ctx, access.ManageClients); err != nil {
		return 0, err
	}
	found, err := (&keyring{issuer: url, fetch: s.fetch}).load(ctx)
	return len(found), err
}

// remembered is how long this process caches the issuers.
const remembered = 10 * time.Second

// book is the cache of all issuers that any bank accepts, by address: a few rows for each bank. A token of an
// unknown issuer is refused without a query.
type book struct {
	read time.Time
	of   map[string]*trusted
}

// trusted is an issuer with the rows of the banks that accept it.
type trusted struct {
	rows  []*row
	since time.Time // when the newest row was added
	ring  *keyring
}

type row struct {
	Issuer `bun:",extend"`
	Realm  string `bun:"realm,scanonly"`
	Zone   string `bun:"zone,scanonly"`

	location *time.Location
}

// by returns the row whose audience the token names. A token that names the audiences of several banks is
// refused.
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

// trusting returns an issuer, at most ten seconds old; nil if no bank accepts it.
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
		of := fresh.of[one.URL]
		if of.rows = append(of.rows, one); of.since.Before(one.CreatedAt) {
			of.since = one.CreatedAt
		}
	}
	s.keep(fresh)
	return fresh.of[issuer], nil
}

// keep caches the issuers. The cached keys of an issuer stay, unless it was added since.
func (s *Service) keep(fresh *book) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for url, trusted := range fresh.of {
		if s.book != nil {
			if known := s.book.of[url]; known != nil && known.since.Equal(trusted.since) {
				trusted.ring = known.ring
				continue
			}
		}
		trusted.ring = newKeyring(url, s.fetch, s.now)
	}
	s.book = fresh
}

// forget makes the next token read the issuers again. Their cached keys stay.
func (s *Service) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.book != nil {
		s.book = &book{of: s.book.of}
	}
}
