package files_test

import (
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
		Open: files.Text("payments.csv", strings.NewReader(header+f.row("A-1", "10")+f.row("A-2", "20"))),
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
