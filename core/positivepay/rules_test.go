package positivepay_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/positivepay"
)

// debited is a bank with a company whose account rules are for.
type debited struct {
	*coretest.Bank
	of      *customers.Customer
	account *accounts.Account
}

func newDebited(t *testing.T, edits ...func(*customers.Customer)) *debited {
	t.Helper()
	b := coretest.New(t)
	c := b.Customer(append([]func(*customers.Customer){
		func(c *customers.Customer) { c.Type = customers.Corporate },
	}, edits...)...)
	return &debited{b, c, b.Account(c)}
}

// day is so many days after the one at which tests begin, 2026-11-18 in New York.
func day(after int) time.Time { return time.Date(2026, 11, 18+after, 0, 0, 0, 0, time.UTC) }

func (b *debited) draft() positivepay.Draft {
	return positivepay.Draft{
		AccountNumber: given.Of(coretest.AccountNumber(b.account.UID)), Type: "ach",
		ACHCompanyID: given.Of("9100011223"), BeneficiaryName: given.Of("Lakefront Utilities Inc"),
		BeneficiaryAccountNumber: given.Of("440055551"), Amount: given.Of("1500.00"), AmountType: "maximum",
		Frequency: "Bi-weekly", EffectiveDate: day(0),
	}
}

func (b *debited) create(t *testing.T, edits ...func(*positivepay.Draft)) positivepay.UID {
	t.Helper()
	d := b.draft()
	for _, edit := range edits {
		edit(&d)
	}
	made, err := b.PositivePay.Create(b.Staff(), d, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Result.UID
}

// finds returns what a search finds, and fails the test if it counts something else.
func (b *debited) finds(t *testing.T, by positivepay.Search) (found []positivepay.UID) {
	t.Helper()
	all, err := b.PositivePay.Page(b.Staff(), by, page.First(50))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all.Items {
		found = append(found, r.UID)
	}
	if all.Total != int64(len(found)) {
		t.Errorf("%+v counts %d of %d", by, all.Total, len(found))
	}
	return found
}

func (b *debited) is(t *testing.T, uid positivepay.UID, want positivepay.Status) {
	t.Helper()
	r, err := b.PositivePay.Find(b.Staff(), uid)
	if err != nil || r.Status() != want {
		t.Errorf("rule %s: %v %v, want %s", uid, r, err, want)
	}
	for _, status := range positivepay.Statuses {
		found := b.finds(t, positivepay.Search{Status: []positivepay.Status{status}, Customer: b.of.UID})
		if slices.Contains(found, uid) != (status == want) {
			t.Errorf("rule %s is %s, and a search for %s finds %v", uid, want, status, found)
		}
	}
}

func TestARuleIsShownAsItWasMade(t *testing.T) {
	t.Parallel()
	b := newDebited(t)
	uid := b.create(t, func(d *positivepay.Draft) {
		d.BeneficiaryBankID, d.BeneficiaryBankName = given.Of("611590103"), given.Of("Old Mill Bank")
		d.ExpiryDate, d.NumberOfPayments, d.IndividualID = given.Of(day(90)), new(int32(6)), given.Of("METER-7")
		d.SECCode, d.CustomerName = given.Of("ccd"), given.Of(strings.ToLower(b.of.ShortName))
	})
	r, err := b.PositivePay.Find(b.Staff(), uid)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(r.Type, " ", r.ACHCompanyID, " ", r.BeneficiaryName, " ", r.BeneficiaryBankID, " ",
		r.BeneficiaryBankName, " ", r.BeneficiaryNumber, " ",
		r.Amount(), " ", r.Currency, " ", r.AmountType, " ",
		r.Frequency, " ", r.SECCode, " ", r.IndividualID, " ", r.EffectiveDate.Format(time.DateOnly), " ",
		r.ExpiryDate.Format(time.DateOnly), " ", *r.NumberOfPayments, " ", r.Status(), " ",
		r.CustomerName == b.of.ShortName, " ", r.AccountNumber(), " ", r.RoutingNumber, " ", r.AccountType,
		" ", r.AccountSubType, " ", r.TranCode())
	want := fmt.Sprintf("ACH 9100011223 Lakefront Utilities Inc 611590103 Old Mill Bank ****5551 1500.00 "+
		"USD Maximum BI_WEEKLY CCD "+
		"METER-7 2026-11-18 2027-02-16 6 Active true ****%s 611090001 Deposit Checking 27",
		coretest.AccountNumber(b.account.UID)[7:])
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestBothSpellingsOfAFrequencyAreOne(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]positivepay.Frequency{
		"Ongoing": positivepay.OnGoing, "ON_GOING": positivepay.OnGoing, "Onetime": positivepay.OneTime,
		"ONE_TIME": positivepay.OneTime, "Daily": positivepay.Daily, "WEEKLY": positivepay.Weekly,
		"Bi-weekly": positivepay.BiWeekly, "BI_WEEKLY": positivepay.BiWeekly, "monthly": positivepay.Monthly,
		"QUARTERLY": positivepay.Quarterly, "Semi-annual": positivepay.SemiAnnual,
		"SEMI_ANNUAL": positivepay.SemiAnnual, "Annual": positivepay.Annual, "": "", "Often": "",
	} {
		if got, err := positivepay.ParseFrequency("frequency", text); got != want ||
			(err != nil) != (want == "") {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
}

// The state follows from the dates by the bank's clock, in reads and in searches alike.
func TestTheDatesOfARuleDecideWhetherItCounts(t *testing.T) {
	t.Parallel()
	b := newDebited(t)
	uid := b.create(t, func(d *positivepay.Draft) { d.EffectiveDate, d.ExpiryDate = day(2), given.Of(day(4)) })
	at := func(after int, hour int, want positivepay.Status) {
		t.Helper()
		b.Clock.Set(time.Date(2026, 11, 18+after, hour, 59, 0, 0, coretest.Zone()))
		b.is(t, uid, want)
	}
	at(0, 10, positivepay.Pending)
	at(1, 23, positivepay.Pending)
	at(2, 0, positivepay.Active)
	at(4, 23, positivepay.Active)
	if _, err := b.PositivePay.Suspend(b.Staff(), uid, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	b.is(t, uid, positivepay.Suspended)
	at(5, 0, positivepay.Expired)
	for name, do := range map[string]func(context.Context, positivepay.UID,
		changes.RequestOptions) (changes.Outcome[positivepay.Saved], error){
		"activated": b.PositivePay.Activate, "suspended": b.PositivePay.Suspend,
	} {
		if _, err := do(b.Staff(), uid, changes.RequestOptions{}); !errors.Is(err, positivepay.ErrExpired) {
			t.Errorf("an expired rule is %s: %v", name, err)
		}
	}
	change := func(d positivepay.Draft) error {
		_, err := b.PositivePay.Change(b.Staff(), uid, d, changes.RequestOptions{})
		return err
	}
	if err := change(positivepay.Draft{Amount: given.Of("2")}); !errors.Is(err, positivepay.ErrExpired) {
		t.Errorf("an expired rule is changed: %v", err)
	}
	if err := change(positivepay.Draft{Amount: given.Of("2"), ExpiryDate: given.Of(day(5))}); err != nil {
		t.Fatal(err)
	}
	b.is(t, uid, positivepay.Suspended)
	if _, err := b.PositivePay.Activate(b.Staff(), uid, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	b.is(t, uid, positivepay.Active)
	at(6, 0, positivepay.Expired)
	if err := change(positivepay.Draft{ExpiryDate: given.Of(time.Time{})}); err != nil {
		t.Fatal(err)
	}
	at(4000, 0, positivepay.Active)
}

func TestPeopleSuspendActivateAndDeleteRules(t *testing.T) {
	t.Parallel()
	b := newDebited(t)
	uid := b.create(t)
	did := func(
		do func(context.Context, positivepay.UID, changes.RequestOptions) (changes.Outcome[positivepay.Saved],
			error), want error,
	) {
		t.Helper()
		if _, err := do(b.Staff(), uid, changes.RequestOptions{}); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	p := b.PositivePay
	b.is(t, uid, positivepay.Active)
	did(p.Activate, positivepay.ErrStatus)
	did(p.Suspend, nil)
	b.is(t, uid, positivepay.Suspended)
	did(p.Suspend, positivepay.ErrStatus)
	did(p.Activate, nil)
	b.is(t, uid, positivepay.Active)
	did(p.Delete, nil)
	did(p.Delete, positivepay.ErrNotFound)
	did(p.Activate, positivepay.ErrNotFound)
	if _, err := p.Find(b.Staff(), uid); !errors.Is(err, positivepay.ErrNotFound) {
		t.Errorf("a deleted rule is shown: %v", err)
	}
	if found := b.finds(t, positivepay.Search{}); found != nil {
		t.Errorf("a deleted rule is found: %v", found)
	}
}

func TestARuleThatWaitsForASecondPersonDoesNotCount(t *testing.T) {
	t.Parallel()
	for _, decision := range []string{"approved", "refused", "deleted"} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			b := newDebited(t, func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
			made, err := b.PositivePay.Create(b.Staff(), b.draft(), changes.RequestOptions{})
			if err != nil || made.Approval == 0 {
				t.Fatal(made, err)
			}
			uid, approval := made.Result.UID, changes.UID(made.Approval)
			b.is(t, uid, positivepay.PendingApproval)
			if _, err := b.PositivePay.Suspend(b.Staff(), uid,
				changes.RequestOptions{}); !errors.Is(err, positivepay.ErrStatus) {
				t.Errorf("what waits is suspended: %v", err)
			}
			switch decision {
			case "approved":
				_, err = b.Changes.Approve(b.Checker(), approval, changes.RequestOptions{})
			case "refused":
				_, err = b.Changes.Refuse(b.Checker(), approval, changes.RequestOptions{Reason: "no"})
			default:
				err = b.LocksWaiting(made.Approval, b.account.Customer, func() error {
					_, err := b.PositivePay.Delete(b.Staff(), uid, changes.RequestOptions{})
					return err
				})
			}
			if err != nil {
				t.Fatal(err)
			}
			if decision == "approved" {
				b.is(t, uid, positivepay.Active)
				return
			}
			if found := b.finds(t, positivepay.Search{}); found != nil {
				t.Errorf("it is found: %v", found)
			}
			if _, err := b.Changes.Approve(b.Checker(), approval, changes.RequestOptions{}); err == nil {
				t.Error("it is approved afterwards")
			}
		})
	}
}

// A rule lets debits at the account that people approved, whoever has its number by then.
func TestARuleIsMovedToTheAccountThatWasApproved(t *testing.T) {
	t.Parallel()
	b := newDebited(t)
	uid := b.create(t)
	b.Exec(`UPDATE customers SET access_customer_dual_approval = true WHERE tenant = ? AND uid = ?`, b.Tenant,
		b.of.UID)
	asked, other := b.Account(b.of), b.Account(b.of)
	out, err := b.PositivePay.Change(b.Staff(), uid, positivepay.Draft{
		AccountNumber: given.Of(coretest.AccountNumber(asked.UID)),
	}, changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatalf("%+v %v", out, err)
	}
	b.Renumber(asked.UID, other.UID)
	_, err = b.Changes.Approve(b.Checker(), changes.UID(out.Approval), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.PositivePay.Find(b.Staff(), uid)
	if err != nil || r.Account != asked.UID {
		t.Errorf("the rule is for account %s, people approved %s: %v", r.Account, asked.UID, err)
	}
}

// What a rule for requests allows is paid: it waits where payments do.
func TestARuleForRequestsWaitsWherePaymentsDo(t *testing.T) {
	t.Parallel()
	b := newDebited(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	for kind, waits := range map[positivepay.Type]bool{
		positivepay.ACH: false, positivepay.Instant: true, positivepay.Fedwire: true,
	} {
		draft := b.draft()
		b.ofType(&draft, kind)
		made, err := b.PositivePay.Create(b.Staff(), draft, changes.RequestOptions{})
		if err != nil || made.Approval != 0 != waits {
			t.Errorf("%s: %+v %v", kind, made, err)
		}
	}
}

func TestWhatARuleMustSayDependsOnItsTypeAndOnTheForm(t *testing.T) {
	t.Parallel()
	b := newDebited(t)
	org := b.Account(b.Customer(func(c *customers.Customer) { c.Type = customers.ProcessingOrg }))
	bare := positivepay.Draft{
		AccountNumber: given.Of(coretest.AccountNumber(b.account.UID)), Type: positivepay.ACH,
		Amount: given.Of("5"), AmountType: positivepay.Exact, Frequency: positivepay.OneTime, EffectiveDate: day(0),
	}
	for name, one := range map[string]struct {
		edit func(*positivepay.Draft)
		want string
	}{
		"v2":         {func(d *positivepay.Draft) { d.Form = positivepay.Second }, ""},
		"v2, a wire": {func(d *positivepay.Draft) { d.Form, d.Type = positivepay.Second, positivepay.Fedwire }, ""},
		"ACH":        {func(*positivepay.Draft) {}, "achCompanyID beneName"},
		"ACH, half": {
			func(d *positivepay.Draft) { d.ACHCompanyID, d.BeneficiaryName = given.Of("9100011223"), given.Of("A") },
			"beneAccountNumber",
		},
		"wire":    {func(d *positivepay.Draft) { d.Type = positivepay.Fedwire }, "beneBankId customerName"},
		"instant": {func(d *positivepay.Draft) { d.Type = "RFP" }, "beneBankId customerName beneName"},
		"of a processing organisation, ACH": {func(d *positivepay.Draft) {
			d.AccountNumber, d.ACHCompanyID, d.BeneficiaryName = given.Of(coretest.AccountNumber(org.UID)),
				given.Of("9100011223"), given.Of("A")
		}, ""},
		"of a processing organisation, a wire": {func(d *positivepay.Draft) {
			d.AccountNumber, d.Account, d.Type, d.BeneficiaryBankID = given.Text{}, org.UID, positivepay.Fedwire,
				given.Of("611590103")
		}, ""},
		"nothing": {
			func(d *positivepay.Draft) { *d = positivepay.Draft{} },
			"paymentRuleType amountType frequency effectiveDate customerAccountNumber amount",
		},
		"nothing, v2": {
			func(d *positivepay.Draft) { *d = positivepay.Draft{Form: positivepay.Second} },
			"paymentRuleType amountType frequency effectiveDate customerAccountNumber amount",
		},
	} {
		draft := bare
		one.edit(&draft)
		_, err := b.PositivePay.Create(b.Staff(), draft, changes.RequestOptions{})
		if got := strings.Join(fields(err), " "); got != one.want {
			t.Errorf("%s: %q, want %q (%v)", name, got, one.want, err)
		}
	}
}

// fields are those that an error blames.
func fields(err error) (all []string) {
	var several fault.Faults
	if errors.As(err, &several) {
		for _, f := range several {
			all = append(all, f.Field)
		}
	} else if f, is := fault.Of(err); is {
		all = append(all, f.Field)
	}
	return all
}

func TestWhatCannotBeARuleIsRefused(t *testing.T) {
	t.Parallel()
	b := newDebited(t)
	other := b.Account(b.Customer())
	for name, one := range map[string]struct {
		edit  func(*positivepay.Draft)
		field string
		is    error
	}{
		"nothing":          {func(d *positivepay.Draft) { d.Amount = given.Of("0.00") }, "amount", nil},
		"less":             {func(d *positivepay.Draft) { d.Amount = given.Of("-1") }, "amount", nil},
		"a part of a cent": {func(d *positivepay.Draft) { d.Amount = given.Of("1.005") }, "amount", nil},
		"too much":         {func(d *positivepay.Draft) { d.Amount = given.Of("10000000000") }, "amount", nil},
		"no type":          {func(d *positivepay.Draft) { d.Type = "CHECK" }, "paymentRuleType", nil},
		"no amount type":   {func(d *positivepay.Draft) { d.AmountType = "ABOUT" }, "amountType", nil},
		"no frequency":     {func(d *positivepay.Draft) { d.Frequency = "Often" }, "frequency", nil},
		"no class":         {func(d *positivepay.Draft) { d.SECCode = given.Of("ABC") }, "secCode", nil},
		"no company": {
			func(d *positivepay.Draft) { d.ACHCompanyID = given.Of("910001122") },
			"achCompanyID", nil,
		},
		"no bank": {
			func(d *positivepay.Draft) { d.BeneficiaryBankID = given.Of("611590104") },
			"beneBankId", nil,
		},
		"no account": {
			func(d *positivepay.Draft) { d.BeneficiaryAccountNumber = given.Of("0000") },
			"beneAccountNumber", nil,
		},
		"masked": {
			func(d *positivepay.Draft) { d.BeneficiaryAccountNumber = given.Of("****5551") },
			"beneAccountNumber", nil,
		},
		"other money":       {func(d *positivepay.Draft) { d.Currency = given.Of("EUR") }, "currency", nil},
		"yesterday":         {func(d *positivepay.Draft) { d.EffectiveDate = day(-1) }, "effectiveDate", nil},
		"over as it begins": {func(d *positivepay.Draft) { d.ExpiryDate = given.Of(day(0)) }, "expiryDate", nil},
		"too many payments": {
			func(d *positivepay.Draft) { d.NumberOfPayments = new(int32(10000)) },
			"numberOfPayments", nil,
		},
		"less than no payment": {
			func(d *positivepay.Draft) { d.NumberOfPayments = new(int32(-1)) },
			"numberOfPayments", nil,
		},
		"another customer's name": {func(d *positivepay.Draft) {
			d.AccountNumber = given.Of(coretest.AccountNumber(other.UID))
			d.CustomerName = given.Of(b.of.ShortName)
		}, "customerName", nil},
		"nobody's account": {
			func(d *positivepay.Draft) { d.AccountNumber = given.Of("4711") }, "customerAccountNumber",
			positivepay.ErrAccount,
		},
		"a closed account": {func(d *positivepay.Draft) {
			d.Account = b.Account(b.of, func(a *accounts.Account) { a.Status = accounts.Closed }).UID
		}, "customerAccountNumber", positivepay.ErrAccountState},
		"an account in euros": {func(d *positivepay.Draft) {
			d.Account = b.Account(b.of, func(a *accounts.Account) { a.Currency = "EUR" }).UID
		}, "customerAccountNumber", positivepay.ErrAccountState},
	} {
		draft := b.draft()
		one.edit(&draft)
		_, err := b.PositivePay.Create(b.Staff(), draft, changes.RequestOptions{})
		if got := fields(err); !slices.Equal(got, []string{one.field}) ||
			one.is != nil && !errors.Is(err, one.is) {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	if found := b.finds(t, positivepay.Search{}); found != nil {
		t.Errorf("there are rules: %v", found)
	}
}

func TestARuleStaysWithItsTypeAndItsCustomer(t *testing.T) {
	t.Parallel()
	b := newDebited(t)
	uid, second, foreign := b.create(t), b.Account(b.of), b.Account(b.Customer())
	for name, one := range map[string]struct {
		draft positivepay.Draft
		field string
	}{
		"another type":       {positivepay.Draft{Type: positivepay.Fedwire}, "paymentRuleType"},
		"another customer's": {positivepay.Draft{Account: foreign.UID}, "customerAccountNumber"},
		"no name":            {positivepay.Draft{BeneficiaryName: given.Of("")}, "beneName"},
		"no originator":      {positivepay.Draft{ACHCompanyID: given.Of("")}, "achCompanyID"},
		"nothing":            {positivepay.Draft{}, "body"},
	} {
		_, err := b.PositivePay.Change(b.Staff(), uid, one.draft, changes.RequestOptions{})
		if got := fields(err); !slices.Equal(got, []string{one.field}) {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	draft := positivepay.Draft{
		AccountNumber: given.Of(coretest.AccountNumber(second.UID)), Type: positivepay.ACH,
		NumberOfPayments:         new(int32(3)),
		BeneficiaryAccountNumber: given.Of("****5551"),
	}
	if _, err := b.PositivePay.Change(b.Staff(), uid, draft, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if r, err := b.PositivePay.Find(b.Staff(), uid); err != nil || r.Account != second.UID ||
		*r.NumberOfPayments != 3 ||
		r.BeneficiaryNumber.Last4 != "5551" {
		t.Errorf("%+v %v", r, err)
	}
	if found := b.finds(t, positivepay.Search{BeneficiaryAccountNumber: "440055551"}); len(found) != 1 {
		t.Errorf("the number that was sent back masked is another one: %v", found)
	}
}

func TestASearchFindsRulesByAllThatTheySay(t *testing.T) {
	t.Parallel()
	b := newDebited(t)
	wire := b.Customer(coretest.Named("Wire Works LLC"))
	savings := b.Account(wire, func(a *accounts.Account) { a.SubType, a.BankID = accounts.Savings, "611590103" })
	first := b.create(t,
		func(d *positivepay.Draft) { d.ExpiryDate, d.IndividualID = given.Of(day(9)), given.Of("METER-7") })
	second := b.PositivePayRule(savings, func(r *positivepay.Rule) {
		r.UID, r.Type, r.ACHCompanyID, r.BeneficiaryName, r.Minor = 77, positivepay.ACH, "9100099999",
			"Quarry Finance", 25_000_50
		r.AmountType, r.Frequency, r.BeneficiaryBankName = positivepay.Exact, positivepay.OneTime, "Quay Bank"
	}).UID
	one, other := []positivepay.UID{first}, []positivepay.UID{second}
	for name, of := range map[string]struct {
		by   positivepay.Search
		want []positivepay.UID
	}{
		"all":            {positivepay.Search{}, []positivepay.UID{second, first}},
		"customer":       {positivepay.Search{Customer: wire.UID}, other},
		"customer name":  {positivepay.Search{CustomerName: strings.ToUpper(wire.ShortName)}, other},
		"account":        {positivepay.Search{Account: b.account.UID}, one},
		"account number": {positivepay.Search{AccountNumber: coretest.AccountNumber(savings.UID)}, other},
		"routing number": {positivepay.Search{RoutingNumber: "611590103"}, other},
		"27":             {positivepay.Search{TranCode: "27"}, one},
		"37":             {positivepay.Search{TranCode: "37"}, other},
		"55":             {positivepay.Search{TranCode: "55"}, nil},
		"type":           {positivepay.Search{Type: []positivepay.Type{positivepay.Fedwire}}, nil},
		"company":        {positivepay.Search{ACHCompanyID: "9100011223"}, one},
		"name":           {positivepay.Search{BeneficiaryName: "quarry"}, other},
		"bank":           {positivepay.Search{BeneficiaryBankID: "611590103"}, other},
		"bank name":      {positivepay.Search{BeneficiaryBankName: "QUAY"}, other},
		"their account":  {positivepay.Search{BeneficiaryAccountNumber: "440055551"}, one},
		"amount":         {positivepay.Search{Amount: "25000.5"}, other},
		"exact":          {positivepay.Search{AmountType: positivepay.Exact}, other},
		"frequency":      {positivepay.Search{Frequency: positivepay.BiWeekly}, one},
		"individual id":  {positivepay.Search{IndividualID: "METER-7"}, one},
		"effective":      {positivepay.Search{EffectiveDate: day(0)}, one},
		"expiry":         {positivepay.Search{ExpiryDate: day(9)}, one},
		"active": {
			positivepay.Search{Status: []positivepay.Status{positivepay.Active}},
			[]positivepay.UID{second, first},
		},
		"none": {positivepay.Search{Customer: wire.UID, Frequency: positivepay.BiWeekly}, nil},
	} {
		if got := b.finds(t, of.by); !slices.Equal(got, of.want) {
			t.Errorf("%s: %v, want %v", name, got, of.want)
		}
	}
	stranger := b.DownstreamPartner()
	found, err := b.PositivePay.Page(b.Partner(stranger),
		positivepay.Search{AccountNumber: coretest.AccountNumber(savings.UID)}, page.First(9))
	if err != nil || found.Items != nil || found.Total != 0 {
		t.Errorf("another partner finds %v %v", found, err)
	}
	if _, err := b.PositivePay.Create(b.Partner(stranger), b.draft(),
		changes.RequestOptions{}); !errors.Is(err, positivepay.ErrAccount) {
		t.Errorf("another partner makes a rule: %v", err)
	}
	if _, err := b.PositivePay.Find(b.Partner(stranger), first); !errors.Is(err, positivepay.ErrNotFound) {
		t.Errorf("another partner reads a rule: %v", err)
	}
	if _, err := b.PositivePay.Create(b.Reader(), b.draft(),
		changes.RequestOptions{}); !errors.Is(err, access.ErrDenied) {
		t.Errorf("a reader makes a rule: %v", err)
	}
}

// All rules of an account are read when a debit comes for it, beside those of others: one who makes rules
// without end would keep everybody's debits waiting.
func TestAnAccountHasSoManyRules(t *testing.T) {
	t.Parallel()
	b := newDebited(t)
	first := b.create(t)
	b.Exec(`INSERT INTO positive_pay_rules (tenant, uid, customer, account, type, ach_company_id, amount,
		currency, amount_type, frequency, sec_code, effective_date, state, created_at, updated_at, version)
		SELECT tenant, 20000000 + n, customer, account, type, ach_company_id, amount, currency, amount_type,
		frequency, sec_code, effective_date, state, created_at, updated_at, version
		FROM positive_pay_rules CROSS JOIN generate_series(1, 998) AS n WHERE tenant = ? AND uid = ?`,
		b.Tenant, first)
	last := b.create(t)
	_, err := b.PositivePay.Create(b.Staff(), b.draft(), changes.RequestOptions{})
	if !errors.Is(err, positivepay.ErrMany) {
		t.Errorf("one too many: %v", err)
	}
	another := b.Account(b.of)
	elsewhere := b.create(t, func(d *positivepay.Draft) {
		d.AccountNumber = given.Of(coretest.AccountNumber(another.UID))
	})
	moved := positivepay.Draft{Account: b.account.UID}
	_, err = b.PositivePay.Change(b.Staff(), elsewhere, moved, changes.RequestOptions{})
	if !errors.Is(err, positivepay.ErrMany) {
		t.Errorf("one that moves: %v", err)
	}
	kept := positivepay.Draft{Account: b.account.UID, Amount: given.Of("7")}
	if _, err := b.PositivePay.Change(b.Staff(), last, kept, changes.RequestOptions{}); err != nil {
		t.Errorf("one that stays: %v", err)
	}
	if _, err := b.PositivePay.Delete(b.Staff(), last, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	b.create(t)
}

// All rules of a partner's making are suspended at once when their customer leaves it, whichever of its
// accounts they are for.
func TestACustomerHasSoManyRules(t *testing.T) {
	t.Parallel()
	b := newDebited(t)
	first, another := b.create(t), b.Account(b.of)
	b.Exec(`INSERT INTO positive_pay_rules SELECT (jsonb_populate_record(r, jsonb_build_object('uid',
		r.uid + 20000000 + n, 'account', ?2))).* FROM positive_pay_rules AS r, generate_series(1, 4998) AS n
		WHERE r.tenant = ?0 AND r.uid = ?1`, b.Tenant, first, b.Account(b.of).UID)
	elsewhere := func(d *positivepay.Draft) {
		d.AccountNumber = given.Of(coretest.AccountNumber(another.UID))
	}
	last := b.create(t, elsewhere)
	d := b.draft()
	elsewhere(&d)
	_, err := b.PositivePay.Create(b.Staff(), d, changes.RequestOptions{})
	if !errors.Is(err, positivepay.ErrManyOfCustomer) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := b.PositivePay.Delete(b.Staff(), last, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	b.create(t, elsewhere)
}

// What the bank suspended nobody else gets by making it once more, or by making another rule into it.
func TestASuspendedRuleIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	a := b.Account(b.Customer(coretest.OwnedBy(partner)))
	by := b.Partner(partner)
	draft := func(company, amount string) positivepay.Draft {
		return positivepay.Draft{
			AccountNumber: given.Of(coretest.AccountNumber(a.UID)), Type: positivepay.ACH,
			ACHCompanyID: given.Of(company), Amount: given.Of(amount), AmountType: positivepay.Maximum,
			Frequency: positivepay.OnGoing, EffectiveDate: b.Now(), Form: positivepay.Second,
		}
	}
	const stopped, another = "9100011223", "9100099999"
	create := func(by context.Context, company, amount string) (positivepay.UID, error) {
		out, err := b.PositivePay.Create(by, draft(company, amount), changes.RequestOptions{})
		return out.Result.UID, err
	}
	must := func(uid positivepay.UID, err error) positivepay.UID {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return uid
	}
	suspend := func(by context.Context, uid positivepay.UID) {
		t.Helper()
		_, err := b.PositivePay.Suspend(by, uid, changes.RequestOptions{})
		must(uid, err)
	}
	first, twin := must(create(by, stopped, "50.00")), must(create(by, stopped, "70.00"))
	other := must(create(by, another, "50.00"))
	suspend(by, twin)
	suspend(b.Staff(), first)
	for name, done := range map[string]func() error{
		"made again":         func() error { _, err := create(by, stopped, "50.00"); return err },
		"for a little less":  func() error { _, err := create(by, stopped, "49.99"); return err },
		"for whoever debits": func() error { _, err := create(by, "", "50.00"); return err },
		"one's own activated": func() error {
			_, err := b.PositivePay.Activate(by, twin, changes.RequestOptions{})
			return err
		},
		"another one changed": func() error {
			_, err := b.PositivePay.Change(by, other, positivepay.Draft{ACHCompanyID: given.Of(stopped)},
				changes.RequestOptions{})
			return err
		},
		"itself changed": func() error {
			_, err := b.PositivePay.Change(by, first, positivepay.Draft{ACHCompanyID: given.Of("9100088888")},
				changes.RequestOptions{})
			return err
		},
	} {
		if err := done(); !errors.Is(err, positivepay.ErrWider) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(create(by, "9100077777", "50.00"))
	must(create(b.Staff(), stopped, "50.00"))
}

// A rule lets through no more than its person could have decided on debit by debit: approving, and for
// requests, which are met by payments, paying, too.
func TestARuleIsWithinTheLimitsOfWhoMakesIt(t *testing.T) {
	t.Parallel()
	approves, pays := access.ApprovedPerPayment, access.PerPayment
	for name, c := range map[string]struct {
		kind   positivepay.Type
		limit  string
		amount string
		fits   bool
	}{
		"debits up to what one approves":     {positivepay.ACH, approves, "100.00", true},
		"debits above what one approves":     {positivepay.ACH, approves, "100.01", false},
		"debits, which nobody here pays":     {positivepay.ACH, pays, "100.01", true},
		"requests up to what one pays":       {positivepay.Instant, pays, "100.00", true},
		"requests above what one pays":       {positivepay.Instant, pays, "100.01", false},
		"drawdowns above what one pays":      {positivepay.Fedwire, pays, "100.01", false},
		"requests above what one approves":   {positivepay.Instant, approves, "100.01", false},
		"requests up to what one approves":   {positivepay.Instant, approves, "100.00", true},
		"drawdowns up to what one approves":  {positivepay.Fedwire, approves, "100.00", true},
		"drawdowns above what one approves":  {positivepay.Fedwire, approves, "100.01", false},
		"requests, by a limit of other acts": {positivepay.Instant, access.PaidPerDay, "100.01", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newDebited(t)
			clerk := b.limited(t, c.limit)
			edit := func(d *positivepay.Draft) {
				b.ofType(d, c.kind)
				d.Amount = given.Of(c.amount)
			}
			is := func(did string, err error) {
				t.Helper()
				if c.fits != (err == nil) || err != nil && !errors.Is(err, positivepay.ErrOwnLimit) {
					t.Errorf("%s: %v", did, err)
				}
			}
			d := b.draft()
			edit(&d)
			_, err := b.PositivePay.Create(clerk, d, changes.RequestOptions{})
			is("made", err)
			small := b.create(t, edit, func(d *positivepay.Draft) { d.Amount = given.Of("1.00") })
			_, err = b.PositivePay.Change(clerk, small, positivepay.Draft{Amount: given.Of(c.amount)},
				changes.RequestOptions{})
			is("changed", err)
			uid := b.create(t, edit)
			if _, err := b.PositivePay.Suspend(clerk, uid, changes.RequestOptions{}); err != nil {
				t.Errorf("suspended: %v", err)
			}
			_, err = b.PositivePay.Activate(clerk, uid, changes.RequestOptions{})
			is("activated", err)
			if _, err := b.PositivePay.Delete(clerk, uid, changes.RequestOptions{}); err != nil {
				t.Errorf("deleted: %v", err)
			}
		})
	}
}

// Who approves a rule is bound by what they may approve, and not by what they may pay.
func TestARuleIsWithinTheLimitsOfWhoApprovesIt(t *testing.T) {
	t.Parallel()
	for limit, fits := range map[string]bool{access.ApprovedPerPayment: false, access.PerPayment: true} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			b := newDebited(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
			d := b.draft()
			b.ofType(&d, positivepay.Instant)
			d.Amount = given.Of("100.01")
			out, err := b.PositivePay.Create(b.Someone("maker"), d, changes.RequestOptions{})
			if err != nil || out.Approval == 0 {
				t.Fatal(out, err)
			}
			_, err = b.Changes.Approve(b.limited(t, limit), changes.UID(out.Approval), changes.RequestOptions{})
			if fits != (err == nil) || err != nil && !errors.Is(err, positivepay.ErrOwnLimit) {
				t.Error(err)
			}
		})
	}
}

// ofType makes a draft one of a type.
func (b *debited) ofType(d *positivepay.Draft, kind positivepay.Type) {
	if d.Type = kind; kind != positivepay.ACH {
		d.ACHCompanyID, d.BeneficiaryBankID = given.Text{}, given.Of("611590103")
		d.CustomerName = given.Of(b.of.ShortName)
	}
}

// limited is somebody whose roles bound one payment to 100.00.
func (b *debited) limited(t *testing.T, limit string) context.Context {
	t.Helper()
	caller, err := access.Require(b.Someone("clerk"))
	if err != nil {
		t.Fatal(err)
	}
	caller.Limits = []access.ApplicationLimits{{Name: access.OfPayments, Limits: []access.Limit{
		{Name: limit, Minor: 100_00, Currency: "USD"},
	}}}
	return access.With(t.Context(), caller)
}

// A rule of requests pays them unseen: who agrees to it may approve payments.
func TestWhoApprovesARuleOfRequestsMayApprovePayments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		may  []access.Permission
		want error
	}{
		"no payment": {[]access.Permission{access.ManagePositiveRules}, access.ErrDenied},
		"payments":   {[]access.Permission{access.ManagePositiveRules, access.ApprovePayments}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newDebited(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
			d := b.draft()
			b.ofType(&d, positivepay.Instant)
			out, err := b.PositivePay.Create(b.Someone("maker"), d, changes.RequestOptions{})
			if err != nil || out.Approval == 0 {
				t.Fatal(out, err)
			}
			caller, err := access.Require(b.Someone("clerk"))
			if err != nil {
				t.Fatal(err)
			}
			caller.Permissions = c.may
			_, err = b.Changes.Approve(access.With(t.Context(), caller), changes.UID(out.Approval),
				changes.RequestOptions{})
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}
