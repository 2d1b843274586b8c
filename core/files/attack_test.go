package files_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/files"
	"bankgraph/core/given"
	"bankgraph/core/issuers"
	"bankgraph/core/page"
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

// Nor once the identity provider by which that person came is disabled.
func TestNothingIsPaidOfAFileOfAPersonWhoseIssuerIsDisabled(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	const url = "https://login.example"
	_, err := f.Issuers.Add(f.Staff(), issuers.Draft{URL: url, Audience: "api"})
	if err != nil {
		t.Fatal(err)
	}
	clerk, _ := access.Require(f.Someone("clerk"))
	clerk.Client = url
	done, err := f.Files.Upload(access.With(t.Context(), clerk), files.Upload{
		Customer: f.of.UID, Type: files.CSV,
		Open: files.OpenText("payments.csv", strings.NewReader(header+f.row("A-1", "10")+f.row("A-2", "20"))),
	}, changes.RequestOptions{})
	if err == nil {
		err = f.Issuers.Disable(f.Staff(), url, "")
	}
	if err != nil {
		t.Fatal(err)
	}
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

// However long the cells of lines with faults are, and whatever they would take as JSON, the bank keeps little
// of them; what is wrong is told as of any line.
func TestLinesWithFaultsTakeLittleRoom(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	text := header
	for n, notes := range []string{"Rent", strings.Repeat("r", 250), strings.Repeat("<", 60_000)} {
		text += strings.Replace(f.row(strconv.Itoa(n), "0.01"), "Rent", notes, 1)
	}
	uid := f.upload(files.CSV, text)
	f.work()
	f.is(uid, files.PartiallyProcessed, 1, 2)
	if got := f.faults(uid); !slices.Equal(got, []string{"3 paymentNotes MAX", "4 paymentNotes MAX"}) {
		t.Errorf("%q", got)
	}
	for i, l := range f.lines(uid) {
		said, err := f.Files.OrderOf(l)
		if err != nil || len(l.Draft) > 20_000 || (said == nil) != (i == 2) {
			t.Errorf("line %d keeps %d bytes: %+v %v", l.Number, len(l.Draft), said, err)
		}
	}
}

// A file is paid to its end although its customer has left the partner whose people uploaded it, before it
// was checked or after. Who they are the next partner does not read.
func TestAFileIsPaidAlthoughItsCustomerMoved(t *testing.T) {
	t.Parallel()
	for name, checked := range map[string]bool{"before it is checked": false, "before it is paid": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := coretest.New(t)
			former, next := b.DownstreamPartner(), b.DownstreamPartner()
			f := filedAt(t, b, coretest.OwnedBy(former), dual)
			done, err := f.Files.Upload(f.Partner(former), files.Upload{
				Customer: f.of.UID, Type: files.CSV,
				Open: files.OpenText("rents.csv", strings.NewReader(header+f.row("1", "10.00")+f.row("2", "20.00"))),
			}, changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			uid := done.Result.UID
			if checked {
				f.work()
				f.is(uid, files.PendingApproval, 0, 0)
			}
			_, err = f.Customers.Change(f.Staff(), f.of.UID,
				customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			f.work()
			f.is(uid, files.PendingApproval, 0, 0)
			if _, err := f.Files.Approve(f.Checker(), uid, changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			f.work()
			f.is(uid, files.Processed, 2, 0)
			for who, c := range map[string]struct {
				as   context.Context
				name string
			}{"the bank": {f.Staff(), "partner"}, "the next partner": {f.Partner(next), ""}} {
				found, err := f.Files.Page(c.as, files.FileSearch{}, page.First(5), access.ViewFiles)
				if err != nil || len(found.Items) != 1 || found.Items[0].CreatedBy() != c.name {
					t.Errorf("%s: %+v %v", who, found.Items, err)
				}
			}
			f.Prove()
		})
	}
}
