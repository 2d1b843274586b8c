package limits_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/limits"
	"bankgraph/db"
)

// ceilings returns a customer's ceilings by code.
func ceilings(t *testing.T, bank *coretest.Bank, of customers.UID) map[string]string {
	t.Helper()
	found, err := coretest.Many(bank, bank.Staff(), func(b *db.Batch) *db.Many[customers.UID, limits.Limit] {
		return bank.Limits.ConfiguredOf(bank.Staff(), b, []customers.UID{of})
	})
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, l := range found[of] {
		values[l.Code] = l.Value()
	}
	return values
}

func TestLimitsAreChangedAllOrNone(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer, bare := wired(bank), bank.Customer()
	bank.Limit(customer, "NO_OF_ACH_FILES_PER_DAY", 12)
	suspended := bank.Customer(func(c *customers.Customer) { c.Status = customers.Suspended })
	for name, c := range map[string]struct {
		of     customers.UID
		drafts []limits.Draft
		want   string // the faults; or the one that has no field
	}{
		"nothing": {customer.UID, nil, "body REQUIRED"},
		"no code, no value": {
			customer.UID,
			[]limits.Draft{{}, {Code: " ", Value: " "}},
			"[0].entityLimitId REQUIRED [0].entityLimitValue REQUIRED [1].entityLimitId REQUIRED " +
				"[1].entityLimitValue REQUIRED",
		},
		"no number": {
			customer.UID, []limits.Draft{{Code: wireDay, Value: "1e5"}}, "[0].entityLimitValue INVALID",
		},
		"below zero": {
			customer.UID, []limits.Draft{{Code: wireDay, Value: "-0.01"}}, "[0].entityLimitValue MIN",
		},
		"parts of a cent": {
			customer.UID, []limits.Draft{{Code: wireDay, Value: "0.001"}}, "[0].entityLimitValue INVALID",
		},
		"too large": {
			customer.UID,
			[]limits.Draft{{Code: wireDay, Value: strings.Repeat("9", 16)}},
			"[0].entityLimitValue INVALID",
		},
		"half a file": {
			customer.UID,
			[]limits.Draft{{Code: "NO_OF_ACH_FILES_PER_DAY", Value: "1.5"}},
			"[0].entityLimitValue INVALID",
		},
		"twice": {
			customer.UID,
			[]limits.Draft{{Code: wireDay, Value: "1"}, {Code: strings.ToLower(wireDay), Value: "2"}},
			"[1].entityLimitId NOTALLOWED",
		},
		"one unknown of two": {
			customer.UID,
			[]limits.Draft{{Code: wireDay, Value: "1"}, {Code: "SHOE_LIMIT", Value: "2"}},
			"[1].entityLimitId NOTFOUND",
		},
		"one it has not": {
			customer.UID,
			[]limits.Draft{{Code: wireDay, Value: "1"}, {Code: achDay, Value: "2"}},
			"[1].entityLimitId NOTFOUND",
		},
		"another's kind": {
			customer.UID,
			[]limits.Draft{{Code: wireDay, Value: "1", Application: "Foreign_Exchange"}},
			"[0].appName NOMATCH",
		},
		"none configured": {bare.UID, []limits.Draft{{Code: wireDay, Value: "1"}}, limits.ErrNone.Message},
		"suspended": {
			suspended.UID, []limits.Draft{{Code: wireDay, Value: "1"}}, customers.ErrInactive.Message,
		},
		"suspended, nothing": {suspended.UID, nil, customers.ErrInactive.Message},
		"the bank itself": {
			bank.Self.UID, []limits.Draft{{Code: wireDay, Value: "1"}}, limits.ErrProcessingOrg.Message,
		},
		"nobody": {1, []limits.Draft{{Code: wireDay, Value: "1"}}, customers.ErrNotFound.Message},
	} {
		_, err := bank.Limits.Change(bank.Staff(), c.of, c.drafts, changes.RequestOptions{})
		if got := told(err); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := ceilings(t, bank, customer.UID); got[wireDay] != "2000.00" ||
		got["NO_OF_ACH_FILES_PER_DAY"] != "12" {
		t.Errorf("a refused change has an effect: %v", got)
	}
	out, err := bank.Limits.Change(bank.Staff(), customer.UID, []limits.Draft{
		{Code: strings.ToLower(wireDay), Value: "0", Application: "payments"},
		{Code: "No_Of_ACH_Files_Per_Day", Value: "3"},
		{Code: wireMonth, Value: "007.5"},
	}, changes.RequestOptions{})
	if err != nil || out.Version != 8 { // five limits, three of them changed
		t.Fatal(out, err)
	}
	if got := ceilings(t, bank,
		customer.UID); got[wireDay] != "0.00" || got["NO_OF_ACH_FILES_PER_DAY"] != "3" ||
		got[wireMonth] != "7.50" || got[wireWeek] != "3000.00" || len(got) != 5 {
		t.Errorf("%v", got)
	}
	if _, err := bank.Limits.Change(bank.Staff(), customer.UID, []limits.Draft{{Code: wireDay, Value: "1"}},
		changes.RequestOptions{Version: 5}); !errors.Is(err, changes.ErrStale) {
		t.Error(err)
	}
}

// told returns the faults of an error by field, or its message.
func told(err error) string {
	var several fault.Faults
	if !errors.As(err, &several) {
		f, _ := fault.Of(err)
		if f == nil {
			return "nothing"
		}
		return f.Message
	}
	var words []string
	for _, f := range several {
		words = append(words, f.Field, string(f.Problem))
	}
	return strings.Join(words, " ")
}

func TestLimitsAreForWhoMayManageTheCustomer(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	theirs, ours := bank.Customer(coretest.OwnedBy(partner)), wired(bank)
	bank.Limit(theirs, wireDay, 100)
	bank.Limit(partner, wireDay, 5_00)
	other := bank.Other()
	drafts := []limits.Draft{{Code: wireDay, Value: "5"}}
	for name, c := range map[string]struct {
		ctx  context.Context
		of   customers.UID
		want error
	}{
		"nobody":                    {bank.Nobody(), ours.UID, access.ErrUnauthenticated},
		"a reader":                  {bank.Reader(), ours.UID, access.ErrDenied},
		"a partner, of another's":   {bank.Partner(partner), ours.UID, customers.ErrOutOfScope},
		"a partner, of its own":     {bank.Partner(partner), theirs.UID, nil},
		"another bank, of its twin": {other.Staff(), ours.UID, nil},
	} {
		if _, err := bank.Limits.Change(c.ctx, c.of, drafts, changes.RequestOptions{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if got := ceilings(t, bank, ours.UID); got[wireDay] != "2000.00" {
		t.Errorf("somebody else changed it: %v", got)
	}
}

// What the bank lets a partner move in a day the partner cannot raise by paying through a customer of its
// own.
func TestAPartnerRaisesNoLimitOfItsCustomersAboveItsOwn(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	theirs, lavish := bank.Customer(coretest.OwnedBy(partner)), bank.Customer(coretest.OwnedBy(partner))
	bank.Limit(partner, wireDay, 100_00)
	bank.Limit(theirs, wireDay, 10_00)
	bank.Limit(lavish, wireDay, 500_00) // as the bank has set it
	for _, c := range []struct {
		by    context.Context
		of    customers.UID
		value string
		want  string
	}{
		{bank.Partner(partner), theirs.UID, "100.01", "10.00"},
		{bank.Partner(partner), theirs.UID, "100.00", "100.00"},
		{bank.Partner(partner), lavish.UID, "500.01", "500.00"},
		{bank.Partner(partner), lavish.UID, "499.00", "499.00"},
		{bank.Staff(), theirs.UID, "1000.00", "1000.00"},
	} {
		_, err := bank.Limits.Change(c.by, c.of, []limits.Draft{{Code: wireDay, Value: c.value}},
			changes.RequestOptions{})
		if refused := c.value != c.want; refused != (err != nil) {
			t.Errorf("%s: %v", c.value, err)
		}
		if got := ceilings(t, bank, c.of)[wireDay]; got != c.want {
			t.Errorf("%s: the limit is %s, want %s", c.value, got, c.want)
		}
	}
}

// What the bank lets a customer move its partner does not raise either that has no such limit of its own.
func TestAPartnerWithoutALimitRaisesNone(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	theirs := bank.Customer(coretest.OwnedBy(partner))
	bank.Limit(theirs, wireDay, 10_00)
	for _, c := range []struct {
		by    context.Context
		value string
		want  string
	}{
		{bank.Partner(partner), "10.01", "10.00"},
		{bank.Partner(partner), "9.00", "9.00"},
		{bank.Partner(partner), "9.01", "9.00"},
		{bank.Staff(), "1000.00", "1000.00"},
	} {
		draft := limits.Draft{Code: wireDay, Value: c.value}
		_, err := bank.Limits.Change(c.by, theirs.UID, []limits.Draft{draft}, changes.RequestOptions{})
		if refused := c.value != c.want; refused != (err != nil) {
			t.Errorf("%s: %v", c.value, err)
		}
		_, err = bank.Customers.Change(c.by, theirs.UID, customers.Draft{Limits: []customers.Ceiling{draft}},
			changes.RequestOptions{})
		if refused := c.value != c.want; refused != (err != nil) {
			t.Errorf("%s, with the customer: %v", c.value, err)
		}
		if got := ceilings(t, bank, theirs.UID)[wireDay]; got != c.want {
			t.Errorf("%s: the limit is %s, want %s", c.value, got, c.want)
		}
	}
}

func TestAChangeOfLimitsWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(func(c *customers.Customer) {
		c.Access.CustomerDualApproval = true
	})
	bank.Limit(customer, wireDay, 100_00)
	propose := func(value string) changes.UID {
		t.Helper()
		out, err := bank.Limits.Change(bank.Staff(), customer.UID, []limits.Draft{{Code: wireDay, Value: value}},
			changes.RequestOptions{})
		if err != nil || out.Approval == 0 || ceilings(t, bank, customer.UID)[wireDay] == value {
			t.Fatal(out, err)
		}
		return changes.UID(out.Approval)
	}
	first := propose("5.00")
	if a, err := bank.Changes.Find(bank.Staff(),
		first); err != nil || string(a.Before) != `{"limits":{"`+wireDay+`":"100.00"}}` ||
		string(a.After) != `{"limits":{"`+wireDay+`":"5.00"}}` {
		t.Errorf("the second person sees %s %s (%v)", a.Before, a.After, err)
	}
	if _, err := bank.Limits.Change(bank.Staff(), customer.UID, []limits.Draft{{Code: wireDay, Value: "6"}},
		changes.RequestOptions{}); !errors.Is(err, changes.ErrWaiting) {
		t.Error(err)
	}
	if _, err := bank.Changes.Approve(bank.Staff(), first,
		changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
		t.Error(err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), first, changes.RequestOptions{}); err != nil ||
		ceilings(t, bank, customer.UID)[wireDay] != "5.00" {
		t.Error(err)
	}
	second := propose("7.00")
	bank.Exec(`UPDATE limits SET version = version + 1 WHERE tenant = ?`, bank.Tenant)
	if _, err := bank.Changes.Approve(bank.Checker(), second,
		changes.RequestOptions{}); !errors.Is(err, changes.ErrStale) {
		t.Error(err)
	}
	if _, err := bank.Changes.Refuse(bank.Checker(), second, changes.RequestOptions{}); err != nil ||
		ceilings(t, bank, customer.UID)[wireDay] != "5.00" {
		t.Error(err)
	}
}

func TestTwoChangesOfLimitsComeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := wired(bank)
	errs := make([]error, 4)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_, errs[i] = bank.Limits.Change(bank.Staff(), customer.UID,
				[]limits.Draft{{Code: wireDay, Value: "1"}, {Code: wireWeek, Value: "2"}},
				changes.RequestOptions{Version: 4})
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, changes.ErrStale) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d were made", won)
	}
}

