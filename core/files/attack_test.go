package files_test

import (
	"strconv"
	"strings"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/files"
)

// What nobody else has approved is not paid once who uploaded it has no access any more.
func TestNothingIsPaidOfAFileOfAPersonWhoIsSuspended(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	done, err := f.Files.Upload(f.Someone("clerk"), files.Upload{
		Customer: f.of.UID, Type: files.CSV,
		Open: files.OpenText("payments.csv", strings.NewReader(header+f.row("A-1", "10")+f.row("A-2", "20"))),
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.Exec(`UPDATE users SET status = 'Suspended' WHERE tenant = ? AND login_id = 'clerk'`, f.Tenant)
	f.work()
	f.is(done.Result.UID, files.PartiallyProcessed, 0, 2)
	if made := f.payments(); len(made) != 0 {
		t.Errorf("%d payments", len(made))
	}
}

// A file that says nearly nothing that can be paid costs the bank little.
func TestAFileOfNothingButFaultsIsReadNoFurther(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	junk := func(lines, right int) string {
		var text strings.Builder
		text.WriteString(header)
		for n := range lines {
			amount := "ten"
			if n < right {
				amount = "0.01"
			}
			text.WriteString(f.row(strconv.Itoa(n), amount))
		}
		return text.String()
	}
	uid := f.upload(files.CSV, junk(5000, 90))
	mixed := f.upload(files.CSV, junk(2500, 400))
	f.work()
	bad := f.is(uid, files.Failed, 0, 1160)
	if !strings.Contains(bad.RejectReason, "read no further") {
		t.Error(bad.RejectReason)
	}
	f.is(mixed, files.PartiallyProcessed, 400, 2100)
}
