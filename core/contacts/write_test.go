package contacts_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/seal"
)

// canary is an account number that must appear nowhere in the clear.
const canary = "7740012345678"

// complete returns a draft that every generation accepts.
func complete(edits ...func(*contacts.Draft)) contacts.Draft {
	d := contacts.Draft{
		ExternalReferenceID: given.Of("crm-1"), TemplateName: given.Of("Lumen1"), Name: given.Of("Lumen Optics"),
		Address: given.Address{
			Line1: given.Of("12 Main St"), City: given.Of("Columbus"), PostalCode: given.Of("43215"),
			CountryCode: given.Of("USA"),
		},
		EmailAddress: given.Of("post@lumen.example"), PhoneNumber: given.Of("(614) 555-0123"),
		Bank: contacts.BankDraft{
			Country: given.Of("united states"), AccountNumber: given.Of(canary), AccountCurrency: given.Of("usd"),
			Name: given.Of("Old Mill Bank"), NationalCode: given.Of("611090001"), AccountType: given.Of("Deposit"),
			AccountSubType: given.Of("Checking"),
		},
		RegulatoryReporting: []contacts.ReportingDraft{{Key: "taxid", Value: "914820033"}},
	}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

// blamed returns the fields of all faults of an error.
func blamed(err error) (fields []string) {
	var several fault.Faults
	if errors.As(err, &several) {
		for _, f := range several {
			fields = append(fields, f.Field+" "+string(f.Problem))
		}
	}
	return fields
}

func add(
	t *testing.T, bank *coretest.Bank, ctx context.Context, to *customers.Customer, d contacts.Draft,
) contacts.UID {
	t.Helper()
	out, err := bank.Contacts.Add(ctx, to.UID, d, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Result.UID
}

func TestAContactIsStoredInItsForm(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	uid := add(t, bank, bank.Staff(), customer, complete(func(d *contacts.Draft) {
		d.Bank = contacts.BankDraft{
			Country: given.Of("DE"), AccountNumber: given.Of("de89 3704 0044 0532 0130 00"),
			AccountCurrency: given.Of("eur"), SWIFTCode: given.Of("rhnudef0"), AccountType: given.Of("gl"),
			AccountSubType: given.Of("GL"),
		}
		d.Intermediary = contacts.IntermediaryDraft{
			NationalCode: given.Of("20-00-00"), Country: given.Of("GB"), AddressLine3: given.Of("Desk 3"),
			CoverMessageRequired: given.Of(true),
		}
	}))
	k := find(t, bank, bank.Staff(), uid)
	if k.Bank.Country != "Germany" || k.Bank.AccountCurrency != "EUR" || k.Bank.SWIFTCode != "RHNUDEF0" ||
		k.Bank.AccountType != "GL" || k.Bank.AccountNumber.Last4 != "3000" {
		t.Errorf("%+v", k.Bank)
	}
	if k.Address.CountryCode != "US" || k.Address.Country != "United States" ||
		k.PhoneNumber != "+16145550123" || k.Status != contacts.Active || k.Version != 1 {
		t.Errorf("%+v", k)
	}
	if k.Intermediary.Country != "United Kingdom" || k.Intermediary.AddressLine3 != "Desk 3" ||
		!k.Intermediary.CoverMessageRequired {
		t.Errorf("%+v", k.Intermediary)
	}
	if len(k.RegulatoryReporting) != 1 || k.RegulatoryReporting[0].Key != "TaxId" ||
		opened(t, bank, k, 0) != "914820033" {
		t.Errorf("%+v", k.RegulatoryReporting)
	}
	for _, written := range []string{
		"DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "de89370400440532013000",
	} {
		if got := list(t, bank, customer, contacts.Search{AccountNumber: written},
			page.First(10)); !slices.Equal(got, []contacts.UID{uid}) {
			t.Errorf("%s finds %v", written, got)
		}
	}
}

// Every rule about a field of a new contact, for the generation that has it.
func TestANewContactMeetsTheDemandsOfItsGeneration(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	long := strings.Repeat("x", 256)
	for name, c := range map[string]struct {
		form contacts.Form
		edit func(*contacts.Draft)
		want []string
	}{
		"complete, v1": {contacts.Current, func(*contacts.Draft) {}, nil},
		"nothing, v1": {contacts.Current, func(d *contacts.Draft) { *d = contacts.Draft{} }, []string{
			"templateName REQUIRED", "name REQUIRED",
			"contactBank.country REQUIRED", "contactBank.accountNo REQUIRED",
			"contactBank.accountCcy REQUIRED",
			"contactBank.accountType REQUIRED",
			"contactBank.accountSubType REQUIRED", "address.addressLine1 REQUIRED",
			"address.city REQUIRED",
			"address.postalCode REQUIRED", "address.countryCode REQUIRED",
		}},
		"nothing, G1": {
			contacts.First, func(d *contacts.Draft) { *d = contacts.Draft{Form: contacts.First} }, []string{
				"externalReferenceId REQUIRED", "templateName REQUIRED",
				"name REQUIRED", "contactBank.country REQUIRED", "contactBank.accountNo REQUIRED",
				"contactBank.accountCcy REQUIRED", "contactBank.name REQUIRED",
			},
		},
		"nothing, v2": {
			contacts.Second, func(d *contacts.Draft) { *d = contacts.Draft{Form: contacts.Second} }, []string{
				"templateName REQUIRED", "name REQUIRED", "contactBank.country REQUIRED",
				"contactBank.accountNo REQUIRED",
				"contactBank.accountCcy REQUIRED", "contactBank.name REQUIRED",
			},
		},
		"no kind of account, G1": {
			contacts.First,
			func(d *contacts.Draft) { d.Bank.AccountType, d.Bank.AccountSubType = given.Text{}, given.Text{} }, nil,
		},
		"no reference, v2": {
			contacts.Second, func(d *contacts.Draft) { d.ExternalReferenceID = given.Text{} }, nil,
		},
		"address without code, G1": {
			contacts.First, func(d *contacts.Draft) { d.Address.PostalCode = given.Text{} }, nil,
		},
		"address without code, v1": {
			contacts.Current, func(d *contacts.Draft) { d.Address.PostalCode = given.Text{} },
			[]string{"address.postalCode REQUIRED"},
		},
		"bank's address in part, G1": {
			contacts.First, func(d *contacts.Draft) { d.Bank.Address.City = given.Of("Rome") },
			[]string{"contactBank.address.addressLine1 REQUIRED", "contactBank.address.countryCode REQUIRED"},
		},
		"template name, G1": {
			contacts.First, func(d *contacts.Draft) { d.TemplateName = given.Of("Lumen & Söhne") }, nil,
		},
		"template name, v1": {
			contacts.Current, func(d *contacts.Draft) { d.TemplateName = given.Of("Lumen Optics") },
			[]string{"templateName INVALID"},
		},
		"short name, G1": {contacts.First, func(d *contacts.Draft) { d.Name = given.Of("L") }, nil},
		"short name, v1": {
			contacts.Current, func(d *contacts.Draft) { d.Name = given.Of("L") }, []string{"name MIN"},
		},
		"long texts": {contacts.First, func(d *contacts.Draft) {
			d.Name, d.Bank.Name, d.BeneficiaryNotes, d.Intermediary.AddressLine3 = given.Of(long), given.Of(long),
				given.Of(long), given.Of(long)
		}, []string{
			"name MAX", "contactBank.name MAX", "intermediaryBank.address.addressLine3 MAX",
			"otherInfo.beneficiaryNotes MAX",
			"intermediaryBank.name REQUIRED", "intermediaryBank.address REQUIRED",
		}},
		"e-mail": {
			contacts.Current, func(d *contacts.Draft) { d.EmailAddress = given.Of("post@") },
			[]string{"emailAddress INVALID"},
		},
		"phone of no plan": {
			contacts.Current, func(d *contacts.Draft) { d.PhoneNumber = given.Of("555-1234, ask for Jo") }, nil,
		},
		"long phone": {
			contacts.Current, func(d *contacts.Draft) { d.PhoneNumber = given.Of(long) }, []string{"phoneNumber MAX"},
		},
		"country and currency": {contacts.Current, func(d *contacts.Draft) {
			d.Bank.Country, d.Bank.AccountCurrency = given.Of("Atlantis"), given.Of("XXY")
		}, []string{"contactBank.country INVALID", "contactBank.accountCcy INVALID"}},
		"routing number": {
			contacts.Current, func(d *contacts.Draft) { d.Bank.NationalCode = given.Of("611090002") },
			[]string{"contactBank.nationalCode INVALID"},
		},
		"sort code": {
			contacts.Current,
			func(d *contacts.Draft) { d.Bank.Country, d.Bank.NationalCode = given.Of("GB"), given.Of("20-00-00") },
			nil,
		},
		"BIC": {
			contacts.Current, func(d *contacts.Draft) { d.Bank.SWIFTCode = given.Of("NWBK") },
			[]string{"contactBank.swiftCode INVALID"},
		},
		"no code of the bank": {
			contacts.Current,
			func(d *contacts.Draft) { d.Bank.NationalCode, d.Bank.Name = given.Text{}, given.Text{} },
			[]string{"contactBank.name REQUIRED", "contactBank.address REQUIRED"},
		},
		"name and address do": {
			contacts.Current,
			func(d *contacts.Draft) { d.Bank.NationalCode, d.Bank.Address = given.Text{}, d.Address }, nil,
		},
		"no code in between": {
			contacts.Current, func(d *contacts.Draft) { d.Intermediary.Name = given.Of("Middle") },
			[]string{"intermediaryBank.address REQUIRED"},
		},
		"an empty one in between": {contacts.Current, func(d *contacts.Draft) {
			d.Intermediary.Name, d.Intermediary.CoverMessageRequired = given.Of(""), given.Of(false)
		}, nil},
		"IBAN with wrong digits": {contacts.Current, func(d *contacts.Draft) {
			d.Bank.Country, d.Bank.AccountNumber = given.Of("DE"), given.Of("DE88370400440532013000")
		}, []string{"contactBank.accountNo INVALID"}},
		"no IBAN where there are": {
			contacts.Current,
			func(d *contacts.Draft) { d.Bank.Country, d.Bank.AccountNumber = given.Of("DE"), given.Of("0532013000") },
			nil,
		},
		"letters where none are": {
			contacts.Current, func(d *contacts.Draft) { d.Bank.AccountNumber = given.Of("AB12345") }, nil,
		},
		"number of zeros": {
			contacts.Current, func(d *contacts.Draft) { d.Bank.AccountNumber = given.Of("0000") },
			[]string{"contactBank.accountNo ALLZERO"},
		},
		"long number": {
			contacts.Current, func(d *contacts.Draft) { d.Bank.AccountNumber = given.Of(strings.Repeat("1", 36)) },
			[]string{"contactBank.accountNo MAX"},
		},
		"odd number": {
			contacts.Current, func(d *contacts.Draft) { d.Bank.AccountNumber = given.Of("12-34") },
			[]string{"contactBank.accountNo INVALID"},
		},
		"unknown kind": {
			contacts.Current, func(d *contacts.Draft) { d.Bank.AccountType = given.Of("Pseudo") },
			[]string{"contactBank.accountType INVALID"},
		},
		"product of another kind": {
			contacts.Current, func(d *contacts.Draft) { d.Bank.AccountSubType = given.Of("Heloc") },
			[]string{"contactBank.accountSubType NOMATCH"},
		},
		"kind alone, G1": {
			contacts.First, func(d *contacts.Draft) { d.Bank.AccountSubType = given.Text{} },
			[]string{"contactBank.accountSubType REQUIRED"},
		},
		"product alone, v2": {
			contacts.Second, func(d *contacts.Draft) { d.Bank.AccountType = given.Text{} },
			[]string{"contactBank.accountType REQUIRED"},
		},
		"virtual account": {
			contacts.Current, func(d *contacts.Draft) { d.Bank.AccountSubType = given.Of("Virtual") }, nil,
		},
		"saving, without s": {
			contacts.Current, func(d *contacts.Draft) { d.Bank.AccountSubType = given.Of("Saving") }, nil,
		},
		"virtual loan": {contacts.Current, func(d *contacts.Draft) {
			d.Bank.AccountType, d.Bank.AccountSubType = given.Of("Loan"), given.Of("Virtual")
		}, []string{"contactBank.accountSubType NOMATCH"}},
		"GL alone, v2": {
			contacts.Second,
			func(d *contacts.Draft) { d.Bank.AccountType, d.Bank.AccountSubType = given.Of("GL"), given.Text{} }, nil,
		},
		"key of nobody": {contacts.Current, func(d *contacts.Draft) {
			d.RegulatoryReporting = append(d.RegulatoryReporting, contacts.ReportingDraft{Key: "shoe"})
		}, []string{"regulartoryReporting[1].key NOTFOUND"}},
		"more entries than anyone reads": {contacts.Current, func(d *contacts.Draft) {
			d.RegulatoryReporting = slices.Repeat(d.RegulatoryReporting, 101)
		}, []string{"regulartoryReporting MAX"}},
		"a mask": {
			contacts.Current, func(d *contacts.Draft) { d.RegulatoryReporting[0].Value = "****0033" },
			[]string{"regulartoryReporting[0].value INVALID"},
		},
		"no key": {
			contacts.Current, func(d *contacts.Draft) { d.RegulatoryReporting[0].Key = " " },
			[]string{"regulartoryReporting[0].key REQUIRED"},
		},
		"all at once": {contacts.Current, func(d *contacts.Draft) {
			d.Name, d.Bank.NationalCode, d.EmailAddress = given.Of(""), given.Of("1"), given.Of("x")
		}, []string{"name REQUIRED", "emailAddress INVALID", "contactBank.nationalCode EXACT"}},
	} {
		draft := complete(func(d *contacts.Draft) { d.Form = c.form; c.edit(d) })
		out, err := bank.Contacts.Add(bank.Staff(), customer.UID, draft, changes.RequestOptions{})
		if got := blamed(err); !slices.Equal(got, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v (%v), want %v", name, got, err, c.want)
		}
		if err == nil { // free the name for the next
			exec(t, bank, `UPDATE contacts SET template_name = '' WHERE tenant = ? AND uid = ?`, bank.Tenant,
				out.Result.UID)
		}
	}
}

func exec(t *testing.T, bank *coretest.Bank, statement string, values ...any) {
	t.Helper()
	bank.Exec(statement, values...)
}

func TestAChangeMergesWhatItGives(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	uid := add(t, bank, bank.Staff(), customer, complete())
	before := find(t, bank, bank.Staff(), uid)
	for name, c := range map[string]struct {
		draft contacts.Draft
		want  []string
	}{
		"nothing":    {contacts.Draft{}, []string{"body REQUIRED"}},
		"no name":    {contacts.Draft{Name: given.Of(" ")}, []string{"name REQUIRED"}},
		"short name": {contacts.Draft{Name: given.Of("L")}, []string{"name MIN"}},
		"no account": {
			contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("")}},
			[]string{"contactBank.accountNo REQUIRED"},
		},
		"product without kind": {
			contacts.Draft{Bank: contacts.BankDraft{AccountSubType: given.Of("Savings")}},
			[]string{"contactBank.accountType REQUIRED"},
		},
		"kind without product": {
			contacts.Draft{Bank: contacts.BankDraft{AccountType: given.Of("Loan")}},
			[]string{"contactBank.accountSubType REQUIRED"},
		},
		"routing number of that bank": {
			contacts.Draft{Bank: contacts.BankDraft{NationalCode: given.Of("123")}},
			[]string{"contactBank.nationalCode EXACT"},
		},
		"the only code of the bank": {
			contacts.Draft{Bank: contacts.BankDraft{NationalCode: given.Of("")}},
			[]string{"contactBank.address REQUIRED"},
		},
		"to a country that has IBANs": {
			contacts.Draft{Bank: contacts.BankDraft{Country: given.Of("DE"), AccountNumber: given.Of("DE00")}},
			[]string{"contactBank.accountNo INVALID"},
		},
		"half an intermediary bank": {
			contacts.Draft{Intermediary: contacts.IntermediaryDraft{Name: given.Of("Middle")}},
			[]string{"intermediaryBank.address REQUIRED"},
		},
		"no city": {
			contacts.Draft{Address: given.Address{City: given.Of(" ")}}, []string{"address.city REQUIRED"},
		},
		"a mask of nothing": {
			contacts.Draft{RegulatoryReporting: []contacts.ReportingDraft{{Key: "TaxId", Value: "****0034"}}},
			[]string{"regulartoryReporting[0].value INVALID"},
		},
		"key of nobody": {
			contacts.Draft{RegulatoryReporting: []contacts.ReportingDraft{{Key: "shoe"}}},
			[]string{"regulartoryReporting[0].key NOTFOUND"},
		},
	} {
		_, err := bank.Contacts.Change(bank.Staff(), customer.UID, uid, c.draft, changes.RequestOptions{})
		if got := blamed(err); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v (%v), want %v", name, got, err, c.want)
		}
	}
	out, err := bank.Contacts.Change(bank.Staff(), customer.UID, uid, contacts.Draft{
		Bank: contacts.BankDraft{
			AccountType: given.Of("GL"), Address: given.Address{City: given.Of("Dayton")},
		},
		EmailAddress: given.Of(""), RegulatoryReporting: []contacts.ReportingDraft{},
	}, changes.RequestOptions{Version: 1})
	if err != nil || out.Version != 2 || out.Result.ExternalReferenceID != "crm-1" {
		t.Fatalf("%+v %v", out, err)
	}
	want := *before
	want.Bank.AccountType, want.Bank.AccountSubType, want.Bank.Address.City, want.EmailAddress = "GL", "GL",
		"Dayton", ""
	want.RegulatoryReporting, want.Version = contacts.Report{}, 2
	want.RedirectedAt = new(bank.Clock.Now()) // as it is another kind of account
	if got := find(t, bank, bank.Staff(), uid); !same(got, &want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if _, err := bank.Contacts.Change(bank.Staff(), customer.UID, uid, contacts.Draft{Name: given.Of("Late")},
		changes.RequestOptions{Version: 1}); !errors.Is(err, changes.ErrStale) {
		t.Error(err)
	}
	if got := list(t, bank, customer, contacts.Search{AccountNumber: canary}, page.First(10)); len(got) != 1 {
		t.Errorf("the number that was not given is lost: %v", got)
	}
}

