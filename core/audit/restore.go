package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// restoreType is the JWS type of restores.
const restoreType = "audit-restore+jws"

// Restore is a signed statement that a bank's record continues in another database: it was restored from a
// backup, moved, or a replica took over. A new epoch begins after the last entry that was brought along.
// Later entries of the earlier epoch were lost; without this statement their absence would be tampering.
type Restore struct {
	bun.BaseModel `bun:"table:audit_restores" json:"-"`

	Tenant    access.Tenant `bun:"tenant,pk" json:"tenant"`
	Epoch     int64         `bun:"epoch,pk" json:"epoch"` // the epoch that begins; higher than any before
	After     int64         `bun:"after" json:"after"`    // the last entry that was brought along
	Hash      Hash          `bun:"hash,type:bytea" json:"hash"`
	Was       string        `bun:"was" json:"was"`       // the database of the last signature before
	Is        string        `bun:"is" json:"is"`         // the database in which the record continues
	Reason    string        `bun:"reason" json:"reason"` // the operator's words, if an operator declared it
	At        time.Time     `bun:"at" json:"at"`
	KID       string        `bun:"kid" json:"kid"`
	Signature string        `bun:"signature" json:"signature"` // the compact JWS
}

// statement is the text that is signed.
func (r *Restore) statement() []byte {
	text, _ := json.Marshal(struct { // cannot fail: every field has a JSON form
		Tenant access.Tenant `json:"tenant"`
		Epoch  int64         `json:"epoch"`
		After  int64         `json:"after"`
		Hash   Hash          `json:"hash"`
		Was    string        `json:"was"`
		Is     string        `json:"is"`
		Reason string        `json:"reason"`
		At     time.Time     `json:"at"`
	}{r.Tenant, r.Epoch, r.After, r.Hash, r.Was, r.Is, r.Reason, r.At.UTC()})
	return text
}

func (r *Restore) signedBy(key *jose.JSONWebKey) bool {
	return signedBy(key, restoreType, r.Signature, r.statement())
}

// ErrMoved is returned while a bank's record is in another database than the one of its last signature, and
// no Restore says so yet.
var ErrMoved = errors.New(
	"the database is another one than the audit chain was signed in: it was restored or moved")

// EpochOf returns the present epoch of a bank's record, which is 1 until the first restore. While the record
// is in another database than that of its last signature, and Resume has not noted it yet, that is ErrMoved.
func EpochOf(ctx context.Context, d bun.IDB, tenant access.Tenant) (int64, error) {
	at, err := placeOf(ctx, d, tenant)
	switch {
	case err != nil:
		return 0, fmt.Errorf("read the end of the chain of bank %d: %w", tenant, err)
	case at.moved():
		return 0, ErrMoved
	}
	return at.Epoch, nil
}

// Moved returns the banks whose record is in another database than that of its last signature, or lacks what
// was kept outside, and of which Resume has not noted it yet. It tells by how many epochs the next one is
// later than that of the record: by one, and by one more for each time that the same backup was restored
// before.
func Moved(ctx context.Context, d bun.IDB, kept KeptPlaces) (moved map[access.Tenant]int64, err error) {
	moved = map[access.Tenant]int64{}
	var all []access.Tenant
	if err := d.NewRaw(`SELECT id FROM tenants ORDER BY id`).Scan(ctx, &all); err != nil {
		return nil, fmt.Errorf("list banks: %w", err)
	}
	for _, tenant := range all {
		at, err := placeOf(ctx, d, tenant)
		if err != nil {
			return nil, fmt.Errorf("read the end of the chain of bank %d: %w", tenant, err)
		}
		lacks, err := at.lacks(ctx, d, tenant, kept[tenant])
		if err != nil {
			return nil, err
		}
		if at.moved() || lacks {
			moved[tenant] = max(at.Epoch, kept[tenant].Epoch) + 1 - at.Epoch
		}
	}
	return moved, nil
}