// An update of the customer sets up the limits that it does not have yet.
func TestAnUpdateOfTheCustomerSetsLimitsUp(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	set := func(drafts ...limits.Draft) error {
		_, err := bank.Customers.Change(bank.Staff(), customer.UID, customers.Draft{Limits: drafts},
			changes.RequestOptions{})
		return err
	}
	if err := set(limits.Draft{Code: "fx_forward_limit", Value: "12.5", Application: "foreign_exchange"},
		limits.Draft{Code: "NO_OF_ACH_FILES_PER_DAY", Value: "4"}); err != nil {
		t.Fatal(err)
	}
	if err := set(limits.Draft{Code: "FX_FORWARD_LIMIT", Value: "9"},
		limits.Draft{Code: achDay, Value: "1"}); err != nil {
		t.Fatal(err)
	}
	if got := told(set(limits.Draft{Code: "SHOE_LIMIT", Value: "1"},
		limits.Draft{
			Code: wireDay, Value: "1",
			Application: "Shoes",
		})); got != "limits[0].code NOTFOUND limits[1].appName NOTFOUND" {
		t.Error(got)
	}
	if got := told(set(limits.Draft{
		Code: wireDay, Value: "1",
		Application: "Foreign_Exchange",
	})); got != "limits[0].appName NOMATCH" {
		t.Error(got)
	}
	got := ceilings(t, bank, customer.UID)
	if got["FX_FORWARD_LIMIT"] != "9.00" || got["NO_OF_ACH_FILES_PER_DAY"] != "4" || got[achDay] != "1.00" ||
		len(got) != 3 {
		t.Errorf("%v", got)
	}
	var applications, currencies []string
	err := bank.DB.NewRaw(`SELECT DISTINCT application FROM limits WHERE tenant = ? ORDER BY 1`, bank.Tenant).
		Scan(t.Context(), &applications)
	err = errors.Join(err,
		bank.DB.NewRaw(`SELECT DISTINCT currency FROM limits WHERE tenant = ?`, bank.Tenant).Scan(t.Context(),
			&currencies))
	if err != nil || !slices.Equal(applications, []string{"Foreign_Exchange", "Payments"}) ||
		!slices.Equal(currencies, []string{"USD"}) {
		t.Errorf("%v %v %v", applications, currencies, err)
	}
	var record []string
	err = bank.DB.NewRaw(
		`SELECT action || object || before || after FROM audit_entries
			WHERE tenant = ? ORDER BY id`, bank.Tenant).
		Scan(t.Context(), &record)
	if err != nil || len(record) < 3 ||
		record[2] != `changeLimitslimits{"limits":{"FX_FORWARD_LIMIT":"12.50"}}`+
			`{"limits":{"ACH_PAYMENT_LIMIT_PER_DAY":"1.00","FX_FORWARD_LIMIT":"9.00"}}` {
		t.Errorf("%q %v", record, err)
	}
}

// The checker of an update of a customer sees its new ceilings, which do not change before the approval.
func TestCeilingsOfAnUpdateWaitWithIt(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
	bank.Limit(customer, achDay, 5_00)
	out, err := bank.Customers.Change(bank.Staff(), customer.UID, customers.Draft{
		Note: given.Of("raised"), Limits: []limits.Draft{{Code: achDay, Value: "7.50"}},
	}, changes.RequestOptions{})
	if err != nil || out.Approval == 0 || ceilings(t, bank, customer.UID)[achDay] != "5.00" {
		t.Fatal(out, err, ceilings(t, bank, customer.UID))
	}
	waits, err := bank.Changes.Find(bank.Checker(), changes.UID(out.Approval))
	seen := func(field string) bool {
		return slices.ContainsFunc(waits.Changes(), func(c audit.Change) bool { return c.Field == field })
	}
	if err != nil || !seen("limits") || !seen("note") {
		t.Errorf("the checker sees %+v %v", waits.Changes(), err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), waits.UID, changes.RequestOptions{}); err != nil ||
		ceilings(t, bank, customer.UID)[achDay] != "7.50" {
		t.Error(err, ceilings(t, bank, customer.UID))
	}
}
