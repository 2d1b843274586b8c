package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/audit"
	"bankgraph/core/coretest"
)

// signedEvery is how many entries the chain of these tests has between checkpoints.
const signedEvery = 20

// signedChain is a bank with a chain of 100 entries, signed every twenty.
func signedChain(t testing.TB) *bank {
	t.Helper()
	b := newBank(t)
	for range 5 {
		b.write(signedEvery)
		b.seal()
		if err := b.sign(); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func linesOf(t testing.TB, export []byte) (lines []audit.Line) {
	t.Helper()
	for line, err := range audit.Read(bytes.NewReader(export)) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

// cloned returns a copy of lines, to be tampered with.
func cloned(lines []audit.Line) []audit.Line {
	lines = slices.Clone(lines)
	for i := range lines {
		if s := lines[i].Sealed; s != nil {
			lines[i].Sealed = &audit.Sealed{Seq: s.Seq, Hash: slices.Clone(s.Hash), Entry: s.Entry}
		}
		if c := lines[i].Checkpoint; c != nil {
			lines[i].Checkpoint = &audit.Checkpoint{
				Tenant: c.Tenant, Seq: c.Seq, Hash: c.Hash, At: c.At, Epoch: c.Epoch, Database: c.Database, KID: c.KID,
				Signature: c.Signature,
			}
		}
	}
	return lines
}

func write(t testing.TB, lines []audit.Line) []byte {
	t.Helper()
	var file bytes.Buffer
	err := audit.Write(&file, func(yield func(audit.Line, error) bool) {
		for _, line := range lines {
			if !yield(line, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func verify(export []byte, pins audit.Pins) (audit.Report, error) {
	return audit.Verify(audit.Read(bytes.NewReader(export)), pins)
}

func TestExportOfAWholeChainHolds(t *testing.T) {
	t.Parallel()
	b := signedChain(t)
	b.write(3)
	export := b.export(time.Time{})
	report, err := verify(export, audit.Pins{Checkpoints: b.kept})
	if err != nil {
		t.Fatal(err)
	}
	if report.Tenant != b.Tenant || report.Code != b.Code || report.First != 1 || report.Last != 100 ||
		report.Signed != 100 || report.Unsealed != 3 {
		t.Errorf("report = %+v", report)
	}
	if live := b.holds(); !reflect.DeepEqual(live, report) {
		t.Errorf("the database says %+v, its export %+v", live, report)
	}
	if again := write(t, linesOf(t, export)); !bytes.Equal(again, export) {
		t.Error("an export that is read and written again is another one")
	}
}

// An export of the later part begins with a checkpoint, which vouches for what it builds on.
func TestExportSinceATimeBeginsWithACheckpoint(t *testing.T) {
	t.Parallel()
	b := signedChain(t)
	b.exec(`UPDATE audit_checkpoints SET at = at - interval '1 hour'
		WHERE tenant = ? AND seq <= 40`, b.Tenant)
	since := time.Now().Add(-30 * time.Minute)
	if _, err := verify(b.export(since), audit.Pins{}); brokenAt(t, err) != 40 {
		t.Errorf("a checkpoint with another time: %v", err)
	}
	b = signedChain(t)
	report, err := verify(b.export(b.kept[2].At), audit.Pins{Checkpoints: b.kept})
	if err != nil || report.First != 41 || report.Last != 100 || report.Signed != 100 {
		t.Errorf("report = %+v, %v", report, err)
	}
	lines := slices.DeleteFunc(linesOf(t, b.export(b.kept[2].At)),
		func(l audit.Line) bool { return l.Checkpoint != nil && l.Checkpoint.Seq == 40 })
	if _, err := verify(write(t, lines), audit.Pins{}); brokenAt(t, err) != 40 {
		t.Errorf("without its first checkpoint: %v", err)
	}
}

// tamperings lists ways to tamper with an export of 100 entries; each returns the first row that is wrong
// then. at is one of the entries, and i the index of its line.
var tamperings = map[string]func(dice *rand.Rand, lines []audit.Line, i int,
	at int64) (tampered []audit.Line, first int64){
	"a field of an entry": func(dice *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		field := reflect.ValueOf(&lines[i].Sealed.Entry).Elem()
		switch value := field.Field(dice.IntN(field.NumField())).Addr().Interface().(type) {
		case *string:
			*value += string(rune('0' + dice.IntN(10)))
		case *int64:
			*value += 1 + dice.Int64N(100)
		}
		return lines, at
	},
	"a character moved to the next field": func(_ *rand.Rand, lines []audit.Line, i int,
		at int64,
	) ([]audit.Line, int64) {
		e := &lines[i].Sealed.Entry
		e.Action, e.Decision = e.Action[:len(e.Action)-1], e.Action[len(e.Action)-1:]+e.Decision
		return lines, at
	},
	"a hash": func(dice *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		lines[i].Sealed.Hash[dice.IntN(32)] ^= 1 << dice.IntN(8)
		return lines, at
	},
	"no hash": func(_ *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		lines[i].Sealed.Seq, lines[i].Sealed.Hash = 0, nil
		return lines, at
	},
	"a number": func(dice *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		lines[i].Sealed.Seq += 1 - 2*dice.Int64N(2)
		return lines, at
	},
	"an entry dropped": func(_ *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		return slices.Delete(lines, i, i+1), at
	},
	"entries swapped": func(dice *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		j, other := place(lines, 1+dice.Int64N(100), at)
		lines[i], lines[j] = lines[j], lines[i]
		return lines, min(at, other)
	},
	"seals swapped": func(dice *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		j, other := place(lines, 1+dice.Int64N(100), at)
		lines[i].Sealed.Hash, lines[j].Sealed.Hash = lines[j].Sealed.Hash, lines[i].Sealed.Hash
		return lines, min(at, other)
	},
	"an entry twice": func(_ *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		return slices.Insert(lines, i, lines[i]), at + 1
	},
	"an entry put in": func(_ *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		forged := *lines[i].Sealed
		forged.Entry.ID, forged.Entry.Action = forged.Entry.ID+1_000_000, "removeSignatory"
		return slices.Insert(lines, i, audit.Line{Sealed: &forged}), at
	},
	"the end cut off": func(_ *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		return lines[:i], at
	},
	"the last entries dropped": func(_ *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		return slices.DeleteFunc(lines, func(l audit.Line) bool { return l.Sealed != nil && l.Sealed.Seq >= at }),
			at
	},
	"the last entries dropped with all that vouches for them": func(_ *rand.Rand, lines []audit.Line, i int,
		at int64,
	) ([]audit.Line, int64) {
		return append(lines[:i:i], audit.Line{End: &audit.End{Seq: at - 1}}), at
	},
	"the chain made anew": func(_ *rand.Rand, lines []audit.Line, i int, at int64) ([]audit.Line, int64) {
		lines[i].Sealed.Entry.Reason = "nothing happened"
		audit.Reseal(lines)
		return lines, (at-1)/signedEvery*signedEvery + 1 // only hashes could tell which one it was
	},
	"a signature": func(dice *rand.Rand, lines []audit.Line, _ int, at int64) ([]audit.Line, int64) {
		c := lines[slices.IndexFunc(lines,
			func(l audit.Line) bool { return l.Checkpoint != nil && l.Checkpoint.Seq >= at })].Checkpoint
		parts := strings.SplitAfter(c.Signature, ".")
		part := []byte(parts[2])
		at = int64(dice.IntN(len(part) - 1)) // the last character has bits that mean nothing
		part[at] = map[bool]byte{true: 'B', false: 'A'}[part[at] == 'A']
		c.Signature = parts[0] + parts[1] + string(part)
		return lines, c.Seq
	},
}

// place finds the line of an entry other than not.
func place(lines []audit.Line, at, not int64) (int, int64) {
	if at == not {
		at = at%100 + 1
	}
	return slices.IndexFunc(lines, func(l audit.Line) bool { return l.Sealed != nil && l.Sealed.Seq == at }), at
}

func TestEveryTamperingIsFoundAndTheFirstBadRowNamed(t *testing.T) {
	t.Parallel()
	b := signedChain(t)
	export := b.export(time.Time{})
	var names []string
	for name := range tamperings {
		names = append(names, name)
	}
	slices.Sort(names)
	found, whole := 0, linesOf(t, export)
	for seed := range uint64(1000) {
		dice := rand.New(rand.NewPCG(7, seed))
		name := names[int(seed)%len(names)]
		lines := cloned(whole)
		i, at := place(lines, 1+dice.Int64N(100), 0)
		tampered, first := tamperings[name](dice, lines, i, at)
		file := write(t, tampered)
		_, err := verify(file, audit.Pins{Checkpoints: b.kept})
		if got := brokenAt(t, err); got != first {
			t.Errorf("seed %d, %s at entry %d: named %d, want %d (%v)", seed, name, at, got, first, err)
			continue
		}
		found++
	}
	if found != 1000 {
		t.Errorf("%d of 1000 found", found)
	}
}

// A line in another JSON form, such as with a second value under the same name, is refused.
func TestLinesThatSayTheSameInAnotherWayAreRefused(t *testing.T) {
	t.Parallel()
	export := string(signedChain(t).export(time.Time{}))
	for name, tampered := range map[string]string{
		"a second value": strings.Replace(export, `"action":"changeSignatory"`,
			`"action":"removeSignatory","action":"changeSignatory"`, 1),
		"a further name": strings.Replace(export, `"action":`, `"note":"fine","action":`, 1),
		"spaces":         strings.Replace(export, `"action":`, `"action": `, 1),
		"no JSON":        strings.Replace(export, `"action":`, `action:`, 1),
	} {
		if _, err := verify([]byte(tampered), audit.Pins{}); err == nil ||
			!strings.Contains(err.Error(), "is not as an export writes it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The forger of an export adds keys of their own. With pinned keys these do not count.
func TestOnlyPinnedKeysVouch(t *testing.T) {
	t.Parallel()
	b, forger := signedChain(t), signedChain(t)
	keys, err := b.Clients.EverSigned(b.operator)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verify(b.export(time.Time{}), audit.Pins{Keys: keys}); err != nil {
		t.Errorf("its own keys: %v", err)
	}
	forged := forger.export(time.Time{})
	if _, err := verify(forged, audit.Pins{}); err != nil {
		t.Errorf("the other export, not pinned: %v", err)
	}
	if _, err := verify(forged, audit.Pins{Keys: keys}); brokenAt(t, err) != 1 {
		t.Errorf("pinned: %v", err)
	}
	// A checkpoint under the bank's own key id, signed by the forger's key.
	lines := linesOf(t, b.export(time.Time{}))
	for i := range lines {
		if lines[i].Checkpoint != nil && lines[i].Checkpoint.Seq == 60 {
			lines[i].Checkpoint.Signature = forger.kept[2].Signature
		}
	}
	if _, err := verify(write(t, lines), audit.Pins{}); brokenAt(t, err) != 60 {
		t.Errorf("another's signature: %v", err)
	}
}

func TestChainThatNothingVouchesForIsNotProven(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	if _, err := verify(b.export(time.Time{}), audit.Pins{}); err != nil {
		t.Errorf("a bank without entries: %v", err)
	}
	b.write(3)
	b.seal()
	if _, err := verify(b.export(time.Time{}), audit.Pins{}); brokenAt(t, err) != 1 {
		t.Errorf("error = %v", err)
	}
	if report, err := verify(b.export(time.Time{}),
		audit.Pins{Unsigned: true}); err != nil || report.Last != 3 || report.Signed != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// Tampering in the database itself, with all rights.
func TestTamperingInTheDatabaseIsFound(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		statement string
		first     int64
	}{
		"a changed entry": {
			`UPDATE audit_entries SET after = '{"title":"Clerk"}'
				WHERE tenant = ?0 AND id = (SELECT entry FROM audit_seals WHERE tenant = ?0 AND seq = 17)`, 17,
		},
		"JSON that means the same": {
			`UPDATE audit_entries SET before = '{ "title":"Clerk"}'
				WHERE tenant = ?0 AND id = (SELECT entry FROM audit_seals WHERE tenant = ?0 AND seq = 18)`, 18,
		},
		"a time that is none": {
			`UPDATE audit_entries SET at = 'infinity'
				WHERE tenant = ?0 AND id = (SELECT entry FROM audit_seals WHERE tenant = ?0 AND seq = 19)`, 19,
		},
		"a year before Christ": {
			`UPDATE audit_entries SET at = (to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')
				|| '+00 BC')::timestamptz WHERE tenant = ?0 AND id = (SELECT entry FROM audit_seals
				WHERE tenant = ?0 AND seq = 20)`, 20,
		},
		"an entry of no customer": {
			`UPDATE audit_entries SET customer = NULL
				WHERE tenant = ?0 AND id = (SELECT entry FROM audit_seals WHERE tenant = ?0 AND seq = 21)`, 21,
		},
		"an entry moved by its tx": {
			`UPDATE audit_entries SET tx = '9999999999'
				WHERE tenant = ?0 AND id = (SELECT entry FROM audit_seals WHERE tenant = ?0 AND seq = 22)`, 22,
		},
		"a removed entry": {
			`DELETE FROM audit_entries WHERE tenant = ?0 AND id = (SELECT entry FROM audit_seals
				WHERE tenant = ?0 AND seq = 23)`, 23,
		},
		"a removed seal": {`DELETE FROM audit_seals WHERE tenant = ?0 AND seq = 24`, 24},
		"a changed seal": {
			`UPDATE audit_seals SET hash = sha256('x') WHERE tenant = ?0 AND seq = 25`, 25,
		},
		"the last entries removed": {
			`DELETE FROM audit_entries WHERE tenant = ?0 AND id IN (SELECT entry FROM audit_seals
				WHERE tenant = ?0 AND seq > 90)`, 91,
		},
		"an entry put between": {
			`INSERT INTO audit_entries (tenant, id, tx, client, entity, action, decision, object, uid)
				SELECT tenant, -1, '7', 'staff', 1, 'x', 'done', 'y', 'z' FROM audit_seals
				WHERE tenant = ?0 AND seq = 30`, 101,
		},
		"an entry that waited removed": {`INSERT INTO audit_unsealed (tenant, entry) VALUES (?0, 999999999)`, 101},
		"the whole tail, with what vouches for it": {
			`WITH s AS (DELETE FROM audit_seals WHERE tenant = ?0 AND seq > 70 RETURNING entry), c AS (DELETE
				FROM audit_checkpoints WHERE tenant = ?0 AND seq > 70)
			DELETE FROM audit_entries WHERE tenant = ?0 AND id IN (SELECT entry FROM s)`, 71,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := signedChain(t)
			b.holds()
			b.exec(one.statement, b.Tenant)
			_, err := audit.Verify(b.chain(time.Time{}), audit.Pins{Checkpoints: b.kept})
			if got := brokenAt(t, err); got != one.first {
				t.Errorf("named %d, want %d: %v", got, one.first, err)
			}
			if _, err := verify(b.export(time.Time{}),
				audit.Pins{Checkpoints: b.kept}); brokenAt(t, err) != one.first {
				t.Errorf("in its export: %v", err)
			}
		})
	}
}

// A bank does not sign a chain again that differs from its last checkpoint.
func TestTamperedChainIsNotSignedAgain(t *testing.T) {
	t.Parallel()
	b := signedChain(t)
	b.exec(`DELETE FROM audit_seals WHERE tenant = ? AND seq > 70`, b.Tenant)
	b.exec(`UPDATE audit_entries SET reason = 'none' WHERE tenant = ?`, b.Tenant)
	b.write(1)
	b.seal()
	if err := b.Audit.Holds(b.operator); !errors.Is(err, audit.ErrBroken) {
		t.Errorf("the ends hold: %v", err)
	}
	if err := b.sign(); !errors.Is(err, audit.ErrBroken) {
		t.Errorf("error = %v", err)
	}
}

// A checkpoint that cannot be kept outside is not in the database either; the next attempt makes both.
func TestCheckpointThatCannotBeKeptIsMadeAgain(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.write(1)
	b.seal()
	full := errors.New("the disk is full")
	if err := b.Audit.Sign(b.operator, b.Clients.Sign,
		func(audit.Line) error { return full }); !errors.Is(err, full) {
		t.Errorf("error = %v", err)
	}
	for range 2 { // the second finds nothing new to sign
		if err := b.sign(); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.kept) != 1 {
		t.Fatalf("kept %d", len(b.kept))
	}
	text, err := json.Marshal(b.kept[0])
	if err != nil {
		t.Fatal(err)
	}
	log := "started\n" + string(text) + "\n" + `{"level":"INFO","msg":"audit checkpoint","checkpoint":` +
		string(text) + "}\n" + string(text[:50])
	kept, err := audit.ReadCheckpoints(strings.NewReader(log))
	if err != nil || len(kept) != 2 || !reflect.DeepEqual(kept[0], b.kept[0]) ||
		!reflect.DeepEqual(kept[1], b.kept[0]) {
		t.Errorf("read %+v, %v", kept, err)
	}
}

func TestChainsHoldAfterTheSigningKeyIsRotated(t *testing.T) {
	t.Parallel()
	b := of(t, coretest.Alone(t))
	for range 4 {
		b.write(5)
		b.seal()
		if err := b.sign(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Clients.RotateSigningKey(b.operator); err != nil {
			t.Fatal(err)
		}
		b.Clock.Advance(24 * time.Hour)
	}
	if err := b.Audit.Holds(b.operator); err != nil {
		t.Error(err)
	}
	if b.kept[0].KID == b.kept[3].KID {
		t.Fatal("the key was not rotated")
	}
	// the rotations are recorded too
	if report, err := verify(b.export(time.Time{}), audit.Pins{}); err != nil || report.Signed != 23 {
		t.Errorf("%+v, %v", report, err)
	}
}

// Rate of verification offline: 50,000 rows in a second are promised (core/README.md, P18).
func BenchmarkVerify(b *testing.B) {
	bank := of(b, coretest.Alone(b))
	const rows = 50_000
	bank.insert(rows)
	bank.seal()
	if err := bank.sign(); err != nil {
		b.Fatal(err)
	}
	export := bank.export(time.Time{})
	for name, read := range map[string]func() (audit.Report, error){
		"export":   func() (audit.Report, error) { return verify(export, audit.Pins{}) },
		"database": func() (audit.Report, error) { return audit.Verify(bank.chain(time.Time{}), audit.Pins{}) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if report, err := read(); err != nil || report.Last != rows {
					b.Fatalf("%+v, %v", report, err)
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
