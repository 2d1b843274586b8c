package webhooks

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// SecretID is the number of a webhook's secret.
type SecretID int64

// secretKind says what a secret is for.
type secretKind string

const (
	signing  secretKind = "SIGNING"
	password secretKind = "PASSWORD"
)

// secret is what a webhook signs with, or its password.
type secret struct {
	bun.BaseModel `bun:"table:webhook_secrets,alias:ws"`

	Tenant  access.Tenant `bun:"tenant,pk"`
	ID      SecretID      `bun:"id,pk"`
	Webhook UID           `bun:"webhook"`
	Kind    secretKind    `bun:"kind"`
	Secret  []byte        `bun:"secret,type:bytea"`
	MadeAt  time.Time     `bun:"made_at"`
	EndsAt  *time.Time    `bun:"ends_at"` // nil for the current one
}

// SecretColumn names the column for which the secrets of webhooks are sealed (seal.Place).
const SecretColumn = "webhook_secrets.secret"

func (s *secret) place() seal.Place {
	return seal.Place{Tenant: int64(s.Tenant), Column: SecretColumn, Row: int64(s.ID)}
}

// ended reports whether the secret no longer counts.
func (s *secret) ended(now time.Time) bool { return s.EndsAt != nil && !s.EndsAt.After(now) }

// prefix marks a secret of Standard Webhooks.
const prefix = "whsec_"

// secretBytes is the length of a secret before it is encoded as text.
const secretBytes = 32

// newSecret returns a random secret to sign with.
func newSecret() string {
	var bits [secretBytes]byte
	_, _ = rand.Read(bits[:]) // never fails
	return prefix + base64.StdEncoding.EncodeToString(bits[:])
}

// Sign returns the header webhook-signature of a message, by the Standard Webhooks specification: one
// signature for each secret, separated by spaces.
func Sign(secrets []string, id string, at time.Time, body []byte) (string, error) {
	var all []string
	for _, text := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, prefix))
		if err != nil {
			return "", fmt.Errorf("a webhook's secret is not base64 (%d characters)", len(text))
		}
		sum := hmac.New(sha256.New, key)
		sum.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		sum.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	}
	return strings.Join(all, " "), nil
}

// secretsOf are the secrets of one webhook in the clear.
type secretsOf struct {
	signing  []string // the current one, then former ones that still count
	password string
}

// lacking returns the webhooks of which a secret that still counts is sealed under a key that this program
// lacks, each with that key: its copy of the keyset is older than those of others.
func (s *Service) lacking(rows []*secret, now time.Time) map[UID]uint32 {
	all := map[UID]uint32{}
	for _, row := range rows {
		id, state := s.keys.Under(row.Secret)
		if id != 0 && (state == "" || state == seal.Retired) && !row.ended(now) {
			all[row.Webhook] = id
		}
	}
	return all
}

// foreignFor is how long a webhook is left to other programs once this one has found that it lacks the key.
const foreignFor = time.Minute

// foreign remembers the webhooks whose keys this program lacks. For a while they are claimed no more, so they
// take no places of others in a claim, and the log names them once in that time.
type foreign struct {
	mu    sync.Mutex
	until map[foreignPlace]time.Time
}

type foreignPlace struct {
	tenant access.Tenant
	uid    UID
}

// without returns those webhooks of a bank that are not left to other programs.
func (f *foreign) without(of access.Tenant, all []UID, now time.Time) []UID {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.until, func(_ foreignPlace, until time.Time) bool { return !until.After(now) })
	return slices.DeleteFunc(all, func(uid UID) bool {
		_, is := f.until[foreignPlace{of, uid}]
		return is
	})
}

