package payments_test

import (
	"errors"
	"strings"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/sandbox"
)

// toGermany makes an order an entry to an account in Germany, over a gateway.
func toGermany(o *payments.Order) {
	o.Speed, o.SECCode, o.Purpose, o.ReceiverBank = "Economy", "IAT", "BUS", "COBADEFFXXX"
	o.Receiver = payments.Receiver{
		Number: "DE89 3704 0044 0532 0130 00", Type: "Deposit", SubType: "Checking", Currency: "EUR",
		Name: "Gerda Müller GmbH & Co",
		Address: postal.Address{
			Line1: "Unter den Linden 1", Line2: "Haus B", City: "Berlin", PostalCode: "10117", CountryCode: "DE",
		},
		Bank: payments.ReceiverBank{IDType: "NID", ID: "611590103", Name: "Commerzbank", Country: "DE"},
	}
}

// newRemitter is a sender whose account may send entries abroad.
func newRemitter(t *testing.T, edits ...func(*customers.Customer)) *sender {
	t.Helper()
	s := newSender(t, edits...)
	s.Exec(`UPDATE accounts SET sec_codes = '{PPD,IAT}' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
	return s
}

func TestAnEntryOfIATGoesToAGatewayAndSaysWhoIsPaidAbroad(t *testing.T) {
	t.Parallel()
	s := newRemitter(t)
	p := s.send(t, s.order("250.00", toGermany, func(o *payments.Order) { o.Remittance = "Invoice 4711" }))
	s.run(t)
	s.has(t, 100_000_00, 250_00)
	s.until(t, "2026-11-18 14:00")
	s.has(t, 99_750_00, 0)
	files, batches, _ := s.files(t)
	if len(files) != 1 || len(files[0]) != 1 || len(batches) != 1 {
		t.Fatalf("%d files %+v", len(files), batches)
	}
	e, b := files[0][0], batches[0]
	if e.Amount.Minor != 250_00 || e.Routing != "611590103" || e.Number != "DE89370400440532013000" ||
		e.Name != "Gerda Muller GmbH & Co" || e.ID != "INV-7" || e.Remittance != "Invoice 4711" ||
		e.Direction != rails.Credit || e.Account != rails.Checking {
		t.Errorf("%+v", e)
	}
	want := nacha.International{
		Purpose: "BUS",
		Originator: nacha.Side{
			Name: e.International.Originator.Name, Street: "12 Main St", City: "Columbus", State: "OH", Country: "US",
			PostalCode: "43215",
		},
		Receiver: nacha.Side{
			Street: "Unter den Linden 1, Haus B", City: "Berlin", Country: "DE", PostalCode: "10117",
		},
		From: nacha.Agent{Name: e.International.From.Name, Kind: nacha.National, ID: ours, Country: "US"},
		To:   nacha.Agent{Name: "Commerzbank", Kind: nacha.BIC, ID: "COBADEFFXXX", Country: "DE"},
	}
	if got := *e.International; got.Originator != want.Originator || got.Receiver != want.Receiver ||
		got.From != want.From || got.To != want.To || got.Purpose != want.Purpose || got.ForeignAmount != 0 ||
		got.Originator.Name == "" {
		t.Errorf("%+v", got)
	}
	way := nacha.Abroad{Exchange: nacha.FixedToVariable, Country: "DE", From: "USD", To: "EUR"}
	if b.Class != rails.IAT || b.Abroad != way || b.CompanyID != "1234567890" || b.SameDay {
		t.Errorf("%+v", b)
	}
	s.until(t, "2026-11-19 08:30")
	if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED" {
		t.Error(got)
	}
	details, _ := s.details(t, s.Staff(), p.UID)
	if details.BankName != "Commerzbank" || details.BankID != "611590103" || details.BankCountry != "DE" {
		t.Errorf("%+v", details)
	}
	s.has(t, 99_750_00, 0)
	s.Prove()
}

func TestIATIsReceivedInDollarsUnlessTheReceiversAccountHasAnotherCurrency(t *testing.T) {
	t.Parallel()
	s := newRemitter(t)
	s.send(t, s.order("1.00", toGermany, func(o *payments.Order) { o.Receiver.Currency = "" }))
	s.send(t, s.order("2.00", toGermany, func(o *payments.Order) {
		o.Receiver.Currency, o.ReceiverBank = "USD", "DE89370400440532013000"
		o.Receiver.Number = "0532013000"
	}))
	s.send(t, s.order("3.00", toGermany, func(o *payments.Order) {
		o.Receiver.Currency, o.ReceiverBank, o.Receiver.Number = "CAD", "000312345", "1234567"
		o.Receiver.Bank.Country, o.Receiver.Bank.Address.CountryCode = "", "CA"
		o.Receiver.Address.State = "Ontario*"
	}))
	s.until(t, "2026-11-18 14:00")
	files, batches, _ := s.files(t)
	if len(files) != 1 || len(files[0]) != 3 || len(batches) != 2 {
		t.Fatalf("%d files %+v", len(files), batches)
	}
	for i, want := range []nacha.Abroad{
		{Exchange: nacha.FixedToFixed, Country: "DE", From: "USD", To: "USD"},
		{Exchange: nacha.FixedToVariable, Country: "CA", From: "USD", To: "CAD"},
	} {
		if batches[i].Abroad != want {
			t.Errorf("%+v", batches[i].Abroad)
		}
	}
	for i, want := range []nacha.Agent{
		{Name: "Commerzbank", Kind: nacha.BIC, ID: "COBADEFFXXX", Country: "DE"},
		{Name: "Commerzbank", Kind: nacha.IBAN, ID: "DE89370400440532013000", Country: "DE"},
		{Name: "Commerzbank", Kind: nacha.National, ID: "000312345", Country: "CA"},
	} {
		if got := files[0][i].International; got.To != want || got.ForeignAmount != []int64{100, 200, 0}[i] {
			t.Errorf("%+v", got)
		}
	}
	if got := files[0][2].International.Receiver; got.State != "Ontario" {
		t.Errorf("%+v", got)
	}
}

func TestAContactAbroadIsPaidByIAT(t *testing.T) {
	t.Parallel()
	s := newRemitter(t)
	k := s.Contact(&customers.Customer{UID: s.from.Customer}, inGermany)
	pay := func(edits ...func(*payments.Order)) error {
		_, err := s.pay(s.order("5.00", append([]func(*payments.Order){toGermany, func(o *payments.Order) {
			o.ReceiverBank, o.Receiver =
				"", payments.Receiver{Contact: k.UID, Bank: payments.ReceiverBank{ID: "611590103"}}
		}}, edits...)...))
		return err
	}
	if err := pay(); err != nil {
		t.Fatal(err)
	}
	s.until(t, "2026-11-18 14:00")
	files, batches, _ := s.files(t)
	e := files[0][0]
	if e.Number != coretest.ContactNumber(k.UID) || e.International.To.ID != "MUSTDEFFXXX" ||
		e.International.To.Name != "Musterbank" || e.International.Receiver.Street != "9 Quay St" ||
		batches[0].Abroad.Country != "DE" || e.Routing != "611590103" {
		t.Errorf("%+v %+v", e, e.International)
	}
	for want, edit := range map[string]func(*payments.Order){
		"additionalInfo.receiverIdentificationNumber NOMATCH": func(o *payments.Order) {
			o.ReceiverBank = "BNPAFRPP"
		},
		"additionalInfo.receiverIdentificationNumber NOMATCH IBAN": func(o *payments.Order) {
			o.ReceiverBank = "GB29NWBK60161331926819"
		},
		"receiver.bank.bankId REQUIRED": func(o *payments.Order) { o.Receiver.Bank.ID = "" },
		"receiver.bank.bankId":          func(o *payments.Order) { o.Receiver.Bank.ID = unknownBank },
		"receiver.accountUID":           func(o *payments.Order) { o.Receiver.Contact = s.to.UID },
	} {
		if f, _ := fault.Of(pay(edit)); f == nil ||
			!strings.HasPrefix(f.Field+" "+string(f.Problem), strings.TrimSuffix(want, " IBAN")) {
			t.Errorf("%s: %+v", want, f)
		}
	}
	s.Exec(`UPDATE contacts SET address_city = '' WHERE tenant = ? AND uid = ?`, s.Tenant, k.UID)
	if f, _ := fault.Of(pay()); f == nil || f.Field != "receiver.accountUID" || f.Problem != fault.Required {
		t.Errorf("%+v", f)
	}
}

// The bank abroad is the contact's, by the name that the directory has where the contact has none; never the
// gateway (rest/CONTRACT.md, entries to accounts abroad).
func TestTheBankAbroadIsThatOfTheContact(t *testing.T) {
	t.Parallel()
	for bic, want := range map[string]string{"MUSTDEFFXXX": "Musterbank", "COBADEFFXXX": "COBADEFFXXX"} {
		s := newRemitter(t)
		k := s.Contact(&customers.Customer{UID: s.from.Customer}, inGermany, func(k *contacts.Contact) {
			k.Bank.Name, k.Bank.SWIFTCode = "", bic
		})
		o := s.order("5.00", toGermany, func(o *payments.Order) {
			o.ReceiverBank = ""
			o.Receiver = payments.Receiver{Contact: k.UID, Bank: payments.ReceiverBank{ID: "611590103"}}
		})
		s.send(t, o)
		if _, err := s.Payments.RequestDebit(s.Staff(), o, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		s.until(t, "2026-11-18 14:00")
		files, _, _ := s.files(t)
		if len(files[0]) != 2 {
			t.Fatalf("%+v", files)
		}
		for _, e := range files[0] {
			if to := e.International.To; to.Name != want || to.ID != bic || to.Country != "DE" {
				t.Errorf("%s: %+v, want %s", bic, to, want)
			}
		}
		var names []string
		if err := s.DB.NewRaw(`SELECT DISTINCT bank_name FROM payment_details WHERE tenant = ?`, s.Tenant).
			Scan(t.Context(), &names); err != nil || len(names) != 1 || names[0] != want {
			t.Errorf("%v %v", names, err)
		}
	}
}

func TestAnEntryOfIATSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	s := newRemitter(t)
	for want, edit := range map[string]func(*payments.Order){
		"additionalInfo.secCode NOTALLOWED":           func(o *payments.Order) { o.Speed = "Economy Plus" },
		"additionalInfo.transactionTypeCode REQUIRED": func(o *payments.Order) { o.Purpose = "" },
		"additionalInfo.transactionTypeCode INVALID":  func(o *payments.Order) { o.Purpose = "XXX" },
		"additionalInfo.transactionTypeCode NOTALLOWED": func(o *payments.Order) {
			o.SECCode, o.Receiver = "PPD", payments.Receiver{Contact: s.to.UID}
		},
		"additionalInfo.receiverIdentificationNumber REQUIRED": func(o *payments.Order) { o.ReceiverBank = "" },
		"additionalInfo.receiverIdentificationNumber MAX": func(o *payments.Order) {
			o.ReceiverBank = strings.Repeat("1", 35)
		},
		"additionalInfo.receiverIdentificationNumber NOMATCH": func(o *payments.Order) {
			o.ReceiverBank = "BNPAFRPP"
		},
		"additionalInfo.receiverIdentificationNumber INVALID": func(o *payments.Order) { o.ReceiverBank = "日本" },
		"receiver.name REQUIRED":                              func(o *payments.Order) { o.Receiver.Name = "" },
		"receiver.name INVALID":                               func(o *payments.Order) { o.Receiver.Name = "日本" },
		"receiver.accountNumber INVALID": func(o *payments.Order) {
			o.Receiver.Number = "DE89370400440532013001"
		},
		"receiver.accountType REQUIRED":          func(o *payments.Order) { o.Receiver.Type = "" },
		"receiver.subAccountType REQUIRED":       func(o *payments.Order) { o.Receiver.SubType = "" },
		"receiver.address.addressLine1 REQUIRED": func(o *payments.Order) { o.Receiver.Address.Line1 = "" },
		"receiver.address.city REQUIRED":         func(o *payments.Order) { o.Receiver.Address.City = "" },
		"receiver.address.city INVALID":          func(o *payments.Order) { o.Receiver.Address.City = "東京" },
		"receiver.address.addressLine1 INVALID":  func(o *payments.Order) { o.Receiver.Address.Line1 = "東京" },
		"receiver.address.countryCode REQUIRED":  func(o *payments.Order) { o.Receiver.Address.CountryCode = "" },
		"receiver.bank.bankId REQUIRED":          func(o *payments.Order) { o.Receiver.Bank.ID = "" },
		"receiver.bank.bankId INVALID":           func(o *payments.Order) { o.Receiver.Bank.ID = "611590104" },
		"receiver.bank.bankId NOTFOUND":          func(o *payments.Order) { o.Receiver.Bank.ID = unknownBank },
		"receiver.bank.swiftCode NOTALLOWED":     func(o *payments.Order) { o.Receiver.Bank.BIC = "COBADEFF" },
		"receiver.bank.name REQUIRED":            func(o *payments.Order) { o.Receiver.Bank.Name = "" },
		"receiver.bank.countryCode REQUIRED":     func(o *payments.Order) { o.Receiver.Bank.Country = "" },
		"receiver.bank.countryCode NOMATCH": func(o *payments.Order) {
			o.Receiver.Bank.Country, o.ReceiverBank, o.Receiver.Number = "US", "021000021", "12345"
		},
		"receiver.bank.countryCode NOMATCH there": func(o *payments.Order) {
			o.Receiver.Bank.Address.CountryCode = "FR"
		},
		"receiver.accountCurrency": func(o *payments.Order) { o.Receiver.Currency = "EURO" },
		"receiver.intermediaryBank": func(o *payments.Order) {
			o.Receiver.Between = payments.ReceiverBank{IDType: "SWIFT", BIC: "BNPAFRPP"}
		},
		"paymentCurrency": func(o *payments.Order) { o.Currency = "EUR" },
		"paymentAmount":   func(o *payments.Order) { o.Amount = "0" },
	} {
		_, err := s.pay(s.order("1.00", toGermany, edit))
		var all fault.Faults
		f, _ := fault.Of(err)
		if errors.As(err, &all) && len(all) > 1 || f == nil ||
			!strings.HasPrefix(f.Field+" "+string(f.Problem),
				strings.TrimSuffix(want, " there")) && !strings.HasPrefix(f.Field+" NOTFOUND", want) {
			t.Errorf("%s: %q %v", want, all, err)
		}
	}
	s.Exec(`UPDATE accounts SET sec_codes = '{PPD}' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
	if _, err := s.pay(s.order("1.00", toGermany)); !errors.Is(err, payments.ErrClass) {
		t.Error(err)
	}
	s.has(t, 100_000_00, 0)
}

func TestACustomerWithoutAnAddressSendsNothingByIAT(t *testing.T) {
	t.Parallel()
	s := newRemitter(t, func(c *customers.Customer) { c.LegalAddress.Line1 = "" })
	_, err := s.pay(s.order("1.00", toGermany))
	if f, _ := fault.Of(err); f == nil || f.Field != "sender.address" || f.Problem != fault.Required {
		t.Error(err)
	}
}

func TestAnEntryOfIATComesBackIsChangedAndIsReversed(t *testing.T) {
	t.Parallel()
	for cents, want := range map[string]string{
		"250.02": "QUEUED SENT SETTLED RETURNED R02: the account is closed",
		"250.25": "QUEUED SENT SETTLED SETTLED C01: the account number is incorrect",
	} {
		s := newRemitter(t)
		p := s.send(t, s.order(cents, toGermany))
		s.until(t, "2026-11-18 14:00")
		s.until(t, "2026-11-19 08:30")
		s.until(t, "2026-11-20 08:31")
		s.run(t)
		if got := s.life(t, p.UID) + " " + s.shows(t, p.UID).Reason; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		s.Prove()
	}
	s := newRemitter(t)
	p := s.send(t, s.order("10.00", toGermany))
	s.until(t, "2026-11-18 14:00")
	s.until(t, "2026-11-19 08:30")
	if err := s.takeBack(p.UID); err != nil {
		t.Fatal(err)
	}
	s.until(t, "2026-11-19 14:00")
	files, batches, _ := s.files(t)
	last, e := batches[len(batches)-1], files[len(files)-1][0]
	if last.Class != rails.IAT || last.Description != nacha.Reversal || e.Direction != rails.Debit ||
		e.International == nil || e.International.To.ID != "COBADEFFXXX" {
		t.Errorf("%+v %+v", last, e)
	}
	s.until(t, "2026-11-20 08:31")
	s.has(t, 100_000_00, 0)
	s.Prove()
}

func TestAReturnOfIATIsPlayed(t *testing.T) {
	t.Parallel()
	s := newRemitter(t)
	p := s.send(t, s.order("10.00", toGermany))
	s.until(t, "2026-11-18 14:00")
	s.answered(t, p.UID, sandbox.Answer{Verdict: sandbox.Returned, Code: "R82"})
	if got := s.life(t, p.UID) + " " + s.shows(t, p.UID).Reason; got !=
		"QUEUED SENT RETURNED R82: the id of the bank abroad is wrong" {
		t.Error(got)
	}
	s.has(t, 100_000_00, 0)
	s.Prove()
}

func TestAnEntryOfIATIsRepaired(t *testing.T) {
	t.Parallel()
	s := newRemitter(t)
	order := s.order("10.00", toGermany, func(o *payments.Order) {
		o.Purpose, o.Strict, o.Repairable = "", true, true
	})
	p, err := s.pay(order)
	if err != nil || p.Status != payments.StatusRepair {
		t.Fatal(p, err)
	}
	out, err := s.Payments.Repair(s.Staff(), p.UID, payments.Repairs{Purpose: "SAL"}, changes.RequestOptions{})
	if err != nil || out.Result.Status != payments.StatusReadyToTransmit {
		t.Fatal(out, err)
	}
	s.until(t, "2026-11-18 14:00")
	if files, _, _ := s.files(t); files[0][0].International.Purpose != "SAL" {
		t.Errorf("%+v", files)
	}
}

// Which bank abroad an entry goes to is whom it pays: who repairs that does not do so alone.
func TestARepairOfTheBankAbroadWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	s := newRemitter(t)
	p := s.inRepair(t, s.order("10.00", toGermany, repairably, func(o *payments.Order) {
		o.Purpose, o.Strict = "", true
	}), "additionalInfo.transactionTypeCode")
	out, err := s.Payments.Repair(s.Staff(), p.UID,
		payments.Repairs{Purpose: "SAL", ReceiverBank: "DEUTDEFFXXX"}, changes.RequestOptions{})
	if err != nil || out.Result.Status != payments.StatusPendingApproval || out.Approval == 0 {
		t.Errorf("%+v %v", out, err)
	}
}

