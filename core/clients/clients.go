package clients

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/issuers"
	"bankgraph/core/seal"
	"bankgraph/core/users"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"clients", "refresh_tokens", "signing_keys"},
	Reads: map[string]string{
		"customers": "the legal entity of a key, and whether it is active, in the statement that reads the key",
		"tenants":   "the realm is read with the key, and locked while signing keys change",
		"users":     "the list of keys has the login ids of those who answer for them",
	},
}

// Service keeps API keys and signing keys, and issues and verifies tokens.
type Service struct {
	db       *db.DB
	keys     *seal.Keys
	now      func() time.Time
	public   string // the program's public address, with which the names of its issuers begin
	users    *users.Service
	issuers  *issuers.Service
	verified *verified
	rings    *rings
}

// New makes the service. now is the bank's clock; public is an address such as https://api.bank.example.
func New(
	db *db.DB, keys *seal.Keys, now func() time.Time, public string, u *users.Service, i *issuers.Service,
) *Service {
	return &Service{
		db: db, keys: keys, now: now, public: strings.TrimRight(public, "/"), users: u, issuers: i,
		verified: newVerified(), rings: newRings(),
	}
}

// Add creates an API key and returns its secret, which is not stored and cannot be shown again. It returns a
// fault for each wrong field, and ErrExists if the key is taken.
func (s *Service) Add(ctx context.Context, draft Draft) (client *Client, secret string, err error) {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return nil, "", err
	}
	added, err := draft.check()
	if err != nil {
		return nil, "", err
	}
	if secret = draft.Secret; secret == "" {
		secret = newSecret()
	}
	added.Tenant, added.CreatedAt = caller.Tenant, s.now()
	err = s.bind(ctx, &added, draft.User)
	if err == nil {
		added.Responsible, err = s.answering(ctx, caller.Tenant, draft.Responsible)
	}
	if err != nil {
		return nil, "", fmt.Errorf("add API key %s: %w", draft.Key, err)
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if err := s.mayChooseTx(ctx, tx, caller.Tenant, draft.Secret); err != nil {
			return err
		}
		if err := s.homeTx(ctx, tx, &added); err != nil {
			return err
		}
		added.take(draft.Preset)
		// one that differs in letter case alone would be taken for the other where people read it
		alike, err := tx.NewSelect().Model((*Client)(nil)).Where("c.tenant = ?", caller.Tenant).
			Where(`lower(c.key COLLATE "C") = ?`, ident.Fold(added.Key)).Exists(ctx)
		if err != nil {
			return err
		}
		if alike {
			return ErrExists
		}
		result, err := tx.NewInsert().Model(&added).Value("secret", "?",
			s.secretHash(caller.Tenant, added.Key, secret)).
			On("CONFLICT (tenant, key) DO NOTHING").Exec(ctx)
		if err := changed(result, err, ErrExists); err != nil {
			return err
		}
		return recordTx(ctx, tx, caller, "addClient", "client", added.Key, &added)
	})
	if err != nil {
		return nil, "", fmt.Errorf("add API key %s: %w", draft.Key, err)
	}
	return &added, secret, nil
}

// mayChooseTx returns ErrOwnSecret for a chosen secret, unless the bank is a sandbox: only drawn secrets have
// 256 random bits.
func (s *Service) mayChooseTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, secret string) error {
	if secret == "" {
		return nil
	}
	var sandbox bool
	if err := tx.NewRaw(`SELECT sandbox FROM tenants WHERE id = ?`, tenant).Scan(ctx, &sandbox); err != nil {
		return err
	}
	if !sandbox {
		return ErrOwnSecret
	}
	return nil
}

// bind sets the user for whom a new key acts, and the user's customer as its legal entity.
func (s *Service) bind(ctx context.Context, client *Client, login string) error {
	if login == "" {
		return nil
	}
	user, err := s.users.ActorNamed(ctx, client.Tenant, login)
	if users.IsNoActor(err) {
		return users.ErrNoActor.On("user")
	}
	if err != nil {
		return err
	}
	if client.Entity != 0 && client.Entity != user.Entity {
		return fault.Field("client", "customer", fault.NoMatch,
			"a key that speaks for a user belongs to the user's customer")
	}
	client.User, client.Entity, client.Institution = &user.UID, user.Entity, user.Reach == access.OfBank
	return nil
}

