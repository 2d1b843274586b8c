package audit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/go-jose/go-jose/v4"

	"bankgraph/core/access"
	"bankgraph/db"
)

// window is how many entries are read at a time.
const window = 2000

// Chain reads the chain of the caller's bank, line by line, as an export has it; from the last checkpoint before a
// time on where one is given. keys are the public halves of those that signed. Progress hears how many entries of how
// many were read.
func (s *Service) Chain(ctx context.Context, since time.Time, keys []jose.JSONWebKey, progress func(done, total int)) (iter.Seq2[Line, error], error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	return func(yield func(Line, error) bool) {
		r := &reader{service: s, ctx: ctx, tenant: caller.Tenant, code: caller.TenantCode, progress: progress, yield: yield}
		if err := r.read(since, keys); err != nil && !errors.Is(err, errStopped) {
			yield(Line{}, fmt.Errorf("read the audit chain: %w", err))
		}
	}, nil
}

// errStopped is a consumer that wants no further lines.
var errStopped = errors.New("stopped")

type reader struct {
	service     *Service
	ctx         context.Context
	tenant      access.Tenant
	code        string
	progress    func(done, total int)
	yield       func(Line, error) bool
	checkpoints []*Checkpoint // read, and not yet passed on
	asked       int64         // up to which entry checkpoints were read
	signed      int64         // the last entry that one is about
}

func (r *reader) pass(line Line) error {
	if !r.yield(line, nil) {
		return errStopped
	}
	return nil
}

// read fixes first where the chain ends: what is sealed meanwhile belongs to another export. The last checkpoint
// is read before the last seal, so that it cannot be about a later one.
func (r *reader) read(since time.Time, keys []jose.JSONWebKey) error {
	b := r.service.db.Fresh()
	vouched := db.Queue(b, lastSigned, r.tenant)
	ends := db.Queue(b, lastSeal, r.tenant)
	begins := db.Queue(b, beginning, r.tenant, since)
	if err := b.Send(r.ctx); err != nil {
		return err
	}
	first, last := place{Tx: "0", Hash: make(Hash, 32)}, place{Tx: "0"}
	if end, _ := ends.One(); end != nil {
		last = *end
	}
	if begin, _ := begins.One(); begin != nil {
		first, r.asked = *begin, begin.Seq-1
	}
	if c, _ := vouched.One(); c != nil {
		r.signed = c.Seq
	}
	err := r.pass(Line{Begin: &Begin{Form: form, Tenant: r.tenant, Code: r.code, Seq: first.Seq, Hash: first.Hash}})
	for i := range keys {
		if err == nil {
			err = r.pass(Line{Key: &keys[i]})
		}
	}
	if err == nil {
		err = r.sealed(first, last)
	}
	var unsealed int64
	if err == nil {
		unsealed, err = r.unsealed(last)
	}
	if err != nil {
		return err
	}
	return r.pass(Line{End: &End{Seq: last.Seq, Unsealed: unsealed}})
}

// place is where a seal stands in the order of commits.
type place struct {
	Seq   int64  `bun:"seq"`
	Tx    string `bun:"tx"`
	Entry int64  `bun:"entry"`
	Hash  Hash   `bun:"hash,type:bytea"`
}

var (
	lastSigned = db.NewText[place](`SELECT seq FROM audit_checkpoints WHERE tenant = $1 ORDER BY seq DESC LIMIT 1`)
	lastSeal   = db.NewText[place](`SELECT seq, tx::text AS tx, entry, hash FROM audit_seals WHERE tenant = $1 ORDER BY seq DESC LIMIT 1`)
	// The last checkpoint before a time: an export that begins there begins with something signed.
	beginning = db.NewText[place](`SELECT s.seq, s.tx::text AS tx, s.entry, c.hash FROM audit_checkpoints AS c JOIN audit_seals AS s ON s.tenant = c.tenant AND s.seq = c.seq
		WHERE c.tenant = $1 AND c.at < $2 ORDER BY c.seq DESC LIMIT 1`)
	// Entries, not seals, lead: so one without a seal shows. A seal without an entry leaves a gap in seq.
	reading = db.NewText[row](`SELECT coalesce(s.seq, 0) AS seq, s.hash, ` + texts + ` FROM audit_entries AS e LEFT JOIN audit_seals AS s ON s.tenant = e.tenant AND s.entry = e.id
		WHERE e.tenant = $1 AND (e.tx, e.id) > ($2::text::xid8, $3) AND (e.tx, e.id) <= ($4::text::xid8, $5) ORDER BY e.tx, e.id LIMIT $6`)
	waiting = db.NewText[Text](`SELECT ` + texts + ` FROM audit_entries AS e
		WHERE e.tenant = $1 AND (e.tx, e.id) > ($2::text::xid8, $3) ORDER BY e.tx, e.id LIMIT $4`)
	signed = db.NewText[Checkpoint](`SELECT tenant, seq, hash, at, kid, signature FROM audit_checkpoints WHERE tenant = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4`)
)

type row struct {
	Seq  int64 `bun:"seq"`
	Hash Hash  `bun:"hash,type:bytea"`
	Text `bun:",extend"`
}

// sealed passes on the entries after one place up to another, with the checkpoints between.
func (r *reader) sealed(after, upTo place) error {
	done, total := 0, int(upTo.Seq-after.Seq)
	if err := r.passSigned(after.Seq); err != nil {
		return err
	}
	for {
		b := r.service.db.Fresh()
		rows := db.Queue(b, reading, r.tenant, after.Tx, after.Entry, upTo.Tx, upTo.Entry, window)
		if err := b.Send(r.ctx); err != nil {
			return err
		}
		for _, row := range rows.Items {
			if err := r.pass(Line{Sealed: &Sealed{Seq: row.Seq, Hash: row.Hash, Entry: row.Text}}); err != nil {
				return err
			}
			if err := r.passSigned(row.Seq); err != nil {
				return err
			}
			after.Tx, after.Entry = row.Tx, row.ID
		}
		done += len(rows.Items)
		r.progress(min(done, total), total)
		if len(rows.Items) < window {
			return r.passSigned(r.signed)
		}
	}
}

// passSigned passes on the checkpoints of entries up to one.
func (r *reader) passSigned(upTo int64) error {
	for {
		if len(r.checkpoints) == 0 && r.asked < r.signed {
			b := r.service.db.Fresh()
			rows := db.Queue(b, signed, r.tenant, r.asked, r.signed, window)
			if err := b.Send(r.ctx); err != nil {
				return err
			}
			r.checkpoints, r.asked = rows.Items, r.signed
			if n := len(rows.Items); n == window {
				r.asked = rows.Items[n-1].Seq
			}
		}
		if len(r.checkpoints) == 0 || r.checkpoints[0].Seq > upTo {
			return nil
		}
		c := r.checkpoints[0]
		r.checkpoints, c.At = r.checkpoints[1:], c.At.UTC()
		if err := r.pass(Line{Checkpoint: c}); err != nil {
			return err
		}
	}
}

// unsealed passes on the entries behind the end of the chain.
func (r *reader) unsealed(after place) (n int64, err error) {
	for {
		b := r.service.db.Fresh()
		rows := db.Queue(b, waiting, r.tenant, after.Tx, after.Entry, window)
		if err := b.Send(r.ctx); err != nil {
			return n, err
		}
		for _, entry := range rows.Items {
			if err := r.pass(Line{Unsealed: entry}); err != nil {
				return n, err
			}
			after.Tx, after.Entry = entry.Tx, entry.ID
			n++
		}
		if len(rows.Items) < window {
			return n, nil
		}
	}
}
