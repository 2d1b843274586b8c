package payments_test

import (
	"errors"
	"strings"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
)

// The banks of the test directory, by what Fedwire and SWIFT make of them.
const (
	overFedwire = "611590103" // Old Mill Bank, which has no BIC
	gateway     = "026099503" // Gateway Bank, whose BIC is GATEUS33
	notOverWire = "021000021" // Real Time Bank, which wires do not reach
	unknownBank = "011000138"
)

// wireTo is a wire to an account at a bank.
func wireTo(bank payments.ReceiverBank, edits ...func(*payments.Order)) func(*payments.Order) {
	return func(o *payments.Order) {
		byWire(o)
		o.Receiver = payments.Receiver{
			Number: "440055551", Name: "Ada King", Bank: bank,
			Address: postal.Address{Line1: "1 Lake Rd", City: "Erie", CountryCode: "US"},
		}
		for _, edit := range edits {
			edit(o)
		}
	}
}

func over(correspondent string) func(*payments.Order) {
	return func(o *payments.Order) { o.Correspondent = correspondent }
}

// newSenderAbroad is a sender whose account may send wires abroad, too.
func newSenderAbroad(t *testing.T) *sender {
	t.Helper()
	s := newSender(t)
	s.Exec(`UPDATE accounts SET enable_international_wires = true WHERE tenant = ? AND uid = ?`,
		s.Tenant, s.from.UID)
	return s
}

// iban is the account at a bank abroad.
func iban(o *payments.Order) { o.Receiver.Number = "DE89 3704 0044 0532 0130 00" }

func between(bank payments.ReceiverBank) func(*payments.Order) {
	return func(o *payments.Order) { o.Receiver.Between = bank }
}

func TestAWireGoesOverTheBanksThatItNames(t *testing.T) {
	t.Parallel()
	var (
		good       = payments.ReceiverBank{IDType: "NID", ID: overFedwire}
		unreached  = payments.ReceiverBank{IDType: "NID", ID: notOverWire}
		unknown    = payments.ReceiverBank{IDType: "NID", ID: unknownBank}
		abroadBank = payments.ReceiverBank{IDType: "SWIFT", BIC: "MUSTDEFF500"}
	)
	for name, c := range map[string]struct {
		edit                    func(*payments.Order)
		to                      string // the bank that gets the message
		intermediary, last      iso20022.Agent
		itsAccount, lastAccount iso20022.AgentAccount
		why                     string
	}{
		"to the bank itself": {
			edit: wireTo(good), to: overFedwire, last: iso20022.Agent{Routing: overFedwire, Name: "Old Mill Bank"},
		},
		"to a bank that wires do not reach, over a correspondent": {
			edit: wireTo(unreached, over(gateway)), to: gateway,
			last: iso20022.Agent{Routing: notOverWire, Name: "Real Time Bank"},
		},
		"to a bank that nobody knows, over a correspondent": {
			edit: wireTo(unknown, over(gateway)), to: gateway, last: iso20022.Agent{Routing: unknownBank},
		},
		"without a correspondent that wires do not reach": {
			edit: wireTo(good, over(notOverWire)), to: overFedwire,
			last: iso20022.Agent{Routing: overFedwire, Name: "Old Mill Bank"},
			why:  "FEDWIRE does not reach the correspondent " + notOverWire,
		},
		"without a correspondent that nobody knows": {
			edit: wireTo(good, over(unknownBank)), to: overFedwire,
			last: iso20022.Agent{Routing: overFedwire, Name: "Old Mill Bank"},
			why:  "FEDWIRE does not reach the correspondent " + unknownBank,
		},
		"abroad, over a correspondent": {
			edit: wireTo(abroadBank, over(gateway), iban, func(o *payments.Order) {
				o.Receiver.Bank.AccountType, o.Receiver.Bank.Account = "IBAN", "de89 3704 0044 0532 0130 00"
			}), to: gateway, last: iso20022.Agent{BIC: "MUSTDEFF500", Name: "Musterbank"},
			lastAccount: iso20022.AgentAccount{IBAN: "DE89370400440532013000"},
		},
		"over an intermediary": {
			edit: wireTo(unreached, between(payments.ReceiverBank{IDType: "NID", ID: gateway, Name: "Gateway"}),
				func(o *payments.Order) { o.Receiver.Bank.AccountType, o.Receiver.Bank.Account = "Others", "77-01" }),
			to: gateway, last: iso20022.Agent{Routing: notOverWire, Name: "Real Time Bank"},
			lastAccount: iso20022.AgentAccount{Number: "77-01"},
		},
		"over an intermediary that has an account here": {
			edit: wireTo(good, between(payments.ReceiverBank{IDType: "NID", ID: gateway, Account: "88-02"})),
			to:   gateway, intermediary: iso20022.Agent{Routing: gateway, Name: "Gateway Bank"},
			itsAccount: iso20022.AgentAccount{Number: "88-02"},
			last:       iso20022.Agent{Routing: overFedwire, Name: "Old Mill Bank"},
		},
		"over a correspondent and an intermediary abroad": {
			edit: wireTo(abroadBank, over(gateway), iban, between(payments.ReceiverBank{
				IDType: "SWIFT", BIC: "GOBEUS33", Name: "Go Between", AccountType: "Others", Account: "99-03",
			})), to: gateway, intermediary: iso20022.Agent{BIC: "GOBEUS33", Name: "Go Between"},
			itsAccount: iso20022.AgentAccount{Number: "99-03"},
			last:       iso20022.Agent{BIC: "MUSTDEFF500", Name: "Musterbank"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSenderAbroad(t)
			uid := s.send(t, s.order("10.00", c.edit)).UID
			s.run(t)
			m := s.carried(t, uid)
			if m.Receiver != c.to || m.Intermediary != c.intermediary ||
				m.IntermediaryAccount != c.itsAccount ||
				m.CreditorAgent != c.last || m.CreditorAgentAccount != c.lastAccount {
				t.Errorf("%+v", m)
			}
			if (m.CreditorAgent.BIC != "") != (m.Creditor.IBAN != "") ||
				m.Creditor.Account+m.Creditor.IBAN == "" {
				t.Errorf("the payee is %+v", m.Creditor)
			}
			if got := s.life(t, uid); got != "QUEUED SENT SETTLED" {
				t.Errorf("its life: %s", got)
			}
			if d, _ := s.details(t, s.Staff(), uid); d.Route != c.why {
				t.Errorf("why so: %q, want %q", d.Route, c.why)
			}
			s.Prove()
		})
	}
}

