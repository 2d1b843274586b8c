package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/audit"
	"bankgraph/core/coretest"
)

// grow writes, seals and signs this many entries.
func (b *bank) grow(entries int) {
	b.Helper()
	b.write(entries)
	b.seal()
	if err := b.sign(); err != nil {
		b.Fatal(err)
	}
}

// restored returns the bank restored from a backup of now, with all checkpoints so far kept outside.
func (b *bank) restored() *bank {
	b.Helper()
	restored := of(b.TB, b.Bank.Restored())
	restored.kept = b.kept
	return restored
}

// resume notes the restore.
func (b *bank) resume() *audit.Restore {
	b.Helper()
	restore, err := b.Audit.Resume(b.operator, b.Clients.Sign, b.keep, audit.KeptPlace{}, "")
	if err != nil || restore == nil {
		b.Fatalf("%+v, %v", restore, err)
	}
	return restore
}

// lost returns a restored bank. Its backup had 40 signed and 5 unsealed entries; it had 60 entries when it
// was lost.
func lost(t testing.TB) *bank {
	t.Helper()
	b := of(t, coretest.Alone(t))
	b.grow(20)
	b.grow(20)
	b.write(5)
	restored := b.restored()
	b.grow(15)
	restored.kept = b.kept
	return restored
}

func TestRecordGoesOnInARestoredDatabase(t *testing.T) {
	t.Parallel()
	b := lost(t)
	if _, err := b.Audit.Seal(b.operator); !errors.Is(err, audit.ErrMoved) {
		t.Fatalf("sealed as if nothing had happened: %v", err)
	}
	if restore := b.resume(); restore.Epoch != 2 || restore.After != 40 || restore.Was == restore.Is {
		t.Errorf("restore = %+v", restore)
	}
	if again, err := b.Audit.Resume(b.operator, b.Clients.Sign, b.keep, audit.KeptPlace{}, ""); err != nil ||
		again != nil {
		t.Errorf("noted again: %+v, %v", again, err)
	}
	b.grow(30) // with the five and the note itself
	report := b.holds()
	if report.Last != 76 || report.Signed != 76 || len(report.Restores) != 1 ||
		report.Restores[0].After != 40 ||
		report.Restores[0].Lost != 60 {
		t.Errorf("report = %+v", report)
	}
	offline, err := verify(b.export(time.Time{}), audit.Pins{Checkpoints: b.kept})
	if err != nil || offline.Restores[0].Lost != 60 {
		t.Errorf("an export: %+v, %v", offline, err)
	}
	later, err := verify(b.export(b.kept[len(b.kept)-1].At.Add(time.Second)), audit.Pins{Checkpoints: b.kept})
	if err != nil || later.First != 0 || len(later.Restores) != 0 {
		t.Errorf("an export of the later epoch alone: %+v, %v", later, err)
	}
	var noted string
	err = b.DB.NewRaw(
		`SELECT client || ' ' || action || ' ' || after FROM audit_entries
			WHERE tenant = ? AND object = 'database'`, b.Tenant).Scan(t.Context(), &noted)
	if err != nil || !strings.Contains(noted, `operator restoreDatabase {"database":"`) ||
		!strings.Contains(noted, `"epoch":2,"lastEntry":40}`) {
		t.Errorf("the record says %q, %v", noted, err)
	}
}

// If nothing was signed after the backup, nothing is reported as lost.
func TestRestoreOfTheLatestStateLosesNothing(t *testing.T) {
	t.Parallel()
	first := of(t, coretest.Alone(t))
	first.grow(20)
	second := first.restored()
	second.resume()
	second.grow(10)
	third := second.restored()
	third.resume()
	third.grow(10)
	report := third.holds()
	if report.Last != 42 || len(report.Restores) != 2 || report.Restores[0].Lost+report.Restores[1].Lost != 0 {
		t.Errorf("report = %+v", report)
	}
}

