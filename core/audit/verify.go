package audit

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/go-jose/go-jose/v4"

	"bankgraph/core/access"
)

// Line is a line of an export; exactly one of its fields is set. An export is Begin, the bank's public keys,
// the sealed entries in the order of the chain, the entries that were not sealed yet, and End. Each
// checkpoint follows the last entry that it covers, each restore the last entry that was brought along.
type Line struct {
	Begin      *Begin           `json:"begin,omitempty"`
	Key        *jose.JSONWebKey `json:"key,omitempty"`
	Sealed     *Sealed          `json:"sealed,omitempty"`
	Checkpoint *Checkpoint      `json:"checkpoint,omitempty"`
	Restore    *Restore         `json:"restore,omitempty"`
	Unsealed   *EntryText       `json:"unsealed,omitempty"`
	End        *End             `json:"end,omitempty"`
}

// Begin says which bank's entries follow, and where in the chain they begin.
type Begin struct {
	Form   int           `json:"form"` // of the export: 1
	Tenant access.Tenant `json:"tenant"`
	Code   string        `json:"code"`
	Seq    int64         `json:"seq"`  // of the entry before the first one, which a checkpoint covers
	Hash   Hash          `json:"hash"` // and its hash
}

// form is the version of the export format that this program writes and reads.
const form = 1

// Sealed is an entry with its place in the chain. Without a hash, it is an entry that should be sealed and is
// not.
type Sealed struct {
	Seq   int64     `json:"seq"`
	Hash  Hash      `json:"hash"`
	Entry EntryText `json:"entry"`
}

// End says where the chain ended when the export was made.
type End struct {
	Seq      int64 `json:"seq"`
	Unsealed int64 `json:"unsealed"` // how many entries were not sealed yet
}

// Pins are evidence that was kept outside the database, against which a chain is verified.
type Pins struct {
	Keys        []jose.JSONWebKey // only signatures by these count; if empty, the keys in the export
	Checkpoints []Checkpoint      // what the chain must contain
	Unsigned    bool              // accept a chain without any signature
}

// Report describes a chain that was verified.
type Report struct {
	Tenant   access.Tenant
	Code     string
	First    int64     // the first entry that was checked; 0 if there is none
	Last     int64     // the last one
	Signed   int64     // the last one that a checkpoint covers
	SignedAt time.Time // when that was signed
	Unsealed int64     // entries that were not sealed yet, for which there is no evidence
	Restores []Restored
}

// Restored is a restore in the chain, with what is known to be lost in it.
type Restored struct {
	Restore
	// the last entry that an earlier epoch had signed and that the chain lacks; 0 if none is known
	Lost int64
}

// Broken is an error that names the first row of a chain that was tampered with.
type Broken struct {
	Seq  int64 // its place in the chain
	What string
}

func (b *Broken) Error() string { return fmt.Sprintf("entry %d %s", b.Seq, b.What) }

// Verify reads a chain and verifies it. It returns a *Broken that names the first wrong row; any other error
// means that the chain could not be read.
func Verify(lines iter.Seq2[Line, error], pins Pins) (Report, error) {
	v := &verifier{pins: pins, keys: map[string]*jose.JSONWebKey{}, kept: map[int64][]Checkpoint{}}
	for line, err := range lines {
		if err == nil {
			err = v.line(line)
		}
		if err != nil {
			return v.report, err
		}
	}
	if !v.ended {
		return v.report, v.broken(v.at.seq+1, "and what should follow it are missing: the export was cut off")
	}
	return v.report, nil
}

type verifier struct {
	pins         Pins
	keys         map[string]*jose.JSONWebKey
	kept         map[int64][]Checkpoint // the bank's pinned checkpoints, by entry
	checkpointed int64                  // the last entry with a checkpoint in the chain, whoever signed it
	began        int64                  // the epoch in which the export begins
	epoch        int64                  // the epoch of the place that was reached
	begun        bool
	ended        bool
	at           chain
	report       Report
}

func (v *verifier) broken(seq int64, what string, values ...any) error {
	return &Broken{Seq: seq, What: fmt.Sprintf(what, values...)}
}

