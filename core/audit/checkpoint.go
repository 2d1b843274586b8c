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

// checkpointType is the JWS type of checkpoints.
const checkpointType = "audit-checkpoint+jws"

// Checkpoint is a signed statement of a bank's chain up to one entry.
type Checkpoint struct {
	bun.BaseModel `bun:"table:audit_checkpoints" json:"-"`

	Tenant    access.Tenant `bun:"tenant,pk" json:"tenant"`
	Seq       int64         `bun:"seq,pk" json:"seq"`
	Hash      Hash          `bun:"hash,type:bytea" json:"hash"`
	At        time.Time     `bun:"at" json:"at"`
	Epoch     int64         `bun:"epoch" json:"epoch,omitempty"`       // 0: signed before epochs were counted
	Database  string        `bun:"database" json:"database,omitempty"` // the database in which it was signed
	KID       string        `bun:"kid" json:"kid"`
	Signature string        `bun:"signature" json:"signature"` // the compact JWS
}

// statement is the text that is signed.
type statement struct {
	Tenant   access.Tenant `json:"tenant"`
	Seq      int64         `json:"seq"`
	Hash     Hash          `json:"hash"`
	At       time.Time     `json:"at"`
	Epoch    int64         `json:"epoch,omitempty"`
	Database string        `json:"database,omitempty"`
}

func (c *Checkpoint) statement() []byte {
	// cannot fail: every field has a JSON form
	text, _ := json.Marshal(statement{c.Tenant, c.Seq, c.Hash, c.At.UTC(), c.Epoch, c.Database})
	return text
}

// signedBy reports whether the key's owner signed this checkpoint.
func (c *Checkpoint) signedBy(key *jose.JSONWebKey) bool {
	return signedBy(key, checkpointType, c.Signature, c.statement())
}

// signedBy reports whether signature is a compact JWS by this key, of type as, over the statement.
func signedBy(key *jose.JSONWebKey, as, signature string, statement []byte) bool {
	signed, err := jose.ParseSignedCompact(signature, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(signed.Signatures) != 1 ||
		signed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType] != as {
		return false
	}
	said, err := signed.Verify(key)
	return err == nil && string(said) == string(statement)
}

// Signer signs what for the caller's bank, as a compact JWS of type as. It returns the id of the key and the
// signature.
type Signer func(ctx context.Context, as string, what []byte) (kid, signature string, err error)

// Keeper stores a signed line, a checkpoint or a restore, outside the database.
type Keeper func(Line) error

// ErrBroken is returned when a chain differs from what was signed.
var ErrBroken = errors.New("the audit chain was tampered with: run \"bankgraph audit verify\"")

// Holds returns ErrBroken if the chain of the caller's bank differs from its last checkpoint. It checks that
// one place only; Verify checks the whole chain.
func (s *Service) Holds(ctx context.Context) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	_, err = s.lastSigned(ctx, caller.Tenant)
	return err
}

// Sign signs the end of the chain of the caller's bank, if it has grown since the last checkpoint. keep
// stores the checkpoint outside the database first; if that fails, there is no checkpoint. Sign returns
// ErrBroken for a chain that differs from its last checkpoint, which is then never signed again, and ErrMoved
// for one that was last signed in another database.
func (s *Service) Sign(ctx context.Context, sign Signer, keep Keeper) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	next, err := s.unsigned(ctx, caller.Tenant)
	if err != nil || next == nil {
		return err
	}
	// Outside the transaction, as this may create the bank's first key.
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
		return keep(Line{Checkpoint: next})
	})
	if err != nil {
		return fmt.Errorf("keep a checkpoint of bank %d: %w", caller.Tenant, err)
	}
	return nil
}

// lastSigned returns the place of the last checkpoint; 0 if there is none. It returns ErrBroken if the entry
// there is not the one that was signed.
func (s *Service) lastSigned(ctx context.Context, tenant access.Tenant) (seq int64, err error) {
	var last struct {
		Seq   int64 `bun:"seq"`
		Holds bool  `bun:"holds"`
	}
	err = s.db.NewRaw(
		`SELECT c.seq, EXISTS (SELECT FROM audit_seals AS s WHERE s.tenant = ?0 AND s.seq = c.seq
			AND s.hash = c.hash) AS holds
		FROM audit_checkpoints AS c WHERE c.tenant = ?0 ORDER BY c.seq DESC LIMIT 1`, tenant).Scan(ctx, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the last checkpoint of bank %d: %w", tenant, err)
	}
	if !last.Holds {
		return 0, fmt.Errorf("bank %d, entry %d: %w", tenant, last.Seq, ErrBroken)
	}
	return last.Seq, nil
}

// unsigned returns the checkpoint that is to be signed; nil if the last one covers the whole chain.
func (s *Service) unsigned(ctx context.Context, tenant access.Tenant) (*Checkpoint, error) {
	last, err := s.lastSigned(ctx, tenant)
	if err != nil {
		return nil, err
	}
	end, err := placeOf(ctx, s.db, tenant)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the end of the chain of bank %d: %w", tenant, err)
	case end.moved():
		return nil, fmt.Errorf("bank %d: %w", tenant, ErrMoved)
	case end.Seq <= last:
		return nil, nil
	}
	return &Checkpoint{
		Tenant: tenant, Seq: end.Seq, Hash: end.Hash, At: end.Now.UTC(), Epoch: end.Epoch, Database: end.Here,
	}, nil
}
