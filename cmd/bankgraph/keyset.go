package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/keysets"
	"bankgraph/core/seal"
)

// keysetCommand makes keyset files and changes their keys.
type keysetCommand struct {
	Create  keysetCreate  `cmd:"" default:"withargs" help:"Make a keyset for a bank on a database of its own."`
	Status  keysetStatus  `cmd:"" help:"Show the keys, and how far a rotation has come."`
	Rotate  keysetRotate  `cmd:"" help:"Begin a rotation: add a new key, which writes nothing yet."`
	Promote keysetPromote `cmd:"" help:"Let the new key write. Workers then bring what is stored under it."`
	Retire  keysetRetire  `cmd:"" help:"End a rotation: take the old keys out of use, once nothing is left under them."`
	Restore keysetRestore `cmd:"" help:"Take retired keys into use again."`
	Destroy keysetDestroy `cmd:"" help:"Take retired keys out of the file, for good."`
	Wrap    keysetWrap    `cmd:"" help:"Encrypt the file under a passphrase, or under the key of a KMS."`
	Unwrap  keysetUnwrap  `cmd:"" help:"Write the file in the clear again."`
}

// keysetOpening opens a keyset file that is wrapped.
type keysetOpening struct {
	Passphrase     string `name:"keyset-passphrase" env:"BANKGRAPH_KEYSET_PASSPHRASE" placeholder:"TEXT" help:"Passphrase of a wrapped keyset. Set the variable, or better a file: other users of the machine see arguments."`
	PassphraseFile string `name:"keyset-passphrase-file" env:"BANKGRAPH_KEYSET_PASSPHRASE_FILE" placeholder:"FILE" help:"File with the passphrase on its first line; if not set, keyset-passphrase among systemd's credentials."`
	Credentials    string `hidden:"" env:"CREDENTIALS_DIRECTORY"`
}

// passphrase is the configured passphrase, or "".
func (o *keysetOpening) passphrase() (string, error) {
	file := o.PassphraseFile
	switch {
	case o.Passphrase != "":
		return o.Passphrase, nil
	case file == "" && o.Credentials == "":
		return "", fmt.Errorf("%w: --keyset-passphrase-file (BANKGRAPH_KEYSET_PASSPHRASE_FILE)", seal.ErrPassphrase)
	case file == "":
		file = filepath.Join(o.Credentials, "keyset-passphrase")
	}
	if err := regular(file); err != nil { // a pipe could not be read again when the keyset changes
		return "", fmt.Errorf("read the passphrase: %w", err)
	}
	return firstLine(file)
}

// firstLine reads a passphrase from the first line of a file.
func firstLine(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the passphrase: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}

// withoutKeyset adds advice to the error of a missing keyset file.
func (s *settings) withoutKeyset(err error) error {
	if path, _ := s.keysetFile(); errors.Is(err, fs.ErrNotExist) && s.Keys != "" {
		return fmt.Errorf(
			"%w: name the right one (--keyset, BANKGRAPH_KEYSET), put back the copy that was kept, "+
				"or, for a new bank only, make one: bankgraph keyset create %s", err, path)
	}
	return err
}

// keyset is the file of the keys under which values are sealed.
func (s *settings) keyset() seal.File {
	path, create := s.keysetFile()
	return seal.File{Path: path, Create: create, Passphrase: s.passphrase, KMS: keyOfKMS}
}

// keysetCreate makes a keyset file. It never overwrites one: values sealed under a lost keyset cannot be read
// again.
type keysetCreate struct {
	File string `arg:"" help:"Where to write it; there must be no file yet."`
}

func (c *keysetCreate) Run(t *terminal) error {
	if err := seal.Create(c.File); err != nil {
		return err
	}
	fmt.Fprintf(t.out,
		"Made %s. Keep a copy of it apart from the database's backups: without it account numbers, "+
			"tax ids and keys are lost.\n", c.File)
	return nil
}

type keysetRotate struct {
	Hashes bool `help:"Rotate the key of search hashes too: when the keyset may be known to others."`
}

func (c *keysetRotate) Run(s *settings, t *terminal) error {
	info, err := s.keyset().Add(c.Hashes, time.Now())
	if err != nil {
		return err
	}
	return showKeys(t.out, info,
		"The new key opens what others seal under it, and writes nothing yet. Copy the file to every machine "+
			"that has one of its own; running processes read it again within seconds. Then: "+
			"bankgraph keyset promote")
}

type keysetPromote struct{}

func (c *keysetPromote) Run(s *settings, t *terminal) error {
	info, err := s.keyset().Promote(time.Now())
	if err != nil {
		return err
	}
	return showKeys(t.out, info,
		"New values stand under the new key. Copy the file to every machine that has one of its own. Workers now "+
			"move what is stored: see bankgraph keyset status. When they are done: bankgraph keyset retire")
}

type keysetRetire struct{}

func (c *keysetRetire) Run(ctx context.Context, s *settings, t *terminal) error {
	info, err := proven(ctx, s, t, lingers, seal.File.Retire)
	if err != nil {
		return err
	}
	return showKeys(t.out, info,
		"Nothing stands under the old keys, and they are not used any more. Copy the file to every machine that "+
			"has one of its own. They stay in it until bankgraph keyset destroy; bankgraph keyset "+
			"restore takes them into use again.")
}

type keysetRestore struct{}

