package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// KeptPlace is the furthest place of a bank's record that is kept outside the database. The zero value means
// that there is none.
type KeptPlace struct {
	Epoch int64
	Seq   int64
	Hash  Hash
}

// ErrBehind is returned while the database lacks a place of its record that is kept outside, and no Restore
// explains it: the same database was put back from an older copy, a former database serves again, or entries
// were cut off.
var ErrBehind = errors.New(
	"the database is older than what was kept outside of its audit record: entries are lost. Where a backup " +
		"or a former database was put back, run \"bankgraph migrate\" and \"bankgraph audit restored\", " +
		"otherwise \"bankgraph audit verify\"; a bank that was set up anew needs a new file of checkpoints")

// Behind returns ErrBehind if the record of the caller's bank lacks the place that was kept. It checks that
// one place. A place of an earlier epoch may be lost, as the record has the restore that explains it; so may
// any place before Resume has noted a move.
func (s *Service) Behind(ctx context.Context, kept KeptPlace) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil || kept.Epoch == 0 {
		return err
	}
	at, err := placeOf(ctx, s.db, caller.Tenant)
	if err != nil {
		return fmt.Errorf("read the end of the chain of bank %d: %w", caller.Tenant, err)
	}
	lacks, err := at.lacks(ctx, s.db, caller.Tenant, kept)
	if err == nil && lacks {
		err = fmt.Errorf("bank %s, entry %d of epoch %d: %w", caller.TenantCode, kept.Seq, kept.Epoch, ErrBehind)
	}
	return err
}

// lacks reports whether the record of a bank, which ends at p, lacks a place that was kept, as Behind says.
func (p place) lacks(ctx context.Context, d bun.IDB, tenant access.Tenant, kept KeptPlace) (bool, error) {
	switch {
	case p.moved() || p.Epoch > kept.Epoch:
		return false, nil
	case p.Epoch < kept.Epoch || kept.Seq == 0:
		return p.Epoch < kept.Epoch, nil
	}
	var lacks bool
	err := d.NewRaw(`SELECT NOT EXISTS (SELECT FROM audit_seals WHERE tenant = ? AND seq = ? AND hash = ?)`,
		tenant, kept.Seq, []byte(kept.Hash)).Scan(ctx, &lacks)
	if err != nil {
		return false, fmt.Errorf("look for entry %d of bank %d: %w", kept.Seq, tenant, err)
	}
	return lacks, nil
}

// KeptPlaces maps banks to their furthest places.
type KeptPlaces map[access.Tenant]KeptPlace

// Add takes in a line that was kept.
func (m KeptPlaces) Add(line Line) {
	switch {
	case line.Checkpoint != nil:
		m.add(line.Checkpoint.Tenant,
			KeptPlace{max(line.Checkpoint.Epoch, 1), line.Checkpoint.Seq, line.Checkpoint.Hash})
	case line.Restore != nil:
		m.add(line.Restore.Tenant, KeptPlace{line.Restore.Epoch, line.Restore.After, line.Restore.Hash})
	}
}

func (m KeptPlaces) add(of access.Tenant, place KeptPlace) {
	if last := m[of]; place.Epoch > last.Epoch || place.Epoch == last.Epoch && place.Seq > last.Seq {
		m[of] = place
	}
}

// Join takes in other marks where they are further.
func (m KeptPlaces) Join(others KeptPlaces) {
	for of, place := range others {
		m.add(of, place)
	}
}

// Read takes in the lines of a file that were kept, and returns how many bytes of it were whole lines. It
// skips other lines, and a last line that was cut off.
func (m KeptPlaces) Read(from io.Reader) (read int64, err error) {
	lines := bufio.NewReaderSize(from, 1<<16)
	for {
		text, err := lines.ReadBytes('\n')
		m.line(text)
		if errors.Is(err, io.EOF) {
			return read, nil
		}
		if err != nil {
			return read, err
		}
		read += int64(len(text))
	}
}

func (m KeptPlaces) line(text []byte) {
	if !bytes.Contains(text, []byte(`"signature"`)) {
		return
	}
	var line struct {
		Checkpoint
		Logged  *Checkpoint `json:"checkpoint"`
		Restore *Restore    `json:"restore"`
	}
	if json.Unmarshal(text, &line) != nil {
		return
	}
	if line.Logged == nil && line.Seq > 0 {
		line.Logged = &line.Checkpoint
	}
	m.Add(Line{Checkpoint: line.Logged, Restore: line.Restore})
}
