package customers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/db"
)

// list reads the UIDs of a search.
func list(
	t *testing.T, bank *coretest.Bank, ctx context.Context, by customers.Search, w page.Window,
) (uids []customers.UID, further bool) {
	t.Helper()
	rows, err := coretest.Rows(bank, ctx, func(b *db.Batch) *db.Rows[customers.Customer] {
		return bank.Customers.List(ctx, b, by, db.Columns{}, w)
	})
	if err != nil {
		t.Fatal(err)
	}
	cut := page.Cut(rows, w)
	for _, row := range cut.Items {
		uids = append(uids, row.UID)
	}
	return uids, cut.Further
}

func count(t *testing.T, bank *coretest.Bank, ctx context.Context, by customers.Search) int64 {
	t.Helper()
	rows, err := coretest.Rows(bank, ctx,
		func(b *db.Batch) *db.Rows[db.Count] { return bank.Customers.Count(ctx, b, by) })
	if err != nil {
		t.Fatal(err)
	}
	return rows[0].N
}

func uids(all ...*customers.Customer) (of []customers.UID) {
	for _, c := range all {
		of = append(of, c.UID)
	}
	return of
}

func TestEachFilterOfTheListNarrowsIt(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	plain := bank.Customer(coretest.Named("Cedar River Logistics Inc"))
	special := bank.Customer(func(c *customers.Customer) {
		c.LegalName, c.ShortName, c.CustomerID = "Granite O'Brien & Sons_100% Ltd", "GraniteOB", "CIF-77"
		c.LEI, c.Type, c.Status, c.Parent = "DEMO00BNKG0000000127", customers.FinancialInstitution,
			customers.Suspended, &plain.UID
	})
	none := []customers.UID(nil)
	for name, search := range map[string]struct {
		by   customers.Search
		want []customers.UID
	}{
		"uid":                              {customers.Search{UID: special.UID}, uids(special)},
		"uid that is not there":            {customers.Search{UID: 1_999_999}, none},
		"one word":                         {customers.Search{Words: "granite"}, uids(special)},
		"beginnings of words in any order": {customers.Search{Words: "LOGI ced"}, uids(plain)},
		"words that say the same": {
			customers.Search{Words: strings.Repeat("Cedar ced CE c river ", 5_000)}, uids(plain),
		},
		"a word and another's beginning":   {customers.Search{Words: "gran granola"}, none},
		"the middle of a word":             {customers.Search{Words: "edar"}, none},
		"words with an apostrophe":         {customers.Search{Words: "o'brien"}, uids(special)},
		"operators of the search language": {customers.Search{Words: "granite | cedar:* & !sons <-> ("}, none},
		"an ampersand between words":       {customers.Search{Words: "brien & sons"}, uids(special)},
		"name prefix":                      {customers.Search{NamePrefix: "gRANITE o"}, uids(special)},
		"name prefix with wildcards":       {customers.Search{NamePrefix: "%edar"}, none},
		"the whole name as prefix": {
			customers.Search{NamePrefix: "Granite O'Brien & Sons_100% Ltd"}, uids(special),
		},
		"short name in another case":    {customers.Search{ShortName: "graniteob"}, uids(special)},
		"the beginning of a short name": {customers.Search{ShortName: "granite"}, none},
		"customer id":                   {customers.Search{CustomerID: "CIF-77"}, uids(special)},
		"customer id in another case":   {customers.Search{CustomerID: "cif-77"}, none},
		"tax id":                        {customers.Search{TaxID: coretest.TaxID(special.UID)}, uids(special)},
		"tax id with spaces": {
			customers.Search{TaxID: " " + coretest.TaxID(special.UID) + " "}, uids(special),
		},
		"the end of a tax id":       {customers.Search{TaxID: coretest.TaxID(special.UID)[4:]}, none},
		"LEI in lower case":         {customers.Search{LEI: "demo00bnkg0000000127"}, uids(special)},
		"type":                      {customers.Search{Type: customers.FinancialInstitution}, uids(special)},
		"status":                    {customers.Search{Status: customers.Suspended}, uids(special)},
		"parent":                    {customers.Search{Parent: plain.UID}, uids(special)},
		"two that both hold":        {customers.Search{Status: customers.Suspended, Words: "sons"}, uids(special)},
		"two of which one does not": {customers.Search{Status: customers.Suspended, Words: "cedar"}, none},
		"nothing":                   {customers.Search{}, uids(bank.Self, plain, special)},
	} {
		for _, order := range []customers.Order{customers.ByUID, customers.ByName} {
			search.by.Order = order
			got, _ := list(t, bank, bank.Staff(), search.by, page.First(10))
			slices.Sort(got)
			if diff := cmp.Diff(search.want, got); diff != "" {
				t.Errorf("%s by %s: %s", name, order, diff)
			}
			if n := count(t, bank, bank.Staff(), search.by); n != int64(len(search.want)) {
				t.Errorf("%s counts %d", name, n)
			}
		}
	}
}