func same(a, b *contacts.Contact) bool {
	x, y := *a, *b
	x.UpdatedAt, y.UpdatedAt = y.CreatedAt, y.CreatedAt
	x.CreatedAt = y.CreatedAt
	return cmp.Diff(x, y) == ""
}

func TestANicknameIsTakenOnce(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer, other := bank.Customer(), bank.Customer()
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_, errs[i] = bank.Contacts.Add(bank.Staff(), customer.UID, complete(func(d *contacts.Draft) {
				if i%2 == 0 {
					d.TemplateName = given.Of("LUMEN1")
				}
			}), changes.RequestOptions{})
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		f, _ := fault.Of(err)
		switch {
		case err == nil:
			won++
		case !errors.Is(err, contacts.ErrTaken) || f.Field != "templateName":
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d contacts have the name", won)
	}
	add(t, bank, bank.Staff(), other, complete()) // allowed for another customer
	second := add(t, bank, bank.Staff(), customer,
		complete(func(d *contacts.Draft) { d.TemplateName = given.Of("Second") }))
	if _, err := bank.Contacts.Change(bank.Staff(), customer.UID, second,
		contacts.Draft{TemplateName: given.Of("lumen1")},
		changes.RequestOptions{}); !errors.Is(err, contacts.ErrTaken) {
		t.Error(err)
	}
}

