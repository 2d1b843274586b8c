package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/db"
)

// audited makes the program on a database with one bank.
func audited(t *testing.T) (testProgram, *db.DB) {
	t.Helper()
	p := onDatabase(t)
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jo")
	// as a role that may break rows
	d, err := db.Open(strings.TrimPrefix(p.settings[1], "BANKGRAPH_MIGRATE_URL="), db.Options{Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return p, d
}

// did writes a number of entries.
func did(t *testing.T, d *db.DB, entries int) {
	t.Helper()
	_, err := d.Exec(`WITH e AS (
		INSERT INTO audit_entries (tenant, client, entity, action, decision, object, uid)
		SELECT t.id, 'portal', 1000000, 'addSignatory', 'done', 'signatory', n::text
		  FROM tenants AS t, generate_series(1, ?) AS n RETURNING tenant, id)
		INSERT INTO audit_unsealed (tenant, entry) SELECT tenant, id FROM e`, entries)
	if err != nil {
		t.Fatal(err)
	}
}

// sealed waits until a number of entries are sealed. The first is the bank's own.
func sealed(t *testing.T, d *db.DB, entries int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var n int
		if err := d.NewRaw(`SELECT count(*) FROM audit_seals`).Scan(context.Background(), &n); err != nil {
			t.Fatal(err)
		}
		if n == entries {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d entries were sealed", n, entries)
		}
	}
}

// signed waits until what is sealed is vouched for by a checkpoint, which comes a moment later.
func signed(t *testing.T, d *db.DB, entry int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var last int
		if err := d.NewRaw(`SELECT coalesce(max(seq), 0) FROM audit_checkpoints`).
			Scan(context.Background(), &last); err != nil {
			t.Fatal(err)
		}
		if last >= entry {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("entries up to %d of %d were signed", last, entry)
		}
	}
}

func TestAuditIsProvenFromAnExportWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	kept := filepath.Join(t.TempDir(), "kept.jsonl")
	p.settings = append(p.settings, "BANKGRAPH_AUDIT_CHECKPOINTS="+kept)
	did(t, d, 5)
	export := p.ok("audit", "export")
	file := filepath.Join(t.TempDir(), "export.jsonl")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(export)
	offline := testProgram{t, nil}
	if out := offline.ok("audit", "verify", file, "--checkpoints",
		kept); !strings.Contains(out, "bank FIRST: entries 1 to 6 hold; signed up to entry 6 at ") {
		t.Errorf("verify: %s", out)
	}
	if out := p.ok("audit", "verify"); !strings.Contains(out, "entries 1 to 6 hold; signed up to entry 6") {
		t.Errorf("verify the database: %s", out)
	}
	write(strings.Replace(export, `"uid":"3"`, `"uid":"4"`, 1))
	if out, errs, status := offline.run("audit", "verify", file); status != 1 || out != "" ||
		!strings.Contains(errs, "entry 4 is not what was sealed") {
		t.Errorf("a changed entry: %d, %s%s", status, out, errs)
	}
	keys := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(keys, []byte(`{"keys":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{file + ".none"}, {file, "--jwks", keys}, {file, "--checkpoints", keys}} {
		if _, errs, status := offline.run(append([]string{"audit", "verify"}, args...)...); status != 1 ||
			errs == "" {
			t.Errorf("%v: %d, %s", args, status, errs)
		}
	}
	if _, err := d.Exec(
		`DELETE FROM audit_seals WHERE seq > 4; DELETE FROM audit_checkpoints; DELETE FROM audit_entries
			WHERE uid IN ('4', '5')`); err != nil {
		t.Fatal(err)
	}
	if _, errs, status := p.run("audit", "verify"); status != 1 ||
		!strings.Contains(errs,
			"entry 5 and what follows up to entry 6 are missing: a checkpoint that was kept "+
				"vouches for them") {
		t.Errorf("a tail that was cut off in the database: %d, %s", status, errs)
	}
}

func TestExportIsVerifiedFromAPipeAgainstThePublishedKeys(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	did(t, d, 3)
	s := p.serve()
	sealed(t, d, 4)
	signed(t, d, 4)
	status, keys := s.get(s.url+"/auth/realms/FIRST/protocol/openid-connect/certs", "")
	file := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(file, []byte(keys), 0o600); err != nil || status != 200 {
		t.Fatalf("keys: %d %s, %v", status, keys, err)
	}
	command := testProgram{t, nil}.command("audit", "verify", "-", "--jwks", file)
	command.Stdin = strings.NewReader(p.ok("audit", "export", "--since", "2020-01-01"))
	if out, err := command.CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "entries 1 to 4 hold; signed up to entry 4") {
		t.Errorf("%s, %v", out, err)
	}
	if _, errs, status := p.run("audit", "export", "--since", "yesterday"); status != 1 ||
		!strings.Contains(errs, "--since") {
		t.Errorf("%d, %s", status, errs)
	}
}

// Several workers run, one of which is killed, and a serve without workers.
func TestWorkersSealAndSignUntilTheyAreStopped(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	s := p.serve("--no-work")
	did(t, d, 3)
	time.Sleep(1500 * time.Millisecond)
	sealed(t, d, 0)
	first, second := p.work(), p.work()
	sealed(t, d, 4)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		_, metrics := s.get(second.metrics, "")
		if strings.Contains(metrics, `bankgraph_audit_unsealed{tenant="FIRST"} 0`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("metrics:\n%s", metrics)
		}
	}
	first.signal(syscall.SIGKILL)
	_ = first.end()
	did(t, d, 2)
	sealed(t, d, 6)
	for deadline := time.Now().
		Add(20 * time.Second); !strings.Contains(first.log.String()+second.log.String(),
		`"msg":"audit checkpoint","checkpoint":{"tenant":`); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no checkpoint is in the log\n%s", second.log)
		}
	}
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte(first.log.String()+second.log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	second.signal(syscall.SIGTERM)
	if err := second.end(); err != nil {
		t.Errorf("end: %v\n%s", err, second.log)
	}
	if out := p.ok("audit", "verify", "--checkpoints",
		log); !strings.Contains(out, "entries 1 to 6 hold; signed up to entry ") {
		t.Errorf("verify: %s", out)
	}
	if strings.Contains(second.log.String(), `"level":"ERROR"`) {
		t.Errorf("log:\n%s", second.log)
	}
}

// While the database is away, workers log it and go on.
func TestFailingTicksAreTriedAgain(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	if _, err := d.Exec(`ALTER TABLE audit_seals RENAME TO gone`); err != nil {
		t.Fatal(err)
	}
	did(t, d, 1)
	w := p.work()
	for deadline := time.Now().
		Add(20 * time.Second); !strings.Contains(w.log.String(),
		`"msg":"job failed","job":"seal audit entries"`); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no word of the failure\n%s", w.log)
		}
	}
	if _, err := d.Exec(`ALTER TABLE gone RENAME TO audit_seals`); err != nil {
		t.Fatal(err)
	}
	sealed(t, d, 2)
}

// The record of the demo bank begins with the bank, its five keys, the waiting changes with the role that
// they concern, and two files of payments that are uploaded and checked, which are 17 entries, and goes on
// with the payments of its life.
func TestCheckpointsOfThePrivateDatabaseAreKeptBesideIt(t *testing.T) {
	t.Parallel()
	p := onDemo(t)
	s := p.serve()
	kept := filepath.Join(strings.TrimPrefix(p.settings[0], "BANKGRAPH_DATA="), "audit-checkpoints.jsonl")
	last := 0
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		text, _ := os.ReadFile(kept)
		for _, found := range regexp.MustCompile(`"seq":(\d+)`).FindAllStringSubmatch(string(text), -1) {
			last, _ = strconv.Atoi(found[1])
		}
		if last > 17 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no checkpoint was kept\n%s", s.log)
		}
	}
	s.signal(syscall.SIGKILL)
	_ = s.end()
	out := p.ok("audit", "verify")
	if !regexp.MustCompile(fmt.Sprintf(`bank sandbox: entries 1 to \d+ hold; signed up to entry %d\b`, last)).
		MatchString(out) {
		t.Errorf("after a kill, with checkpoint %d: %s", last, out)
	}
}

// A snapshot of the same database files is restored. Nothing in the database shows it, but the file of
// checkpoints does. Operators are told what to do, nothing is signed over the loss, and after they have
// declared it everything holds.
func TestOlderCopyOfTheSameDatabaseIsNoticed(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	p.settings = append(p.settings, "BANKGRAPH_AUDIT_CHECKPOINTS="+filepath.Join(t.TempDir(), "kept.jsonl"))
	did(t, d, 5)
	p.ok("audit", "export")
	if _, err := d.Exec(
		`DELETE FROM audit_seals WHERE seq > 4; DELETE FROM audit_checkpoints;
			DELETE FROM audit_entries WHERE uid IN ('4', '5')`); err != nil {
		t.Fatal(err)
	}
	s := p.serve()
	did(t, d, 4)
	private := strings.TrimSuffix(s.metrics, "metrics") + "readyz"
	told := ""
	for deadline := time.Now().
		Add(20 * time.Second); !strings.Contains(told,
		"bankgraph audit restored"); time.Sleep(20 * time.Millisecond) {
		if _, told = s.get(private, ""); time.Now().After(deadline) {
			t.Fatalf("operators are not told: %s\n%s", told, s.log)
		}
	}
	if !strings.HasPrefix(told, "ready\n") || !strings.Contains(s.log.String(), "bankgraph audit restored") {
		t.Errorf("%s\n%s", told, s.log)
	}
	if _, metrics := s.get(s.metrics,
		""); !strings.Contains(metrics, `bankgraph_audit_holds{tenant="FIRST"} 0`) {
		t.Error("the metric says that all is well")
	}
	if _, errs, _ := p.run("audit", "export"); !strings.Contains(errs, "bankgraph audit restored") {
		t.Errorf("an export says nothing: %s", errs)
	}
	if _, errs, _ := p.run("migrate"); !strings.Contains(errs, "are not given again") {
		t.Errorf("numbers that were given since are given again: %s", errs)
	}
	sealed(t, d, 4)
	p.ok("audit", "restored", "--reason", "put back the snapshot of last night")
	sealed(t, d, 9)
	p.ok("audit", "export")
	if out := p.ok("audit", "verify"); !strings.Contains(out, "entries 1 to 9 hold; signed up to entry 9") ||
		!strings.Contains(out, "lost in it: entries 5 to 6") {
		t.Errorf("verify: %s", out)
	}
}

// A checkpoint must not vanish in a line that a kill or a full disk has cut off.
func TestCheckpointFollowsALineThatWasCutOff(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	kept := filepath.Join(t.TempDir(), "kept.jsonl")
	p.settings = append(p.settings, "BANKGRAPH_AUDIT_CHECKPOINTS="+kept)
	if err := os.WriteFile(kept, []byte(`{"checkpoint":{"tenant":1,"se`), 0o600); err != nil {
		t.Fatal(err)
	}
	did(t, d, 5)
	p.ok("audit", "export")
	if _, errs, _ := p.run("audit", "verify"); !strings.Contains(errs, "held against checkpoints (1)") ||
		!strings.Contains(errs, "the last of entry 6") {
		t.Errorf("verify does not say what it held the chain against: %s", errs)
	}
	file, err := os.Open(kept)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	defer func() {
		if err := os.Remove(kept); err != nil {
			t.Error(err)
		}
		if _, errs, _ := p.run("audit", "verify"); !strings.Contains(errs, "would not be missed") {
			t.Errorf("verify says nothing of a file that is gone: %s", errs)
		}
	}()
	if all, err := audit.ReadCheckpoints(file); err != nil || len(all) != 1 || all[0].Seq != 6 {
		t.Errorf("kept: %+v, %v", all, err)
	}
}

// If nothing can be kept, serve does not start. If that happens later, it says so.
func TestCheckpointsThatCannotBeKeptAreTold(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	place := filepath.Join(t.TempDir(), "place")
	p.settings = append(p.settings, "BANKGRAPH_AUDIT_CHECKPOINTS="+filepath.Join(place, "kept.jsonl"))
	for _, command := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"work"}, {"audit", "export"}} {
		if _, errs, status := p.run(command...); status != 1 ||
			!strings.Contains(errs, "BANKGRAPH_AUDIT_CHECKPOINTS") {
			t.Errorf("%v: %d, %s", command, status, errs)
		}
	}
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	s := p.serve()
	if err := os.RemoveAll(place); err != nil {
		t.Fatal(err)
	}
	did(t, d, 3)
	sealed(t, d, 4) // sealing goes on
	told := ""
	for deadline := time.Now().
		Add(20 * time.Second); !strings.Contains(told,
		"bank FIRST: nothing is signed"); time.Sleep(20 * time.Millisecond) {
		if _, told = s.get(strings.TrimSuffix(s.metrics, "metrics")+"readyz", ""); time.Now().After(deadline) {
			t.Fatalf("operators are not told: %s\n%s", told, s.log)
		}
	}
}

// A disk that hangs delays nobody for long.
func TestHangingDiskOfCheckpointsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe") // without a reader, it takes no more when it is full
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	kept := (&settings{DatabaseURL: "given", Checkpoints: path}).kept(slog.Default(), slog.Default())
	long := audit.Line{Checkpoint: &audit.Checkpoint{Tenant: 7, Seq: 1, Signature: strings.Repeat("s", 1<<20)}}
	began := time.Now()
	for range 2 {
		if err := kept.keep(long); !errors.Is(err, errKeptHangs) || kept.failed() == nil {
			t.Errorf("keep: %v", err)
		}
	}
	if took := time.Since(began); took > 5*keptPatience {
		t.Errorf("it took %s", took)
	}
	if !kept.hangs.Load() {
		t.Error("who asks next waits again")
	}
}

