package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/audit"
)

type auditCommand struct {
	Export   auditExport   `cmd:"" help:"Write a bank's audit entries to the standard output, with all that proves them."`
	Verify   auditVerify   `cmd:"" help:"Prove that nobody has changed, dropped, put in or moved an audit entry."`
	Restored auditRestored `cmd:"" help:"Declare that a backup was restored into the database that it came from; any other restore is noticed."`
}

type auditExport struct {
	ofTenant
	Since string `placeholder:"TIME" help:"Only from the last checkpoint before this time on: 2026-11-21 or 2026-11-21T09:30:00Z; all if not set."`
}

// Run first seals and signs what waits, so that the export ends with a signature. It also exports a chain
// that was tampered with, or lacks entries that checkpoints vouch for, since the export is the evidence.
func (c *auditExport) Run(ctx context.Context, s *settings, t *terminal) error {
	since, err := c.since()
	if err != nil {
		return err
	}
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		kept := s.kept(newLog(t.errs), newLog(t.errs))
		if err := kept.open(); err != nil {
			return err
		}
		err := b.finish(ctx, kept)
		if errors.Is(err, audit.ErrBroken) || errors.Is(err, audit.ErrBehind) {
			fmt.Fprintln(t.errs, "bankgraph:", err)
		} else if err != nil {
			return err
		}
		chain, err := b.chain(ctx, since, t)
		if err != nil {
			return err
		}
		return audit.Write(t.out, chain)
	})
}

// finish seals and signs what waits. It first notes if the database is another one than before.
func (b *bank) finish(ctx context.Context, kept *keptFile) error {
	mark, err := b.behind(ctx, kept)
	if err != nil {
		return err
	}
	if _, err := b.Audit.Resume(ctx, b.Clients.Sign, kept.keep, mark, ""); err != nil {
		return err
	}
	for range 20 { // a worker may be sealing now
		if _, err := b.Audit.Seal(ctx); err != nil {
			return err
		}
		if tail, err := b.Audit.Tail(ctx); err != nil || tail.Unsealed == 0 ||
			!pause(ctx, 50*time.Millisecond) {
			break
		}
	}
	return b.Audit.Sign(ctx, b.Clients.Sign, kept.keep)
}

type auditRestored struct {
	ofTenant
	Reason string `required:"" help:"Why the record goes on behind an earlier entry, such as: restored the backup of 3 May after a disk failed."`
}

// Validate checks the flags before anything starts; kong calls it.
func (c *auditRestored) Validate() error {
	if strings.TrimSpace(c.Reason) == "" {
		return errors.New("--reason must say why")
	}
	return nil
}

func (c *auditRestored) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		kept := s.kept(newLog(t.errs), newLog(t.errs))
		if err := kept.open(); err != nil {
			return err
		}
		mark, err := b.behind(ctx, kept)
		if err != nil && !errors.Is(err, audit.ErrBehind) {
			return err
		}
		restore, err := b.Audit.Resume(ctx, b.Clients.Sign, kept.keep, mark, c.Reason)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.out, "noted and signed: the record goes on behind entry %d, epoch %d begins\n",
			restore.After, restore.Epoch)
		return nil
	})
}

func (c *auditExport) since() (at time.Time, err error) {
	if c.Since == "" {
		return at, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err = time.Parse(layout, c.Since); err == nil {
			return at, nil
		}
	}
	return at, errors.New(
		"--since must be a day or a time by RFC 3339, such as 2026-11-21 or 2026-11-21T09:30:00Z")
}

// chain reads the audit chain of the operator's bank.
func (b *bank) chain(
	ctx context.Context, since time.Time, t *terminal,
) (iter.Seq2[audit.Line, error], error) {
	keys, err := b.Clients.EverSigned(ctx)
	if err != nil {
		return nil, err
	}
	return b.Audit.Chain(ctx, since, keys, progress(t.errs, "audit entries"))
}

type auditVerify struct {
	ofTenant
	File        string   `arg:"" optional:"" help:"An export; - is the standard input. Without it, the database itself is verified."`
	Keys        string   `name:"jwks" placeholder:"FILE" help:"Public keys of the bank, as its realm publishes them: only these count, not those that the export brings."`
	Checkpoints []string `placeholder:"FILE" help:"Checkpoints that were kept outside the database, or a log with them. For the database itself: also those that this machine has kept."`
}

