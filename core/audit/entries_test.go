package audit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/signatories"
	"bankgraph/db"
)

// history is a bank with entries about a partner's customer, another partner's, and the bank's own.
type history struct {
	*coretest.Bank
	testing.TB
	partner, other         *customers.Customer
	theirs, others, ourOwn *customers.Customer
}

func newHistory(t testing.TB) *history {
	t.Helper()
	h := &history{Bank: coretest.New(t), TB: t}
	h.partner, h.other = h.DownstreamPartner(), h.DownstreamPartner()
	h.theirs, h.others, h.ourOwn = h.Customer(coretest.OwnedBy(h.partner)),
		h.Customer(coretest.OwnedBy(h.other)), h.Customer()
	for _, c := range []*customers.Customer{h.theirs, h.others, h.ourOwn} {
		h.entry(c, "customer", c.UID.String(), "changeCustomer", "jane.doe")
		h.entry(c, "signatory", c.UID.String(), "addSignatory", "")
		h.entry(c, "signatory", c.UID.String(), "changeSignatory", "jane.doe")
	}
	h.entry(nil, "client", "portal", "addClient", "")
	return h
}

func (h *history) entry(of *customers.Customer, object, uid, action, login string) {
	h.Helper()
	caller, err := access.Require(h.Staff())
	if err != nil {
		h.Fatal(err)
	}
	caller.LoginID, caller.Request = login, "request-1"
	e := audit.Entry{
		Action: action, Decision: audit.Done, Object: object, UID: uid, Reason: "asked to",
		After: []byte(`{"title":"Treasurer"}`),
	}.By(caller)
	if of != nil {
		customer := int64(of.UID)
		e.Customer = &customer
	}
	err = h.DB.InTx(h.Context(), int64(h.Tenant),
		func(ctx context.Context, tx bun.Tx) error { return audit.WriteTx(ctx, tx, e) })
	if err != nil {
		h.Fatal(err)
	}
}

// list returns the actions and customers of the entries that a caller finds, and their count.
func (h *history) list(ctx context.Context, by audit.Search) (found []string, count int64) {
	h.Helper()
	rows, err := coretest.Rows(h.Bank, ctx, func(b *db.Batch) *db.Rows[audit.Entry] {
		return h.Audit.List(ctx, b, by, db.Columns{}, page.First(50))
	})
	if err != nil {
		h.Fatal(err)
	}
	for _, e := range rows {
		words := []string{e.Action}
		if e.Customer != nil {
			words = append(words, customers.UID(*e.Customer).String())
		}
		found = append(found, strings.Join(words, " "))
	}
	counted, err := coretest.Rows(h.Bank, ctx,
		func(b *db.Batch) *db.Rows[db.Count] { return h.Audit.CountUpTo(ctx, b, by, 0) })
	if err != nil || len(counted) != 1 {
		h.Fatalf("%v, %v", counted, err)
	}
	return found, counted[0].N
}

func TestTheWholeRecordComesNewestFirst(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	found, count := h.list(h.Staff(), audit.Search{})
	c := h.theirs.UID.String()
	if len(found) != 10 || count != 10 || found[0] != "addClient" || found[9] != "changeCustomer "+c ||
		found[7] != "changeSignatory "+c {
		t.Errorf("%d: %q", count, found)
	}
}

func TestPartnersSeeTheRecordOfTheirOwnCustomersOnly(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	c := h.theirs.UID.String()
	want := []string{"changeSignatory " + c, "addSignatory " + c, "changeCustomer " + c}
	for _, by := range []audit.Search{{}, {Customer: int64(h.theirs.UID)}} {
		if found, count := h.list(h.Partner(h.partner), by); !slices.Equal(found, want) || count != 3 {
			t.Errorf("%+v finds %d: %q", by, count, found)
		}
	}
	for _, by := range []audit.Search{
		{Customer: int64(h.others.UID)}, {Customer: int64(h.ourOwn.UID)}, {Object: "client"},
	} {
		if found, count := h.list(h.Partner(h.partner), by); len(found) != 0 || count != 0 {
			t.Errorf("%+v finds %d: %q", by, count, found)
		}
	}
}

