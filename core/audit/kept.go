package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"bankgraph/core/access"
)

// Mark is the furthest place of a bank's record that was kept outside the database. The zero value says that
// none was.
type Mark struct {
	Epoch int64
	Seq   int64
	Hash  Hash
}

// ErrBehind is returned while the database does not have what was kept outside of its record, and nothing
// says why: the very same database was put back from an older copy, a former database serves again, or
// entries were cut off.
var ErrBehind = errors.New(
	"the database is older than what was kept outside of its audit record: entries are lost. " +
		"Where a backup or a former database was put back, run \"bankgraph audit restored\", otherwise \"bankgraph audit verify\"; " +
		"a bank that was set up anew needs a new file of checkpoints")

// Behind is ErrBehind where the record of the caller's bank lacks the place that was kept. It looks at that
// one place; an earlier epoch may have lost it in a restore that the record tells of, and one that Resume is
// about to note is no trouble.
func (s *Service) Behind(ctx context.Context, kept Mark) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil || kept.Epoch == 0 {
		return err
	}
	at, err := placeOf(ctx, s.db, caller.Tenant)
	if err != nil {
		return fmt.Errorf("read the end of the chain of bank %d: %w", caller.Tenant, err)
	}
	if at.moved() || at.Epoch > kept.Epoch {
		return nil
	}
	has := at.Epoch == kept.Epoch && kept.Seq == 0
	if at.Epoch == kept.Epoch && kept.Seq > 0 {
		err = s.db.NewRaw(`SELECT EXISTS (SELECT FROM audit_seals WHERE tenant = ? AND seq = ? AND hash = ?)`,
			caller.Tenant, kept.Seq, []byte(kept.Hash)).Scan(ctx, &has)
	}
	if err != nil {
		return fmt.Errorf("look for entry %d of bank %d: %w", kept.Seq, caller.Tenant, err)
	}
	if !has {
		return fmt.Errorf("bank %s, entry %d of epoch %d: %w", caller.TenantCode, kept.Seq, kept.Epoch, ErrBehind)
	}
	return nil
}

// Marks are the furthest places of banks, by their numbers.
type Marks map[access.Tenant]Mark

// Add takes a line that is kept.
func (m Marks) Add(line Line) {
	switch {
	case line.Checkpoint != nil:
		m.add(line.Checkpoint.Tenant,
			Mark{max(line.Checkpoint.Epoch, 1), line.Checkpoint.Seq, line.Checkpoint.Hash})
	case line.Restore != nil:
		m.add(line.Restore.Tenant, Mark{line.Restore.Epoch, line.Restore.After, line.Restore.Hash})
	}
}

func (m Marks) add(of access.Tenant, place Mark) {
	if last := m[of]; place.Epoch > last.Epoch || place.Epoch == last.Epoch && place.Seq > last.Seq {
		m[of] = place
	}
}

// Join takes other marks, as far as they are further.
func (m Marks) Join(others Marks) {
	for of, place := range others {
		m.add(of, place)
	}
}

// Read takes the lines of a file that were kept, and returns how many bytes of it were whole lines. Other
// lines are passed over, as is one that a kill has cut off.
func (m Marks) Read(from io.Reader) (read int64, err error) {
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

func (m Marks) line(text []byte) {
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
