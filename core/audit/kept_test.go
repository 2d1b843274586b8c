package audit_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/coretest"
)

// mark returns the furthest kept place of the bank, including restores.
func (b *bank) mark() audit.KeptPlace {
	marks := audit.KeptPlaces{}
	for i := range b.kept {
		marks.Add(audit.Line{Checkpoint: &b.kept[i]})
	}
	return marks[b.Tenant]
}

// cut removes everything that was sealed after an entry, as in an older copy of the same files.
func (b *bank) cut(after int64) {
	b.exec(`DELETE FROM audit_entries WHERE tenant = ?0
		AND id IN (SELECT entry FROM audit_seals WHERE tenant = ?0 AND seq > ?1)`, b.Tenant, after)
	b.exec(`DELETE FROM audit_seals WHERE tenant = ? AND seq > ?`, b.Tenant, after)
	b.exec(`DELETE FROM audit_checkpoints WHERE tenant = ? AND seq > ?`, b.Tenant, after)
}

// reconnect uses up the connections that copying the database has cut.
func (b *bank) reconnect() {
	for range 20 {
		_, _ = b.Clients.EverSigned(b.operator)
		_, _ = b.Audit.Tail(b.operator)
	}
}

// An older copy of the same database is behind what was kept outside, until an operator declares why.
func TestOlderCopyIsBehindWhatWasKept(t *testing.T) {
	t.Parallel()
	b := of(t, coretest.Alone(t))
	if err := b.Audit.Behind(b.operator, audit.KeptPlace{}); err != nil {
		t.Errorf("nothing was kept: %v", err)
	}
	b.grow(20)
	older := b.mark()
	b.grow(20)
	for name, kept := range map[string]audit.KeptPlace{
		"kept last": b.mark(), "kept by a machine that is behind": older,
	} {
		if err := b.Audit.Behind(b.operator, kept); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	kept := b.mark()
	b.cut(20)
	b.write(30)
	if err := b.Audit.Behind(b.operator, kept); !errors.Is(err, audit.ErrBehind) {
		t.Fatalf("nobody hears that 20 entries are gone: %v", err)
	}
	b.seal() // a worker that does not know of the file
	if err := b.Audit.Behind(b.operator, kept); !errors.Is(err, audit.ErrBehind) {
		t.Errorf("other entries in the place of those that are gone: %v", err)
	}
	if err := b.Audit.Behind(b.Staff(), kept); !errors.Is(err, access.ErrDenied) {
		t.Errorf("asked by staff: %v", err)
	}
	if _, err := b.Audit.Resume(b.operator, b.Clients.Sign, b.keep, kept, "restored a snapshot"); err != nil {
		t.Fatal(err)
	}
	if err := b.Audit.Behind(b.operator, kept); err != nil {
		t.Errorf("after it was declared: %v", err)
	}
}

// A former database that serves again lacks the epoch in which the record continued.
func TestFormerDatabaseIsBehind(t *testing.T) {
	t.Parallel()
	former := of(t, coretest.Alone(t))
	former.grow(20)
	next := former.restored()
	if err := next.Audit.Behind(next.operator, former.mark()); err != nil {
		t.Errorf("before the restore is noted: %v", err)
	}
	next.resume()
	next.grow(10)
	if err := next.Audit.Behind(next.operator, next.mark()); err != nil {
		t.Error(err)
	}
	former.reconnect()
	if err := former.Audit.Behind(former.operator, next.mark()); !errors.Is(err, audit.ErrBehind) {
		t.Errorf("the former database: %v", err)
	}
}

// One backup is restored twice, because the first restored database was lost too. With or without the file of
// checkpoints, verify says what was lost each time and reports no tampering.
func TestBackupIsRestoredTwice(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]bool{"with the file": true, "without it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := of(t, coretest.Alone(t))
			b.grow(20)
			first, second := b.restored(), b.restored()
			b.grow(20) // lost with the database itself
			first.kept = b.kept
			first.resume()
			first.grow(40) // up to entry 61, lost with the first one
			second.kept = first.kept
			mark := audit.KeptPlace{}
			if knows {
				mark = second.mark()
			}
			if _, err := second.Audit.Resume(second.operator, second.Clients.Sign, second.keep, mark, ""); err != nil {
				t.Fatal(err)
			}
			second.grow(5)
			report := second.holds()
			if report.Last != 26 || len(report.Restores) != 1 || report.Restores[0].After != 20 ||
				report.Restores[0].Lost != 61 {
				t.Errorf("report = %+v", report)
			}
			second.cut(24)
			if _, err := audit.Verify(second.chain(time.Time{}),
				audit.Pins{Checkpoints: second.kept}); brokenAt(t, err) != 25 {
				t.Errorf("entries of the last epoch are gone: %v", err)
			}
		})
	}
}

// First an older backup is restored, then a newer one, which has what the older one lacked, but not what came
// after that restore.
func TestNewerBackupIsRestoredAfterAnOlderOne(t *testing.T) {
	t.Parallel()
	b := of(t, coretest.Alone(t))
	b.grow(20)
	older := b.restored()
	b.grow(20)
	newer := b.restored()
	older.kept = b.kept
	older.resume()
	older.grow(5)
	newer.kept = older.kept
	if _, err := newer.Audit.Resume(newer.operator, newer.Clients.Sign, newer.keep, newer.mark(),
		""); err != nil {
		t.Fatal(err)
	}
	newer.grow(5)
	if report := newer.holds(); report.Last != 46 || len(report.Restores) != 1 ||
		report.Restores[0].Epoch != 3 {
		t.Errorf("report = %+v", report)
	}
	b.reconnect()
	if _, err := audit.Verify(b.chain(time.Time{}),
		audit.Pins{Checkpoints: newer.kept}); brokenAt(t, err) != 41 {
		t.Errorf("the database that the record went on without: %v", err)
	}
}

func TestMarksReadWhatWasKept(t *testing.T) {
	t.Parallel()
	checkpoint := `{"tenant":7,"seq":%,"hash":"00","at":"2026-11-21T09:30:00Z","kid":"k","signature":"s"}`
	at := func(seq string) string { return strings.Replace(checkpoint, "%", seq, 1) }
	restore := `{"restore":{"tenant":7,"epoch":3,"after":2,"hash":"01","signature":"s"}}`
	path := filepath.Join(t.TempDir(), "kept")
	for _, one := range []struct {
		text string
		want int64 // the entry of bank 7
		of   int64 // its epoch
	}{
		{"", 0, 0},
		{at("5") + "\n" + at("9") + "\n" + at("8") + "\n", 9, 1},
		{`{"msg":"audit checkpoint","checkpoint":` + at("6") + "}\nno JSON\n{}\n", 6, 1},
		{at("9") + "\n" + restore + "\n" + at("10") + "\n", 2, 3},
		{at("5") + "\n" + at("9")[:40], 5, 1},
		{at("5"), 5, 1}, // its line may still be incomplete
	} {
		if err := os.WriteFile(path, []byte(one.text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		marks := audit.KeptPlaces{}
		read, err := marks.Read(file)
		_ = file.Close()
		if whole := int64(strings.LastIndex(one.text, "\n") + 1); err != nil || read != whole ||
			marks[7].Seq != one.want || marks[7].Epoch != one.of {
			t.Errorf("%s: %+v, %d bytes, %v", one.text, marks, read, err)
		}
	}
	if text, err := json.Marshal(audit.Line{}); err != nil || string(text) != "{}" {
		t.Errorf("%s, %v", text, err)
	}
}