func TestTheReceiverOfIATIsComparedWithLists(t *testing.T) {
	t.Parallel()
	s := newRemitter(t)
	s.lists(t, "Gerda Müller")
	made := s.send(t, s.order("250.00", toGermany, func(o *payments.Order) { o.Receiver.Name = "Gerda Muller" }))
	s.inScreening(t, made.UID)
}

// Names, addresses and ids of banks that only IAT says stand in no row as they are.
func TestWhatIATSaysIsSealed(t *testing.T) {
	t.Parallel()
	s := newRemitter(t)
	p := s.send(t, s.order("250.00", toGermany))
	var sealed string
	err := s.DB.NewSelect().Table("payment_details").ColumnExpr("encode(abroad_sealed, 'escape')").
		Where("tenant = ? AND payment = ?", s.Tenant, p.UID).Scan(t.Context(), &sealed)
	if err != nil || sealed == "" || strings.Contains(sealed, "Commerzbank") ||
		strings.Contains(sealed, "COBADE") {
		t.Errorf("%q %v", sealed, err)
	}
}

// debitedFromAbroad plays a debit of IAT.
func (s *sender) debitedFromAbroad(t *testing.T) payments.UID {
	t.Helper()
	return s.debit(t, func(d *sandbox.Debit) { d.SECCode = "IAT" })
}

