package files_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/files"
	"bankgraph/db"
	"bankgraph/db/dbtest/faults"
)

// parties are two customers of one partner, and one of the bank's own, with a bank's files.
func parties(t *testing.T) (one, other, alone *filed) {
	t.Helper()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	one, other = filedAt(t, b, coretest.OwnedBy(partner)), filedAt(t, b, coretest.OwnedBy(partner))
	return one, other, filedAt(t, b, dual) // files of the last one wait for people once they are checked
}

func (f *filed) check() {
	f.t.Helper()
	if _, err := f.Files.Check(f.worker()); err != nil {
		f.t.Fatal(err)
	}
}

// Whoever uploads files and cancels them takes no turns from the other customers of its partner.
func TestFilesThatAreCancelledTakeNoTurns(t *testing.T) {
	t.Parallel()
	waiting, cancelling, busy := parties(t)
	low := cancelling.as("idp", "low")
	for n := range 4 {
		busy.uploadBy(busy.as("idp", "busy"), fmt.Sprint("B-", n))
	}
	waits := waiting.uploadBy(waiting.as("idp", "honest"), "A-1")
	for n := range 2 {
		uid := cancelling.uploadBy(low, fmt.Sprint("C-", n))
		if _, err := cancelling.Files.Cancel(low, uid, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		busy.check()
	}
	if is := waiting.find(waits); is.Status != files.Approved {
		t.Errorf("after two turns of two parties the file is %s", is.Status)
	}
}

// While a payroll is paid, other files of its party have their turns to be checked.
func TestAFileThatIsPaidTakesNoTurnsToCheck(t *testing.T) {
	t.Parallel()
	waiting, paying, busy := parties(t)
	payroll := paying.uploadBy(paying.as("idp", "payer"), "P")
	paying.check()
	for n := range 2 {
		busy.uploadBy(busy.as("idp", "busy"), fmt.Sprint("B-", n))
	}
	waits := waiting.uploadBy(waiting.as("idp", "honest"), "A-1")
	busy.check()
	if _, err := paying.Files.Pay(paying.worker()); err != nil {
		t.Fatal(err)
	}
	busy.check()
	if p, is := paying.find(payroll), waiting.find(waits); p.Status != files.Processed ||
		is.Status != files.Approved {
		t.Errorf("the payroll is %s, and the other file %s", p.Status, is.Status)
	}
}

// A database that is slow for a few minutes is not the file's fault.
func TestAFileIsNotGivenUpWhileTheDatabaseIsSlow(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	f := filedAt(t, line.Bank())
	f.upload(files.CSV, header+f.row("A", "1"))
	line.Break(0, faults.Fault{})
	f.check()
	counts := slices.IndexFunc(line.Statements(), func(text string) bool {
		return strings.HasPrefix(text, "UPDATE bulk_files SET checked")
	})
	uid := f.upload(files.CSV, header+f.row("B", "2"))
	for range 22 {
		line.Break(counts+1, faults.Fault{State: "57014"})
		if _, err := f.Files.Check(f.worker()); err == nil {
			t.Fatal("nothing took too long")
		}
		f.free()
	}
	line.Break(0, faults.Fault{})
	f.work()
	if is := f.find(uid); is.Status != files.Processed {
		t.Errorf("the file is %s: %s", is.Status, is.RejectReason)
	}
}

// Files that come to nothing stay, and each upload counts them: one caller has a bound of them in a day.
func TestFilesThatComeToNothingHaveABound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more   int
		set    string
		wasted bool
	}{
		"too many":                  {999, `status`, true},
		"fewer":                     {998, `status`, false},
		"that were paid":            {999, `'PROCESSED'`, false},
		"too many of one's party":   {3999, `status, maker_login = 'another'`, true},
		"fewer of one's party":      {3998, `status, maker_login = 'another'`, false},
		"too many the day before":   {999, `status, worked_at = now() - interval '24 hours'`, false},
		"too many of another party": {3999, `status, party = party + 1`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFiled(t)
			uid := f.uploadBy(f.Staff(), "A")
			if _, err := f.Files.Cancel(f.Staff(), uid, changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			f.Exec(`INSERT INTO bulk_files SELECT (jsonb_populate_record(bf, jsonb_build_object('uid', bf.uid + n))).*
				FROM bulk_files AS bf, generate_series(1000000, 999999 + ?) AS n
				WHERE bf.tenant = ? AND bf.uid = ?`, c.more, f.Tenant, uid)
			f.Exec(`UPDATE bulk_files SET status = `+c.set+` WHERE tenant = ? AND uid > ?`, f.Tenant, uid)
			_, err := f.try(files.CSV, "b.csv", header+f.row("B", "1"))
			if errors.Is(err, files.ErrWasted) != c.wasted || !c.wasted && err != nil {
				t.Error(err)
			}
		})
	}
}

// While others wait for the accounts of a file, its transactions are short, as all who share a lane with them
// wait, too.
func TestAFileIsPaidBrieflyWhileOthersWaitForItsAccounts(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]int{"nobody waits": 0, "others wait": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFiled(t)
			var text strings.Builder
			text.WriteString(header)
			for i := range 600 {
				text.WriteString(f.row(fmt.Sprint("INV-", i), "1.25"))
			}
			uid := f.upload(files.CSV, text.String())
			f.check()
			waiting, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			for range others {
				all.Go(func() {
					for waiting.Err() == nil {
						err := f.DB.InTx(t.Context(), int64(f.Tenant), func(ctx context.Context, tx bun.Tx) error {
							_, err := db.Raw(tx, "SELECT FROM balances WHERE tenant = ? AND account = ? FOR NO KEY UPDATE",
								int64(f.Tenant), int64(f.account.UID)).Exec(ctx)
							return err
						})
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			_, err := f.Files.Pay(f.worker())
			stop()
			all.Wait()
			if err != nil {
				t.Fatal(err)
			}
			f.is(uid, files.Processed, 600, 0)
			var together []int
			err = f.DB.NewRaw(`SELECT count(*) FROM bulk_file_lines WHERE tenant = ? AND file = ? GROUP BY xmin::text
				ORDER BY min(id)`, f.Tenant, uid).Scan(t.Context(), &together)
			if err != nil {
				t.Fatal(err)
			}
			if others == 0 && !slices.Equal(together, []int{256, 344}) ||
				others > 0 && (together[0] != 256 || !slices.Contains(together[1:], 64)) {
				t.Errorf("paid together: %d", together)
			}
		})
	}
}