func (v *verifier) line(line Line) error {
	switch {
	case v.begun == (line.Begin != nil) || v.ended:
		return v.broken(v.at.seq+1, "stands where no line of an export may")
	case line.Begin != nil:
		return v.begin(line.Begin)
	case line.Key != nil:
		if v.pins.Keys == nil {
			v.keys[line.Key.KeyID] = line.Key
		}
		return nil
	case line.Sealed != nil:
		return v.sealed(line.Sealed)
	case line.Checkpoint != nil:
		return v.checkpoint(line.Checkpoint)
	case line.Restore != nil:
		return v.restore(line.Restore)
	case line.Unsealed != nil:
		if line.Unsealed.Tenant == "" {
			return v.broken(v.at.seq+1, "or a later one (entry id %d) waited to be sealed and is gone",
				line.Unsealed.ID)
		}
		v.report.Unsealed++
		return nil
	case line.End != nil:
		return v.end(line.End)
	}
	return v.broken(v.at.seq+1, "is followed by an empty line of an export")
}

func (v *verifier) begin(b *Begin) error {
	if b.Form != form || b.Seq < 0 || len(b.Hash) != len(v.at.hash) ||
		b.Seq == 0 && !bytes.Equal(b.Hash, make([]byte, len(v.at.hash))) {
		return v.broken(b.Seq+1, "cannot be the first: this is not the beginning of an export")
	}
	v.begun, v.began, v.epoch, v.at.seq, v.at.hash = true, 1, 1, b.Seq, [32]byte(b.Hash)
	v.report.Tenant, v.report.Code = b.Tenant, b.Code
	for i := range v.pins.Keys {
		v.keys[v.pins.Keys[i].KeyID] = &v.pins.Keys[i]
	}
	for _, c := range v.pins.Checkpoints {
		if c.Tenant == b.Tenant {
			v.kept[c.Seq] = append(v.kept[c.Seq], c)
		}
	}
	return nil
}

// sealed verifies the next entry.
func (v *verifier) sealed(s *Sealed) error {
	seq := v.at.seq + 1
	switch {
	case v.report.Last == 0 && v.at.seq > v.report.Signed:
		return v.broken(v.at.seq, "is where the export begins, and nothing signed vouches for it")
	case len(s.Hash) == 0:
		return v.broken(seq, "is not sealed (entry id %d): it was put in, or its seal was taken out", s.Entry.ID)
	case s.Seq > seq:
		return v.broken(seq, "is missing: entry %d stands in its place", s.Seq)
	case s.Seq < seq:
		return v.broken(seq, "is out of order: entry %d stands in its place", s.Seq)
	case s.Entry.Tenant != strconv.FormatInt(int64(v.report.Tenant), 10):
		return v.broken(seq, "is of another bank")
	}
	v.at.add(&s.Entry)
	if !bytes.Equal(s.Hash, v.at.hash[:]) {
		return v.broken(seq, "is not what was sealed (entry id %d)", s.Entry.ID)
	}
	v.report.First, v.report.Last = cmp.Or(v.report.First, seq), seq
	return v.held()
}

// held compares the place that was reached with its pinned checkpoints.
func (v *verifier) held() error {
	for i := range v.kept[v.at.seq] {
		c := &v.kept[v.at.seq][i]
		if c.Epoch > v.epoch || v.former(c) { // a restore may still follow; end checks that (later)
			continue
		}
		if key := v.keys[c.KID]; key != nil && !c.signedBy(key) {
			return v.broken(c.Seq, "has a checkpoint in the file that was kept whose signature is wrong")
		}
		if err := v.vouched(c); err != nil {
			return err
		}
	}
	return nil
}

// checkpoint verifies a checkpoint in the chain itself. One by an unknown key proves nothing, but must match.
func (v *verifier) checkpoint(c *Checkpoint) error {
	v.checkpointed = max(v.checkpointed, c.Seq)
	key := v.keys[c.KID]
	switch {
	case c.Tenant != v.report.Tenant || c.Seq < v.at.seq:
		return v.broken(c.Seq, "has a checkpoint that does not stand behind it")
	case c.Seq > v.at.seq:
		return v.broken(v.at.seq+1, "and what follows up to entry %d are missing: a checkpoint "+
			"vouches for them", c.Seq)
	case key != nil && !c.signedBy(key):
		return v.broken(c.Seq, "has a checkpoint whose signature is wrong")
	case key == nil && !bytes.Equal(c.Hash, v.at.hash[:]):
		return v.broken(v.report.Signed+1, "or a later one, up to entry %d, is not what its checkpoint says", c.Seq)
	case key == nil:
		return nil
	}
	if err := v.vouched(c); err != nil || v.report.Last > 0 {
		return err
	}
	// the checkpoint of the export's beginning tells its epoch
	v.began = max(c.Epoch, 1)
	v.epoch = v.began
	return v.held()
}