func TestEverySearchNarrowsTheRecord(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.entry(h.ourOwn, "signatory", "77", "removeSignatory", "JO")
	before, after := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	own := h.ourOwn.UID.String()
	for _, one := range []struct {
		by    audit.Search
		first string
		count int64
	}{
		{audit.Search{Customer: int64(h.ourOwn.UID)}, "removeSignatory " + own, 4},
		{audit.Search{Object: "customer"}, "changeCustomer " + own, 3},
		{audit.Search{Object: "signatory", ObjectUID: "77"}, "removeSignatory " + own, 1},
		{audit.Search{Action: "addSignatory"}, "addSignatory " + own, 3},
		{audit.Search{Client: "staff"}, "removeSignatory " + own, 11},
		{audit.Search{LoginID: "jane.doe"}, "changeSignatory " + own, 6},
		{audit.Search{Decision: audit.Done, Since: &before, Until: &after}, "removeSignatory " + own, 11},
		{audit.Search{Decision: audit.Refused}, "", 0},
		{audit.Search{Client: "nobody"}, "", 0},
		{audit.Search{Since: &after}, "", 0},
		{audit.Search{Until: &before}, "", 0},
		{
			audit.Search{LoginID: "jane.doe", Object: "signatory", Customer: int64(h.ourOwn.UID)},
			"changeSignatory " + own, 1,
		},
	} {
		found, count := h.list(h.Staff(), one.by)
		if count != one.count || int64(len(found)) != one.count || count > 0 && found[0] != one.first {
			t.Errorf("%+v finds %d: %q", one.by, count, found)
		}
	}
}