// A name with any characters between its letters is found by itself, by each of its words, and by their
// beginnings.
func TestEveryNameIsFoundByItsWords(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	for _, name := range []string{
		"J.P. Morgan-Test", "D.R.Horton", "Foo S.p.A.", "Booking.com BV", "1-800-Flowers.com", "24-7 Fitness",
		"Route 9-11", "A/B Testing", "c/o Holder",
		"/root/ Bakery", "+44 Calls", "v1.2.3 Software",
		"3.5 Labs", "AT&T.com", "Tom &amp; Jo", "<b>Bold</b>",
		"user@host Ltd", "https://x.example/a", "Snake_Case",
		"Back\\slash", "T-Mobile", "1e5 Sciences", "L’Oréal",
		"Gal·la Cava", "Müller–Söhne", "ИП Иванов", "日本商事",
		"हिन्दी पुस्तक", "שָׁלוֹם בע״מ",
	} {
		c := bank.Customer(coretest.Named(name))
		searches := append(strings.Fields(name), name, strings.ToUpper(name))
		for _, word := range strings.FieldsFunc(name,
			func(r rune) bool { return r < 'A' && (r < '0' || r > '9') }) {
			searches = append(searches, word, word[:len(word)-len(word)/3])
		}
		for _, words := range searches {
			if !utf8.ValidString(words) {
				continue
			}
			if got, _ := list(t, bank, bank.Staff(), customers.Search{Words: words},
				page.First(100)); !slices.Contains(got, c.UID) {
				t.Errorf("%q does not find %q", words, name)
			}
		}
	}
}

func TestPunctuationAloneFindsNobody(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	bank.Customer()
	for _, words := range []string{"&", "' | '", "\\", "!", "()", ":*", "_", ". /", "'"} {
		if got, _ := list(t, bank, bank.Staff(), customers.Search{Words: words}, page.First(10)); len(got) != 0 {
			t.Errorf("%q finds %v", words, got)
		}
	}
}

