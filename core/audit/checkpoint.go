package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/db"
)

// checkpointType marks checkpoints among what a bank signs.
const checkpointType = "audit-checkpoint+jws"

// Checkpoint vouches for a bank's chain up to one entry.
type Checkpoint struct {
	bun.BaseModel `bun:"table:audit_checkpoints" json:"-"`

	Tenant    access.Tenant `bun:"tenant,pk" json:"tenant"`
	Seq       int64         `bun:"seq,pk" json:"seq"`
	Hash      Hash          `bun:"hash,type:bytea" json:"hash"`
	At        time.Time     `bun:"at" json:"at"`
	KID       string        `bun:"kid" json:"kid"`
	Signature string        `bun:"signature" json:"signature"` // the compact JWS
}

// statement is what is signed.
type statement struct {
	Tenant access.Tenant `json:"tenant"`
	Seq    int64         `json:"seq"`
	Hash   Hash          `json:"hash"`
	At     time.Time     `json:"at"`
}

func (c *Checkpoint) statement() []byte {
	text, _ := json.Marshal(statement{c.Tenant, c.Seq, c.Hash, c.At.UTC()}) // nothing in it can fail
	return text
}

// signedBy tells whether the key's owner signed this checkpoint.
func (c *Checkpoint) signedBy(key *jose.JSONWebKey) bool {
	signed, err := jose.ParseSignedCompact(c.Signature, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(signed.Signatures) != 1 || signed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType] != checkpointType {
		return false
	}
	said, err := signed.Verify(key)
	return err == nil && string(said) == string(c.statement())
}

// Signer signs for the caller's bank: what, and as which type, into a compact JWS. It tells with which key.
type Signer func(ctx context.Context, as string, what []byte) (kid, signature string, err error)

// ErrBroken is a chain that no longer says what it said when it was signed.
var ErrBroken = errors.New("the audit chain was tampered with: run \"bankgraph audit verify\"")

// Holds is ErrBroken where the chain of any bank no longer has what was signed last. It looks at that one place of each:
// the whole chain is for Verify.
func (s *Service) Holds(ctx context.Context) error {
	if _, err := access.Require(ctx, access.ManageTenants); err != nil {
		return err
	}
	var broken []access.Tenant
	err := s.db.NewRaw(`SELECT t.id FROM tenants AS t
		CROSS JOIN LATERAL (SELECT seq, hash FROM audit_checkpoints WHERE tenant = t.id ORDER BY seq DESC LIMIT 1) AS c
		WHERE NOT EXISTS (SELECT FROM audit_seals AS s WHERE s.tenant = t.id AND s.seq = c.seq AND s.hash = c.hash) LIMIT 1`).Scan(ctx, &broken)
	if err != nil {
		return fmt.Errorf("look at the ends of the audit chains: %w", err)
	}
	if len(broken) > 0 {
		return fmt.Errorf("bank %d: %w", broken[0], ErrBroken)
	}
	return nil
}

// Sign signs the end of the chain of the caller's bank, where it has grown since it was signed last. keep stores the
// checkpoint outside the database, and comes first: where it fails, there is no checkpoint. A chain that no longer
// holds what was signed before is ErrBroken; nothing further vouches for it.
func (s *Service) Sign(ctx context.Context, sign Signer, keep func(Checkpoint) error) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	next, err := s.unsaid(ctx, caller.Tenant)
	if err != nil || next == nil {
		return err
	}
	// Outside of the transaction: the bank's first key may have to be made.
	if next.KID, next.Signature, err = sign(ctx, checkpointType, next.statement()); err != nil {
		return fmt.Errorf("sign the audit chain of bank %d: %w", caller.Tenant, err)
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		held, err := db.AuditChain.TryTx(ctx, tx, int64(caller.Tenant))
		if err != nil || !held {
			return err
		}
		added, err := tx.NewInsert().Model(next).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := added.RowsAffected(); err != nil || n == 0 {
			return err // another worker has signed the same end
		}
		return keep(*next)
	})
	if err != nil {
		return fmt.Errorf("keep a checkpoint of bank %d: %w", caller.Tenant, err)
	}
	return nil
}

// unsaid is the checkpoint that is to be signed; nil where the last one still says it all.
func (s *Service) unsaid(ctx context.Context, tenant access.Tenant) (*Checkpoint, error) {
	var last struct {
		Seq   int64 `bun:"seq"`
		Holds bool  `bun:"holds"`
	}
	err := s.db.NewRaw(`SELECT c.seq, EXISTS (SELECT FROM audit_seals AS s WHERE s.tenant = c.tenant AND s.seq = c.seq AND s.hash = c.hash) AS holds
		FROM audit_checkpoints AS c WHERE c.tenant = ? ORDER BY c.seq DESC LIMIT 1`, tenant).Scan(ctx, &last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the last checkpoint of bank %d: %w", tenant, err)
	}
	if err == nil && !last.Holds {
		return nil, fmt.Errorf("bank %d, entry %d: %w", tenant, last.Seq, ErrBroken)
	}
	next := &Checkpoint{Tenant: tenant}
	err = s.db.NewRaw(`SELECT seq, hash, clock_timestamp() AS at FROM audit_seals WHERE tenant = ? AND seq > ? ORDER BY seq DESC LIMIT 1`,
		tenant, last.Seq).Scan(ctx, &next.Seq, &next.Hash, &next.At)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the end of the chain of bank %d: %w", tenant, err)
	}
	next.At = next.At.UTC()
	return next, nil
}