// homeTx finds the legal entity of a new key: its user's customer, the bank itself, or a partner.
func (s *Service) homeTx(ctx context.Context, tx bun.Tx, client *Client) error {
	if client.User != nil {
		return nil
	}
	query := tx.NewRaw(`SELECT uid, true FROM customers WHERE tenant = ? AND relationship_type = 'Self'`,
		client.Tenant)
	if client.Entity != 0 {
		// A partner's own row names itself as its owner.
		query = tx.NewRaw(`SELECT uid, relationship_type = 'Self' FROM customers
			WHERE tenant = ? AND uid = ? AND (owner = uid OR relationship_type = 'Self')`, client.Tenant,
			client.Entity)
	}
	err := query.Scan(ctx, &client.Entity, &client.Institution)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNoPartner
	}
	return err
}

// List returns all API keys of the bank, sorted by key, including disabled ones.
func (s *Service) List(ctx context.Context) ([]*Client, error) {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return nil, err
	}
	var all []*Client
	if err := s.db.NewSelect().Model(&all).
		ColumnExpr("?TableColumns, u.login_id AS user_login, r.login_id AS answers").
		Join("LEFT JOIN users AS u ON u.tenant = c.tenant AND u.uid = c.user_uid").
		Join("LEFT JOIN users AS r ON r.tenant = c.tenant AND r.uid = c.responsible").Where("c.tenant = ?",
		caller.Tenant).Order("c.key").Scan(ctx); err != nil {
		return nil, fmt.Errorf("list API keys: %w", err)
	}
	return all, nil
}

// Rotate gives the key a new secret, which is shown once. The former secret, its tokens, and tokens that it
// still gets stay valid for the overlap. Those of the secret before end at once.
func (s *Service) Rotate(ctx context.Context, key string, overlap time.Duration) (secret string, err error) {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return "", err
	}
	if overlap < 0 || overlap > MaxOverlap {
		return "", ErrOverlap
	}
	secret = newSecret()
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if err := s.enabledTx(ctx, tx, caller.Tenant, key); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx,
			`UPDATE clients SET former = secret, former_until = ?, secret = ?, generation = generation + 1
				WHERE tenant = ? AND key = ?`,
			s.now().Add(overlap), s.secretHash(caller.Tenant, key, secret), caller.Tenant, key)
		if err != nil {
			return err
		}
		if overlap == 0 {
			if err := dropRefreshTx(ctx, tx, caller.Tenant, key); err != nil {
				return err
			}
		}
		return recordTx(ctx, tx, caller, "rotateClient", "client", key, nil)
	})
	if err != nil {
		return "", fmt.Errorf("rotate the secret of API key %s: %w", key, err)
	}
	s.verified.forget(caller.Tenant, key)
	return secret, nil
}

// Disable ends an API key for good. It gets no tokens from now on, and its tokens end within the time for
// which a verified token is remembered.
func (s *Service) Disable(ctx context.Context, key string) error {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if err := s.enabledTx(ctx, tx, caller.Tenant, key); err != nil {
			return err
		}
		if err := dropRefreshTx(ctx, tx, caller.Tenant, key); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE clients SET disabled_at = ? WHERE tenant = ? AND key = ?`, s.now(),
			caller.Tenant, key); err != nil {
			return err
		}
		return recordTx(ctx, tx, caller, "disableClient", "client", key, nil)
	})
	if err != nil {
		return fmt.Errorf("disable API key %s: %w", key, err)
	}
	s.verified.forget(caller.Tenant, key)
	return nil
}

// RevokeTokens ends all tokens of an API key: refresh tokens at once, access tokens within the time for which
// a verified token is remembered. Its secrets stay valid.
func (s *Service) RevokeTokens(ctx context.Context, key string) error {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if err := s.enabledTx(ctx, tx, caller.Tenant, key); err != nil {
			return err
		}
		// By two: while a former secret is valid, so is the generation before.
		if _, err := tx.ExecContext(ctx,
			`UPDATE clients SET generation = generation + 2 WHERE tenant = ? AND key = ?`, caller.Tenant,
			key); err != nil {
			return err
		}
		if err := dropRefreshTx(ctx, tx, caller.Tenant, key); err != nil {
			return err
		}
		return recordTx(ctx, tx, caller, "revokeTokens", "client", key, nil)
	})
	if err != nil {
		return fmt.Errorf("revoke the tokens of API key %s: %w", key, err)
	}
	s.verified.forget(caller.Tenant, key)
	return nil
}

func dropRefreshTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, key string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM refresh_tokens WHERE tenant = ? AND client = ?`, tenant, key)
	return err
}

