package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/money"
)

// The bank's people confirm wires above a bound, and only they say that they do not.
func TestAPartnerEndsNoCallbacksAlone(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	of, bound := b.Customer(coretest.OwnedBy(partner)), int64(50_00)
	for name, features := range map[string]accounts.FeaturesDraft{
		"off":     {Callbacks: given.Of(false)},
		"no more": {CallbackLimit: given.Of("50.01")},
		"no wire": {Wires: given.Of(false)},
	} {
		a := b.Account(of, coretest.Sends,
			func(a *accounts.Account) { a.EnableCallbacks, a.CallbackLimit = true, &bound })
		change := func(features accounts.FeaturesDraft) changes.Outcome[accounts.Saved] {
			t.Helper()
			out, err := b.Accounts.Change(b.Partner(partner), of.UID, a.UID, accounts.Draft{Features: features},
				changes.RequestOptions{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return out
		}
		if out := change(accounts.FeaturesDraft{CallbackLimit: given.Of("49")}); out.Approval != 0 {
			t.Errorf("%s: less waits for somebody", name)
		}
		out := change(features)
		if out.Approval == 0 {
			t.Errorf("%s: wires go out unconfirmed now", name)
			continue
		}
		if _, err := b.Changes.Approve(b.Checker(), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Which accounts are in the bank's books measures what it confirms, and says whom payments to a number reach.
func TestAPartnerTakesNoAccountOutOfTheBanksBooks(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	of, bound := b.Customer(coretest.OwnedBy(partner)), int64(50_00)
	for name, is := range map[string]func(*accounts.Account){
		"confirmed": func(a *accounts.Account) { a.EnableCallbacks, a.CallbackLimit = true, &bound },
		"another":   func(*accounts.Account) {},
	} {
		a := b.Account(of, coretest.Holding(0, 0), coretest.Sends, is)
		change := func(by context.Context, to accounts.SystemOfRecord) changes.Outcome[accounts.Saved] {
			t.Helper()
			out, err := b.Accounts.Change(by, of.UID, a.UID, accounts.Draft{SystemOfRecord: &to},
				changes.RequestOptions{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return out
		}
		if out := change(b.Partner(partner), accounts.External); out.Approval == 0 {
			t.Errorf("%s: another system keeps it now", name)
		} else if _, err := b.Changes.Refuse(b.Checker(), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Error(err)
		}
		if out := change(b.Staff(), accounts.External); out.Approval != 0 {
			t.Errorf("%s: the bank waits for itself", name)
		}
	}
}

// Wires of a customer whose other account the bank confirms do not go out unconfirmed of a new one.
func TestAPartnerOpensNoWayAroundCallbacks(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	of, bound := b.Customer(coretest.OwnedBy(partner)), int64(50_00)
	b.Account(of, coretest.Sends,
		func(a *accounts.Account) { a.EnableCallbacks, a.CallbackLimit = true, &bound })
	quiet := b.Account(of, func(a *accounts.Account) { a.EnableWires, a.EnableDomesticWires = false, false })
	next := numbers()
	wires := accounts.FeaturesDraft{Wires: given.Of(true), DomesticWires: given.Of(true)}
	confirmed := wires
	confirmed.Callbacks, confirmed.CallbackLimit = given.Of(true), given.Of("50")
	larger := confirmed
	larger.CallbackLimit = given.Of("50.01")
	for name, c := range map[string]struct {
		features accounts.FeaturesDraft
		waits    bool
	}{
		"no wires": {}, "unconfirmed": {wires, true}, "confirmed later": {larger, true},
		"confirmed alike": {confirmed, false},
	} {
		d := opening(fmt.Sprint("4400", next()))
		d.Features = c.features
		out, err := b.Accounts.Open(b.Partner(partner), of.UID, d, changes.RequestOptions{})
		if err != nil || (out.Approval != 0) != c.waits {
			t.Errorf("open, %s: %+v %v", name, out, err)
		}
	}
	out, err := b.Accounts.Change(b.Partner(partner), of.UID, quiet.UID, accounts.Draft{Features: wires},
		changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Errorf("change: %+v %v", out, err)
	}
	if out, err = b.Accounts.Open(b.Staff(), of.UID, opening(fmt.Sprint("4400", next())),
		changes.RequestOptions{}); err != nil || out.Approval != 0 {
		t.Errorf("by the bank: %+v %v", out, err)
	}
}

func TestCallbacksOfWhatIsDeletedOrOfAnotherCurrencyCount(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	wires := accounts.FeaturesDraft{Wires: given.Of(true), DomesticWires: given.Of(true)}
	wires.Callbacks, wires.CallbackLimit = given.Of(true), given.Of("100")
	bound := int64(50_00)
	confirmed := func(a *accounts.Account) { a.EnableCallbacks, a.CallbackLimit = true, &bound }
	inYen := func(a *accounts.Account) { confirmed(a); a.Currency = "JPY" }
	b.Account(b.Customer())
	next := numbers()
	open := func(of *customers.Customer, limit string, waits bool) {
		t.Helper()
		d := opening(fmt.Sprint("4400", next()))
		d.Features = wires
		d.Features.CallbackLimit = given.Of(limit)
		out, err := b.Accounts.Open(b.Partner(partner), of.UID, d, changes.RequestOptions{})
		if err != nil || (out.Approval != 0) != waits {
			t.Errorf("up to %s: %+v %v", limit, out, err)
		}
	}
	deleted := b.Customer(coretest.OwnedBy(partner))
	a := b.Account(deleted, coretest.Holding(0, 0), confirmed)
	out, err := b.Accounts.Delete(b.Partner(partner), deleted.UID, a.UID, changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatalf("deleted with its callbacks: %+v %v", out, err)
	}
	open(deleted, "50.01", true)
	open(deleted, "50", false)
	abroad := b.Customer(coretest.OwnedBy(partner))
	yen := b.Account(abroad, coretest.Holding(0, 0), inYen)
	open(abroad, "0.01", true)
	open(abroad, "0.01", true) // what waits is nobody's measure
	out, err = b.Accounts.Change(b.Partner(partner), abroad.UID, yen.UID, accounts.Draft{
		Currency: new(money.Currency("USD")), Features: accounts.FeaturesDraft{CallbackLimit: given.Of("50")},
	}, changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Errorf("5,000 yen become 50 dollars: %+v %v", out, err)
	}
}

// The second person of a partner does not agree for the bank to what has become its to decide since.
func TestAPartnersSecondPersonOpensNothingForTheBank(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner, rival := b.DownstreamPartner(), b.DownstreamPartner()
	bound := int64(50_00)
	for name, since := range map[string]func(of *customers.Customer){
		"wires": func(of *customers.Customer) {
			b.Account(of, coretest.Sends,
				func(a *accounts.Account) { a.EnableCallbacks, a.CallbackLimit = true, &bound })
		},
		"yen": func(of *customers.Customer) {
			b.Account(of, coretest.Sends, func(a *accounts.Account) {
				a.EnableCallbacks, a.CallbackLimit, a.Currency = true, &bound, "JPY"
			})
		},
		"company": func(*customers.Customer) {
			b.Customer(coretest.OwnedBy(rival), func(c *customers.Customer) { c.ACHCompanyID = "ofcompany" })
		},
	} {
		of := b.Customer(coretest.OwnedBy(partner),
			func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
		d := opening(fmt.Sprint("4400", of.UID))
		d.Features = accounts.FeaturesDraft{
			Wires: given.Of(true), DomesticWires: given.Of(true), ACH: given.Of(true),
			ACHCompanyID: given.Of("of" + name), Callbacks: given.Of(true), CallbackLimit: given.Of("1000000"),
		}
		out, err := b.Accounts.Open(b.PartnersPerson(partner), of.UID, d, changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatalf("%s: %+v %v", name, out, err)
		}
		since(of)
		approve := func(by context.Context) error {
			_, err := b.Changes.Approve(by, changes.UID(out.Approval), changes.RequestOptions{})
			return err
		}
		if err := approve(b.PartnersPerson(partner)); !errors.Is(err, changes.ErrNotYours) {
			t.Errorf("%s: a second person of the partner: %v", name, err)
		}
		if err := approve(b.Checker()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A number at another bank that somebody opens in this one's books would take what others pay to it.
func TestAPartnerOpensNoAccountAtAnotherBank(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	of := b.Customer(coretest.OwnedBy(partner))
	there, next := b.Account(of), numbers()
	open := func(bank string) changes.Outcome[accounts.Saved] {
		t.Helper()
		d := opening(fmt.Sprint("4400", next()))
		if d.BankID = given.Of(bank); len(bank) != 9 {
			d.BankIDType = new(accounts.BIC)
		}
		out, err := b.Accounts.Open(b.Partner(partner), of.UID, d, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := open(there.BankID); out.Approval != 0 {
		t.Error("where the bank is, nobody has to agree")
	}
	b.Exec(`UPDATE customers SET swift_code = 'SNDBUS30' WHERE tenant = ? AND uid = ?`, b.Tenant, b.Self.UID)
	if out := open("SNDBUS30XXX"); out.Approval != 0 {
		t.Error("under its own BIC, nobody has to agree")
	}
	if out := open("CHASUS33"); out.Approval == 0 {
		t.Error("an account under another BIC is open")
	}
	first := open("021000021")
	if open("021000021"); first.Approval == 0 {
		t.Fatal("an account at another bank is open")
	}
	if out := open("021000021"); out.Approval == 0 {
		t.Error("what waits counts")
	}
	out, err := b.Accounts.Change(b.Partner(partner), of.UID, there.UID,
		accounts.Draft{BankID: given.Of("021000021")},
		changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Errorf("moved: %+v %v", out, err)
	}
	if _, err := b.Changes.Approve(b.Checker(), changes.UID(first.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if out := open("021000021"); out.Approval != 0 {
		t.Error("the bank has agreed that it is there, too")
	}
}

// Other banks take entries under a company's number for that company's, in whatever case its letters are.
func TestAPartnerTakesNoCompanyNumberOfAnother(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner, rival := b.DownstreamPartner(), b.DownstreamPartner()
	of := b.Customer(coretest.OwnedBy(partner))
	quiet := b.Account(of)
	b.Customer(coretest.OwnedBy(rival), func(c *customers.Customer) { c.ACHCompanyID = "1000000001" })
	b.Account(b.Customer(coretest.OwnedBy(rival)), coretest.Sends,
		func(a *accounts.Account) { a.ACHCompanyID = "ACME00002" })
	next := numbers()
	for number, waits := range map[string]bool{"1000000000": false, "1000000001": true, "acme00002": true} {
		features := accounts.FeaturesDraft{ACH: given.Of(true), ACHCompanyID: given.Of(number)}
		for range 2 { // what waits gives nobody the number
			d := opening(fmt.Sprint("4500", next()))
			d.Features = features
			out, err := b.Accounts.Open(b.Partner(partner), of.UID, d, changes.RequestOptions{})
			if err != nil || (out.Approval != 0) != waits {
				t.Errorf("open, %s: %+v %v", number, out, err)
			}
		}
		out, err := b.Accounts.Change(b.Partner(partner), of.UID, quiet.UID, accounts.Draft{Features: features},
			changes.RequestOptions{})
		if err != nil || (out.Approval != 0) != waits {
			t.Errorf("change, %s: %+v %v", number, out, err)
		}
		if !waits {
			continue
		}
		if _, err := b.Changes.Approve(b.Checker(), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Errorf("%s: %v", number, err)
		}
		out, err = b.Accounts.Open(b.Partner(partner), of.UID, opening(fmt.Sprint("4500", next()),
			func(d *accounts.Draft) { d.Features = features }), changes.RequestOptions{})
		if err != nil || out.Approval != 0 {
			t.Errorf("%s, once the bank has agreed: %+v %v", number, out, err)
		}
	}
}

// numbers returns a function that counts.
func numbers() func() int {
	n := 0
	return func() int { n++; return n }
}