// restore verifies a restore, which begins an epoch. One by an unknown key is ignored.
func (v *verifier) restore(r *Restore) error {
	key := v.keys[r.KID]
	switch {
	case r.Tenant != v.report.Tenant || r.After != v.at.seq:
		return v.broken(v.at.seq+1, "has a restore before it that does not stand there")
	case key == nil:
		return nil
	case !r.signedBy(key):
		return v.broken(v.at.seq+1, "has a restore before it whose signature is wrong")
	case r.Epoch <= v.epoch: // epochs may be skipped, as one may be lost with its database
		return v.broken(v.at.seq+1, "begins epoch %d, and a later one than %d should follow", r.Epoch, v.epoch)
	case !bytes.Equal(r.Hash, v.at.hash[:]):
		return v.broken(v.report.Signed+1, "or a later one, up to entry %d, is not what was restored", r.After)
	}
	v.epoch = r.Epoch
	v.report.Restores = append(v.report.Restores, Restored{Restore: *r})
	return v.held()
}

// former reports whether a pinned checkpoint belongs to an epoch that ended before this place, or that the
// record never had: what it covers was lost in the restore that ended the epoch, or in that of an earlier
// backup.
func (v *verifier) former(c *Checkpoint) bool {
	of := max(c.Epoch, 1)
	if key := v.keys[c.KID]; of > v.epoch || key != nil && !c.signedBy(key) {
		return false
	}
	for i := range v.report.Restores {
		if r := &v.report.Restores[i]; r.After < c.Seq && (r.Epoch > of || r.elsewhere(c)) {
			r.Lost = max(r.Lost, c.Seq)
			return true
		}
	}
	return of < v.began
}

// elsewhere reports whether a checkpoint of this epoch was signed in another database: the same backup was
// restored twice, and the second restore did not know of the first.
func (r *Restored) elsewhere(c *Checkpoint) bool {
	return r.Epoch == c.Epoch && c.Database != "" && r.Is != "" && r.Is != c.Database
}

// later returns the last epoch of the pinned checkpoints, if the record has not reached it; otherwise 0.
func (v *verifier) later() (epoch int64) {
	for _, kept := range v.kept {
		for i := range kept {
			if kept[i].Epoch > v.epoch {
				epoch = max(epoch, kept[i].Epoch)
			}
		}
	}
	return epoch
}

// beyond returns the last entry that a pinned checkpoint of this epoch covers and the chain lacks; otherwise
// 0.
func (v *verifier) beyond() (last int64) {
	for seq, kept := range v.kept {
		for i := range kept {
			if seq > v.at.seq && !v.former(&kept[i]) {
				last = max(last, seq)
			}
		}
	}
	return last
}

// vouched compares the place that was reached with a valid checkpoint, and notes that it is signed.
func (v *verifier) vouched(c *Checkpoint) error {
	if !bytes.Equal(c.Hash, v.at.hash[:]) {
		return v.broken(v.report.Signed+1,
			"or a later one, up to entry %d, is not what was signed: the chain was made anew", c.Seq)
	}
	v.report.Signed, v.report.SignedAt = c.Seq, c.At
	return nil
}

func (v *verifier) end(e *End) error {
	v.ended = true
	vouched, beyond, later := max(v.report.Signed, v.report.First-1), v.beyond(), v.later()
	switch {
	case e.Seq > v.at.seq:
		return v.broken(v.at.seq+1, "and what follows up to entry %d are missing: they were sealed", e.Seq)
	case beyond > 0:
		return v.broken(v.at.seq+1,
			"and what follows up to entry %d are missing: a checkpoint that was kept vouches for them", beyond)
	case later > 0:
		return v.broken(v.at.seq+1,
			"and what follows are missing: a checkpoint that was kept is of epoch %d, in which the "+
				"record went on elsewhere", later)
	case e.Seq < v.at.seq:
		return v.broken(e.Seq+1, "and what follows were put in: the export ends before them")
	case e.Unsealed != v.report.Unsealed:
		return v.broken(v.at.seq+1, "is of %d that were not sealed yet, and %d are there", e.Unsealed,
			v.report.Unsealed)
	case v.checkpointed > v.report.Signed:
		return v.broken(vouched+1, "and what follows are vouched for by a key that is not known")
	case v.report.Last > 0 && v.report.Signed == 0 && !v.pins.Unsigned:
		return v.broken(v.report.First, "and what follows are vouched for by nothing that is signed")
	}
	return nil
}
