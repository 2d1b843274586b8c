package files_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bankgraph/core/coretest"
	"bankgraph/core/files"
	"bankgraph/core/rails/nacha"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// A large file of ACH takes many calls. What it says as a whole is found once, also where other files take
// turns with it, and with every entry as if it was read at once.
func TestAFileOfACHIsReadAsAWholeOnce(t *testing.T) {
	t.Parallel()
	var read atomic.Int32
	reads := &ahead{QueryTracer: dbtest.Watch(t), text: "FROM bulk_file_parts", do: func() { read.Add(1) }}
	url := dbtest.Shared(t)
	b := coretest.On(t, dbtest.Owner(url), dbtest.Unhurried(url), db.Options{Connections: 8, Tracer: reads})
	f := filedAt(t, b)
	f.paysByDefault()
	const lines, calls = 1600, 7 // of 250 lines each
	f.Files.WorkFor(0)
	var uids []files.FileUID
	for n := range 2 {
		var entries []nacha.Entry
		for i := range lines {
			entries = append(entries, credit(1_00, fmt.Sprint(n, "-", i)))
		}
		text := strings.Split(nachaFile(t, entries...), "\n")
		text[400] = text[400][:11] + "0" + text[400][12:] // a check digit
		uids = append(uids, f.upload(files.NACHA, strings.Join(text, "\n")))
	}
	read.Store(0)
	for range 2 * calls {
		f.check()
	}
	if n := read.Load(); n != 2*(calls+1) {
		t.Errorf("two files were read %d times in %d calls each", n, calls)
	}
	for _, uid := range uids {
		if is := f.find(uid); is.Status != files.Approved || is.Valid != lines-1 || is.Failed != 1 {
			t.Errorf("%s: %d lines are valid, %d have faults", is.Status, is.Valid, is.Failed)
		}
	}
}

// A batch is paid from one account, which the file shows: whoever goes on with it pays from no other.
func TestABatchIsPaidFromTheAccountThatItsFirstLinesWereCheckedWith(t *testing.T) {
	t.Parallel()
	for name, forgotten := range map[string]bool{"same process": false, "another process": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFiled(t)
			const offset = "UPDATE accounts SET enable_offset = ?, default_offset = ? WHERE tenant = ? AND uid = ?"
			f.Exec(offset, true, true, int64(f.Tenant), int64(f.account.UID))
			another := f.Account(f.of, coretest.Holding(5_000_00, 0), coretest.Sends)
			var entries []nacha.Entry
			for i := range 400 {
				entries = append(entries, credit(1_00, fmt.Sprint("No", i)))
			}
			uid := f.upload(files.NACHA, nachaFile(t, entries...))
			f.Files.WorkFor(0)
			f.check()
			f.Exec(offset, true, false, int64(f.Tenant), int64(f.account.UID))
			f.Exec(offset, true, true, int64(f.Tenant), int64(another.UID))
			if forgotten {
				f.Files.Forget()
			}
			f.Files.WorkFor(time.Minute)
			f.work()
			f.is(uid, files.Processed, 400, 0)
			for _, p := range f.payments() {
				if p.SenderAccount != f.account.UID {
					t.Fatalf("%s is paid from %d", p.ExternalReferenceID, p.SenderAccount)
				}
			}
		})
	}
}
