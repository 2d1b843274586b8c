package audit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/go-jose/go-jose/v4"

	"bankgraph/core/access"
	"bankgraph/db"
)

// window is how many entries are read at a time.
const window = 2000

// Chain reads the chain of the caller's bank as the lines of an export. If since is given, it begins at the
// last checkpoint before that time. keys are the public keys of the signers. progress is told how many
// entries of how many were read.
func (s *Service) Chain(
	ctx context.Context, since time.Time, keys []jose.JSONWebKey, progress func(done, total int),
) (iter.Seq2[Line, error], error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	return func(yield func(Line, error) bool) {
		r := &reader{
			service: s, ctx: ctx, tenant: caller.Tenant, code: caller.TenantCode, progress: progress, yield: yield,
		}
		if err := r.read(since, keys); err != nil && !errors.Is(err, errStopped) {
			yield(Line{}, fmt.Errorf("read the audit chain: %w", err))
		}
	}, nil
}

// errStopped means that the consumer wants no further lines.
var errStopped = errors.New("stopped")

type reader struct {
	service     *Service
	ctx         context.Context
	tenant      access.Tenant
	code        string
	progress    func(done, total int)
	yield       func(Line, error) bool
	checkpoints []*Checkpoint // read but not yet passed on
	asked       int64         // the entry up to which checkpoints were read
	signed      int64         // the last entry that has a checkpoint
	restores    []*Restore    // not yet passed on
}

func (r *reader) pass(line Line) error {
	if !r.yield(line, nil) {
		return errStopped
	}
	return nil
}

// read first fixes the end of the chain; entries sealed later belong to another export. It reads the last
// checkpoint before the last seal, so that the checkpoint cannot be beyond that seal.
func (r *reader) read(since time.Time, keys []jose.JSONWebKey) error {
	b := r.service.db.PrimaryBatch()
	vouched := db.Queue(b, lastSigned, r.tenant)
	ends := db.Queue(b, lastSeal, r.tenant)
	begins := db.Queue(b, beginning, r.tenant, since)
	restores := db.Queue(b, restored, r.tenant)
	if err := b.Send(r.ctx); err != nil {
		return err
	}
	first, last := link{Hash: make(Hash, 32)}, link{}
	if end, _ := ends.One(); end != nil {
		last = *end
	}
	if begin, _ := begins.One(); begin != nil {
		first, r.asked = *begin, begin.Seq-1
	}
	if c, _ := vouched.One(); c != nil {
		r.signed = c.Seq
	}
	for _, restore := range restores.Items {
		if restore.After >= first.Seq && restore.After <= last.Seq {
			r.restores = append(r.restores, restore)
		}
	}
	err := r.pass(Line{
		Begin: &Begin{Form: form, Tenant: r.tenant, Code: r.code, Seq: first.Seq, Hash: first.Hash},
	})
	for i := range keys {
		if err == nil {
			err = r.pass(Line{Key: &keys[i]})
		}
	}
	if err == nil {
		err = r.sealed(first.Seq, last.Seq)
	}
	if err == nil {
		err = r.strays()
	}
	var unsealed int64
	if err == nil {
		unsealed, err = r.unsealed()
	}
	if err != nil {
		return err
	}
	return r.pass(Line{End: &End{Seq: last.Seq, Unsealed: unsealed}})
}

// link is a seal of the chain.
type link struct {
	Seq  int64 `bun:"seq"`
	Hash Hash  `bun:"hash,type:bytea"`
}

var (
	lastSigned = db.NewQuery[link](
		`SELECT seq FROM audit_checkpoints WHERE tenant = $1 ORDER BY seq DESC LIMIT 1`)
	lastSeal = db.NewQuery[link](`SELECT seq, hash FROM audit_seals WHERE tenant = $1
		ORDER BY seq DESC LIMIT 1`)
	// The last checkpoint before a time, so that the export begins at a signed place.
	beginning = db.NewQuery[link](
		`SELECT seq, hash FROM audit_checkpoints WHERE tenant = $1 AND at < $2 ORDER BY seq DESC LIMIT 1`)
	// The seals lead. A missing seal, or a missing entry, leaves a gap in seq.
	reading = db.NewQuery[row](`SELECT s.seq, s.hash, ` + texts +
		` FROM audit_seals AS s JOIN audit_entries AS e ON e.tenant = s.tenant AND e.id = s.entry
		WHERE s.tenant = $1 AND e.tenant = $1 AND s.seq > $2 AND s.seq <= $3 ORDER BY s.seq LIMIT $4`)
	// Entries that neither have a seal nor wait for one, by spans of ids.
	astray = db.NewQuery[EntryText](`SELECT ` + texts +
		` FROM audit_entries AS e WHERE e.tenant = $1 AND e.id >= $2 AND e.id < $3
		AND NOT EXISTS (SELECT FROM audit_seals AS s WHERE s.tenant = $1 AND s.entry = e.id)
		AND NOT EXISTS (SELECT FROM audit_unsealed AS u WHERE u.tenant = $1 AND u.entry = e.id)
		ORDER BY e.id LIMIT 1`)
	nextEntry = db.NewQuery[EntryText](
		`SELECT id FROM audit_entries AS e WHERE e.tenant = $1 AND e.id >= $2 ORDER BY e.id LIMIT 1`)
	waiting = db.NewQuery[EntryText](`SELECT ` + texts +
		` FROM audit_unsealed AS u JOIN audit_entries AS e ON e.tenant = u.tenant AND e.id = u.entry
		WHERE e.tenant = $1 AND u.tenant = $1 AND u.entry > $2 AND NOT EXISTS (SELECT FROM audit_seals AS s
			WHERE s.tenant = $1 AND s.entry = u.entry)
		ORDER BY u.entry LIMIT $3`)
	// Entries that wait for a seal and are missing: somebody removed them from the record.
	gone = db.NewQuery[link](`SELECT u.entry AS seq FROM audit_unsealed AS u
		WHERE u.tenant = $1 AND NOT EXISTS (SELECT FROM audit_entries AS e WHERE e.tenant = $1 AND e.id = u.entry)
			  ORDER BY u.entry LIMIT 1`)
	signed = db.NewQuery[Checkpoint](
		`SELECT tenant, seq, hash, at, epoch, database, kid, signature FROM audit_checkpoints
		WHERE tenant = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4`)
	restored = db.NewQuery[Restore](
		`SELECT tenant, epoch, after, hash, was, "is", reason, at, kid, signature FROM audit_restores
		WHERE tenant = $1 ORDER BY epoch`)
)