// Signatories and customers have the same numbers here; only the kind tells them apart.
func TestEachObjectHasItsOwnHistory(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for range 3 {
		h.entry(h.theirs, "signatory", h.theirs.UID.String(), "changeSignatory", "")
	}
	of := []signatories.UID{signatories.UID(h.theirs.UID), signatories.UID(h.others.UID), 12}
	read := func(w page.Window) map[signatories.UID][]*audit.Entry {
		t.Helper()
		found, err := coretest.Many(h.Bank, h.Staff(), func(b *db.Batch) *db.Many[signatories.UID, audit.Entry] {
			return audit.OfObjects(h.Staff(), b, "signatory", of, db.ColumnsOf[audit.Entry]("Action"), w)
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	all := read(page.First(10))
	if len(all[of[0]]) != 5 || len(all[of[1]]) != 2 || len(all[of[2]]) != 0 ||
		all[of[0]][4].Action != "addSignatory" || all[of[1]][0].Action != "changeSignatory" {
		t.Errorf("history = %+v", all)
	}
	ids := func(rows []*audit.Entry) (ids []audit.ID) {
		for _, e := range rows {
			ids = append(ids, e.ID)
		}
		return ids
	}
	whole := ids(all[of[0]])
	second := page.Window{Size: 1, Cursor: page.Cursor{UID: int64(whole[1])}}
	if got := ids(read(second)[of[0]]); !slices.Equal(got, whole[2:4]) { // one more than wanted
		t.Errorf("after %d: %v of %v", whole[1], got, whole)
	}
	back := page.Window{Size: 5, Backward: true, Cursor: page.Cursor{UID: int64(whole[3])}}
	if got := ids(page.Cut(read(back)[of[0]], back).Items); !slices.Equal(got, whole[:3]) {
		t.Errorf("before %d: %v of %v", whole[3], got, whole)
	}
	counts, err := coretest.Many(h.Bank, h.Partner(h.partner),
		func(b *db.Batch) *db.Many[signatories.UID, db.Count] {
			return audit.CountOfObjects(h.Partner(h.partner), b, "signatory", of, 0)
		})
	if err != nil || counts[of[0]][0].N != 5 || counts[of[1]][0].N != 0 {
		t.Errorf("counts = %v, %v", counts, err)
	}
	denied := h.As(access.ViewCustomers)
	if many := audit.OfObjects(denied, h.Batch(), "signatory", of, db.Columns{},
		page.First(1)); !errors.Is(many.Err, access.ErrDenied) {
		t.Errorf("without the permission: %v", many.Err)
	}
	if many := audit.CountOfObjects(denied, h.Batch(), "signatory", of,
		0); !errors.Is(many.Err, access.ErrDenied) {
		t.Errorf("without the permission: %v", many.Err)
	}
}

func TestEntriesAreFoundByTheirNumbersWithinTheCallersReach(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	rows, err := coretest.Rows(h.Bank, h.Staff(), func(b *db.Batch) *db.Rows[audit.Entry] {
		return h.Audit.List(h.Staff(), b, audit.Search{Action: "changeSignatory"}, db.Columns{}, page.First(3))
	})
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v, %v", rows, err)
	}
	ids := []audit.ID{rows[0].ID, rows[1].ID, rows[2].ID} // the bank's own, the other partner's, the partner's
	found, err := coretest.Many(h.Bank, h.Partner(h.partner), func(b *db.Batch) *db.Many[audit.ID, audit.Entry] {
		return h.Audit.FindMany(h.Partner(h.partner), b, ids, db.Columns{})
	})
	if err != nil || len(found) != 1 || len(found[ids[2]]) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	e := found[ids[2]][0]
	if e.LoginID != "jane.doe" || e.Client != "staff" || e.Request != "request-1" ||
		*e.LegalEntity() != int64(h.Self.UID) || len(e.Changes()) != 1 ||
		*e.Changes()[0].After != "Treasurer" {
		t.Errorf("entry = %+v", e)
	}
}

// The record shows amounts as people write them, not as the row keeps them.
func TestAmountsAreRecordedAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	cents := int64(123_45)
	was, is := &signatories.Signatory{FullName: "Grace"},
		&signatories.Signatory{FullName: "Grace", LimitMinor: &cents, Currency: "USD"}
	was.Currency = "USD"
	if before, after := audit.Diff(was, is); string(before) != `{}` ||
		string(after) != `{"approvalLimit":"123.45"}` {
		t.Errorf("%s to %s", before, after)
	}
	more := int64(200_00)
	if before, after := audit.Diff(is,
		&signatories.Signatory{
			FullName: "Grace", LimitMinor: &more,
			Currency: "USD",
		}); string(before) != `{"approvalLimit":"123.45"}` ||
		string(after) != `{"approvalLimit":"200.00"}` {
		t.Errorf("%s to %s", before, after)
	}
}

// Who did something with a row stands in the entry of that: in no later one, which others may read.
func TestWhoActedIsRecordedOnce(t *testing.T) {
	t.Parallel()
	row := &struct {
		LoginID       string       `bun:"login_id"` // whose row it is
		CreditClient  bool         `bun:"credit_client"`
		SuspendedBy   access.Reach `bun:"suspended_by"`
		Maker         access.Maker `bun:"maker"`
		MakerClient   string       `bun:"maker_client"`
		MakerReach    access.Reach `bun:"maker_reach"`
		DecidedLogin  string       `bun:"decided_login"`
		DecidedClient string       `bun:"decided_client"`
		ApprovedBy    string       `bun:"approved_by"`
		Draft         []byte       `bun:"draft_sealed"`
	}{
		"ada", true, access.OfBank,
		access.Maker{Client: "key"},
		"key", access.OfPartner, "eve", "key", "eve",
		[]byte("sealed"),
	}
	if _, after := audit.Diff(nil, row); string(after) !=
		`{"creditClient":true,"loginId":"ada","suspendedBy":"Bank"}` {
		t.Errorf("%s", after)
	}
}
