package files_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/files"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// Who of a former partner uploaded a file, or approved it, the bank alone reads, also once workers have gone
// on with it: neither in the file, nor in its record, nor in the approval that it waits for.
func TestWhoOfAFormerPartnerUploadedAFileIsTheBanksToRead(t *testing.T) {
	t.Parallel()
	for name, about := range map[string]struct {
		options  []func(*customers.Customer)
		approved bool
		is       files.FileStatus
	}{
		"uploaded": {is: files.Processed},
		"waits":    {options: []func(*customers.Customer){dual}, is: files.PendingApproval},
		"approved": {options: []func(*customers.Customer){dual}, approved: true, is: files.Processed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := coretest.New(t)
			former, next := b.DownstreamPartner(), b.DownstreamPartner()
			f := filedAt(t, b, append(about.options, coretest.OwnedBy(former))...)
			of := func(login string) context.Context {
				caller, err := access.Require(f.PersonOf(former, f.User(former, nil)))
				if err != nil {
					t.Fatal(err)
				}
				caller.Reach, caller.Client, caller.LoginID = access.OfPartner, login, login+".of.former"
				return access.With(t.Context(), caller)
			}
			done, err := f.Files.Upload(of("eve"), files.Upload{
				Customer: f.of.UID, Type: files.CSV,
				Open: files.OpenText("rents.csv", strings.NewReader(header+f.row("1", "10.00"))),
			}, changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			uid, last := done.Result.UID, "eve.of.former"
			if about.approved {
				f.work()
				if _, err := f.Files.Approve(of("bob"), uid, changes.RequestOptions{}); err != nil {
					t.Fatal(err)
				}
				last = "bob.of.former"
			}
			if _, err = f.Customers.Change(f.Staff(), f.of.UID,
				customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			f.Clock.Advance(time.Minute)
			f.work()
			f.Clock.Advance(time.Minute)
			for who, as := range map[string]context.Context{"bank": f.Staff(), "next": f.Partner(next)} {
				found, err := f.Files.Page(as, files.FileSearch{}, page.First(5), access.ViewFiles)
				if err != nil || len(found.Items) != 1 {
					t.Fatal(found, err)
				}
				file, want := found.Items[0], [2]string{}
				if who == "bank" {
					want = [2]string{"eve.of.former", last}
				}
				if got := [2]string{file.CreatedBy(), file.UpdatedBy}; got != want || file.Status != about.is {
					t.Errorf("%s reads of a file that is %s: %q, want %q", who, file.Status, got, want)
				}
			}
			all, err := coretest.Rows(b, b.Partner(next), func(batch *db.Batch) *db.Rows[audit.Entry] {
				return b.Audit.List(b.Partner(next), batch, audit.Search{Customer: int64(f.of.UID)}, db.Columns{},
					page.First(50))
			})
			if err != nil || len(all) == 0 {
				t.Fatal(all, err)
			}
			told := func(where string, texts ...string) {
				for _, word := range []string{".of.former", `"eve"`, `"bob"`, former.UID.String()} {
					if text := strings.Join(texts, " "); strings.Contains(text, word) {
						t.Errorf("the next partner reads %s in %s: %s", word, where, text)
					}
				}
			}
			for _, e := range all {
				told("the record of "+e.Action, e.LoginID, e.Client, string(e.Before), string(e.After))
			}
			waits, err := coretest.Rows(b, b.Partner(next), func(batch *db.Batch) *db.Rows[changes.Approval] {
				return b.Changes.List(b.Partner(next), batch, changes.Search{}, db.Columns{}, page.First(50))
			})
			if want := about.is == files.PendingApproval; err != nil || (len(waits) == 1) != want {
				t.Error(waits, err)
			}
			for _, a := range waits {
				told("the approval", a.MakerLogin, a.MakerClient, string(a.Before), string(a.After))
			}
		})
	}
}

// Files of a customer that has left wait for the bank, and keep its former partner from no upload.
func TestFilesOfACustomerThatLeftTakeNothingOfItsFormerPartner(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	former, next := b.DownstreamPartner(), b.DownstreamPartner()
	f := filedAt(t, b, dual, coretest.OwnedBy(former))
	stays := b.Customer(coretest.OwnedBy(former))
	b.Account(stays, coretest.Sends)
	for _, reference := range []string{"1", "2", "3"} {
		f.uploadBy(b.Partner(former), reference)
	}
	f.work()
	// nine days later people still look at three large payrolls
	b.Exec(`UPDATE bulk_files SET valid = 1000000, worked_at = worked_at - interval '9 days'
		WHERE tenant = ? AND status = 'PENDING_APPROVAL'`, b.Tenant)
	upload := func() error {
		_, err := f.Files.Upload(b.Partner(former), files.Upload{
			Customer: stays.UID, Type: files.CSV,
			Open: files.OpenText("wages.csv", strings.NewReader(header+f.row("9", "10.00"))),
		}, changes.RequestOptions{})
		return err
	}
	if err := upload(); !errors.Is(err, files.ErrWasted) {
		t.Fatalf("before: %v", err)
	}
	if _, err := f.Customers.Change(f.Staff(), f.of.UID,
		customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := upload(); err != nil {
		t.Error(err)
	}
}

// ahead does something ahead of each batch that has a statement with some text.
type ahead struct {
	pgx.QueryTracer

	text string
	do   func()
}

func (a *ahead) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, query := range data.Batch.QueuedQueries {
		if strings.Contains(query.SQL, a.text) {
			a.do()
		}
	}
	return ctx
}

func (*ahead) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*ahead) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// A file goes on although its customer leaves its partner while it is being checked, and takes no more of what
// that partner may have waiting.
func TestAFileGoesOnAlthoughItsCustomerMovesWhileItIsChecked(t *testing.T) {
	t.Parallel()
	moving := &ahead{QueryTracer: dbtest.Watch(t), text: "FROM bulk_file_parts"}
	b := coretest.On(t, dbtest.Owner(dbtest.Shared(t)), dbtest.Unhurried(dbtest.Shared(t)),
		db.Options{Connections: 8, Tracer: moving})
	former, next := b.DownstreamPartner(), b.DownstreamPartner()
	f := filedAt(t, b, dual, coretest.OwnedBy(former))
	moved := false
	moving.do = sync.OnceFunc(func() {
		_, err := f.Customers.Change(f.Staff(), f.of.UID,
			customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{})
		if moved = err == nil; !moved {
			t.Error(err)
		}
	})
	uid := f.uploadBy(b.Partner(former), "1")
	f.work()
	f.is(uid, files.PendingApproval, 0, 0)
	var party, makerParty int64
	err := b.DB.NewRaw(`SELECT bf.party, a.maker_party FROM bulk_files AS bf
		JOIN approvals AS a ON a.tenant = bf.tenant AND a.object_uid = bf.uid::text
		WHERE bf.tenant = ?`, b.Tenant).Scan(t.Context(), &party, &makerParty)
	if err != nil || !moved || party != 0 || makerParty == int64(former.UID) {
		t.Errorf("moved %t: the file counts for %d, its approval for %d (%v); the former partner is %s", moved,
			party, makerParty, err, former.UID)
	}
}