// SetResponsible sets the person responsible for a program's key; an empty login id means nobody.
func (s *Service) SetResponsible(ctx context.Context, key, login string) error {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return err
	}
	person, err := s.answering(ctx, caller.Tenant, login)
	if err != nil {
		return fmt.Errorf("name who answers for API key %s: %w", key, err)
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if err := s.enabledTx(ctx, tx, caller.Tenant, key); err != nil {
			return err
		}
		was := &Client{Tenant: caller.Tenant, Key: key}
		if err := tx.NewSelect().Model(was).WherePK().Scan(ctx); err != nil {
			return err
		}
		if was.User != nil {
			return ErrSpeaks
		}
		is := *was
		is.Responsible = person
		if _, err := tx.NewUpdate().Model(&is).Column("responsible").WherePK().Exec(ctx); err != nil {
			return err
		}
		entry := audit.Entry{Action: "setResponsible", Decision: audit.Done, Object: "client", UID: key}.By(caller)
		entry.Before, entry.After = audit.Diff(was, &is)
		return audit.WriteTx(ctx, tx, entry)
	})
	if err != nil {
		return fmt.Errorf("name who answers for API key %s: %w", key, err)
	}
	s.verified.forget(caller.Tenant, key)
	return nil
}

// answering finds the active user who is to be responsible for a key; nil if login is empty.
func (s *Service) answering(ctx context.Context, tenant access.Tenant, login string) (*uuid.UUID, error) {
	if login == "" {
		return nil, nil
	}
	person, err := s.users.ActorNamed(ctx, tenant, login)
	if users.IsNoActor(err) {
		return nil, users.ErrNoActor.On("responsible")
	}
	if err != nil {
		return nil, err
	}
	return &person.UID, nil
}

// recordTx records what was done to a key; after is the row of a new key.
func recordTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, action, object, uid string, after any,
) error {
	entry := audit.Entry{Action: action, Decision: audit.Done, Object: object, UID: uid}.By(caller)
	entry.Before, entry.After = audit.Diff(nil, after)
	return audit.WriteTx(ctx, tx, entry)
}

// enabledTx locks the row of a key. It returns ErrNotFound or ErrDisabled.
func (s *Service) enabledTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, key string) error {
	var disabled bool
	err := tx.NewRaw(`SELECT disabled_at IS NOT NULL FROM clients WHERE tenant = ? AND key = ? FOR UPDATE`,
		tenant, key).Scan(ctx, &disabled)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case err == nil && disabled:
		return ErrDisabled
	}
	return err
}

// changed returns otherwise if a statement changed no row.
func changed(result sql.Result, err, otherwise error) error {
	if err != nil {
		return err
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		return errors.Join(otherwise, err)
	}
	return nil
}

// newSecret draws 256 random bits.
func newSecret() string {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits)
	return base64.RawURLEncoding.EncodeToString(bits)
}

// secretHash returns the hash of a secret, which is all that is stored. It is valid for one key of one bank
// only.
func (s *Service) secretHash(tenant access.Tenant, key, secret string) []byte {
	return s.keys.Secret(fmt.Sprintf("client/%d/%s", tenant, key), secret)
}