// Run needs neither database nor network if a file is given.
func (c *auditVerify) Run(ctx context.Context, s *settings, t *terminal) error {
	pins, err := c.pins()
	if err != nil {
		return err
	}
	if c.File != "" {
		return c.offline(pins, t)
	}
	here := s.checkpointsFile()
	if _, err := os.Stat(here); err == nil {
		kept, err := readAll(here, audit.ReadCheckpoints)
		if err != nil {
			return err
		}
		pins.Checkpoints = append(pins.Checkpoints, kept...)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	pins.Unsigned = true // a chain without a signature, as in a bank's first minute
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		chain, err := b.chain(ctx, time.Time{}, t)
		if err != nil {
			return err
		}
		if err := tell(chain, pins, t); err != nil {
			return err
		}
		return against(ctx, here, pins, t)
	})
}

// against says which checkpoints the chain was compared with. Without any, missing entries at the end would
// not be noticed.
func against(ctx context.Context, file string, pins audit.Pins, t *terminal) error {
	caller, err := access.Require(ctx)
	if err != nil {
		return err
	}
	marks, kept := audit.KeptPlaces{}, 0
	for i := range pins.Checkpoints {
		if c := &pins.Checkpoints[i]; c.Tenant == caller.Tenant {
			marks.Add(audit.Line{Checkpoint: c})
			kept++
		}
	}
	switch {
	case kept > 0:
		fmt.Fprintf(t.errs,
			"held against checkpoints (%d) that were kept outside the database, the last of entry %d\n", kept,
			marks[caller.Tenant].Seq)
	case file != "":
		fmt.Fprintf(t.errs,
			"%s has no checkpoint of this bank: a tail that was cut off, or lost, would not be missed\n", file)
	default:
		fmt.Fprintln(t.errs,
			"held against no checkpoints (--checkpoints): a tail that was cut off, or lost, "+
				"would not be missed")
	}
	return nil
}

func (c *auditVerify) offline(pins audit.Pins, t *terminal) error {
	from := io.Reader(os.Stdin)
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer file.Close()
		from = file
	}
	return tell(audit.Read(from), pins, t)
}

// pins reads the keys and checkpoints that were kept outside the database.
func (c *auditVerify) pins() (pins audit.Pins, err error) {
	if c.Keys != "" {
		if pins.Keys, err = readAll(c.Keys, audit.ReadKeys); err != nil {
			return pins, err
		}
	}
	for _, path := range c.Checkpoints {
		kept, err := readAll(path, audit.ReadCheckpoints)
		if err != nil {
			return pins, err
		}
		if len(kept) == 0 {
			return pins, fmt.Errorf("%s holds no checkpoints", path)
		}
		pins.Checkpoints = append(pins.Checkpoints, kept...)
	}
	return pins, nil
}

func readAll[T any](path string, read func(io.Reader) ([]T, error)) ([]T, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	all, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return all, nil
}

// tell verifies a chain and prints the result.
func tell(chain iter.Seq2[audit.Line, error], pins audit.Pins, t *terminal) error {
	report, err := audit.Verify(chain, pins)
	if err != nil {
		return err
	}
	switch {
	case report.Last == 0:
		fmt.Fprintf(t.out, "bank %s: no entry is sealed\n", report.Code)
	case report.Signed == 0:
		fmt.Fprintf(t.out, "bank %s: entries %d to %d hold; nothing is signed yet\n",
			report.Code, report.First, report.Last)
	default:
		fmt.Fprintf(t.out, "bank %s: entries %d to %d hold; signed up to entry %d at %s\n", report.Code,
			report.First, report.Last,
			report.Signed, report.SignedAt.UTC().Format(time.RFC3339))
	}
	for i := range report.Restores {
		r := &report.Restores[i]
		fmt.Fprintf(t.out, "the database was restored or moved at %s; the record went on behind entry %d%s\n",
			r.At.UTC().Format(time.RFC3339), r.After, because(r.Reason))
		if r.Lost > 0 {
			fmt.Fprintf(t.out, "  lost in it: entries %d to %d, which a checkpoint that was kept "+
				"vouches for\n", r.After+1, r.Lost)
		}
	}
	if report.Unsealed > 0 {
		fmt.Fprintf(t.errs,
			"%d entries are not sealed yet, so nothing proves them: serve or work seals them within seconds\n",
			report.Unsealed)
	}
	return nil
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
