package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/given"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/probes"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// routing is a routing number with a correct check digit.
const routing = "611090001" // of the accounts that coretest makes

// opening returns the draft of a checking account in the bank's own books.
func opening(number string, edits ...func(*accounts.Draft)) accounts.Draft {
	deposit, checking, core, usd := accounts.Deposit, accounts.Checking, accounts.InternalCore,
		money.Currency("USD")
	d := accounts.Draft{
		Name: given.Of("Vendor Payments"), Number: given.Of(number), Type: &deposit, SubType: &checking,
		SystemOfRecord: &core, Currency: &usd, CountryCode: given.Of("USA"), BankID: given.Of(routing),
		MasterGL: given.Of("201000"),
	}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

// open opens an account; the test fails if it cannot.
func open(
	t *testing.T, bank *coretest.Bank, of *customers.Customer, number string, edits ...func(*accounts.Draft),
) *accounts.Account {
	t.Helper()
	out, err := bank.Accounts.Open(bank.Staff(), of.UID, opening(number, edits...), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return read(t, bank, out.Result.UID)
}

func read(t *testing.T, bank *coretest.Bank, uid accounts.UID) *accounts.Account {
	t.Helper()
	a, err := find(t, bank, bank.Staff(), uid, db.Columns{})
	if err != nil || a == nil {
		t.Fatalf("account %s: %v %v", uid, a, err)
	}
	return a
}

func change(bank *coretest.Bank, a *accounts.Account, draft accounts.Draft) error {
	_, err := bank.Accounts.Change(bank.Staff(), a.Customer, a.UID, draft, changes.RequestOptions{})
	return err
}

// blames reports whether err is exactly one fault, with this field and problem.
func blames(err error, field string, problem fault.Problem) bool {
	f, ok := fault.Of(err)
	return ok && f.Field == field && f.Problem == problem && f.Kind == fault.Invalid
}

func TestANewAccountIsInTheBooksAndEmpty(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	a := open(t, bank, bank.Customer(), "4000700001")
	if a.Status != accounts.Active || a.CountryCode != "US" || a.Country != "United States" ||
		a.BankIDType != accounts.NID || a.Version != 1 ||
		a.Number.Last4 != "0001" || a.BalanceType != "DDA" || a.EnableWires || a.EnableACH {
		t.Errorf("%+v", a)
	}
	if b := a.Balances(); b == nil || b.Ledger.Minor != 0 || b.Available.String() != "0.00" {
		t.Errorf("%+v", b)
	}
	if got := byNumber(t, bank, bank.Staff(), "4000700001"); got == nil || got.UID != a.UID {
		t.Errorf("by its number: %v", got)
	}
	bank.Prove()
}

func TestAnAccountThatAnotherCoreKeepsIsNotInTheBooks(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	elsewhere := accounts.OtherCore
	a := open(t, bank, bank.Customer(), "4000700002", func(d *accounts.Draft) { d.SystemOfRecord = &elsewhere })
	if a.Balances() != nil {
		t.Errorf("%+v", a.Balances())
	}
	core := accounts.InternalCore
	if err := change(bank, a, accounts.Draft{SystemOfRecord: &core}); err != nil {
		t.Fatal(err)
	}
	if a = read(t, bank, a.UID); a.Balances() == nil || a.Version != 2 {
		t.Errorf("%+v", a)
	}
	bank.Prove()
}

func gives[T any](value T) *T { return &value }

func TestWhatIsWrongWithANewAccountIsToldAtOnce(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	_, err := bank.Accounts.Open(bank.Staff(), bank.Customer().UID, accounts.Draft{
		Name: given.Of("Söhne & Co"), Number: given.Of("12-34"), CountryCode: given.Of("Narnia"),
		MasterGL:             given.Of(strings.Repeat("1", 101)),
		AdditionalAttributes: []customers.Attribute{{Name: "Desk", Value: "1"}, {Name: "Desk"}},
		Features: accounts.FeaturesDraft{
			CallbackLimit: given.Of("1000000000"), DebitExposureLimit: given.Of("-1"),
			ACHCompanyID: given.Of("12345678901"), SECCodes: []string{"CCX"},
		},
	}, changes.RequestOptions{})
	var all fault.Faults
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	told := map[string]fault.Problem{}
	for _, f := range all {
		told[f.Field] = f.Problem
	}
	for field, problem := range map[string]fault.Problem{
		"accountName": fault.Malformed, "accountNumber": fault.Malformed, "countryCode": fault.Malformed,
		"masterGl": fault.Max, "routingNumber": fault.Required,
		"accountType": fault.Required, "accountSubType": fault.Required, "currency": fault.Required,
		"systemOfRecords": fault.Required,
		"callbackLimit":   fault.Max, "debitExposureLimit": fault.Min, "achCompanyId": fault.Max,
		"secCodes[0]":                   fault.Malformed,
		"additionalAttributes[1].value": fault.Required, "additionalAttributes[1].attributeName": fault.NoMatch,
	} {
		if told[field] != problem {
			t.Errorf("%s: %q, want %s", field, told[field], problem)
		}
	}
}

func TestTheRulesBetweenTheFieldsOfAnAccount(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer, stranger := bank.Customer(), bank.Customer()
	behind, theirs := bank.Account(customer), bank.Account(stranger)
	shut := bank.Account(customer, func(a *accounts.Account) { a.Status = accounts.Closed })
	yes, no := given.Of(true), given.Of(false)
	type d = accounts.Draft
	pseudo := func(number string) func(*d) {
		return func(x *d) { x.SubType, x.FBONumber = gives(accounts.Pseudo), given.Of(number) }
	}
	inFront := bank.Account(customer, func(a *accounts.Account) {
		a.SubType = accounts.Pseudo
		a.FBONumber = bank.Keys.Seal(coretest.AccountNumber(behind.UID),
			seal.Place{Tenant: int64(bank.Tenant), Column: accounts.FBONumberColumn, Row: int64(a.UID)})
	})
	for i, one := range []struct {
		field   string
		problem fault.Problem
		edit    func(*d)
	}{
		{"", "", func(*d) {}},
		{"accountSubType", fault.NoMatch, func(x *d) { x.Type = gives(accounts.Loan) }},
		{"", "", func(x *d) { x.Type, x.SubType = gives(accounts.Loan), gives(accounts.Heloc) }},
		{"", "", func(x *d) { x.SubType = gives(accounts.HealthSavings) }},
		{"fboAccountNumber", fault.Required, func(x *d) { x.SubType = gives(accounts.Pseudo) }},
		{"fboAccountNumber", fault.Unknown, pseudo("9999999")},
		{"fboAccountNumber", fault.Unknown, pseudo(coretest.AccountNumber(theirs.UID))},
		{"fboAccountNumber", fault.NoMatch, pseudo(coretest.AccountNumber(shut.UID))},
		{"fboAccountNumber", fault.NoMatch, pseudo(coretest.AccountNumber(inFront.UID))},
		{"fboAccountNumber", fault.NoMatch, func(x *d) { pseudo(x.Number.Value)(x) }},
		{"", "", pseudo(coretest.AccountNumber(behind.UID))},
		{"callbackLimit", fault.Forbidden, func(x *d) {
			pseudo(coretest.AccountNumber(behind.UID))(x)
			x.Features.Wires, x.Features.DomesticWires, x.Features.Callbacks, x.Features.CallbackLimit = yes, yes, yes,
				given.Of("10")
		}},
		{"enableWire", fault.NoMatch, func(x *d) { x.Features.Wires = yes }},
		{"enableWire", fault.NoMatch, func(x *d) { x.Features.Wires, x.Features.DomesticWires = no, yes }},
		{"enableWire", fault.NoMatch, func(x *d) { x.Features.InternationalWires = yes }},
		{"", "", func(x *d) { x.Features.Wires, x.Features.InternationalWires = yes, yes }},
		{
			"enableCallbacks", fault.NoMatch,
			func(x *d) { x.Features.Wires, x.Features.InternationalWires, x.Features.Callbacks = yes, yes, yes },
		},
		{"callbackLimit", fault.NoMatch, func(x *d) { x.Features.CallbackLimit = given.Of("5") }},
		{"callbackLimit", fault.Malformed, func(x *d) {
			x.Currency = gives(money.Currency("JPY"))
			x.Features.Wires, x.Features.DomesticWires, x.Features.Callbacks, x.Features.CallbackLimit = yes, yes, yes,
				given.Of("0.5")
		}},
		{"enableACH", fault.NoMatch, func(x *d) { x.Features.Underwritten = yes }},
		{"enableACH", fault.NoMatch, func(x *d) { x.Features.SECCodes = []string{"PPD"} }},
		{"enableACH", fault.NoMatch, func(x *d) { x.Features.ACHCompanyID = given.Of("1") }},
		{"achCompanyId", fault.Required, func(x *d) { x.Features.ACH = yes }},
		{
			"achCompanyId", fault.Malformed,
			func(x *d) { x.Features.ACH, x.Features.ACHCompanyID = yes, given.Of("1 2") },
		},
		{"enableAchPrefund", fault.NoMatch, func(x *d) {
			x.Features.ACH, x.Features.ACHCompanyID, x.Features.Underwritten, x.Features.ACHPrefund = yes,
				given.Of("11"), yes, yes
		}},
		{"creditExposureLimit", fault.NoMatch, func(x *d) {
			x.Features.ACH, x.Features.ACHCompanyID, x.Features.ACHPrefund, x.Features.CreditExposureLimit = yes,
				given.Of("12"), yes, given.Of("1")
		}},
		{"", "", func(x *d) {
			x.Features.ACH, x.Features.ACHCompanyID, x.Features.ACHPrefund, x.Features.DebitExposureLimit = yes,
				given.Of("13"), yes, given.Of("1")
		}},
		{"debitExposureLimit", fault.NoMatch, func(x *d) {
			x.Features.ACH, x.Features.ACHCompanyID, x.Features.DebitExposureLimit = yes, given.Of("14"), given.Of("1")
		}},
		{"defaultOffset", fault.NoMatch, func(x *d) {
			x.Features.ACH, x.Features.ACHCompanyID, x.Features.Offset, x.Features.DefaultOffset = yes, given.Of("15"),
				no, yes
		}},
		{"routingNumber", fault.Malformed, func(x *d) { x.BankID = given.Of("021000022") }},
		{
			"routingNumber", fault.Malformed,
			func(x *d) { x.BankID, x.BankIDType = given.Of("021000021"), gives(accounts.BIC) },
		},
		{
			"routingNumber", fault.Number,
			func(x *d) { x.BankID, x.BankIDType = given.Of("FBNKUS33"), gives(accounts.NID) },
		},
		{"", "", func(x *d) { x.BankID = given.Of("fbnkus33") }},
		{"", "", func(x *d) { x.BankID, x.CountryCode = given.Of("200415"), given.Of("gb") }},
	} {
		_, err := bank.Accounts.Open(bank.Staff(), customer.UID, opening(fmt.Sprintf("40008%05d", i), one.edit),
			changes.RequestOptions{})
		if one.field == "" && err != nil || one.field != "" && !blames(err, one.field, one.problem) {
			t.Errorf("%d: %v, want %s %s", i, err, one.field, one.problem)
		}
	}
	bank.Prove()
}

func TestASwitchThatGoesOffTakesWithItWhatHangsOnIt(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	yes, no := given.Of(true), given.Of(false)
	a := open(t, bank, bank.Customer(), "4000700003", func(d *accounts.Draft) {
		d.Features = accounts.FeaturesDraft{
			Wires: yes, DomesticWires: yes, InternationalWires: yes, Callbacks: yes, CallbackLimit: given.Of("100"),
			ACH: yes, ACHCompanyID: given.Of("77"), Underwritten: yes, DebitExposureLimit: given.Of("5"),
			CreditExposureLimit: given.Of("6.5"), SECCodes: []string{"ppd", "PPD", "web"}, FedNow: yes,
			FedNowSend: yes, FedNowRFPSend: yes, RTP: yes, RTPSend: yes,
		}
	})
	if !a.EnableSWIFT || !a.RFPReceive || !a.RFPSend || !a.DefaultOffset || !a.EnableOffset ||
		fmt.Sprint(a.SECCodes) != "[PPD WEB]" ||
		*a.CallbackLimit != 100_00 || *a.CreditExposureLimit != 6_50 {
		t.Errorf("%+v", a)
	}
	for _, off := range []accounts.FeaturesDraft{{Wires: no}, {FedNow: no}, {ACH: no}} {
		if err := change(bank, a, accounts.Draft{Features: off}); err != nil {
			t.Fatal(err)
		}
	}
	a = read(t, bank, a.UID)
	if a.EnableDomesticWires || a.EnableInternationalWires || a.EnableSWIFT || a.EnableCallbacks ||
		a.CallbackLimit != nil || a.FedNowSend || a.FedNowRFPSend ||
		a.RFPSend || !a.RFPReceive || !a.RTPSend || a.EnableOffset || a.DefaultOffset || a.Underwritten ||
		a.DebitExposureLimit != nil ||
		a.CreditExposureLimit != nil || a.ACHCompanyID != "" || len(a.SECCodes) != 0 || a.Version != 4 {
		t.Errorf("%+v", a)
	}
	if err := change(bank, a, accounts.Draft{Features: accounts.FeaturesDraft{FedNowSend: yes}}); err != nil ||
		read(t, bank, a.UID).FedNowSend {
		t.Errorf("sending counts without the master switch: %v", err)
	}
}

func TestTheOlderInterfacesHaveOneSwitchForWiresAndNoneForACH(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	a := open(t, bank, customer, "4000700004", func(d *accounts.Draft) {
		d.Older, d.Features.Wires, d.Features.ACHCompanyID, d.Features.Callbacks = true, given.Of(true),
			given.Of("4711"), given.Of(true)
	})
	if !a.EnableWires || !a.EnableDomesticWires || a.EnableInternationalWires || !a.EnableACH ||
		!a.DefaultOffset || !a.EnableCallbacks {
		t.Errorf("%+v", a)
	}
	if err := change(bank, a,
		accounts.Draft{Older: true, Features: accounts.FeaturesDraft{Wires: given.Of(false)}}); err != nil {
		t.Fatal(err)
	}
	if a = read(t, bank, a.UID); a.EnableWires || a.EnableDomesticWires || a.EnableCallbacks || !a.EnableACH {
		t.Errorf("%+v", a)
	}
	open(t, bank, customer, "4000700005",
		func(d *accounts.Draft) { d.Older, d.Features.Offset = true, given.Of(true) })
	if err := change(bank, a, accounts.Draft{Older: true}); !blames(err, "body", fault.Required) {
		t.Errorf("nothing is changed: %v", err)
	}
}

func TestAnACHCompanyIDHasOneDefaultOffsetAccount(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	ach := func(d *accounts.Draft) {
		d.Features.ACH, d.Features.ACHCompanyID = given.Of(true), given.Of("ABC")
	}
	// Of several that are opened at once exactly one is the first.
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			if _, err := bank.Accounts.Open(bank.Staff(), customer.UID, opening(fmt.Sprintf("40009%05d", i), ach),
				changes.RequestOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var first, other accounts.UID
	err := bank.DB.NewRaw(
		`SELECT (SELECT uid FROM accounts WHERE tenant = ?0 AND customer = ?1 AND default_offset),
		(SELECT max(uid) FROM accounts WHERE tenant = ?0 AND customer = ?1 AND NOT default_offset)`,
		bank.Tenant, customer.UID).Scan(t.Context(), &first, &other)
	if err != nil || first == 0 || other == 0 {
		t.Fatal(first, other, err)
	}
	yes, no := accounts.Draft{Features: accounts.FeaturesDraft{DefaultOffset: given.Of(true)}},
		accounts.Draft{Features: accounts.FeaturesDraft{DefaultOffset: given.Of(false)}}
	one, another := read(t, bank, first), read(t, bank, other)
	if err := change(bank, another, yes); !errors.Is(err, accounts.ErrOffsetTaken) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := bank.Accounts.Close(bank.Staff(), 0, first,
		changes.RequestOptions{}); !errors.Is(err, accounts.ErrDefaultOffset) {
		t.Errorf("the others lose theirs: %v", err)
	}
	if err := errors.Join(change(bank, one, no), change(bank, another, yes)); err != nil {
		t.Errorf("handed over: %v", err)
	}
	// Another customer's ids are its own.
	if a := open(t, bank, bank.Customer(), "4000700006", ach); !a.DefaultOffset {
		t.Error("another customer's first account is not its default")
	}
}

func TestAnAccountWhoseOpeningIsRefusedIsNoDefaultOffsetAccount(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	ach := func(d *accounts.Draft) { d.Features.ACH, d.Features.ACHCompanyID = given.Of(true), given.Of("ABC") }
	never := func(d *accounts.Draft) { ach(d); d.Features.DefaultOffset = given.Of(false) }
	asked := func(of *customers.Customer, number string, edit func(*accounts.Draft)) (accounts.UID,
		changes.UID,
	) {
		t.Helper()
		out, err := bank.Accounts.Open(bank.Staff(), of.UID, opening(number, edit), changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(out, err)
		}
		return out.Result.UID, changes.UID(out.Approval)
	}
	decide := func(
		decision func(context.Context, changes.UID, changes.RequestOptions) (changes.Outcome[changes.UID], error),
		approval changes.UID,
	) {
		t.Helper()
		if _, err := decision(bank.Checker(), approval, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	// The second is open when the first is refused.
	one := bank.Customer(dual)
	_, first := asked(one, "4000700031", ach)
	second, waits := asked(one, "4000700032", ach)
	decide(bank.Changes.Approve, waits)
	third, later := asked(one, "4000700033", ach)
	decide(bank.Changes.Refuse, first)
	decide(bank.Changes.Approve, later)
	if a := read(t, bank, second); !a.DefaultOffset || !a.EnableOffset || read(t, bank, third).DefaultOffset {
		t.Errorf("handed on: %+v", a)
	}
	// The second waits when the first is refused.
	other := bank.Customer(dual)
	_, first = asked(other, "4000700034", ach)
	second, waits = asked(other, "4000700035", ach)
	decide(bank.Changes.Refuse, first)
	decide(bank.Changes.Approve, waits)
	if a := read(t, bank, second); !a.DefaultOffset || !a.EnableOffset {
		t.Errorf("the first that is approved: %+v", a)
	}
	// Who asked for none has none.
	third, waits = asked(bank.Customer(dual), "4000700036", never)
	decide(bank.Changes.Approve, waits)
	if read(t, bank, third).DefaultOffset {
		t.Error("an account that is to be no default is one")
	}
	bank.Prove()
}

func TestWithATypeGoesItsSubType(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	a := bank.Account(bank.Customer())
	if err := change(bank, a,
		accounts.Draft{Type: gives(accounts.Loan)}); !blames(err, "accountSubType", fault.Required) {
		t.Error(err)
	}
	if err := change(bank, a,
		accounts.Draft{SubType: gives(accounts.CreditCard)}); !blames(err, "accountSubType", fault.NoMatch) {
		t.Error(err)
	}
}

func TestAnAccountNumberIsUniqueInTheBank(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	ours, banks := bank.Customer(coretest.OwnedBy(partner)), bank.Customer()
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		of := []*customers.Customer{ours, banks}[i%2]
		all.Go(func() {
			_, errs[i] = bank.Accounts.Open(bank.Staff(), of.UID, opening("4000700007"), changes.RequestOptions{})
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		f, ok := fault.Of(err)
		if !ok || !errors.Is(err, accounts.ErrNumberTaken) || f.Kind != fault.Conflict ||
			f.Field != "accountNumber" || strings.Contains(err.Error(), "4000700007") {
			t.Errorf("%v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d have the number", won)
	}
	a := bank.Account(ours)
	if err := change(bank, a,
		accounts.Draft{Number: given.Of("4000700007")}); !errors.Is(err, accounts.ErrNumberTaken) {
		t.Errorf("on a change: %v", err)
	}
	other := bank.Other()
	if _, err := other.Accounts.Open(other.Staff(), other.Customer().UID, opening("4000700007"),
		changes.RequestOptions{}); err != nil {
		t.Errorf("another bank has numbers of its own: %v", err)
	}
	bank.Prove()
}

// A number that cannot be had tells that somebody has it.
func TestNumbersAreTriedOutOnlySoOftenInAMinute(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	theirs, mine := bank.Account(bank.Customer()), bank.Account(bank.Customer(coretest.OwnedBy(partner)))
	taken := accounts.Draft{Number: given.Of(coretest.AccountNumber(theirs.UID))}
	caller := bank.Partner(partner)
	try := func(draft accounts.Draft) error {
		_, err := bank.Accounts.Change(caller, 0, mine.UID, draft, changes.RequestOptions{})
		return err
	}
	opens := func() error {
		_, err := bank.Accounts.Open(caller, mine.Customer, opening(taken.Number.Value), changes.RequestOptions{})
		return err
	}
	for i := range 598 {
		if _, err := bank.Accounts.Lookup(caller, strconv.Itoa(i), ""); err != nil {
			t.Fatal(err)
		}
	}
	for name, err := range map[string]error{"changed": try(taken), "opened": opens()} {
		if !errors.Is(err, accounts.ErrNumberTaken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, found := bank.Accounts.Lookup(caller, "1", "")
	free := accounts.Draft{Number: given.Of("4000900009")}
	for name, err := range map[string]error{
		"looked up": found, "changed": try(taken), "opened": opens(), "a free number": try(free),
	} {
		if !errors.Is(err, probes.ErrMany) {
			t.Errorf("%s after 600: %v", name, err)
		}
	}
	if err := try(accounts.Draft{Name: given.Of("Payroll")}); err != nil {
		t.Errorf("what has nothing to do with numbers: %v", err)
	}
	if err := change(bank, theirs, taken); err != nil {
		t.Errorf("another caller: %v", err)
	}
	bank.Clock.Advance(time.Minute)
	if err := try(free); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

// An account that gets a number tells that nobody has it, and can give it back with the next change.
func TestNumbersThatChangesGetCountAsTriedOut(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	mine := bank.Account(bank.Customer(coretest.OwnedBy(partner)), coretest.Holding(0, 0),
		func(a *accounts.Account) { a.SystemOfRecord = accounts.External })
	caller := bank.Partner(partner)
	who, err := access.Require(caller)
	if err != nil {
		t.Fatal(err)
	}
	change := func(draft accounts.Draft) error {
		_, err := bank.Accounts.Change(caller, 0, mine.UID, draft, changes.RequestOptions{})
		return err
	}
	if err := bank.Probes.Add(who, 599); err != nil {
		t.Fatal(err)
	}
	first := accounts.Draft{Number: given.Of("4000900001"), Name: given.Of("Payroll")}
	if err := change(first); err != nil {
		t.Fatal(err)
	}
	if err := change(accounts.Draft{Number: given.Of("4000900002")}); !errors.Is(err, probes.ErrMany) {
		t.Errorf("changed after 600: %v", err)
	}
	bank.Clock.Advance(time.Minute)
	if err := bank.Probes.Add(who, 599); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Rents", "Wages"} { // the number that the account has already
		first.Name = given.Of(name)
		if err := change(first); err != nil {
			t.Errorf("its own number: %v", err)
		}
	}
	if _, err := bank.Accounts.Open(caller, mine.Customer, opening("4000900003"),
		changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := bank.Accounts.Open(caller, mine.Customer, opening("4000900004"),
		changes.RequestOptions{}); !errors.Is(err, probes.ErrMany) {
		t.Errorf("opened after 600: %v", err)
	}
}

// What is refused for another reason beside a number that could be had leaves no trace, and tells that nobody
// has the number.
func TestNumbersBesideOtherFaultsCountAsTriedOut(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	mine := bank.Account(bank.Customer(coretest.OwnedBy(partner)))
	caller := bank.Partner(partner)
	for i := range 599 {
		if _, err := bank.Accounts.Lookup(caller, strconv.Itoa(i), ""); err != nil {
			t.Fatal(err)
		}
	}
	try := func(caller context.Context) error {
		_, err := bank.Accounts.Change(caller, 0, mine.UID, accounts.Draft{
			Number: given.Of("4000900009"), FBONumber: given.Of("4000900008"),
		}, changes.RequestOptions{})
		return err
	}
	ended, end := context.WithCancel(caller)
	end()
	if err := try(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the bank does not answer: %v", err) // which tells nothing, and does not count
	}
	if err := try(caller); err == nil || errors.Is(err, probes.ErrMany) {
		t.Errorf("the 600th: %v", err)
	}
	if err := try(caller); !errors.Is(err, probes.ErrMany) {
		t.Errorf("after 600: %v", err)
	}
}

func TestTheStatesOfAnAccount(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	for status, want := range map[accounts.Status][2]error{
		accounts.Active: {accounts.ErrActive, nil}, accounts.Inactive: {nil, nil}, accounts.Suspended: {nil, nil},
		accounts.StatusNew: {nil, nil},
		accounts.Pending:   {nil, nil}, accounts.Closed: {accounts.ErrClosed, accounts.ErrClosed},
		accounts.Deceased: {accounts.ErrClosed, accounts.ErrClosed},
	} {
		for i, action := range []accounts.Action{accounts.Activate, accounts.Close} {
			a := bank.Account(customer, coretest.Holding(0, 0), func(a *accounts.Account) { a.Status = status })
			_, err := bank.Accounts.Act(bank.Staff(), customer.UID, a.UID, action,
				changes.RequestOptions{Reason: "asked for"})
			if !errors.Is(err, want[i]) || (err == nil) != (want[i] == nil) {
				t.Errorf("%s %s: %v, want %v", action, status, err, want[i])
			}
			now := read(t, bank, a.UID)
			if became := map[accounts.Action]accounts.Status{
				accounts.Activate: accounts.Active, accounts.Close: accounts.Closed,
			}[action]; err == nil && (now.Status != became || now.Reason != "asked for") ||
				err != nil && now.Status != status {
				t.Errorf("%s %s: %s", action, status, now.Status)
			}
		}
		a := bank.Account(customer, func(a *accounts.Account) { a.Status = status })
		err := change(bank, a, accounts.Draft{Name: given.Of("Renamed")})
		if final := status == accounts.Closed ||
			status == accounts.Deceased; final != errors.Is(err, accounts.ErrClosed) || !final && err != nil {
			t.Errorf("changed while %s: %v", status, err)
		}
	}
}

func TestWhatNeedsAnAccountKeepsItOpen(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	empty := coretest.Holding(0, 0)
	full, held := bank.Account(customer), bank.Account(customer, empty)
	bank.Exec(`UPDATE balances SET held = 1, overdraft = 1 WHERE tenant = ? AND account = ?`, bank.Tenant,
		held.UID)
	behind, swept, charged := bank.Account(customer, empty), bank.Account(customer, empty),
		bank.Account(customer, empty)
	inFront := bank.Account(customer, empty, func(a *accounts.Account) {
		a.SubType = accounts.Pseudo
		a.FBONumber = bank.Keys.Seal(coretest.AccountNumber(behind.UID),
			seal.Place{Tenant: int64(bank.Tenant), Column: accounts.FBONumberColumn, Row: int64(a.UID)})
	})
	contact := bank.Contact(customer)
	bank.Sweep(swept, func(w *accounts.Sweep) { w.ToContact = &contact.UID })
	bank.Fee(customer, func(f *fees.Tier) { f.Account = &charged.UID })
	free := bank.Account(customer, empty)
	bank.Fee(customer, func(f *fees.Tier) { f.Account, f.Status = &free.UID, fees.Refused })
	elsewhere := bank.Account(customer, func(a *accounts.Account) { a.SystemOfRecord = accounts.External })
	for name, one := range map[string]struct {
		account *accounts.Account
		want    error
	}{
		"money": {full, accounts.ErrMoney}, "held": {held, accounts.ErrMoney},
		"behind": {behind, accounts.ErrInFront},
		"swept":  {swept, accounts.ErrSwept}, "charged": {charged, accounts.ErrCharged},
		"kept elsewhere":         {elsewhere, nil},
		"a fee tier was refused": {free, nil},
	} {
		_, err := bank.Accounts.Delete(bank.Staff(), customer.UID, one.account.UID, changes.RequestOptions{})
		if !errors.Is(err, one.want) {
			t.Errorf("delete, %s: %v", name, err)
		}
		if one.want == nil {
			continue
		}
		if _, err := bank.Accounts.Close(bank.Staff(), customer.UID, one.account.UID,
			changes.RequestOptions{}); !errors.Is(err, one.want) {
			t.Errorf("close, %s: %v", name, err)
		}
	}
	if err := change(bank, behind,
		accounts.Draft{Number: given.Of("4000700010")}); !errors.Is(err, accounts.ErrInFront) {
		t.Errorf("its number: %v", err)
	}
	if _, err := bank.Accounts.Close(bank.Staff(), customer.UID, inFront.UID,
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := bank.Accounts.Close(bank.Staff(), customer.UID, behind.UID,
		changes.RequestOptions{}); err != nil {
		t.Errorf("a closed Pseudo account needs nothing: %v", err)
	}
}

func TestADeletedAccountLeavesTheBooksAsTheyAre(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	a := open(t, bank, customer, "4000700011")
	if _, err := bank.Accounts.Delete(bank.Staff(), customer.UID, a.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := find(t, bank, bank.Staff(), a.UID, db.Columns{}); got != nil {
		t.Errorf("%+v", got)
	}
	_, err := bank.Accounts.Delete(bank.Staff(), customer.UID, a.UID, changes.RequestOptions{})
	if !errors.Is(err, accounts.ErrNotFound) {
		t.Errorf("again: %v", err)
	}
	if again := open(t, bank, customer, "4000700011"); again.UID == a.UID {
		t.Error("the UID is used again")
	}
	// What was booked on stays.
	used := bank.Account(customer, coretest.Holding(5, 0))
	bank.Exec(`UPDATE balances SET ledger = 0 WHERE tenant = ? AND account = ?`, bank.Tenant, used.UID)
	if _, err := bank.Accounts.Delete(bank.Staff(), customer.UID, used.UID,
		changes.RequestOptions{}); !errors.Is(err, accounts.ErrBooked) {
		t.Errorf("with bookings: %v", err)
	}
	bank.Exec(`UPDATE balances SET ledger = 5 WHERE tenant = ? AND account = ?`, bank.Tenant, used.UID)
	bank.Prove()
}

func TestMoneyKeepsItsCurrencyAndItsPlace(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	full, empty := bank.Account(customer), open(t, bank, customer, "4000700012", func(d *accounts.Draft) {
		d.Features.ACH, d.Features.ACHCompanyID, d.Features.Underwritten, d.Features.CreditExposureLimit = given.Of(
			true), given.Of("9"), given.Of(true), given.Of("10")
	})
	euro, other := accounts.Draft{Currency: gives(money.Currency("EUR"))},
		accounts.Draft{SystemOfRecord: gives(accounts.OtherCore)}
	for _, draft := range []accounts.Draft{euro, other} {
		if err := change(bank, full, draft); !errors.Is(err, accounts.ErrMoney) {
			t.Errorf("%v", err)
		}
	}
	if err := change(bank, empty, euro); !blames(err, "creditExposureLimit", fault.NoMatch) {
		t.Errorf("an amount in the former currency: %v", err)
	}
	euro.Features.CreditExposureLimit = given.Of("9")
	if err := change(bank, empty, euro); err != nil {
		t.Fatal(err)
	}
	bank.Prove() // the books are in euros too
	if err := change(bank, empty, other); err != nil || read(t, bank, empty.UID).Balances() != nil {
		t.Errorf("moved away: %v", err)
	}
	if err := change(bank, empty, accounts.Draft{SystemOfRecord: gives(accounts.InternalCore)}); err != nil {
		t.Errorf("and back: %v", err)
	}
	bank.Prove()
}

// What hangs on an account counts in its currency.
func TestAnAccountKeepsTheCurrencyOfWhatHangsOnIt(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	euro := accounts.Draft{Currency: gives(money.Currency("EUR"))}
	for name, hang := range map[string]func(*accounts.Account){
		"a virtual account":      func(a *accounts.Account) { bank.VirtualAccount(a) },
		"a balance alert":        func(a *accounts.Account) { bank.BalanceAlert(a) },
		"a rule of positive pay": func(a *accounts.Account) { bank.PositivePayRule(a) },
	} {
		a := bank.Account(customer, coretest.Holding(0, 0))
		hang(a)
		if err := change(bank, a, euro); !errors.Is(err, accounts.ErrNamedCurrency) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := change(bank, bank.Account(customer, coretest.Holding(0, 0)), euro); err != nil {
		t.Error(err)
	}
}

func TestAPartnerChangesItsOwnAccountsOnly(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	ours, banks := bank.Customer(coretest.OwnedBy(partner)), bank.Customer()
	mine, theirs := bank.Account(ours), bank.Account(banks)
	ctx, rename := bank.Partner(partner), accounts.Draft{Name: given.Of("Renamed")}
	if _, err := bank.Accounts.Open(ctx, banks.UID, opening("4000700013"),
		changes.RequestOptions{}); !errors.Is(err, customers.ErrOutOfScope) {
		t.Error(err)
	}
	for _, of := range []customers.UID{0, ours.UID} {
		_, err := bank.Accounts.Change(ctx, of, theirs.UID, rename, changes.RequestOptions{})
		_, closing := bank.Accounts.Close(ctx, of, theirs.UID, changes.RequestOptions{})
		_, deleting := bank.Accounts.Delete(ctx, of, theirs.UID, changes.RequestOptions{})
		for _, err := range []error{err, closing, deleting} {
			if !errors.Is(err, accounts.ErrNotFound) {
				t.Errorf("of %d: %v", of, err)
			}
		}
	}
	if _, err := bank.Accounts.Change(ctx, ours.UID, mine.UID, rename, changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := bank.Accounts.Change(bank.As(access.ViewAccounts, access.ManageCustomers), ours.UID, mine.UID,
		rename, changes.RequestOptions{}); !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
}

func TestOfTwoChangesOneSeesTheOther(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	a := bank.Account(bank.Customer())
	errs := make([]error, 2)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_, errs[i] = bank.Accounts.Change(bank.Staff(), a.Customer, a.UID,
				accounts.Draft{Name: given.Of(fmt.Sprintf("Name %d", i))}, changes.RequestOptions{Version: 1})
		})
	}
	all.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), changes.ErrStale) {
		t.Errorf("%v", errs)
	}
}

// dual makes a customer whose changes need a second person.
func dual(c *customers.Customer) { c.Access.CustomerDualApproval = true }

// A Pseudo account stands in front of the account that people approved, not of another one that has its number
// by then.
func TestAPseudoAccountStandsBeforeTheAccountThatWasApproved(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	of := bank.Customer(dual)
	asked, other, pseudo := bank.Account(of), bank.Account(of), bank.Account(of)
	put := func(before accounts.UID, meanwhile func()) error {
		t.Helper()
		out, err := bank.Accounts.Change(bank.Staff(), of.UID, pseudo.UID, accounts.Draft{
			SubType: gives(accounts.Pseudo), FBONumber: given.Of(coretest.AccountNumber(before)),
		}, changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(out, err)
		}
		meanwhile()
		_, err = bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval), changes.RequestOptions{})
		if err != nil {
			_, refused := bank.Changes.Refuse(bank.Checker(), changes.UID(out.Approval), changes.RequestOptions{})
			err = errors.Join(err, refused)
		}
		return err
	}
	err := put(asked.UID, func() { bank.Renumber(asked.UID, other.UID) })
	if !errors.Is(err, changes.ErrStale) {
		t.Errorf("approved after another account got the number: %v", err)
	}
	if err := put(asked.UID, func() {}); err != nil {
		t.Error(err)
	}
}

func TestTwoPeopleOpenAndChangeAnAccount(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(dual)
	made, err := bank.Accounts.Open(bank.Staff(), customer.UID, opening("4000700014"), changes.RequestOptions{})
	if err != nil || made.Approval == 0 {
		t.Fatal(made, err)
	}
	uid := made.Result.UID
	if a := read(t, bank, uid); a.Status != accounts.Pending || a.Balances() == nil {
		t.Errorf("%+v", a)
	}
	if _, err := bank.Accounts.Activate(bank.Staff(), 0, uid,
		changes.RequestOptions{}); !errors.Is(err, changes.ErrWaiting) {
		t.Errorf("its maker activates it: %v", err)
	}
	if _, err := bank.Changes.Approve(bank.Staff(), changes.UID(made.Approval),
		changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
		t.Errorf("its maker approves it: %v", err)
	}
	approve := func(approval int64) error {
		_, err := bank.Changes.Approve(bank.Checker(), changes.UID(approval), changes.RequestOptions{})
		return err
	}
	if err := approve(made.Approval); err != nil || read(t, bank, uid).Status != accounts.Active {
		t.Fatal(err)
	}
	renamed, err := bank.Accounts.Change(bank.Staff(), customer.UID, uid,
		accounts.Draft{Name: given.Of("Renamed"), Number: given.Of("4000700015")}, changes.RequestOptions{})
	if err != nil || renamed.Approval == 0 || read(t, bank, uid).Name == "Renamed" {
		t.Fatal(renamed, err)
	}
	if err := approve(renamed.Approval); err != nil {
		t.Fatal(err)
	}
	if a := byNumber(t, bank, bank.Staff(), "4000700015"); a == nil || a.Name != "Renamed" {
		t.Errorf("%+v", a)
	}
	refused, err := bank.Accounts.Open(bank.Staff(), customer.UID, opening("4000700016"),
		changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bank.Changes.Refuse(bank.Checker(), changes.UID(refused.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if a, _ := find(t, bank, bank.Staff(), refused.Result.UID, db.Columns{}); a != nil {
		t.Errorf("%+v", a)
	}
	closing, err := bank.Accounts.Close(bank.Staff(), customer.UID, uid, changes.RequestOptions{Reason: "done"})
	if err != nil || read(t, bank, uid).Status != accounts.Active {
		t.Fatal(err)
	}
	// The money that came in meanwhile keeps it open.
	bank.Exec(`UPDATE balances SET held = 1, overdraft = 1 WHERE tenant = ? AND account = ?`, bank.Tenant, uid)
	bank.Exec(`INSERT INTO holds (tenant, id, account, amount, currency, placed, state, placed_at)
		VALUES (?, nextval('journal_ids'), ?, 1, 'USD', 1, 'OPEN', now())`, bank.Tenant, uid)
	if err := approve(closing.Approval); !errors.Is(err, accounts.ErrMoney) {
		t.Errorf("%v", err)
	}
	bank.Prove()
}

// Its number could otherwise become another customer's, with the Pseudo account in front of that.
func TestAnAccountThatAPseudoAccountNamesIsNotRefused(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(dual)
	behind, err := bank.Accounts.Open(bank.Staff(), customer.UID, opening("4000700021"),
		changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	front, err := bank.Accounts.Open(bank.Staff(), customer.UID, opening("4000700022", func(d *accounts.Draft) {
		d.SubType, d.FBONumber = gives(accounts.Pseudo), given.Of("4000700021")
	}), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(approval int64) error {
		_, err := bank.Changes.Refuse(bank.Checker(), changes.UID(approval), changes.RequestOptions{})
		return err
	}
	if err := refuse(behind.Approval); !errors.Is(err, accounts.ErrInFront) {
		t.Errorf("the account behind: %v", err)
	}
	for _, approval := range []int64{front.Approval, behind.Approval} {
		if err := refuse(approval); err != nil {
			t.Error(err)
		}
	}
}

func TestNoRecordHoldsAClearNumber(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(dual)
	plain := bank.Customer()
	open(t, bank, plain, "4000766601")
	secrets := []string{"4000766601", "4000766602", "4000766603", "token-canary"}
	_, err := bank.Accounts.Open(bank.Staff(), plain.UID, opening("4000766602", func(d *accounts.Draft) {
		d.SubType, d.FBONumber, d.ExternalAccount.Token = gives(accounts.Pseudo), given.Of("4000766601"),
			given.Of("token-canary")
	}), changes.RequestOptions{IdempotencyKey: "k1"})
	_, again := bank.Accounts.Open(bank.Staff(), plain.UID, opening("4000766601"),
		changes.RequestOptions{IdempotencyKey: "k2"})
	_, waits := bank.Accounts.Open(bank.Staff(), customer.UID, opening("4000766603"),
		changes.RequestOptions{IdempotencyKey: "k3"})
	if err != nil || again == nil || waits != nil {
		t.Fatal(err, again, waits)
	}
	var record []string
	if err := bank.DB.NewRaw(
		`SELECT e::text FROM audit_entries AS e WHERE tenant = ?0 UNION ALL SELECT e::text FROM events AS e
			WHERE tenant = ?0
		UNION ALL SELECT k::text FROM idempotency_keys AS k WHERE tenant = ?0 UNION ALL SELECT p::text
		  FROM approvals AS p WHERE tenant = ?0
		UNION ALL SELECT a::text FROM accounts AS a WHERE tenant = ?0`, bank.Tenant).Scan(t.Context(),
		&record); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(record, "\n")
	for _, secret := range secrets {
		if strings.Contains(all, secret) || strings.Contains(all, fmt.Sprintf("%x", secret)) {
			t.Errorf("%s is in the record", secret)
		}
	}
	if !strings.Contains(all, "****6602") || len(record) < 10 {
		t.Errorf("the record is short: %s", all)
	}
}

func TestAttributesAreThoseThatTheBankHasConfiguredForAccounts(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	bank.Exec(`INSERT INTO attributes (tenant, level, name, type)
		VALUES (?0, 'account', 'Desk', 'Text'), (?0, 'account', 'Reviewed', 'Date'),
		(?0, 'customer', 'Region', 'Text')`, bank.Tenant)
	a := bank.Account(bank.Customer())
	for _, one := range []struct {
		attribute customers.Attribute
		field     string
		problem   fault.Problem
	}{
		{customers.Attribute{Name: "desk", Value: "7"}, "", ""},
		{
			customers.Attribute{Name: "Reviewed", Value: "2026-02-30"},
			"additionalAttributes[0].value",
			fault.Malformed,
		},
		{
			customers.Attribute{Name: "Region", Value: "East"},
			"additionalAttributes[0].attributeName",
			fault.Unknown,
		},
	} {
		err := change(bank, a, accounts.Draft{AdditionalAttributes: []customers.Attribute{one.attribute}})
		if one.field == "" && err != nil || one.field != "" && !blames(err, one.field, one.problem) {
			t.Errorf("%v: %v", one.attribute, err)
		}
	}
	if got := read(t, bank, a.UID).AdditionalAttributes; len(got) != 1 ||
		got[0] != (customers.Attribute{Name: "Desk", Value: "7"}) {
		t.Errorf("%v", got)
	}
	bank.Exec(`DELETE FROM attributes WHERE tenant = ? AND name = 'Desk'`, bank.Tenant)
	again := accounts.Draft{AdditionalAttributes: []customers.Attribute{{Name: "DESK", Value: "7"}}}
	if err := change(bank, a, again); err != nil {
		t.Errorf("what is stored is given back: %v", err)
	}
}

// To send an account back as it was read, masked, changes none of its sealed values.
func TestMasksThatAreSentBackLeaveNumbersAndTokenAsTheyAre(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	a := open(t, bank, customer, "4000700031",
		func(d *accounts.Draft) { d.ExternalAccount.Token = given.Of("secret-token-9876") })
	masked := accounts.Draft{
		Number: given.Of("****0031"), ExternalAccount: accounts.ExternalDraft{Token: given.Of("****9876")},
		Name: given.Of("Renamed"),
	}
	if err := change(bank, a, masked); err != nil {
		t.Fatal(err)
	}
	row := new(accounts.Account)
	if err := bank.DB.NewSelect().Model(row).Where("a.tenant = ?", bank.Tenant).Where("a.uid = ?", a.UID).
		Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := seal.Place{Tenant: int64(bank.Tenant), Row: int64(a.UID)}
	for column, want := range map[string]struct {
		stored seal.Value
		clear  string
	}{
		accounts.NumberColumn:        {row.Number, "4000700031"},
		accounts.ExternalTokenColumn: {row.ExternalToken, "secret-token-9876"},
	} {
		at.Column = column
		if clear, err := bank.Keys.Open(want.stored, at); clear != want.clear || err != nil ||
			row.Name != "Renamed" {
			t.Errorf("%s: %s %v", column, clear, err)
		}
	}
	for field, draft := range map[string]accounts.Draft{
		"accountNumber": {Number: given.Of("****0032")}, "fboAccountNumber": {FBONumber: given.Of("****0031")},
		"externalAccount.externalAuthToken": {ExternalAccount: accounts.ExternalDraft{Token: given.Of("****")}},
	} {
		err := change(bank, a, draft)
		if f, refused := fault.Of(err); !refused || f.Field != field || f.Problem != fault.Malformed {
			t.Errorf("%s: %v", field, err)
		}
		_, err = bank.Accounts.Open(bank.Staff(), customer.UID, opening("4000700032", func(d *accounts.Draft) {
			d.ExternalAccount = draft.ExternalAccount
			d.FBONumber = draft.FBONumber
			draft.Number.To(&d.Number.Value)
		}), changes.RequestOptions{})
		if f, refused := fault.Of(err); !refused || f.Field != field || f.Problem != fault.Malformed {
			t.Errorf("%s of a new account: %v", field, err)
		}
	}
}

// What the bank lets stand still stands still until the bank says otherwise, also where settings ask for a
// second person: nobody takes the money out meanwhile.
func TestASuspendedAccountStandsStillUntilTheBankActivatesIt(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	a := b.Account(b.Customer(coretest.OwnedBy(partner),
		func(c *customers.Customer) { c.Access.CustomerDualApproval = true }), coretest.Holding(100_00, 0))
	to := b.Account(b.Customer())
	is := func(want accounts.Status) {
		t.Helper()
		var got accounts.Status
		if err := b.DB.NewRaw(`SELECT status FROM accounts WHERE tenant = ? AND uid = ?`, b.Tenant, a.UID).
			Scan(t.Context(), &got); err != nil || got != want {
			t.Errorf("it is %s, want %s (%v)", got, want, err)
		}
	}
	pays := func() error {
		_, err := b.Payments.Transfer(b.Staff(), payments.Draft{
			Sender: payments.Party{UID: a.UID}, Receiver: payments.Party{UID: to.UID}, Amount: "1",
		}, changes.RequestOptions{})
		return err
	}
	if _, err := b.Accounts.Suspend(b.Partner(partner), 0, a.UID,
		changes.RequestOptions{}); !errors.Is(err, accounts.ErrBankSuspends) {
		t.Errorf("suspended by a partner: %v", err)
	}
	is(accounts.Active)
	done, err := b.Accounts.Suspend(b.Staff(), 0, a.UID, changes.RequestOptions{Reason: "police request 7"})
	if err != nil || done.Approval != 0 {
		t.Fatal(done, err)
	}
	is(accounts.Suspended)
	if err := pays(); !errors.Is(err, payments.ErrAccountState) {
		t.Errorf("it pays: %v", err)
	}
	if _, err := b.Accounts.Suspend(b.Staff(), 0, a.UID,
		changes.RequestOptions{}); !errors.Is(err, accounts.ErrSuspended) {
		t.Errorf("suspended twice: %v", err)
	}
	if _, err := b.Accounts.Activate(b.Partner(partner), 0, a.UID,
		changes.RequestOptions{}); !errors.Is(err, accounts.ErrBankSuspends) {
		t.Errorf("activated by a partner: %v", err)
	}
	is(accounts.Suspended)
	never := b.Account(b.Customer(coretest.OwnedBy(partner)), coretest.Holding(0, 0),
		func(a *accounts.Account) { a.Status = accounts.Suspended })
	for what, do := range map[string]func(
		context.Context, customers.UID, accounts.UID, changes.RequestOptions,
	) (changes.Outcome[accounts.Saved], error){
		"deleted": b.Accounts.Delete, "closed": b.Accounts.Close,
		"renumbered": func(
			ctx context.Context, of customers.UID, a accounts.UID, options changes.RequestOptions,
		) (changes.Outcome[accounts.Saved], error) {
			return b.Accounts.Change(ctx, of, a, accounts.Draft{Number: given.Of("7700100077")}, options)
		},
	} {
		if _, err := do(b.Partner(partner), 0, never.UID,
			changes.RequestOptions{}); !errors.Is(err, accounts.ErrBankSuspends) {
			t.Errorf("%s by a partner, who would open another one under its number: %v", what, err)
		}
	}
	if _, err := b.Accounts.Delete(b.Staff(), 0, never.UID, changes.RequestOptions{}); err != nil {
		t.Errorf("deleted by the bank: %v", err)
	}
	again, err := b.Accounts.Activate(b.Staff(), 0, a.UID, changes.RequestOptions{})
	if err != nil || again.Approval == 0 {
		t.Fatal(again, err)
	}
	is(accounts.Suspended) // until a second person agrees
	if _, err := b.Changes.Approve(b.Checker(), changes.UID(again.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	is(accounts.Active)
	if err := pays(); err != nil {
		t.Error(err)
	}
}

// A number of the bank is what others pay to: only the bank gives an account another one, or one that another
// customer's account had, as what is still paid to it then goes elsewhere.
func TestOnlyTheBankPassesANumberOn(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	own := bank.Customer(coretest.OwnedBy(partner))
	victim, mine := bank.Account(own, coretest.Holding(0, 0)), bank.Account(own)
	caller := bank.Partner(partner)
	number := accounts.Draft{Number: given.Of("4000900009")}
	out, err := bank.Accounts.Change(caller, 0, victim.UID, number, changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	if _, err := bank.Changes.Approve(bank.PersonOf(own, bank.User(own, nil)), changes.UID(out.Approval),
		changes.RequestOptions{}); err == nil {
		t.Error("the customer's own person decides")
	}
	if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	if err := change(bank, mine, accounts.Draft{Number: given.Of("4000900010")}); err != nil {
		t.Errorf("the bank's own: %v", err)
	}
	if _, err := bank.Accounts.Delete(bank.Staff(), 0, victim.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	rival := bank.Customer(coretest.OwnedBy(partner))
	if _, err := bank.Accounts.Open(caller, rival.UID, opening("4000900009"),
		changes.RequestOptions{}); !errors.Is(err, accounts.ErrNumberTaken) {
		t.Errorf("a former number, for another customer: %v", err)
	}
	if _, err := bank.Accounts.Open(caller, own.UID, opening("4000900009"),
		changes.RequestOptions{}); err != nil {
		t.Errorf("for the same one: %v", err)
	}
}

// However an account gave its number up, others go on paying to it: no partner gives it to another customer,
// be it by way of an account that is kept elsewhere.
func TestAFormerNumberGoesToNobodyElse(t *testing.T) {
	t.Parallel()
	const number = "4000900011"
	elsewhere, here := accounts.OtherCore, accounts.InternalCore
	for name, givesUp := range map[string][]struct {
		byBank bool
		draft  accounts.Draft
	}{
		"the bank gives it another one": {{true, accounts.Draft{Number: given.Of("4000900012")}}},
		"kept elsewhere meanwhile": {
			{true, accounts.Draft{SystemOfRecord: &elsewhere}},
			{false, accounts.Draft{Number: given.Of("4000900012")}},
			{false, accounts.Draft{SystemOfRecord: &here}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bank := coretest.New(t)
			partner := bank.DownstreamPartner()
			own, rival := bank.Customer(coretest.OwnedBy(partner)), bank.Customer(coretest.OwnedBy(partner))
			caller := bank.Partner(partner)
			bank.Account(own)
			opened, err := bank.Accounts.Open(caller, own.UID, opening(number), changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range givesUp {
				as := caller
				if step.byBank {
					as = bank.Staff()
				}
				out, err := bank.Accounts.Change(as, 0, opened.Result.UID, step.draft, changes.RequestOptions{})
				if err != nil || out.Approval != 0 {
					t.Fatal(out, err)
				}
			}
			if _, err := bank.Accounts.Open(caller, rival.UID, opening(number),
				changes.RequestOptions{}); !errors.Is(err, accounts.ErrNumberTaken) {
				t.Errorf("another customer's account: %v", err)
			}
			aside := opening(number)
			aside.SystemOfRecord = &elsewhere
			out, err := bank.Accounts.Open(caller, rival.UID, aside, changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := bank.Accounts.Change(caller, 0, out.Result.UID, accounts.Draft{SystemOfRecord: &here},
				changes.RequestOptions{}); !errors.Is(err, accounts.ErrNumberTaken) {
				t.Errorf("an account that was kept elsewhere: %v", err)
			}
			if _, err := bank.Accounts.Delete(caller, 0, out.Result.UID, changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := bank.Accounts.Open(bank.Staff(), rival.UID, opening(number),
				changes.RequestOptions{}); err != nil {
				t.Errorf("the bank: %v", err)
			}
		})
	}
}