func TestOfTwoChangesOfOneVersionOneIsMade(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	k := bank.Contact(customer)
	errs := make([]error, 2)
	var all sync.WaitGroup
	for i, name := range []string{"First Name", "Second Name"} {
		all.Go(func() {
			_, errs[i] = bank.Contacts.Change(bank.Staff(), customer.UID, k.UID, contacts.Draft{Name: given.Of(name)},
				changes.RequestOptions{Version: 1})
		})
	}
	all.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), changes.ErrStale) {
		t.Error(errs)
	}
}

func TestContactsOfOthersCannotBeChanged(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	theirs, ours := bank.Customer(coretest.OwnedBy(partner)), bank.Customer()
	k, mine := bank.Contact(ours), bank.Contact(theirs)
	other := bank.Other()
	alone := other.Contact(other.Customer())
	draft := contacts.Draft{Name: given.Of("Mallory")}
	for name, c := range map[string]struct {
		ctx  context.Context
		of   customers.UID
		uid  contacts.UID
		want error
	}{
		"another partner's":          {bank.Partner(partner), ours.UID, k.UID, customers.ErrOutOfScope},
		"another partner's, unnamed": {bank.Partner(partner), 0, k.UID, contacts.ErrNotFound},
		"not tied to the customer":   {bank.Partner(partner), theirs.UID, k.UID, contacts.ErrNotFound},
		"another bank's":             {bank.Staff(), 0, alone.UID, contacts.ErrNotFound},
		"another bank's customer":    {bank.Staff(), alone.Customer, alone.UID, customers.ErrNotFound},
		"one's own without permission": {
			bank.As(access.ViewContacts, access.ManageCustomers), theirs.UID, mine.UID, access.ErrDenied,
		},
		"nobody's": {bank.Nobody(), theirs.UID, mine.UID, access.ErrUnauthenticated},
	} {
		if _, err := bank.Contacts.Change(c.ctx, c.of, c.uid, draft,
			changes.RequestOptions{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := bank.Contacts.Add(bank.Partner(partner), ours.UID, complete(),
		changes.RequestOptions{}); !errors.Is(err, customers.ErrOutOfScope) {
		t.Error(err)
	}
	if _, err := bank.Contacts.Add(bank.As(access.ViewContacts), ours.UID, complete(),
		changes.RequestOptions{}); !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
	if _, err := bank.Contacts.Change(bank.Partner(partner), 0, mine.UID, draft,
		changes.RequestOptions{}); err != nil {
		t.Error("the partner cannot change its own:", err)
	}
}

// dual is an edit for a customer whose contacts need a second person.
func dual(c *customers.Customer) { c.Access.BeneDualApproval = true }

func TestANewContactWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	for _, approve := range []bool{true, false} {
		bank := coretest.New(t)
		customer := bank.Customer(dual)
		out, err := bank.Contacts.Add(bank.Staff(), customer.UID, complete(), changes.RequestOptions{})
		uid := out.Result.UID
		if err != nil || out.Approval == 0 || find(t, bank, bank.Staff(), uid).Status != contacts.Pending {
			t.Fatal(out, err)
		}
		if got := list(t, bank, customer, contacts.Search{}, page.First(10)); len(got) != 1 {
			t.Errorf("who waits is not listed: %v", got)
		}
		if _, err := bank.Changes.Approve(bank.Staff(), changes.UID(out.Approval),
			changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
			t.Error("the maker approves:", err)
		}
		if !approve {
			if _, err := bank.Changes.Refuse(bank.Checker(), changes.UID(out.Approval),
				changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			if find(t, bank, bank.Staff(), uid) != nil ||
				len(list(t, bank, customer, contacts.Search{}, page.First(10))) != 0 ||
				count(t, bank, customer, contacts.Search{}) != 0 {
				t.Error("who was refused is shown")
			}
			if _, err := bank.Contacts.Change(bank.Staff(), customer.UID, uid, contacts.Draft{Name: given.Of("Late")},
				changes.RequestOptions{}); !errors.Is(err, contacts.ErrNotFound) {
				t.Error(err)
			}
			add(t, bank, bank.Staff(), customer, complete()) // the name is free again
			continue
		}
		if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		if k := find(t, bank, bank.Staff(), uid); k.Status != contacts.Active || k.Version != 2 {
			t.Errorf("%+v", k)
		}
	}
}

func TestAChangeOfAContactWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	k := bank.Contact(customer)
	// the bank itself asks
	exec(t, bank, `UPDATE customers SET access_bene_dual_approval = true WHERE tenant = ? AND uid = ?`,
		bank.Tenant, bank.Self.UID)
	draft := contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of(canary)}}
	propose := func() changes.UID {
		t.Helper()
		out, err := bank.Contacts.Change(bank.Staff(), customer.UID, k.UID, draft, changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(out, err)
		}
		return changes.UID(out.Approval)
	}
	waiting := propose()
	if got := list(t, bank, customer, contacts.Search{AccountNumber: canary}, page.First(10)); len(got) != 0 {
		t.Error("it is changed already")
	}
	if _, err := bank.Contacts.Change(bank.Staff(), customer.UID, k.UID, draft,
		changes.RequestOptions{}); !errors.Is(err, changes.ErrWaiting) {
		t.Error(err)
	}
	// somebody changes it in between
	exec(t, bank, `UPDATE contacts SET version = 2 WHERE tenant = ? AND uid = ?`, bank.Tenant, k.UID)
	if _, err := bank.Changes.Approve(bank.Checker(), waiting,
		changes.RequestOptions{}); !errors.Is(err, changes.ErrStale) {
		t.Error(err)
	}
	if _, err := bank.Changes.Refuse(bank.Checker(), waiting, changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), propose(), changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := list(t, bank, customer, contacts.Search{AccountNumber: canary},
		page.First(10)); !slices.Equal(got, []contacts.UID{k.UID}) {
		t.Errorf("the approved number finds %v", got)
	}
}

