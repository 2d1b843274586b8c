package limits_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/limits"
	"bankgraph/core/rails"
	"bankgraph/db"
)

func check(t *testing.T, bank *coretest.Bank, of *customers.Customer, asked limits.Asked) []*limits.Limit {
	t.Helper()
	found, err := bank.Limits.Check(bank.Staff(), of.UID, asked)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// used returns how much of one limit is used, as text.
func used(t *testing.T, bank *coretest.Bank, of *customers.Customer, asked limits.Asked, code string) string {
	t.Helper()
	for _, l := range check(t, bank, of, asked) {
		if l.Code == code {
			return l.Used().String()
		}
	}
	t.Fatalf("%s does not answer", code)
	return ""
}

const (
	wireTransaction = "FEDWIRE_PAYMENT_LIMIT_PER_TRANSACTION"
	wireDay         = "FEDWIRE_PAYMENT_LIMIT_PER_DAY"
	wireWeek        = "FEDWIRE_PAYMENT_LIMIT_PER_WEEK"
	wireMonth       = "FEDWIRE_PAYMENT_LIMIT_PER_MONTH"
	achDay          = "ACH_PAYMENT_LIMIT_PER_DAY"
)

// wired makes a customer with every wire limit.
func wired(bank *coretest.Bank) *customers.Customer {
	customer := bank.Customer()
	for i, code := range []string{wireTransaction, wireDay, wireWeek, wireMonth} {
		bank.Limit(customer, code, int64(i+1)*1_000_00)
	}
	return customer
}

func TestUsageCountsInItsWindow(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := wired(bank)
	// The 18th is a Wednesday. Each day has an amount of its own, so that a sum says which days are in it.
	for day, amount := range map[string]int64{
		"2026-10-31": 1_00, // the month before
		"2026-11-01": 2_00, // its first day, a Sunday
		"2026-11-15": 4_00, // the Sunday before the week
		"2026-11-16": 8_00, // Monday
		"2026-11-18": 16_00,
		"2026-11-22": 32_00, // the Sunday that ends the week
		"2026-11-23": 64_00, // the Monday after
		"2026-11-30": 128_00,
		"2026-12-01": 256_00, // the month after
	} {
		bank.Usage(customer, limits.Fedwire, day, amount)
	}
	asked := limits.Asked{Rail: rails.Fedwire}
	for code, want := range map[string]string{
		wireTransaction: "0.00",
		wireDay:         "16.00",
		wireWeek:        "56.00",  // 8 + 16 + 32
		wireMonth:       "254.00", // all from 2 to 128
	} {
		if got := used(t, bank, customer, asked, code); got != want {
			t.Errorf("%s: %s used, want %s", code, got, want)
		}
	}
	asked.On = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	// that week began on the 26th of October
	for code, want := range map[string]string{wireDay: "2.00", wireWeek: "2.00", wireMonth: "254.00"} {
		if got := used(t, bank, customer, asked, code); code != wireWeek && got != want {
			t.Errorf("on the first, %s: %s used, want %s", code, got, want)
		} else if code == wireWeek && got != "3.00" { // with the 31st of October
			t.Errorf("the week over the end of the month: %s used", got)
		}
	}
	asked.On = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	if got := used(t, bank, customer, asked, wireWeek); got != "384.00" { // 128 + 256
		t.Errorf("the week over the start of a month: %s used", got)
	}
}

// Limits are of the days by which the networks count, wherever the bank is, as what payments use is.
func TestTheDayIsThatInNewYork(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	staff, err := access.Require(bank.Staff(), access.ViewCustomers)
	if err != nil {
		t.Fatal(err)
	}
	customer := wired(bank)
	bank.Usage(customer, limits.Fedwire, "2026-11-30", 5_00)
	bank.Usage(customer, limits.Fedwire, "2026-12-01", 7_00)
	asked := limits.Asked{Rail: rails.Fedwire}
	for _, moment := range []struct{ at, day, month string }{
		{"2026-12-01T04:59:59Z", "5.00", "5.00"}, // a second before midnight in New York
		{"2026-12-01T05:00:00Z", "7.00", "7.00"},
		{"2026-07-01T12:00:00Z", "0.00", "0.00"},
	} {
		at, err := time.Parse(time.RFC3339, moment.at)
		if err != nil {
			t.Fatal(err)
		}
		bank.Clock.Set(at)
		for _, zone := range []string{"America/New_York", "Pacific/Apia", "America/Los_Angeles"} {
			if staff.Zone, err = time.LoadLocation(zone); err != nil {
				t.Fatal(err)
			}
			found, err := bank.Limits.Check(access.With(t.Context(), staff), customer.UID, asked)
			if err != nil || len(found) != 4 || found[1].Used().String() != moment.day ||
				found[3].Used().String() != moment.month {
				t.Errorf("in %s at %s: %+v, %v", zone, moment.at, found, err)
			}
		}
	}
}

func TestInstantRailsShareTheirLimits(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Limit(customer, "INSTANT_PAYMENT_LIMIT_PER_DAY", 100_00)
	bank.Limit(customer, wireDay, 100_00)
	bank.Usage(customer, limits.Instant, "2026-11-18", 30_00)
	for _, rail := range []rails.Rail{rails.RTP, rails.FedNow} {
		found := check(t, bank, customer, limits.Asked{Rail: rail})
		if len(found) != 1 || found[0].Code != "INSTANT_PAYMENT_LIMIT_PER_DAY" ||
			found[0].Remaining().String() != "70.00" {
			t.Errorf("%s: %v", rail, found)
		}
	}
}

// Without a direction a limit has left what a payment of the fuller direction may have.
func TestAnEntryTypeNarrowsTheUsageOfACHOnly(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Limit(customer, achDay, 100_00)
	bank.Limit(customer, wireDay, 100_00)
	bank.Usage(customer, limits.ACH, "2026-11-18", 1_00,
		func(u *limits.Usage) { u.EntryType, u.SECCode = rails.Credit, rails.PPD })
	bank.Usage(customer, limits.ACH, "2026-11-18", 2_00,
		func(u *limits.Usage) { u.EntryType, u.SECCode = rails.Credit, rails.CCD })
	bank.Usage(customer, limits.ACH, "2026-11-18", 4_00,
		func(u *limits.Usage) { u.EntryType, u.SECCode = rails.Debit, rails.CCD })
	bank.Usage(customer, limits.Fedwire, "2026-11-18", 8_00)
	for entry, want := range map[rails.EntryType]string{"": "4.00", rails.Credit: "3.00", rails.Debit: "4.00"} {
		if got := used(t, bank, customer, limits.Asked{Rail: rails.ACH, EntryType: entry}, achDay); got != want {
			t.Errorf("%q: %s used, want %s", entry, got, want)
		}
		if got := used(t, bank, customer, limits.Asked{Rail: rails.Fedwire, EntryType: entry, SECCode: rails.PPD},
			wireDay); got != "8.00" {
			t.Errorf("a wire ignores the entry type: %s used", got)
		}
	}
}

func TestAnSECCodeAddsItsOwnLimits(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	for _, kind := range limits.Kinds() {
		bank.Limit(customer, kind.Code, 100_00)
	}
	codes := func(asked limits.Asked) (all []string) {
		t.Helper()
		for _, l := range check(t, bank, customer, asked) {
			all = append(all, l.Code)
		}
		return all
	}
	standard := []string{
		"ACH_PAYMENT_LIMIT_PER_TRANSACTION",
		achDay, "ACH_PAYMENT_LIMIT_PER_WEEK", "ACH_PAYMENT_LIMIT_PER_MONTH",
	}
	for name, c := range map[string]struct {
		asked limits.Asked
		want  []string
	}{
		"ACH alone":   {limits.Asked{Rail: rails.ACH}, standard},
		"a direction": {limits.Asked{Rail: rails.ACH, EntryType: rails.Debit}, standard},
		"a class of debits": {
			limits.Asked{Rail: rails.ACH, EntryType: rails.Debit, SECCode: rails.WEB},
			append(slices.Clone(standard), "ACH_WEB_DEBIT_TRANSACTION_LIMIT"),
		},
		"a class of credits": {
			limits.Asked{Rail: rails.ACH, EntryType: rails.Credit, SECCode: rails.CTX},
			append(slices.Clone(standard), "ACH_CTX_CREDIT_TRANSACTION_LIMIT"),
		},
		"a class on a wire is ignored": {
			limits.Asked{Rail: rails.Fedwire, SECCode: rails.WEB},
			[]string{wireTransaction, wireDay, wireWeek, wireMonth},
		},
	} {
		if got := codes(c.asked); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAnExceededLimitSaysByHowMuch(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Limit(customer, wireTransaction, 50_00)
	bank.Limit(customer, wireDay, 100_00)
	bank.Usage(customer, limits.Fedwire, "2026-11-18", 80_00)
	for amount, want := range map[string][2]string{
		"20":    {"", ""}, // just fits
		"20.01": {"", "Wire payment limit per day would be exceeded by 0.01 USD"},
		"50":    {"", "Wire payment limit per day would be exceeded by 30.00 USD"},
		"60.5": {
			"Wire payment limit per transaction would be exceeded by 10.50 USD",
			"Wire payment limit per day would be exceeded by 40.50 USD",
		},
		"0": {"", ""},
		"":  {"", ""},
	} {
		found := check(t, bank, customer, limits.Asked{Rail: rails.Fedwire, Amount: amount})
		if got := [2]string{found[0].Message(), found[1].Message()}; got != want {
			t.Errorf("%q: %q", amount, got)
		}
		// Remaining does not include the tested payment.
		if got := found[1].Remaining().String(); got != "20.00" {
			t.Errorf("%q: %s remain", amount, got)
		}
	}
}

func TestALimitLoweredUnderItsUsageHasLessThanNothingLeft(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Limit(customer, wireDay, 10_00)
	bank.Usage(customer, limits.Fedwire, "2026-11-18", 80_00)
	found := check(t, bank, customer, limits.Asked{Rail: rails.Fedwire, Amount: "1"})
	if got := found[0].Remaining().String(); got != "-70.00" {
		t.Errorf("%s remain", got)
	}
	if got := found[0].ExceededBy(); got == nil || got.String() != "71.00" {
		t.Errorf("exceeded by %v", got)
	}
}

func TestACustomerWithoutLimitsHasNoneToMeet(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Limit(customer, achDay, 5)
	if found := check(t, bank, customer, limits.Asked{Rail: rails.Fedwire, Amount: "1"}); len(found) != 0 {
		t.Errorf("%v", found)
	}
	// The check does not answer limits of batches and files.
	bank.Limit(customer, "FEDWIRE_PAYMENT_LIMIT_PER_FILE", 5)
	if found := check(t, bank, customer, limits.Asked{Rail: rails.Fedwire, Amount: "1"}); len(found) != 0 {
		t.Errorf("%v", found)
	}
}

func TestABadQuestionNamesItsField(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := wired(bank)
	for name, c := range map[string]struct {
		asked   limits.Asked
		field   string
		problem fault.Problem
	}{
		"no rail": {limits.Asked{}, "paymentRail", fault.Required},
		"a class without a side": {
			limits.Asked{Rail: rails.ACH, SECCode: rails.WEB},
			"entryType",
			fault.Required,
		},
		"an amount below zero": {
			limits.Asked{Rail: rails.Fedwire, Amount: "-1"}, "paymentAmount", fault.Malformed,
		},
		"an amount in words": {
			limits.Asked{Rail: rails.Fedwire, Amount: "ten"}, "paymentAmount", fault.Malformed,
		},
		"an exponent": {
			limits.Asked{Rail: rails.Fedwire, Amount: "1e3"}, "paymentAmount", fault.Malformed,
		},
		"three decimals": {
			limits.Asked{Rail: rails.Fedwire, Amount: "1.001"}, "paymentAmount", fault.Malformed,
		},
		"more than can be tested": {
			limits.Asked{Rail: rails.Fedwire, Amount: "10000000.01"}, "paymentAmount", fault.Max,
		},
		"the rail comes first": {limits.Asked{Amount: "-1"}, "paymentRail", fault.Required},
		"the side comes next": {
			limits.Asked{Rail: rails.ACH, SECCode: rails.WEB, Amount: "-1"}, "entryType", fault.Required,
		},
		"longer than any amount": {
			limits.Asked{Rail: rails.Fedwire, Amount: strings.Repeat("9", 40)}, "paymentAmount", fault.Malformed,
		},
		"the question comes first": {
			limits.Asked{Rail: rails.ACH, SECCode: rails.CCD},
			"entryType",
			fault.Required,
		},
	} {
		_, err := bank.Limits.Check(bank.Staff(), customer.UID, c.asked)
		if f, ok := fault.Of(err); !ok || f.Field != c.field || f.Problem != c.problem {
			t.Errorf("%s: %v", name, err)
		}
	}
	if found := check(t, bank, customer,
		limits.Asked{Rail: rails.Fedwire, Amount: "10000000"}); found[0].ExceededBy() == nil {
		t.Error("the most that can be tested is not tested")
	}
}

func TestLimitsAreAnsweredWithinTheScope(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	ours, banks := bank.Customer(coretest.OwnedBy(partner)), bank.Customer()
	for _, c := range []*customers.Customer{ours, banks} {
		bank.Limit(c, wireDay, 5)
	}
	alone := bank.Other().Customer()
	asked := limits.Asked{Rail: rails.Fedwire}
	for name, c := range map[string]struct {
		ctx  context.Context
		of   customers.UID
		want error
	}{
		"nobody":                 {bank.Nobody(), ours.UID, access.ErrUnauthenticated},
		"without the permission": {bank.As(access.ViewAccounts), ours.UID, access.ErrDenied},
		"the partner's own":      {bank.Partner(partner), ours.UID, nil},
		"the bank's own":         {bank.Partner(partner), banks.UID, customers.ErrOutOfScope},
		"absent":                 {bank.Staff(), 1_999_999, customers.ErrNotFound},
		"another bank's":         {bank.Staff(), alone.UID, customers.ErrNotFound},
	} {
		found, err := bank.Limits.Check(c.ctx, c.of, asked)
		if !errors.Is(err, c.want) || (c.want == nil) != (len(found) == 1) {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
}

func TestConfiguredLimitsAreShownAsTheyAreKept(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Limit(customer, wireDay, 1_234_50)
	bank.Limit(customer, "NO_OF_ACH_FILES_PER_DAY", 12)
	found, err := coretest.Many(bank, bank.Staff(), func(b *db.Batch) *db.Many[customers.UID, limits.Limit] {
		return bank.Limits.ConfiguredOf(bank.Staff(), b, []customers.UID{customer.UID})
	})
	if err != nil || len(found[customer.UID]) != 2 {
		t.Fatal(found, err)
	}
	for i, want := range []string{"1234.50", "12"} {
		if got := found[customer.UID][i].Value(); got != want {
			t.Errorf("%s: %s", found[customer.UID][i].Code, got)
		}
	}
}

func TestALimitOfAnotherCurrencyKeepsItsDecimals(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Limit(customer, wireDay, 500)
	bank.Exec("UPDATE limits SET currency = 'JPY' WHERE tenant = ?", bank.Tenant)
	found := check(t, bank, customer, limits.Asked{Rail: rails.Fedwire, Amount: "501"})
	if got := found[0].Message(); !strings.HasSuffix(got, "by 1 JPY") {
		t.Errorf("%q", got)
	}
	if _, err := bank.Limits.Check(bank.Staff(), customer.UID,
		limits.Asked{Rail: rails.Fedwire, Amount: "1.50"}); err == nil {
		t.Error("a yen has no decimals")
	}
}