// Resume begins a new epoch if the record of the caller's bank continues in another database: it signs a
// Restore, and stores it in the record and outside. Otherwise it returns nil. An operator who restored a
// backup into the same database must declare that by a reason, as nothing in the database shows it. The new
// epoch is also later than that of kept: the same backup may have been restored before, into a database that
// is lost by now.
func (s *Service) Resume(
	ctx context.Context, sign Signer, keep Keeper, kept KeptPlace, reason string,
) (*Restore, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	if !check.IsPlain(reason) || utf8.RuneCountInString(reason) > 255 {
		return nil, fault.Field("restore", "reason", fault.Malformed, "at most 255 characters of plain text")
	}
	for try := 1; ; try++ {
		r, err := s.resume(ctx, caller, sign, keep, kept, reason)
		if !errors.Is(err, errElsewhere) || try == mostTries {
			return r, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// mostTries is how often Resume tries while a worker extends the chain.
const mostTries = 40

func (s *Service) resume(
	ctx context.Context, caller access.Caller, sign Signer, keep Keeper, kept KeptPlace, reason string,
) (*Restore, error) {
	at, err := placeOf(ctx, s.db, caller.Tenant)
	if err != nil {
		return nil, fmt.Errorf("read the end of the chain of bank %d: %w", caller.Tenant, err)
	}
	if !at.moved() && reason == "" {
		return nil, nil
	}
	r := &Restore{
		Tenant: caller.Tenant, Epoch: max(at.Epoch, kept.Epoch) + 1, After: at.Seq, Hash: at.Hash, Was: at.Noted,
		Is: at.Here, Reason: reason, At: at.Now.UTC(),
	}
	// Outside the transaction, as this may create the bank's first key.
	if r.KID, r.Signature, err = sign(ctx, restoreType, r.statement()); err != nil {
		return nil, fmt.Errorf("sign the restore of bank %d: %w", caller.Tenant, err)
	}
	if err := s.resumeTx(ctx, caller, at, r, keep); err != nil {
		return nil, fmt.Errorf("note the restore of bank %d: %w", caller.Tenant, err)
	}
	return r, nil
}

// errElsewhere means that another worker has extended the chain since it was read.
var errElsewhere = errors.New("another worker goes on with the chain: try again")

func (s *Service) resumeTx(
	ctx context.Context, caller access.Caller, was place, r *Restore, keep Keeper,
) error {
	return s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		held, err := db.AuditChain.TryTx(ctx, tx, int64(caller.Tenant))
		if err != nil {
			return err
		}
		at, err := placeOf(ctx, tx, caller.Tenant)
		if err != nil {
			return err
		}
		if !held || at.Seq != was.Seq || at.Epoch != was.Epoch {
			return errElsewhere
		}
		if _, err := tx.NewInsert().Model(r).Returning("NULL").Exec(ctx); err != nil {
			return err
		}
		entry := Entry{
			Action: "restoreDatabase", Decision: Done, Object: "database", UID: r.Is,
			Reason: r.Reason,
		}.By(caller)
		entry.Before, entry.After = object(map[string]any{"database": r.Was}),
			object(map[string]any{"database": r.Is, "epoch": r.Epoch, "lastEntry": r.After})
		if err := WriteTx(ctx, tx, entry); err != nil {
			return err
		}
		return keep(Line{Restore: r})
	})
}

// Restores returns the restores of a bank, oldest first.
func (s *Service) Restores(ctx context.Context) ([]*Restore, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	var all []*Restore
	err = s.db.NewRaw(
		`SELECT tenant, epoch, after, hash, was, "is", reason, at, kid, signature FROM audit_restores
		WHERE tenant = ? ORDER BY epoch`, caller.Tenant).Scan(ctx, &all)
	if err != nil {
		return nil, fmt.Errorf("read the restores of bank %d: %w", caller.Tenant, err)
	}
	return all, nil
}