func TestAWireSaysWhichOfItsBanksItCannotGoOver(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	good := payments.ReceiverBank{IDType: "NID", ID: overFedwire}
	abroadBank := payments.ReceiverBank{IDType: "SWIFT", BIC: "MUSTDEFF500"}
	for name, c := range map[string]struct {
		edit  func(*payments.Order)
		field string
		want  *fault.Fault // nil if the form is wrong
	}{
		"neither the correspondent nor the bank is known": {
			wireTo(payments.ReceiverBank{IDType: "NID", ID: unknownBank}, over(notOverWire)),
			"sender.correspondentBankId", payments.ErrCorrespondent,
		},
		"neither the correspondent nor the bank is reached": {
			wireTo(payments.ReceiverBank{IDType: "NID", ID: notOverWire}, over(unknownBank)),
			"sender.correspondentBankId", payments.ErrCorrespondent,
		},
		"abroad without a correspondent": {
			wireTo(abroadBank, iban), "sender.correspondentBankId", nil,
		},
		"abroad over one that wires do not reach": {
			wireTo(abroadBank, iban, over(notOverWire)), "sender.correspondentBankId", payments.ErrCorrespondent,
		},
		"over an intermediary by its BIC alone": {
			wireTo(good, between(payments.ReceiverBank{IDType: "SWIFT", BIC: "GOBEUS33"})),
			"sender.correspondentBankId", nil,
		},
		"over an intermediary that nobody knows": {
			wireTo(good, between(payments.ReceiverBank{IDType: "NID", ID: unknownBank})),
			"receiver.intermediaryBank.bankId", payments.ErrBank,
		},
		"over one that wires do not reach": {
			wireTo(good, between(payments.ReceiverBank{IDType: "NID", ID: notOverWire})), "speed", payments.ErrRoute,
		},
		"over a correspondent that is no number": {
			wireTo(good, over("GATEUS33")), "sender.correspondentBankId", nil,
		},
		"with an intermediary without its number": {
			wireTo(good, between(payments.ReceiverBank{Account: "1"})),
			"receiver.intermediaryBank.bankId", nil,
		},
		"with an account that is no IBAN": {
			wireTo(good,
				func(o *payments.Order) { o.Receiver.Bank.AccountType, o.Receiver.Bank.Account = "IBAN", "DE00" }),
			"receiver.bank.accountNumber", nil,
		},
		"with a kind of account and no number": {
			wireTo(good, func(o *payments.Order) { o.Receiver.Bank.AccountType = "Others" }),
			"receiver.bank.accountNumber", nil,
		},
		"with another kind of account": {
			wireTo(good, func(o *payments.Order) { o.Receiver.Bank.AccountType = "Loan" }),
			"receiver.bank.accountType", nil,
		},
		"with an account number that is too long": {
			wireTo(good, func(o *payments.Order) { o.Receiver.Bank.Account = strings.Repeat("1", 35) }),
			"receiver.bank.accountNumber", nil,
		},
		"an instant payment over an intermediary": {
			func(o *payments.Order) { wireTo(good, between(good))(o); o.Speed = "Instant" },
			"receiver.intermediaryBank", nil,
		},
		"an instant payment abroad": {
			func(o *payments.Order) { wireTo(abroadBank)(o); o.Speed = "Instant" },
			"receiver.bank.bankIdType", nil,
		},
		"an account number that is no IBAN, abroad": {
			wireTo(abroadBank, over(gateway),
				func(o *payments.Order) { o.Receiver.Number = "DE00370400440532013000" }), "receiver.accountNumber", nil,
		},
		"with a bank and an intermediary that differ": {
			wireTo(good, between(payments.ReceiverBank{IDType: "SWIFT", ID: gateway})),
			"receiver.intermediaryBank.bankId", nil,
		},
	} {
		_, err := s.Payments.Send(s.Staff(), s.order("10.00", c.edit), changes.RequestOptions{})
		if f, is := fault.Of(err); !is || f.Field != c.field || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v on %+v", name, err, f)
		}
	}
	s.has(t, 100_000_00, 0)
}