// A restore excuses only the loss of what an earlier epoch signed after it.
func TestRestoreIsNoPretext(t *testing.T) {
	t.Parallel()
	b := lost(t)
	b.resume()
	b.grow(30)
	whole := linesOf(t, b.export(time.Time{}))
	at := slices.IndexFunc(whole, func(l audit.Line) bool { return l.Restore != nil })
	for name, one := range map[string]struct {
		tamper func([]audit.Line) []audit.Line
		first  int64
	}{
		"taken out": {func(lines []audit.Line) []audit.Line { return slices.Delete(lines, at, at+1) }, 41},
		"moved on": {func(lines []audit.Line) []audit.Line {
			return slices.Insert(slices.Delete(lines, at, at+1), at+2, whole[at])
		}, 43},
		"of another entry": {func(lines []audit.Line) []audit.Line {
			forged := *whole[at].Restore
			forged.After = 39
			return slices.Insert(slices.Delete(lines, at, at+1), at-2, audit.Line{Restore: &forged})
		}, 40},
		"with other words": {func(lines []audit.Line) []audit.Line {
			forged := *whole[at].Restore
			forged.Reason = "a disk failed"
			lines[at] = audit.Line{Restore: &forged}
			return lines
		}, 41},
		"twice": {func(lines []audit.Line) []audit.Line { return slices.Insert(lines, at, whole[at]) }, 41},
		"the tail cut off after it": {func(lines []audit.Line) []audit.Line {
			lines = slices.DeleteFunc(lines, func(l audit.Line) bool {
				return l.Sealed != nil && l.Sealed.Seq > 50 || l.Checkpoint != nil && l.Checkpoint.Seq > 50 ||
					l.End != nil
			})
			return append(lines, audit.Line{End: &audit.End{Seq: 50}})
		}, 51},
		"an entry before it changed": {func(lines []audit.Line) []audit.Line {
			i, _ := place(lines, 33, 0)
			lines[i].Sealed.Entry.Reason = "nothing happened"
			return lines
		}, 33},
	} {
		_, err := verify(write(t, one.tamper(cloned(whole))), audit.Pins{Checkpoints: b.kept})
		if got := brokenAt(t, err); got != one.first {
			t.Errorf("%s: named %d, want %d: %v", name, got, one.first, err)
		}
	}
	forger := lost(t)
	forger.resume()
	lines := cloned(whole)
	lines[at] = audit.Line{Restore: &audit.Restore{}}
	*lines[at].Restore = *whole[at].Restore
	lines[at].Restore.KID, lines[at].Restore.Signature = "another", "forged"
	if _, err := verify(write(t, lines), audit.Pins{Checkpoints: b.kept}); brokenAt(t, err) == 0 {
		t.Error("a restore that nobody known has signed excuses what is missing")
	}
}

// Nothing shows that a backup was restored into the database that it came from, so an operator declares it.
func TestOperatorDeclaresWhatTheDatabaseDoesNotShow(t *testing.T) {
	t.Parallel()
	b := of(t, coretest.Alone(t))
	b.grow(20)
	b.grow(20)
	b.exec(`DELETE FROM audit_entries WHERE tenant = ?0 AND id IN (SELECT entry FROM audit_seals
		WHERE tenant = ?0 AND seq > 20)`, b.Tenant)
	b.exec(`DELETE FROM audit_seals WHERE tenant = ? AND seq > 20`, b.Tenant)
	b.exec(`DELETE FROM audit_checkpoints WHERE tenant = ? AND seq > 20`, b.Tenant)
	b.grow(3)
	if _, err := audit.Verify(b.chain(time.Time{}), audit.Pins{Checkpoints: b.kept}); brokenAt(t, err) == 0 {
		t.Fatal("nobody has said anything, and the chain holds")
	}
	b = of(t, coretest.Alone(t))
	b.grow(20)
	b.grow(20)
	b.exec(`DELETE FROM audit_entries WHERE tenant = ?0
		AND id IN (SELECT entry FROM audit_seals WHERE tenant = ?0 AND seq > 20)`, b.Tenant)
	b.exec(`DELETE FROM audit_seals WHERE tenant = ? AND seq > 20`, b.Tenant)
	b.exec(`DELETE FROM audit_checkpoints WHERE tenant = ? AND seq > 20`, b.Tenant)
	restore, err := b.Audit.Resume(b.operator, b.Clients.Sign, b.keep, audit.KeptPlace{},
		"restored last night's backup: a disk failed")
	if err != nil || restore.After != 20 || restore.Epoch != 2 {
		t.Fatalf("%+v, %v", restore, err)
	}
	b.grow(30)
	report := b.holds()
	if report.Last != 51 || len(report.Restores) != 1 || report.Restores[0].Lost != 40 ||
		!strings.Contains(report.Restores[0].Reason, "a disk failed") {
		t.Errorf("report = %+v", report)
	}
}

// Checkpoints without an epoch, from an earlier release, belong to the first one and are still valid.
func TestCheckpointsFromBeforeEpochsHold(t *testing.T) {
	t.Parallel()
	old := `{"tenant":7,"seq":3,"hash":"00","at":"2026-11-21T09:30:00Z","kid":"k","signature":"s"}`
	var c audit.Checkpoint
	if err := json.Unmarshal([]byte(old), &c); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(c)
	if err != nil || string(again) != old {
		t.Errorf("written again it is %s (%v)", again, err)
	}
	kept, err := audit.ReadCheckpoints(bytes.NewReader([]byte(old + "\n" +
		`{"restore":{"tenant":7,"epoch":2,"after":3}}` + "\n" + `{"checkpoint":` + old + `}`)))
	if err != nil || len(kept) != 2 {
		t.Errorf("%+v, %v", kept, err)
	}
}