// found notes webhooks of the caller's bank, with the keys that this program lacks.
func (f *foreign) found(ctx context.Context, caller access.Caller, all map[UID]uint32, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until == nil {
		f.until = map[foreignPlace]time.Time{}
	}
	for uid, key := range all {
		f.until[foreignPlace{caller.Tenant, uid}] = now.Add(foreignFor)
		slog.ErrorContext(ctx, "the keyset lacks the key of a webhook's secret: its deliveries are left to "+
			"other programs", "tenant", caller.TenantCode, "webhook", uid.String(), "key", key)
	}
}

// openSecrets opens secrets, which are sorted from the newest, and returns them by webhook. A webhook of
// which one does not open has none; the error says which.
func (s *Service) openSecrets(rows []*secret, now time.Time) (all map[UID]*secretsOf, failed error) {
	all = map[UID]*secretsOf{}
	broken := map[UID]bool{}
	for _, row := range rows {
		if row.ended(now) {
			continue
		}
		clear, err := s.keys.Open(seal.Value{Sealed: row.Secret}, row.place())
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("open a secret of webhook %s: %w", row.Webhook, err))
			broken[row.Webhook] = true
			continue
		}
		of := all[row.Webhook]
		if of == nil {
			of = new(secretsOf)
			all[row.Webhook] = of
		}
		if row.Kind == signing {
			of.signing = append(of.signing, clear)
		} else if row.EndsAt == nil {
			of.password = clear
		}
	}
	maps.DeleteFunc(all, func(of UID, _ *secretsOf) bool { return broken[of] })
	return all, failed
}

// present returns the secret that a webhook signs with, if that still has this id and the caller sees the
// webhook, whose customer may have left the caller since; "" otherwise.
func (s *Service) present(ctx context.Context, caller access.Caller, of UID, id SecretID) (string, error) {
	if id == 0 {
		return "", nil
	}
	row := &secret{Tenant: caller.Tenant, ID: id}
	err := s.db.NewSelect().Model(row).Where("ws.tenant = ?", caller.Tenant).Where("ws.id = ?", id).
		Where("ws.webhook = ?", of).Where("ws.kind = ?", signing).Where("ws.ends_at IS NULL").
		Where("EXISTS (SELECT FROM webhooks AS w WHERE w.tenant = ?0 AND w.uid = ws.webhook AND "+
			caller.Reach.ScopeTx("w.customer")+")", caller.Tenant, caller.ScopeCustomer()).Scan(ctx)
	if noRows(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return s.keys.Open(seal.Value{Sealed: row.Secret}, row.place())
}

// replaceTx writes a secret of a webhook in place of the former one, which still counts until the given time.
// Those before it end now, so that there are never more than two.
func (s *Service) replaceTx(
	ctx context.Context, tx *changes.Tx, w *Webhook, id SecretID, kind secretKind, clear string, until time.Time,
) error {
	if _, err := tx.NewRaw(`DELETE FROM webhook_secrets WHERE tenant = ? AND webhook = ? AND kind = ?
		AND ends_at IS NOT NULL`, w.Tenant, w.UID, kind).Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.NewRaw(`UPDATE webhook_secrets SET ends_at = ?
		WHERE tenant = ? AND webhook = ? AND kind = ?`,
		until, w.Tenant, w.UID, kind).Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.NewRaw(`DELETE FROM webhook_secrets WHERE tenant = ? AND webhook = ? AND ends_at <= ?`,
		w.Tenant, w.UID, s.now()).Exec(ctx); err != nil || id == 0 {
		return err
	}
	row := &secret{Tenant: w.Tenant, ID: id, Webhook: w.UID, Kind: kind, MadeAt: s.now()}
	row.Secret = s.keys.Encrypt(clear, row.place())
	_, err := tx.NewInsert().Model(row).Exec(ctx)
	return err
}

// nextSecretTx takes the number of a new secret.
func nextSecretTx(ctx context.Context, tx bun.IDB) (id SecretID, err error) {
	err = db.Raw(tx, `SELECT nextval('webhook_secret_ids')`).Scan(ctx, &id)
	return id, err
}