func TestNamesAreSortedByteByByteWithoutCase(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	var all []*customers.Customer
	for _, name := range []string{"beta", "Alpha", "ALPHA 2", "alpha", "Élan", "Zeta", "alpha-1"} {
		all = append(all, bank.Customer(coretest.Named(name)))
	}
	beta, alpha1, alphaTwo, alpha2, elan, zeta, dash := all[0], all[1], all[2], all[3], all[4], all[5], all[6]
	got, _ := list(t, bank, bank.Staff(), customers.Search{Order: customers.ByName}, page.First(20))
	// Names that differ only in case are in order of UID. A space comes before a hyphen; non-ASCII letters
	// come last.
	want := uids(alpha1, alpha2, alphaTwo, dash, beta, bank.Self, zeta, elan)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// walk reads a whole list page by page, forward or backward, by the cursors of its rows.
func walk(
	t *testing.T, bank *coretest.Bank, by customers.Search, size int, backward bool,
) (all []customers.UID) {
	t.Helper()
	w := page.Window{Size: size, Backward: backward}
	for range 100 {
		rows, err := coretest.Rows(bank, bank.Staff(), func(b *db.Batch) *db.Rows[customers.Customer] {
			return bank.Customers.List(bank.Staff(), b, by, db.Columns{}, w)
		})
		if err != nil {
			t.Fatal(err)
		}
		cut := page.Cut(rows, w)
		part := uids(cut.Items...)
		if len(part) == 0 {
			return all
		}
		last := cut.Items[len(part)-1]
		if backward {
			last = cut.Items[0]
			all = append(part, all...)
		} else {
			all = append(all, part...)
		}
		if !cut.Further {
			return all
		}
		cursor := page.Cursor{Order: string(by.Order), UID: int64(last.UID)}
		if by.Order == customers.ByName {
			cursor.Value = last.LegalName
		}
		w.Cursor, err = page.ParseCursor("after", cursor.String(), string(by.Order))
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the list does not end")
	return nil
}

func TestPagesJoinUpToTheWholeList(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	for i := range 11 {
		// ties, some of which differ in case
		bank.Customer(coretest.Named([]string{"Same Name", "same name", "Other"}[i%3]))
	}
	for _, order := range []customers.Order{customers.ByUID, customers.ByName} {
		by := customers.Search{Order: order}
		whole, _ := list(t, bank, bank.Staff(), by, page.First(100))
		if len(whole) != 12 {
			t.Fatalf("%d customers", len(whole))
		}
		for size := 1; size <= 13; size++ {
			for _, backward := range []bool{false, true} {
				if diff := cmp.Diff(whole, walk(t, bank, by, size, backward)); diff != "" {
					t.Errorf("by %s, pages of %d, backward %v: %s", order, size, backward, diff)
				}
			}
		}
	}
}

func TestNumberedPagesJoinUpToTheWholeList(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	for range 6 {
		bank.Customer()
	}
	whole, further := list(t, bank, bank.Staff(), customers.Search{}, page.First(7))
	if further {
		t.Error("seven are all, and yet there are further ones")
	}
	var joined []customers.UID
	for n := 1; n <= 4; n++ {
		part, further := list(t, bank, bank.Staff(), customers.Search{}, page.Numbered(n, 2))
		joined = append(joined, part...)
		if further != (n < 4) {
			t.Errorf("page %d of 4 says further: %v", n, further)
		}
	}
	if diff := cmp.Diff(whole, joined); diff != "" {
		t.Error(diff)
	}
	if part, _ := list(t, bank, bank.Staff(), customers.Search{}, page.Numbered(9, 2)); len(part) != 0 {
		t.Errorf("behind the end: %v", part)
	}
}

func TestThePageBeforeACursorIsTheOneNextToIt(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	var all []*customers.Customer
	for range 5 {
		all = append(all, bank.Customer())
	}
	w := page.Window{Size: 2, Backward: true, Cursor: page.Cursor{Order: "uid", UID: int64(all[4].UID)}}
	got, further := list(t, bank, bank.Staff(), customers.Search{Order: customers.ByUID}, w)
	if diff := cmp.Diff(uids(all[2], all[3]), got); diff != "" || !further {
		t.Error(further, diff)
	}
}

func TestTheUnfilteredCountComesFromTheCounters(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	for range 3 {
		bank.Customer(coretest.OwnedBy(partner))
	}
	bank.Customer()
	if n := count(t, bank, bank.Staff(), customers.Search{}); n != 6 {
		t.Errorf("staff: %d", n)
	}
	if n := count(t, bank, bank.Partner(partner), customers.Search{}); n != 4 {
		t.Errorf("the partner: %d", n)
	}
	if n := count(t, bank, bank.Partner(partner),
		customers.Search{Order: customers.ByName, Status: customers.Active}); n != 4 {
		t.Errorf("the partner with a filter: %d", n)
	}
	bank.Exec("UPDATE customer_counts SET customers = customers + 10 WHERE tenant = ? AND owner = 0",
		bank.Tenant)
	touched := count(t, bank, bank.Staff(), customers.Search{})
	filtered := count(t, bank, bank.Staff(), customers.Search{Type: customers.Corporate})
	if touched <= 6 || filtered != 4 {
		t.Errorf("unfiltered %d, filtered %d: the one reads counters, the other rows", touched, filtered)
	}
}

func TestABankWithoutCountersCountsNone(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.Customer() // owns nothing, not even itself
	if n := count(t, bank, bank.Partner(partner), customers.Search{}); n != 0 {
		t.Error(n)
	}
}

func TestAPartnerSeesItselfAndItsOwnCustomersOnly(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner, rival := bank.DownstreamPartner(), bank.DownstreamPartner()
	ours, theirs, banks := bank.Customer(coretest.OwnedBy(partner)), bank.Customer(coretest.OwnedBy(rival)),
		bank.Customer()
	ctx := bank.Partner(partner)
	for _, by := range []customers.Search{
		{}, {Order: customers.ByName}, {Words: "cedar"}, {NamePrefix: "Cedar"}, {Status: customers.Active},
	} {
		got, _ := list(t, bank, ctx, by, page.First(10))
		if diff := cmp.Diff(uids(partner, ours), got); diff != "" {
			t.Errorf("%+v: %s", by, diff)
		}
	}
	for _, hidden := range []*customers.Customer{bank.Self, rival, theirs, banks} {
		if _, err := bank.Customers.Find(ctx, hidden.UID); !errors.Is(err, customers.ErrNotFound) {
			t.Errorf("%s: %v", hidden.LegalName, err)
		}
		for _, by := range []customers.Search{
			{UID: hidden.UID},
			{ShortName: hidden.ShortName},
			{TaxID: coretest.TaxID(hidden.UID)},
			{CustomerID: hidden.CustomerID},
		} {
			if got, _ := list(t, bank, ctx, by, page.First(10)); len(got) != 0 {
				t.Errorf("%+v finds %v", by, got)
			}
		}
	}
	if found, err := bank.Customers.Find(ctx, ours.UID); err != nil || found.LegalName != ours.LegalName {
		t.Errorf("its own: %v %v", found, err)
	}
}

func TestAnotherBanksCustomersAreAbsent(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	twin := bank.Customer(coretest.Named("Twin of Both"))
	other := bank.Other()
	alone := other.Customer(coretest.Named("Only There"))
	if _, err := bank.Customers.Find(bank.Staff(), alone.UID); !errors.Is(err, customers.ErrNotFound) {
		t.Error(err)
	}
	if got, _ := list(t, bank, bank.Staff(), customers.Search{},
		page.First(10)); !slices.Equal(got, uids(bank.Self, twin)) {
		t.Errorf("%v", got)
	}
	for _, by := range []customers.Search{
		{Words: "only"}, {UID: alone.UID}, {TaxID: coretest.TaxID(alone.UID)}, {NamePrefix: "only"},
	} {
		if got, _ := list(t, bank, bank.Staff(), by, page.First(10)); len(got) != 0 {
			t.Errorf("%+v finds %v", by, got)
		}
	}
	if n := count(t, bank, bank.Staff(), customers.Search{}); n != 2 {
		t.Errorf("counted %d", n)
	}
}

func TestAScopeTellsAbsentFromForeign(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	ours, banks := bank.Customer(coretest.OwnedBy(partner)), bank.Customer()
	for _, check := range []struct {
		ctx  context.Context
		uid  customers.UID
		want error
	}{
		{bank.Partner(partner), ours.UID, nil},
		{bank.Partner(partner), partner.UID, nil},
		{bank.Partner(partner), banks.UID, customers.ErrOutOfScope},
		{bank.Partner(partner), 1_999_999, customers.ErrNotFound},
		{bank.Staff(), banks.UID, nil},
		{bank.Staff(), 1_999_999, customers.ErrNotFound},
		{bank.Nobody(), ours.UID, access.ErrUnauthenticated},
	} {
		b := bank.Batch()
		scope := bank.Customers.Scoped(check.ctx, b, check.uid)
		if err := b.Send(check.ctx); err != nil {
			t.Fatal(err)
		}
		customer, err := scope.Check()
		if !errors.Is(err, check.want) ||
			err == nil && (customer.Status != customers.Active || customer.UID != check.uid) {
			t.Errorf("%d: %v, %v", check.uid, customer, err)
		}
	}
}

func TestCustomersAreForThoseWhoMayViewThem(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	for _, caller := range []struct {
		ctx  context.Context
		want error
	}{
		{bank.Nobody(), access.ErrUnauthenticated},
		{bank.As(), access.ErrDenied},
		{bank.As(access.ManageAccounts, access.ManageContacts, access.ViewSignatories), access.ErrDenied},
		{bank.As(access.ViewCustomers), nil},
		{bank.As(access.ManageCustomers), nil}, // to change includes to see
		{bank.Reader(), nil},
	} {
		_, found := bank.Customers.Find(caller.ctx, customer.UID)
		_, listed := coretest.Rows(bank, caller.ctx, func(b *db.Batch) *db.Rows[customers.Customer] {
			return bank.Customers.List(caller.ctx, b, customers.Search{}, db.Columns{}, page.First(1))
		})
		_, counted := coretest.Rows(bank, caller.ctx, func(b *db.Batch) *db.Rows[db.Count] {
			return bank.Customers.Count(caller.ctx, b, customers.Search{})
		})
		for _, err := range []error{found, listed, counted} {
			if !errors.Is(err, caller.want) {
				t.Errorf("%v, want %v", err, caller.want)
			}
		}
	}
}

func TestOnlyWantedColumnsAreRead(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	uid := bank.Customer().UID
	rows, err := coretest.Many(bank, bank.Staff(),
		func(b *db.Batch) *db.Many[customers.UID, customers.Customer] {
			return bank.Customers.FindMany(bank.Staff(), b, []customers.UID{uid},
				db.ColumnsOf[customers.Customer]("LegalName", "LegalAddress.City", "TaxID"))
		})
	if err != nil || len(rows[uid]) != 1 {
		t.Fatal(rows, err)
	}
	got := rows[uid][0]
	if got.UID != uid || got.LegalName == "" || got.LegalAddress.City != "Columbus" || got.TaxID.Last4 == "" {
		t.Errorf("a wanted column is empty: %+v", got)
	}
	if got.ShortName != "" || got.LegalAddress.State != "" || got.TaxID.Sealed != nil ||
		got.TaxID.Hash != nil {
		t.Errorf("more was read: %+v", got)
	}
}

func TestACustomerIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	up := bank.Customer()
	want := bank.Customer(func(c *customers.Customer) {
		c.Parent, c.ParentEntityShortName, c.Note = &up.UID, up.ShortName, "line one\nline 'two' \\ \"three\""
		c.AdditionalAttributes = []customers.Attribute{
			{Name: "Industry", Value: "Mühle"}, {Name: "Next Review", Value: "2026-12-01"},
		}
		c.Profile = customers.Profile{SSO: true, DetailsOfCharge: "SHA", CreditValueAdjustment: "0.5"}
		c.Access = customers.AccessSettings{
			FirstApproverLimit: 12345, NumberOfApprovers: 2, PaymentDualApproval: true,
		}
	})
	got, err := bank.Customers.Find(bank.Staff(), want.UID)
	if err != nil {
		t.Fatal(err)
	}
	want.TaxID.Sealed, want.TaxID.Hash, want.Tenant = nil, nil, got.Tenant
	got.CreatedAt, got.UpdatedAt = got.CreatedAt.UTC(), got.UpdatedAt.UTC()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheProfileIsAListOfOneUnderItsMisspeltName(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(customers.Customer{
		UID: 7, LegalName: "X", Profile: customers.Profile{SSO: true},
		Access: customers.AccessSettings{FirstApproverLimit: 150},
	})
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		CustomerUID int64            `json:"customerUID"`
		Profile     []map[string]any `json:"addtionalProfileDetails"`
		Access      map[string]any   `json:"legalEntityAccessSettings"`
	}
	if err := json.Unmarshal(text, &body); err != nil || body.CustomerUID != 7 || len(body.Profile) != 1 ||
		body.Profile[0]["sso"] != true {
		t.Errorf("%s, %v", text, err)
	}
	if !strings.Contains(string(text), `"paymentLimitforFirstApprover":1.50`) {
		t.Errorf("amounts have two decimals: %s", text)
	}
}

func TestACustomerUIDIsDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]fault.Problem{
		"": fault.Number, "12a": fault.Number, "-1": fault.Number, "+1": fault.Number, " 1": fault.Number,
		"1e3": fault.Number, "١٢": fault.Number,
		"0": fault.AllZero, "0000": fault.AllZero, "9999999999999999999": fault.Number,
	} {
		_, err := customers.ParseUID("customerUID", text)
		f, ok := fault.Of(err)
		if !ok || f.Problem != want || f.Field != "customerUID" || f.Kind != fault.Invalid {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]customers.UID{
		"1000001": 1000001, "007": 7, "99999999999": customers.MaxUID,
	} {
		if got, err := customers.ParseUID("customerUID", text); err != nil || got != want {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}

func TestTypesAndStatusesAreReadInAnyCase(t *testing.T) {
	t.Parallel()
	for _, want := range customers.Types {
		for _, text := range []string{
			string(want), strings.ToUpper(string(want)), strings.ReplaceAll(strings.ToLower(string(want)), " ", "_"),
		} {
			if got, err := customers.ParseType("customerType", text); err != nil || got != want {
				t.Errorf("%q: %v %v", text, got, err)
			}
		}
	}
	for _, want := range customers.Statuses {
		if got, err := customers.ParseStatus("status", strings.ToLower(string(want))); err != nil ||
			got != want {
			t.Errorf("%q: %v", want, err)
		}
	}
	for _, text := range []string{"", "Corp", "Downstream-Partner"} {
		if _, err := customers.ParseType("customerType", text); err == nil {
			t.Errorf("%q is a type", text)
		}
	}
	if _, err := customers.ParseStatus("status", "Closed"); err == nil {
		t.Error("Closed is a status")
	}
}

func TestManyCustomersAreReadInOneRoundTrip(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	var want []customers.UID
	for i := range 5 {
		want = append(want, bank.Customer(coretest.Named(fmt.Sprint("Number ", i))).UID)
	}
	meter := &db.Meter{}
	ctx := db.WithMeter(bank.Staff(), meter)
	found, err := coretest.Many(bank, ctx, func(b *db.Batch) *db.Many[customers.UID, customers.Customer] {
		return bank.Customers.FindMany(ctx, b, append(want, 1_999_999, want[0]), db.Columns{})
	})
	if err != nil || len(found) != 5 || len(found[want[0]]) != 1 || meter.RoundTrips.Load() != 1 ||
		meter.Statements.Load() != 1 {
		t.Errorf("%d found, %d round trips, %v", len(found), meter.RoundTrips.Load(), err)
	}
}