type row struct {
	Seq       int64 `bun:"seq"`
	Hash      Hash  `bun:"hash,type:bytea"`
	EntryText `bun:",extend"`
}

// sealed passes on the entries from after+1 to upTo, with the checkpoints and restores between them.
func (r *reader) sealed(after, upTo int64) error {
	begin := after
	if err := r.passSigned(after); err != nil {
		return err
	}
	for {
		b := r.service.db.PrimaryBatch()
		rows := db.Queue(b, reading, r.tenant, after, upTo, window)
		if err := b.Send(r.ctx); err != nil {
			return err
		}
		for _, row := range rows.Items {
			if err := r.pass(Line{Sealed: &Sealed{Seq: row.Seq, Hash: row.Hash, Entry: row.EntryText}}); err != nil {
				return err
			}
			if err := r.passSigned(row.Seq); err != nil {
				return err
			}
			after = row.Seq
		}
		r.progress(int(after-begin), int(upTo-begin))
		if len(rows.Items) < window {
			return r.passSigned(max(r.signed, upTo))
		}
	}
}

// passSigned passes on the checkpoints and restores up to an entry.
func (r *reader) passSigned(upTo int64) error {
	for {
		if err := r.moreCheckpoints(); err != nil {
			return err
		}
		checkpoint := len(r.checkpoints) > 0 && r.checkpoints[0].Seq <= upTo
		restore := len(r.restores) > 0 && r.restores[0].After <= upTo
		switch {
		case checkpoint && (!restore || r.checkpoints[0].Seq <= r.restores[0].After):
			c := r.checkpoints[0]
			r.checkpoints, c.At = r.checkpoints[1:], c.At.UTC()
			if err := r.pass(Line{Checkpoint: c}); err != nil {
				return err
			}
		case restore:
			moved := r.restores[0]
			r.restores, moved.At = r.restores[1:], moved.At.UTC()
			if err := r.pass(Line{Restore: moved}); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// moreCheckpoints reads further checkpoints once all that were read are passed on.
func (r *reader) moreCheckpoints() error {
	if len(r.checkpoints) > 0 || r.asked >= r.signed {
		return nil
	}
	b := r.service.db.PrimaryBatch()
	rows := db.Queue(b, signed, r.tenant, r.asked, r.signed, window)
	if err := b.Send(r.ctx); err != nil {
		return err
	}
	r.checkpoints, r.asked = rows.Items, r.signed
	if n := len(rows.Items); n == window {
		r.asked = rows.Items[n-1].Seq
	}
	return nil
}

// idsAtATime is how many ids one query for strays spans. It reads two indexes, and stays far below the time
// limit of a statement.
const idsAtATime = 500_000

// strays passes on the first entry that neither has a seal nor waits for one, without a hash.
func (r *reader) strays() error {
	for from := int64(math.MinInt64); ; {
		b := r.service.db.PrimaryBatch()
		next := db.Queue(b, nextEntry, r.tenant, from)
		if err := b.Send(r.ctx); err != nil {
			return err
		}
		first, _ := next.One()
		if first == nil {
			return nil
		}
		b = r.service.db.PrimaryBatch()
		stray := db.Queue(b, astray, r.tenant, first.ID, first.ID+idsAtATime)
		if err := b.Send(r.ctx); err != nil {
			return err
		}
		if found, _ := stray.One(); found != nil {
			return r.pass(Line{Sealed: &Sealed{Entry: *found}})
		}
		from = first.ID + idsAtATime
	}
}

// unsealed passes on the entries that wait for a seal. A missing one has no text.
func (r *reader) unsealed() (n int64, err error) {
	b := r.service.db.PrimaryBatch()
	missing := db.Queue(b, gone, r.tenant)
	if err := b.Send(r.ctx); err != nil {
		return 0, err
	}
	if first, _ := missing.One(); first != nil {
		return 1, r.pass(Line{Unsealed: &EntryText{ID: first.Seq}})
	}
	for after := int64(math.MinInt64); ; {
		b := r.service.db.PrimaryBatch()
		rows := db.Queue(b, waiting, r.tenant, after, window)
		if err := b.Send(r.ctx); err != nil {
			return n, err
		}
		for _, entry := range rows.Items {
			if err := r.pass(Line{Unsealed: entry}); err != nil {
				return n, err
			}
			after = entry.ID
			n++
		}
		if len(rows.Items) < window {
			return n, nil
		}
	}
}