// Other networks have no correspondents, and no place for accounts of banks: partners may say them all the
// same.
func TestOnlyWiresReadCorrespondentsAndAccountsOfBanks(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.send(t, s.order("10.00", described, over("no number"), func(o *payments.Order) {
		o.Receiver.Bank.AccountType, o.Receiver.Bank.Account = "IBAN", "DE00"
	})).UID
	s.run(t)
	if m := s.carried(t, uid); m.Receiver != overFedwire ||
		m.CreditorAgentAccount != (iso20022.AgentAccount{}) {
		t.Errorf("%+v", m)
	}
}

func TestAWireToAContactGoesOverItsBanks(t *testing.T) {
	t.Parallel()
	s := newSenderAbroad(t)
	to := func(edits ...func(*contacts.Contact)) func(*payments.Order) {
		k := s.Contact(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, edits...)
		return func(o *payments.Order) {
			byWire(o)
			o.Receiver = payments.Receiver{Contact: k.UID}
		}
	}
	overGateway := func(k *contacts.Contact) { k.Intermediary.NationalCode = gateway }
	for name, c := range map[string]struct {
		edits    []func(*payments.Order)
		to, last string
	}{
		"over its intermediary": {[]func(*payments.Order){to(overGateway)}, gateway, overFedwire},
		"by its BIC alone, as it has a routing number": {
			[]func(*payments.Order){to(func(k *contacts.Contact) { k.Intermediary.SWIFTCode = "GOBEUS33" })},
			overFedwire, overFedwire,
		},
		"by its BIC, which the correspondent knows": {
			[]func(*payments.Order){
				to(func(k *contacts.Contact) { k.Intermediary.SWIFTCode = "GOBEUS33" }), over(gateway),
			},
			gateway + "GOBEUS33", overFedwire,
		},
		"abroad": {[]func(*payments.Order){to(inGermany), over(gateway)}, gateway, "MUSTDEFFXXX"},
	} {
		uid := s.send(t, s.order("10.00", c.edits...)).UID
		s.run(t)
		if m := s.carried(t, uid); m.Receiver+m.Intermediary.BIC != c.to ||
			m.CreditorAgent.Routing+m.CreditorAgent.BIC != c.last {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if _, err := s.pay(s.order("10.00", to(inGermany))); !errors.Is(err, payments.ErrNoAccount) {
		t.Error(err)
	}
	unknown := to(func(k *contacts.Contact) { k.Intermediary.NationalCode = unknownBank })
	_, err := s.pay(s.order("10.00", unknown))
	if f, is := fault.Of(err); !is || !errors.Is(err, payments.ErrBank) || f.Field != "receiver.accountUID" {
		t.Error(err)
	}
}

// A wire abroad is one whatever its speed: the account's switch for those counts, and for banks on the way.
func TestOnlyAccountsThatMaySendAbroadDo(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	foreign := payments.ReceiverBank{IDType: "SWIFT", BIC: "MUSTDEFF500"}
	there := s.order("10.00", wireTo(foreign, over(gateway), iban))
	by := s.order("10.00", wireTo(payments.ReceiverBank{IDType: "NID", ID: overFedwire}, over(gateway),
		between(foreign)))
	here := s.order("10.00", wireTo(payments.ReceiverBank{IDType: "SWIFT", BIC: "GATEUS33"}, over(gateway)))
	for name, o := range map[string]payments.Order{"there": there, "by": by} {
		if _, err := s.pay(o); !errors.Is(err, payments.ErrRailOff) {
			t.Errorf("%s: %v", name, err)
		}
		v, err := s.Payments.PreviewSend(s.Staff(), o)
		if err != nil || len(v.Faults) != 1 || len(v.Rails) != 1 || len(v.Rails[0].Against) != 1 {
			t.Errorf("%s: %+v %v", name, v, err)
		}
	}
	if _, err := s.pay(here); err != nil {
		t.Error(err)
	}
}

// A correspondent that has a BIC takes payments over SWIFT, too.
func TestAnInternationalPaymentGoesOverItsCorrespondent(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	for name, c := range map[string]struct {
		correspondent, to, intermediary, why string
	}{
		"one with a BIC":    {gateway, "GATEUS33", "GOBEUS33", ""},
		"one without a BIC": {overFedwire, "GOBEUS33", "", "SWIFT does not reach the correspondent " + overFedwire},
	} {
		uid := s.send(t, s.toGermany("100.00", s.trade(t, "100").UID, over(c.correspondent),
			between(payments.ReceiverBank{IDType: "SWIFT", BIC: "GOBEUS33"}))).UID
		s.run(t)
		m := s.carried(t, uid)
		if m.Receiver != c.to || m.Intermediary.BIC != c.intermediary ||
			m.CreditorAgent.BIC != "MUSTDEFF500" {
			t.Errorf("%s: %+v", name, m)
		}
		if d, _ := s.details(t, s.Staff(), uid); d.Route != c.why {
			t.Errorf("%s: %q", name, d.Route)
		}
	}
	unknown := s.toGermany("100.00", s.trade(t, "100").UID, over(gateway), func(o *payments.Order) {
		o.Receiver.Bank.BIC = "NOBODEFF"
	})
	if uid := s.send(t, unknown).UID; s.shows(t, uid).Rail != rails.SWIFT {
		t.Error("a good correspondent needs no bank of the directory")
	}
	unknown.Correspondent, unknown.Contract = overFedwire, s.trade(t, "100").UID
	if _, err := s.pay(unknown); !errors.Is(err, payments.ErrCorrespondent) {
		t.Error(err)
	}
}

// What the correspondent gives back comes back.
func TestACorrespondentMayReturnAWire(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.send(t,
		s.order("10.11", wireTo(payments.ReceiverBank{IDType: "NID", ID: notOverWire}, over(gateway)))).UID
	s.run(t)
	s.Clock.Advance(2 * 60e9)
	s.run(t)
	if got := s.life(t, uid); got != "QUEUED SENT SETTLED RETURNED" {
		t.Error(got)
	}
	s.Prove()
}

// The banks of a wire are shown; the accounts that banks have are not, and stand in no column as they are.
func TestAWireShowsItsBanks(t *testing.T) {
	t.Parallel()
	s := newSenderAbroad(t)
	uid := s.send(t, s.order("10.00", wireTo(payments.ReceiverBank{
		IDType: "SWIFT", BIC: "MUSTDEFF500", AccountType: "Others", Account: "7700112233",
	}, over(gateway), iban, between(payments.ReceiverBank{
		IDType: "SWIFT", BIC: "GOBEUS33", Name: "Go Between", Account: "8800112233",
	})))).UID
	p := s.shows(t, uid)
	if p.To.CorrespondentID != gateway || p.To.CorrespondentName != "Gateway Bank" ||
		p.To.IntermediaryID != "GOBEUS33" || p.To.IntermediaryName != "Go Between" {
		t.Errorf("%+v", p.To)
	}
	if to := p.Receives(); to.BankIDType != "SWIFT" || to.BankID != "MUSTDEFF500" ||
		to.BankCountry != "Germany" {
		t.Errorf("%+v", to)
	}
	var row string
	if err := s.DB.NewRaw(`SELECT string_agg(d::text || p::text, '') FROM payment_details AS d JOIN payments AS p
		ON p.tenant = d.tenant AND p.uid = d.payment WHERE d.tenant = ? AND d.payment = ?
		AND d.bank_account_sealed IS NOT NULL AND d.intermediary_account_sealed IS NOT NULL`, s.Tenant, uid).
		Scan(t.Context(), &row); err != nil || row == "" || strings.Contains(row, "00112233") {
		t.Errorf("%v: %s", err, row)
	}
}

// Another correspondent is another bank that gets the money: it takes a second person.
func TestAWireWaitsForRepairOfItsCorrespondent(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	order := s.order("10.00", repairably,
		wireTo(payments.ReceiverBank{IDType: "NID", ID: unknownBank}, over(notOverWire)))
	p := s.inRepair(t, order, "sender.correspondentBankId: ")
	if p.To.CorrespondentID != notOverWire {
		t.Errorf("%+v", p.To)
	}
	out, err := s.Payments.Repair(s.Staff(), p.UID, payments.Repairs{Correspondent: gateway},
		changes.RequestOptions{})
	if err != nil || out.Result.Status != payments.StatusPendingApproval {
		t.Fatalf("%+v %v", out.Result, err)
	}
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	if m := s.carried(t, p.UID); m.Receiver != gateway || m.CreditorAgent.Routing != unknownBank {
		t.Errorf("%+v", m)
	}
}