// The record shows the changes, but neither it nor the contact shows the number.
func TestNoNumberOfAContactStandsAnywhereInTheClear(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(dual)
	out, err := bank.Contacts.Add(bank.Staff(), customer.UID, complete(),
		changes.RequestOptions{IdempotencyKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, edit := range []contacts.Draft{
		{Bank: contacts.BankDraft{AccountNumber: given.Of("99" + canary)}},
		{RegulatoryReporting: []contacts.ReportingDraft{{Key: "social", Value: "820033914"}}},
	} {
		out, err := bank.Contacts.Change(bank.Staff(), customer.UID, out.Result.UID, edit,
			changes.RequestOptions{IdempotencyKey: fmt.Sprint("k", i)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	bad := complete(func(d *contacts.Draft) {
		d.TemplateName, d.Bank.AccountNumber, d.RegulatoryReporting[0].Value = given.Of("Other"),
			given.Of(canary+"-"), "****914820033\n"
	})
	_, err = bank.Contacts.Add(bank.Staff(), customer.UID, bad, changes.RequestOptions{IdempotencyKey: "bad"})
	_, again := bank.Contacts.Change(bank.Staff(), customer.UID, out.Result.UID,
		contacts.Draft{RegulatoryReporting: []contacts.ReportingDraft{
			{Key: "social", Value: "****914820033"}, {Key: "914820033", Value: "820033914"},
		}}, changes.RequestOptions{IdempotencyKey: "again"})
	if text := fmt.Sprint(err, again); err == nil || again == nil || strings.Contains(text, canary) ||
		strings.Contains(text, "914820033") {
		t.Error(text)
	}
	var rows []string
	err = bank.DB.NewRaw(
		`SELECT x::text FROM audit_entries AS x WHERE tenant = ?0 UNION ALL SELECT x::text FROM events AS x
			WHERE tenant = ?0
		UNION ALL SELECT x::text FROM idempotency_keys AS x WHERE tenant = ?0 UNION ALL SELECT x::text
		  FROM approvals AS x WHERE tenant = ?0
		UNION ALL SELECT x::text FROM contacts AS x WHERE tenant = ?0`, bank.Tenant).Scan(t.Context(), &rows)
	record := strings.Join(rows, "\n")
	if err != nil || len(rows) < 10 || !strings.Contains(record, "****5678") ||
		!strings.Contains(record, "****0033") || !strings.Contains(record, "****3914") {
		t.Errorf("the record is short: %s %v", record, err)
	}
	for _, secret := range []string{canary, "914820033", "820033914"} {
		if strings.Contains(record, secret) || strings.Contains(record, fmt.Sprintf("%x", secret)) ||
			strings.Contains(record, base64.StdEncoding.EncodeToString([]byte(secret))) {
			t.Errorf("%s is in the record: %s", secret, record)
		}
	}
	var sealed seal.Value
	err = bank.DB.NewRaw(`SELECT bank_account_number_sealed FROM contacts WHERE tenant = ? AND uid = ?`,
		bank.Tenant, out.Result.UID).Scan(t.Context(), &sealed.Sealed)
	clear, opened := bank.Keys.Open(sealed,
		seal.Place{Tenant: int64(bank.Tenant), Column: contacts.NumberColumn, Row: int64(out.Result.UID)})
	if err != nil || opened != nil || clear != "99"+canary {
		t.Errorf("%v %v", err, opened)
	}
}

func TestTheKeysOfRegulatoryEntriesAreTheOperators(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	operator := access.Operator(t.Context(), bank.Tenant, bank.Code, coretest.Zone())
	keys := func() []string {
		all, err := bank.Contacts.ReportingKeys(bank.Reader())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if err := errors.Join(bank.Contacts.AddReportingKey(operator, "Purpose"),
		bank.Contacts.AddReportingKey(operator, "taxID"),
		bank.Contacts.RemoveReportingKey(operator, "SOCIAL")); err != nil {
		t.Fatal(err)
	}
	if got := keys(); !slices.Equal(got, []string{"routingNumber", "Purpose", "taxID"}) {
		t.Errorf("%q", got)
	}
	if err := bank.Contacts.RemoveReportingKey(operator, "social"); !errors.Is(err, contacts.ErrNoKey) {
		t.Error(err)
	}
	if err := bank.Contacts.AddReportingKey(operator, "a key"); err == nil {
		t.Error("a key with a space")
	}
	for _, ctx := range []context.Context{bank.Staff(), bank.Nobody()} {
		if bank.Contacts.AddReportingKey(ctx, "Shoe") == nil ||
			bank.Contacts.RemoveReportingKey(ctx, "Purpose") == nil {
			t.Error("somebody else changes the keys")
		}
	}
	uid := add(t, bank, bank.Staff(), bank.Customer(), complete(func(d *contacts.Draft) {
		d.RegulatoryReporting = []contacts.ReportingDraft{{Key: "purpose", Value: "Goods"}}
	}))
	if k := find(t, bank, bank.Staff(), uid); k.RegulatoryReporting[0].Key != "Purpose" {
		t.Errorf("%+v", k.RegulatoryReporting)
	}
}

func TestTheMaskOfAnAccountNumberLeavesIt(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	uid := add(t, bank, bank.Staff(), customer, complete())
	stored := func() *contacts.Contact {
		k := new(contacts.Contact)
		if err := bank.DB.NewSelect().Model(k).Where("k.tenant = ?", bank.Tenant).Where("k.uid = ?", uid).
			Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		return k
	}
	was := stored().Bank.AccountNumber
	change := func(number string) error {
		_, err := bank.Contacts.Change(bank.Staff(), customer.UID, uid,
			contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of(number), Name: given.Of("New Mill Bank")}},
			changes.RequestOptions{})
		return err
	}
	if err := change(was.Masked()); err != nil {
		t.Fatal(err)
	}
	if now := stored().Bank; was.Fingerprint() == "" || now.AccountNumber.Fingerprint() != was.Fingerprint() ||
		now.Name != "New Mill Bank" {
		t.Errorf("%+v", now)
	}
	for _, other := range []string{"****", "****1", "1" + was.Masked()} {
		if got := blamed(change(other)); !slices.Equal(got, []string{"contactBank.accountNo INVALID"}) {
			t.Errorf("%s: %v", other, got)
		}
	}
}