func TestAnEntryFromAbroadSaysWhoPays(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	uid := s.paidOver(t, func(c *sandbox.Credit) { c.SECCode = "IAT" })
	s.until(t, "2026-11-18 17:00")
	p := s.shows(t, uid)
	from := p.Sends()
	if got := strings.Join([]string{
		from.Name, from.Line1, from.City, from.CountryCode, from.BankName, from.BankCountry, from.BankID,
	}, ", "); got != "Lakefront Mills, Unter den Linden 1, Berlin, DE, Bank of Berlin, Germany, "+theirs {
		t.Error(got)
	}
	if p.Status() != payments.StatusProcessed {
		t.Error(p.Status())
	}
	b := s.Core.Batch()
	entries := s.Payments.EntriesOf(s.Staff(), b, []payments.UID{uid})
	if err := b.Send(t.Context()); err != nil || entries.Err != nil {
		t.Fatal(err, entries.Err)
	}
	if e := entries.Of[uid][0]; e.Class != rails.IAT || e.Purpose != "BUS" ||
		e.CompanyName != "Lakefront Mills" {
		t.Errorf("%+v", e)
	}
	s.Prove()
}

func TestAnEntryFromAbroadGoesBackWithWhatItSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play func(*testing.T, *sender)
		code string
	}{
		"a number that nobody has": {func(t *testing.T, s *sender) {
			t.Helper()
			s.debit(t, func(d *sandbox.Debit) { d.SECCode, d.Number = "IAT", "404521680718" })
		}, "R03"},
		"a debit that a consumer did not agree to": {func(t *testing.T, s *sender) {
			t.Helper()
			s.givenBack(t, s.debitedFromAbroad(t), "R10")
		}, "R10"},
		"a debit that a company did not agree to": {func(t *testing.T, s *sender) {
			t.Helper()
			s.givenBack(t, s.debitedFromAbroad(t), "R29")
		}, "R29"},
		"a credit that is refused": {func(t *testing.T, s *sender) {
			t.Helper()
			s.givenBack(t, s.paidOver(t, func(c *sandbox.Credit) { c.SECCode = "IAT" }), "R23")
		}, "R23"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			c.play(t, s)
			s.run(t)
			files, batches, _ := s.files(t)
			if len(files) != 1 || len(files[0]) != 1 {
				t.Fatalf("%+v", files)
			}
			e, b := files[0][0], batches[0]
			if b.Class != rails.IAT || b.Abroad.Country != "US" || e.Routing != theirs || e.Return == nil ||
				e.Return.Code != c.code || e.International == nil || e.International.From.ID != "BOBEDEBB" ||
				e.International.Originator.City != "Berlin" || e.International.Purpose != "BUS" ||
				e.Name == "" {
				t.Errorf("%+v %+v", b, e)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}

// givenBack gives back an entry of another bank that was booked.
func (s *sender) givenBack(t *testing.T, uid payments.UID, code string) {
	t.Helper()
	s.until(t, "2026-11-19 08:30")
	if _, err := s.Payments.Return(s.Staff(), uid, payments.Return{Code: code},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAnEntryFromAbroadSaysIsSealed(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	s.debitedFromAbroad(t)
	var sealed string
	err := s.DB.NewSelect().Table("ach_received").ColumnExpr("encode(abroad_sealed, 'escape')").
		Where("tenant = ?", s.Tenant).Scan(t.Context(), &sealed)
	if err != nil || sealed == "" || strings.Contains(sealed, "Berlin") ||
		strings.Contains(sealed, "BOBEDEBB") {
		t.Errorf("%q %v", sealed, err)
	}
}

func TestADebitOfIATCollectsFromAbroad(t *testing.T) {
	t.Parallel()
	s := newRemitter(t)
	collect := func(edits ...func(*payments.Order)) (payments.Saved, error) {
		out, err := s.Payments.RequestDebit(s.Staff(), s.order("250.00", append([]func(*payments.Order){toGermany},
			edits...)...), changes.RequestOptions{})
		return out.Result, err
	}
	p, err := collect()
	if err != nil {
		t.Fatal(err)
	}
	s.until(t, "2026-11-18 14:00")
	files, batches, _ := s.files(t)
	e, b := files[0][0], batches[0]
	if b.Class != rails.IAT || b.Only != rails.Debit || b.Abroad.Country != "DE" || b.Abroad.To != "EUR" ||
		e.Direction != rails.Debit || e.Name != "Gerda Muller GmbH & Co" || e.Routing != "611590103" ||
		e.International.Originator.Street != "12 Main St" || e.International.To.ID != "COBADEFFXXX" {
		t.Errorf("%+v %+v", b, e)
	}
	s.has(t, 100_000_00, 0)
	s.until(t, "2026-11-19 08:30")
	s.has(t, 100_250_00, 0)
	s.answered(t, p.UID, sandbox.Answer{Verdict: sandbox.Returned, Code: "R10"})
	s.has(t, 100_000_00, 0)
	s.Prove()
	for want, edit := range map[string]func(*payments.Order){
		"additionalInfo.secCode NOTALLOWED":           func(o *payments.Order) { o.Speed = "Economy Plus" },
		"additionalInfo.transactionTypeCode REQUIRED": func(o *payments.Order) { o.Purpose = "" },
		"debtor.bank.name REQUIRED":                   func(o *payments.Order) { o.Receiver.Bank.Name = "" },
		"debtor.address.city REQUIRED":                func(o *payments.Order) { o.Receiver.Address.City = "" },
	} {
		_, err := collect(edit)
		if f, _ := fault.Of(err); f == nil || f.Field+" "+string(f.Problem) != want {
			t.Errorf("%s: %v", want, err)
		}
	}
	s.Exec(`UPDATE customers SET legal_city = '' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.Customer)
	if _, err := collect(); err == nil || !strings.Contains(err.Error(), "address") {
		t.Error(err)
	} else if f, _ := fault.Of(err); f == nil || f.Field != "creditor.address" {
		t.Errorf("%+v", f)
	}
}