func (c *keysetRestore) Run(s *settings, t *terminal) error {
	info, err := s.keyset().Restore(time.Now())
	if err != nil {
		return err
	}
	return showKeys(t.out, info, "The retired keys are in use again.")
}

type keysetDestroy struct{}

func (c *keysetDestroy) Run(ctx context.Context, s *settings, t *terminal) error {
	info, err := proven(ctx, s, t, 0, seal.File.Destroy)
	if err != nil {
		return err
	}
	return showKeys(t.out, info,
		"The retired keys are gone. What older backups of the database hold opens with older copies of "+
			"the file only.")
}

// lingers is how long processes may still use signing keys that they read before a change.
const lingers = 15 * time.Second

// proven takes a step only after a proof that no bank has a value under a key other than the primary ones.
func proven(
	ctx context.Context, s *settings, t *terminal, pause time.Duration,
	step func(seal.File, time.Time, func() error) (seal.Info, error),
) (seal.Info, error) {
	b, err := open(ctx, s)
	if err != nil {
		return seal.Info{}, err
	}
	defer b.stop()
	return step(s.keyset(), time.Now(), func() error {
		all, err := b.Tenants.List(access.Operator(ctx, 0, "", nil))
		if err != nil {
			return err
		}
		problems := []error(nil)
		for _, bank := range all {
			left, looked, err := b.Keysets.Prove(access.Operator(ctx, bank.ID, bank.Code, nil))
			problems = append(problems, err)
			for _, of := range left {
				problems = append(problems,
					fmt.Errorf("bank %s has %d rows of %s under other keys: workers will move them",
						bank.Code, of.Rows, of.Of))
			}
			if err == nil && left == nil {
				fmt.Fprintf(t.out, "bank %s: none of %d rows is under other keys\n", bank.Code, looked)
			}
		}
		if err := errors.Join(problems...); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
			return nil
		}
	})
}

type keysetWrap struct {
	KMS  string `name:"kms" placeholder:"URI" help:"Key of a KMS: hcvault://HOST:PORT/transit/keys/NAME of HashiCorp Vault, with its VAULT_TOKEN."`
	File string `name:"new-passphrase-file" placeholder:"FILE" help:"File with the new passphrase on its first line; the passphrase that is set (--keyset-passphrase-file) if none is named."`
}

func (c *keysetWrap) Run(s *settings, t *terminal) error {
	passphrase := s.passphrase
	if c.File != "" {
		passphrase = func() (string, error) { return firstLine(c.File) }
	}
	if err := s.keyset().Wrap(c.KMS, passphrase); err != nil {
		return err
	}
	fmt.Fprintf(t.out,
		"%s is wrapped. Plain copies of it are as good as before: destroy them, or rotate the keys.\n",
		s.keyset().Path)
	return nil
}

type keysetUnwrap struct{}

func (c *keysetUnwrap) Run(s *settings, t *terminal) error {
	if err := s.keyset().Unwrap(); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "%s is in the clear.\n", s.keyset().Path)
	return nil
}

type keysetStatus struct{}

func (c *keysetStatus) Run(ctx context.Context, s *settings, t *terminal) error {
	if s.Keys == "" {
		if err := s.there(); err != nil {
			return err
		}
	}
	keys, err := s.keyset().Load()
	if err != nil {
		return err
	}
	info := keys.Info()
	if err := showKeys(t.out, info, ""); err != nil || !info.Has(seal.Old) {
		return err
	}
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	all, err := b.Tenants.List(access.Operator(ctx, 0, "", nil))
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BANK\tTABLE\tPASS\tLOOKED AT\tMOVED\tSTATE")
	for _, bank := range all {
		progress, err := b.Keysets.Progress(access.Operator(ctx, bank.ID, bank.Code, nil))
		if err != nil {
			return err
		}
		for _, p := range progress {
			fmt.Fprintf(table, "%s\t%s\t%d\t%d of %d\t%d\t%s\n", bank.Code, p.Of, p.Pass, p.Looked,
				p.Rows, p.Moved, stateOf(info, p))
		}
		if len(progress) == 0 {
			fmt.Fprintf(table, "%s\t\t\t\t\twaits for a worker\n", bank.Code)
		}
	}
	return table.Flush()
}

// stateOf describes how far a table has been moved.
func stateOf(info seal.Info, p *keysets.Progress) string {
	sealing, searching := info.Primaries()
	switch {
	case p.Sealing != int64(sealing) || p.Searching != int64(searching):
		return "waits for a worker"
	case p.FinishedAt != nil:
		return "done " + p.FinishedAt.UTC().Format(time.DateTime)
	case p.LeftOver > 0:
		return fmt.Sprintf("%d rows are locked or do not open", p.LeftOver)
	}
	return "moving"
}

// showKeys prints the keys of a file and the next step.
func showKeys(out io.Writer, info seal.Info, next string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tOF\tSTATE")
	for _, of := range []struct {
		name string
		keys []seal.Key
	}{{"sealing", info.Sealing}, {"searching", info.Searching}} {
		for _, key := range of.keys {
			id := fmt.Sprint(key.ID)
			if key.First {
				id = "of the first format"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\n", id, of.name, key.State)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if info.Wrapped != "" {
		fmt.Fprintf(out, "The file is wrapped by %s.\n", info.Wrapped)
	}
	if next != "" {
		fmt.Fprintln(out, next)
	}
	return nil
}