// An operator replaces the file while serve runs. Its content counts at once, even if it is longer than the
// file before.
func TestAFileOfCheckpointsThatWasPutInPlaceIsRead(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "checkpoints.jsonl")
	var log strings.Builder
	kept := (&settings{DatabaseURL: "given", Checkpoints: path}).kept(slog.New(slog.NewTextHandler(&log, nil)),
		slog.Default())
	line := func(bank access.Tenant, seq int64) audit.Line {
		return audit.Line{Checkpoint: &audit.Checkpoint{Tenant: bank, Seq: seq, Epoch: 1, Signature: "s"}}
	}
	if err := errors.Join(kept.keep(line(7, 1)), kept.keep(line(7, 2))); err != nil {
		t.Fatal(err)
	}
	if got := kept.last(7); got.Seq != 2 || log.Len() > 0 {
		t.Errorf("at first: %+v, %s", got, log.String())
	}
	other := (&settings{DatabaseURL: "given", Checkpoints: path + ".copy"}).
		kept(slog.Default(), slog.Default())
	for _, seq := range []int64{900, 1, 2, 3} { // 900 is in the part that was already read of the old file
		if err := other.keep(line(7, seq)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(other.path, path); err != nil {
		t.Fatal(err)
	}
	if got := kept.last(7); got.Seq != 900 || strings.Count(log.String(), "put back the right one") != 1 {
		t.Errorf("another file: %+v, %s", got, log.String())
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	// What was known before still counts: otherwise an empty file would hide that the record went back.
	if got := kept.last(7); got.Seq != 900 || strings.Count(log.String(), "put back the right one") != 2 {
		t.Errorf("an empty file: %+v, %s", got, log.String())
	}
	_ = kept.last(7)
	if strings.Count(log.String(), "put back the right one") != 2 {
		t.Errorf("it is said again: %s", log.String())
	}
}

// refusing is a log that takes no lines.
type refusing struct{ slog.Handler }

func (refusing) Handle(context.Context, slog.Record) error { return errors.New("broken pipe") }

// A checkpoint that neither the file nor the log has taken counts as not kept.
func TestACheckpointThatTheLogDoesNotTakeIsNotKept(t *testing.T) {
	t.Parallel()
	kept := (&settings{DatabaseURL: "given"}).
		kept(slog.Default(), slog.New(refusing{slog.Default().Handler()}))
	if err := kept.keep(audit.Line{Checkpoint: &audit.Checkpoint{Seq: 1}}); err == nil ||
		kept.failed() == nil {
		t.Errorf("%v, %v", err, kept.failed())
	}
	if err := kept.keep(audit.Line{Restore: new(audit.Restore)}); err == nil {
		t.Error("nor is a restore")
	}
}
