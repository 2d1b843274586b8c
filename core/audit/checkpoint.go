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
	Epoch     int64         `bun:"epoch" json:"epoch,omitempty"`       // 0: signed before epochs were counted
	Database  string        `bun:"database" json:"database,omitempty"` // that it was signed in
	KID       string        `bun:"kid" json:"kid"`
	Signature string        `bun:"signature" json:"signature"` // the compact JWS
}

// statement is what is signed.
type statement struct {
	Tenant   access.Tenant `json:"tenant"`
	Seq      int64         `json:"seq"`
	Hash     Hash          `json:"hash"`
	At       time.Time     `json:"at"`
	Epoch    int64         `json:"epoch,omitempty"`
	Database string        `json:"database,omitempty"`
}

func (c *Checkpoint) statement() []byte {
	// nothing in it can fail
	text, _ := json.Marshal(statement{c.Tenant, c.Seq, c.Hash, c.At.UTC(), c.Epoch, c.Database})
	return text
}

// signedBy reports whether the key's owner signed this checkpoint.
func (c *Checkpoint) signedBy(key *jose.JSONWebKey) bool {
	return signedBy(key, checkpointType, c.Signature, c.statement())
}

// signedBy reports whether a compact JWS is of this key, this type and these words.
func signedBy(key *jose.JSONWebKey, as, signature string, statement []byte) bool {
	signed, err := jose.ParseSignedCompact(signature, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(signed.Signatures) != 1 ||
		signed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType] != as {
		return false
	}
	said, err := signed.Verify(key)
	return err == nil && string(said) == string(statement)
}

// Signer signs for the caller's bank: what, and as which type, into a compact JWS. It tells with which key.
type Signer func(ctx context.Context, as string, what []byte) (kid, signature string, err error)

// Keeper keeps what was signed outside the database: a line with a checkpoint or a restore.
type Keeper func(Line) error

// ErrBroken is a chain that no longer says what it said when it was signed.
var ErrBroken = errors.New("the audit chain was tampered with: run \"bankgraph audit verify\"")

// Holds is ErrBroken where the chain of the caller's bank no longer has what was signed last. It looks at
// that one place: the whole chain is for Verify.
func (s *Service) Holds(ctx context.Context) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	_, err = s.lastSigned(ctx, caller.Tenant)
	return err
}

// Sign signs the end of the chain of the caller's bank, where it has grown since it was signed last. keep
// stores the checkpoint outside the database, and comes first: where it fails, there is no checkpoint. A
// chain that no longer holds what was signed before is ErrBroken; nothing further vouches for it. One in
// another database than it was signed in last is ErrMoved.
func (s *Service) Sign(ctx context.Context, sign Signer, keep Keeper) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	next, err := s.unsigned(ctx, caller.Tenant)
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
		return keep(Line{Checkpoint: next})
	})
	if err != nil {
		return fmt.Errorf("keep a checkpoint of bank %d: %w", caller.Tenant, err)
	}
	return nil
}

// lastSigned is the last entry that was signed; 0 where there is none. It is ErrBroken where that is not what
// it was.
func (s *Service) lastSigned(ctx context.Context, tenant access.Tenant) (seq int64, err error) {
	var last struct {
		Seq   int64 `bun:"seq"`
		Holds bool  `bun:"holds"`
	}
	err = s.db.NewRaw(
		`SELECT c.seq, EXISTS (SELECT FROM audit_seals AS s WHERE s.tenant = ?0 AND s.seq = c.seq AND s.hash = c.hash) AS holds
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

// unsigned is the checkpoint that is to be signed; nil where the last one still says it all.
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
