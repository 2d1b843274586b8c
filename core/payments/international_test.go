package payments_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fx"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/sandbox"
	"bankgraph/core/seal"
)

// newExporter is a sender whose account may pay abroad.
func newExporter(t *testing.T, edits ...func(*customers.Customer)) *sender {
	t.Helper()
	b := coretest.New(t)
	b.Directory()
	c := b.Customer(edits...)
	return &sender{b, b.Account(c, coretest.Holding(100_000_00, 0), abroad), b.Contact(c, inGermany)}
}

func abroad(a *accounts.Account) {
	coretest.Sends(a)
	a.EnableInternationalWires, a.EnableSWIFT = true, true
}

func inGermany(k *contacts.Contact) {
	k.Bank.Country, k.Bank.AccountCurrency, k.Bank.Name = "Germany", "EUR", "Musterbank"
	k.Bank.SWIFTCode, k.Bank.NationalCode = "MUSTDEFFXXX", ""
}

// trade books a trade that buys an amount of euros for the customer.
func (s *sender) trade(t *testing.T, amount string, edits ...func(*fx.Draft)) fx.Trade {
	t.Helper()
	draft := fx.Draft{
		IDType: "CustomerUID", UID: s.from.Customer, Sell: "USD", Buy: "EUR", Transfer: amount, Product: "SPOT",
		Tenor: "SPOT",
	}
	for _, edit := range edits {
		edit(&draft)
	}
	quote, err := s.FX.Quote(s.Staff(), draft, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.FX.Accept(s.Staff(), quote.Result.UID, fx.Acceptance{}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Result
}

// toGermany is the order of a payment that a trade buys; of none in euros.
func (s *sender) toGermany(amount string, of fx.TradeUID, edits ...func(*payments.Order)) payments.Order {
	o := payments.Order{
		Sender: payments.Party{UID: s.from.UID}, Amount: amount, Currency: "EUR", Speed: "SPOT",
		ExternalReferenceID: "INV-7", Notes: "Machines", Contract: of,
		Receiver: payments.Receiver{
			Number: "DE89 3704 0044 0532 0130 00", Name: "Jürgen Müller", Address: postal.Address{
				Line1: "Mainzer Landstr. 1", City: "Frankfurt", CountryCode: "DE",
			}, Bank: payments.ReceiverBank{IDType: "SWIFT", BIC: "MUSTDEFF500"},
		},
	}
	for _, edit := range edits {
		edit(&o)
	}
	return o
}

func domestic(o *payments.Order) {
	o.Speed, o.Currency, o.Receiver.Number = "Instant", "USD", "440055551"
}

func (s *sender) pay(o payments.Order) (payments.Saved, error) {
	out, err := s.Payments.Send(s.Staff(), o, changes.RequestOptions{})
	return out.Result, err
}

// carried reads the credit transfer of a payment, its first message to its network.
func (s *sender) carried(t *testing.T, of payments.UID) *iso20022.CreditTransfer {
	t.Helper()
	return s.firstMessage(t, of).(*iso20022.CreditTransfer)
}

// firstMessage reads the first message of a payment to its network, lastMessage the last one.
func (s *sender) firstMessage(t *testing.T, of payments.UID) iso20022.Message {
	t.Helper()
	return s.message(t, of, "nm.id")
}

func (s *sender) lastMessage(t *testing.T, of payments.UID) iso20022.Message {
	t.Helper()
	return s.message(t, of, "nm.id DESC")
}

func (s *sender) message(t *testing.T, of payments.UID, order string) iso20022.Message {
	t.Helper()
	var m payments.Message
	if err := s.DB.NewSelect().Model(&m).Where("nm.tenant = ? AND nm.payment = ? AND nm.direction = 'OUT'",
		s.Tenant, of).
		OrderExpr(order).Limit(1).Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	body, err := s.Keys.Open(seal.Value{Sealed: m.Body},
		seal.Place{Tenant: int64(s.Tenant), Column: payments.BodyColumn, Row: int64(m.ID)})
	if err != nil {
		t.Fatal(err)
	}
	read, err := iso20022.Read(strings.NewReader(body), payments.Profiles[m.Rail])
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestATradePaysAPaymentInAnotherCurrency(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	traded := s.trade(t, "2500.50")
	p := s.send(t, s.toGermany("2500.50", traded.UID))
	s.has(t, 100_000_00, traded.SellMinor)
	s.Prove()
	s.run(t)
	s.has(t, 100_000_00-traded.SellMinor, 0)
	s.Prove()
	m := s.carried(t, p.UID)
	if m.Amount != money.Of(2500_50, "EUR") || m.SettlementDate.Format(time.DateOnly) != "2026-11-20" ||
		m.Sender != "TSTBUS33" || m.Receiver != "MUSTDEFF500" || m.From != "TSTBUS33" ||
		m.To != "MUSTDEFF500" ||
		m.Creditor.IBAN != "DE89370400440532013000" || m.Creditor.Account != "" ||
		m.CreditorAgent.BIC != "MUSTDEFF500" ||
		m.Debtor.Account == "" || m.Creditor.Name != "Jurgen Muller" || m.Remittance != "Machines" {
		t.Errorf("%+v", m)
	}
	s.until(t, "2026-11-20 08:59")
	if got := s.life(t, p.UID); got != "QUEUED SENT" {
		t.Errorf("before its value date: %s", got)
	}
	s.until(t, "2026-11-20 09:00")
	if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED" {
		t.Error(got)
	}
	s.Prove()
	shown, err := s.Payments.Show(s.Staff(), p.UID)
	if err != nil || shown.Debited() != traded.SellAmount() || shown.Amount() != traded.BuyAmount() ||
		shown.Trade != traded.UID || shown.Rail != rails.SWIFT || shown.Receives().BankID != "MUSTDEFF500" ||
		shown.Receives().BankIDType != "SWIFT" || shown.Receives().BankCountry != "Germany" {
		t.Errorf("%+v (%v)", shown, err)
	}
}

// A payment over SWIFT is not reversed, which would give back the rate of its trade.
func TestAnInternationalPaymentIsNotReversed(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	p := s.send(t, s.toGermany("2500.50", s.trade(t, "2500.50").UID))
	s.run(t)
	s.until(t, "2026-11-20 09:00")
	s.lived(t, p.UID, "QUEUED SENT SETTLED")
	if _, err := s.Payments.Reverse(s.Staff(), p.UID, payments.Reversal{Code: "DUPL"},
		changes.RequestOptions{}); !errors.Is(err, payments.ErrNoReversal) {
		t.Error(err)
	}
	s.lived(t, p.UID, "QUEUED SENT SETTLED")
}

func TestAnInternationalPaymentFitsItsTrade(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	other := &sender{s.Bank, s.Account(s.Customer(), coretest.Holding(100_000_00, 0), abroad), s.to}
	traded, foreign, used, late := s.trade(t, "100"), other.trade(t, "100"), s.trade(t, "100"), s.trade(t, "100")
	s.send(t, s.toGermany("100.00", used.UID))
	over := s.trade(t, "100")
	if _, err := s.FX.Cancel(s.Staff(), over.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	yen := s.trade(t, "100", func(d *fx.Draft) { d.Buy = "JPY" })
	later := traded.ValueDate.AddDate(0, 0, 3)
	for name, c := range map[string]struct {
		of   fx.TradeUID
		edit func(*payments.Order)
		want string
	}{
		"another amount": {
			traded.UID, func(o *payments.Order) { o.Amount = "100.01" },
			"paymentAmount: must be the amount that the trade buys, 100.00",
		},
		"another customer's": {
			foreign.UID, nil, "additionalInfo.fxContractNumber: must be a trade of the customer",
		},
		"unknown":          {99_999, nil, "additionalInfo.fxContractNumber: must be a trade of the customer"},
		"used":             {used.UID, nil, "additionalInfo.fxContractNumber: the trade pays another payment"},
		"cancelled":        {over.UID, nil, "additionalInfo.fxContractNumber: the trade is cancelled"},
		"another currency": {yen.UID, nil, "paymentCurrency: must be the currency that the trade buys, JPY"},
		"another day": {
			traded.UID, func(o *payments.Order) { o.Date = later },
			"paymentDate: must be the value date of the trade, 2026-11-20",
		},
		"no trade": {
			0, func(o *payments.Order) { o.Date = later },
			"additionalInfo.fxContractNumber: is required, as the account is in USD: ask for a quote, and accept it",
		},
		"neither trade, day": {0, nil, "additionalInfo.fxContractNumber: is required without a paymentDate"},
		"dollars": {
			0, func(o *payments.Order) { o.Currency, o.Date = "USD", later },
			"paymentCurrency: must be another currency than USD, which the other speeds pay",
		},
		"no notes": {traded.UID, func(o *payments.Order) { o.Notes = "" }, "paymentNotes: is required"},
		"a routing number": {
			traded.UID,
			func(o *payments.Order) { o.Receiver.Bank = payments.ReceiverBank{IDType: "NID", ID: "611090001"} },
			"receiver.bank.bankIdType: must be SWIFT, without a bankId: a bank abroad is named by its swiftCode",
		},
		"a routing number and half a BIC": {
			traded.UID, func(o *payments.Order) {
				o.Receiver.Bank = payments.ReceiverBank{IDType: "NID", ID: "611090001", BIC: "D"}
			},
			"receiver.bank.swiftCode: must be a BIC of 8 or 11 characters",
		},
		"an unknown bank": {
			traded.UID, func(o *payments.Order) { o.Receiver.Bank.BIC = "NONEDEFF" },
			"receiver.bank.swiftCode: must be a bank of the directory",
		},
		"a BIC of elsewhere": {
			traded.UID, func(o *payments.Order) { o.Receiver.Bank.Country = "FR" },
			"receiver.bank.countryCode: must be the country of the swiftCode, DE",
		},
		"a mistyped IBAN": {
			traded.UID, func(o *payments.Order) { o.Receiver.Number = "DE89370400440532013001" },
			"receiver.accountNumber: must be an IBAN",
		},
		"a series": {
			0, func(o *payments.Order) { o.Date, o.Repeat = later, weekly() },
			"recurrence: does not belong to the speeds SPOT, ON and TN",
		},
		"a domestic speed": {traded.UID, func(o *payments.Order) {
			domestic(o)
			o.Receiver.Bank = payments.ReceiverBank{ID: "611090001"}
		}, "additionalInfo.fxContractNumber: belongs to the speeds SPOT, ON and TN"},
		"domestic, with a BIC beside": {0, func(o *payments.Order) {
			domestic(o)
			o.Receiver.Bank = payments.ReceiverBank{IDType: "NID", ID: "611090001", BIC: "DEUTDEFF"}
		}, "receiver.bank.swiftCode: must be absent beside NID: the bank is named by its bankId"},
		"a routing number beside SWIFT": {
			traded.UID, func(o *payments.Order) { o.Receiver.Bank.IDType, o.Receiver.Bank.ID = "SWIFT", "611090001" },
			"receiver.bank.bankId: must be absent beside SWIFT: a bank abroad is named by its swiftCode",
		},
		"domestic, by BIC": {
			0, func(o *payments.Order) { domestic(o) },
			"receiver.bank.bankIdType: must be NID, without a swiftCode: these speeds pay banks in the United States",
		},
		"a bank between here": {0, func(o *payments.Order) {
			domestic(o)
			o.Receiver.Bank = payments.ReceiverBank{ID: "611090001"}
			o.Receiver.Between = payments.ReceiverBank{BIC: "MUSTDEFF"}
		}, "receiver.intermediaryBank: belongs to wires: the speeds Express, SPOT, ON and TN"},
	} {
		edit := c.edit
		if edit == nil {
			edit = func(*payments.Order) {}
		}
		if _, err := s.pay(s.toGermany("100.00", c.of, edit)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := s.pay(s.toGermany("100.00", traded.UID)); err != nil {
		t.Errorf("the trade is still good: %v", err)
	}
	s.until(t, "2026-11-21 09:00")
	const passed = "additionalInfo.fxContractNumber: must be a trade whose value date has not passed: " +
		"it was 2026-11-20"
	if _, err := s.pay(s.toGermany("100.00", late.UID)); err == nil || err.Error() != passed {
		t.Errorf("after the value date: %v, want %s", err, passed)
	}
	s.Prove()
}

func TestATradePaysOnePaymentWhateverComesAtATime(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	traded := s.trade(t, "100")
	var wait sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wait.Go(func() {
			if i == 5 {
				_, errs[i] = s.FX.Cancel(s.Staff(), traded.UID, changes.RequestOptions{})
				return
			}
			_, errs[i] = s.pay(s.toGermany("100.00", traded.UID))
		})
	}
	wait.Wait()
	done := 0
	for i, err := range errs {
		switch {
		case err == nil:
			done++
		case !payments.ErrContractOver.Is(err) && !payments.ErrContractUsed.Is(err) && !fx.ErrUsed.Is(err):
			t.Errorf("%d: %v", i, err)
		}
	}
	if done != 1 {
		t.Errorf("%d took it: %v", done, errs)
	}
	s.Prove()
}

func TestATradeIsFreeAgainWhenItsPaymentMovedNothing(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	traded := s.trade(t, "100.01") // which the other bank rejects
	p := s.send(t, s.toGermany("100.01", traded.UID))
	if _, err := s.FX.Cancel(s.Staff(), traded.UID, changes.RequestOptions{}); !fx.ErrUsed.Is(err) {
		t.Errorf("cancelled under its payment: %v", err)
	}
	if _, err := s.Payments.Cancel(s.Staff(), p.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.has(t, 100_000_00, 0)
	again := s.send(t, s.toGermany("100.01", traded.UID))
	s.run(t)
	if got := s.life(t, again.UID); got != "QUEUED SENT REJECTED" {
		t.Error(got)
	}
	s.has(t, 100_000_00, 0)
	s.Prove()
	s.send(t, s.toGermany("100.01", traded.UID))
	s.Prove()
}

func TestWhatComesBackIsExchangedAtTheRateOfTheTrade(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	p := s.send(t, s.toGermany("250.11", s.trade(t, "250.11").UID)) // which comes back
	s.run(t)
	s.until(t, "2026-11-20 09:00")
	s.run(t)
	s.until(t, "2026-11-20 09:02")
	s.lived(t, p.UID, "QUEUED SENT SETTLED RETURNED")
	s.has(t, 100_000_00, 0)
}

// However many parts bring a payment back, they bring what it cost, and a part that is worth nothing by
// itself holds nothing up.
func TestWhatComesBackInPartsBringsWhatItCost(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	traded := s.trade(t, "1000", func(d *fx.Draft) { d.Buy = "KRW" })
	p := s.send(t, s.toGermany("1000", traded.UID, func(o *payments.Order) { o.Currency = "KRW" }))
	s.run(t)
	s.until(t, "2026-11-20 09:00")
	s.run(t)
	cost := traded.SellMinor
	for _, part := range []struct {
		amount string
		back   int64
	}{{"1", 0}, {"499", cost / 2}, {"500", cost}} {
		s.answered(t, p.UID, sandbox.Answer{Verdict: sandbox.Returned, Amount: part.amount})
		s.has(t, 100_000_00-cost+part.back, 0)
	}
	if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED RETURNED RETURNED RETURNED" {
		t.Error(got)
	}
	s.Prove()
}

func TestAnAccountPaysInItsOwnCurrency(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	s.from = s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, abroad,
		func(a *accounts.Account) {
			a.Currency = "EUR"
			coretest.Holding(5_000_00, 0)(a)
		})
	s.Limit(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, "SWIFT_PAYMENT_LIMIT_PER_DAY", 1_00)
	days := map[string]string{"ON": "2026-11-18", "TN": "2026-11-19", "SPOT": "2026-11-20"}
	for speed, day := range days {
		on := func(text string) func(*payments.Order) {
			return func(o *payments.Order) {
				o.Speed, o.Date = speed, at(t,
					text+" 00:00").UTC().Truncate(24*time.Hour)
			}
		}
		p := s.send(t, s.toGermany("10.00", 0, on(day)))
		if shown := s.shows(t, p.UID); shown.Date.Format(time.DateOnly) != day ||
			shown.Status() != payments.StatusReadyToTransmit {
			t.Errorf("%s: %s on %s", speed, shown.Status(), shown.Date)
		}
		if _, err := s.pay(s.toGermany("10.00", 0, on("2026-11-22"))); !payments.ErrDay.Is(err) {
			t.Errorf("%s on a Sunday: %v", speed, err)
		}
		if _, err := s.pay(s.toGermany("10.00", 0, on(days["ON"]))); speed != "ON" &&
			!payments.ErrDay.Is(err) {
			t.Errorf("%s on the same day: %v", speed, err)
		}
	}
	s.Prove()
	s.until(t, "2026-11-18 17:00")
	today := func(o *payments.Order) { o.Speed, o.Date = "ON", time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC) }
	if _, err := s.pay(s.toGermany("10.00", 0, today)); !payments.ErrDay.Is(err) {
		t.Errorf("after the cut-off: %v", err)
	}
	var used int
	if err := s.DB.NewRaw(`SELECT count(*) FROM limit_usage WHERE tenant = ?`, s.Tenant).
		Scan(t.Context(), &used); err != nil || used != 0 {
		t.Errorf("limits, which are in dollars, count %d payments in euros (%v)", used, err)
	}
}

func TestAForwardLeavesAsLongBeforeItsDayAsTheSpeedSays(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	traded := s.trade(t, "100", func(d *fx.Draft) { d.Product, d.Tenor = "FORWARD", "1M" })
	if got := traded.ValueDate.Format(time.DateOnly); got != "2026-12-21" { // the 20th is a Sunday
		t.Fatal(got)
	}
	p := s.send(t, s.toGermany("100.00", traded.UID))
	if p.Status != payments.StatusFutureDated {
		t.Fatal(p.Status)
	}
	s.has(t, 100_000_00, 0)
	for _, c := range []struct{ when, life string }{
		{"2026-12-16 23:59", "SCHEDULED"},
		{"2026-12-17 00:00", "SCHEDULED QUEUED SENT"},
		{"2026-12-21 08:59", "SCHEDULED QUEUED SENT"},
		{"2026-12-21 09:00", "SCHEDULED QUEUED SENT SETTLED"},
	} {
		s.until(t, c.when)
		s.run(t)
		if got := s.life(t, p.UID); got != c.life {
			t.Errorf("%s: %s, want %s", c.when, got, c.life)
		}
	}
	s.Prove()
}

func TestATradeOfASlowerSpeedKeepsItsDay(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	traded := s.trade(t, "100", func(d *fx.Draft) { d.Tenor = "ON" })
	p := s.send(t, s.toGermany("100.00", traded.UID)) // of the speed SPOT
	if shown := s.shows(t, p.UID); !shown.Date.Equal(traded.ValueDate) ||
		shown.Date.Format(time.DateOnly) != "2026-11-18" {
		t.Error(shown.Date)
	}
	late := s.trade(t, "100", func(d *fx.Draft) { d.Tenor = "ON" })
	s.until(t, "2026-11-18 17:00")
	if _, err := s.pay(s.toGermany("100.00", late.UID)); !payments.ErrDay.Is(err) {
		t.Errorf("a day that is over: %v", err)
	}
}

func TestWhoPaysAbroadIsChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*sender)
		want   *fault.Fault
	}{
		"international wires off": {func(s *sender) {
			s.Exec(`UPDATE accounts SET enable_international_wires = false WHERE tenant = ? AND uid = ?`,
				s.Tenant, s.from.UID)
		}, payments.ErrRailOff},
		"the bank has no BIC": {func(s *sender) {
			s.Exec(`UPDATE customers SET swift_code = '' WHERE tenant = ? AND uid = ?`, s.Tenant, s.Self.UID)
		}, payments.ErrNoBIC},
		"no funds": {func(s *sender) {
			s.from = s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
				coretest.Holding(100_00, 0), abroad)
		}, ledger.ErrUncovered},
		"above a limit": {func(s *sender) {
			s.Limit(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
				"SWIFT_PAYMENT_LIMIT_PER_TRANSACTION", 100_00)
		}, payments.ErrLimit},
	} {
		s := newExporter(t)
		traded := s.trade(t, "100")
		c.change(s)
		_, err := s.pay(s.toGermany("100.00", traded.UID))
		f, is := fault.Of(err)
		if !is || !c.want.Is(f) {
			t.Errorf("%s: %v", name, err)
		}
		s.Prove()
	}
}

func TestAnInternationalPaymentToAContactGoesOverItsBanks(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	s.to = s.Contact(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, inGermany,
		func(k *contacts.Contact) {
			k.Intermediary = contacts.IntermediaryBank{
				Country: "United States", Name: "Go Between",
				SWIFTCode: "GOBEUS33",
			}
		})
	traded := s.trade(t, "100")
	p := s.send(t, s.toGermany("100.00", traded.UID, func(o *payments.Order) {
		o.Receiver = payments.Receiver{Contact: s.to.UID}
	}))
	s.run(t)
	if m := s.carried(t, p.UID); m.Receiver != "GOBEUS33" || m.CreditorAgent.BIC != "MUSTDEFFXXX" ||
		m.Creditor.Name != s.to.Name {
		t.Errorf("%+v", m)
	}
	plain := s.Contact(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer})
	next := s.trade(t, "100")
	if _, err := s.pay(s.toGermany("100.00", next.UID, func(o *payments.Order) {
		o.Receiver = payments.Receiver{Contact: plain.UID}
	})); !payments.ErrNoAccountAbroad.Is(err) {
		t.Errorf("a contact without a BIC: %v", err)
	}
}

func TestAnInternationalPaymentWaitsForApprovalByWhatItCosts(t *testing.T) {
	t.Parallel()
	s := newExporter(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	traded := s.trade(t, "100")
	out, err := s.Payments.Send(s.Staff(), s.toGermany("100.00", traded.UID), changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out.Approval, err)
	}
	if _, err := s.FX.Cancel(s.Staff(), traded.UID, changes.RequestOptions{}); !fx.ErrUsed.Is(err) {
		t.Errorf("cancelled under a payment that waits: %v", err)
	}
	decide := func(ctx context.Context) error {
		_, err := s.Changes.Refuse(ctx, changes.UID(out.Approval), changes.RequestOptions{Reason: "no"})
		return err
	}
	if err := decide(s.Checker()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.FX.Cancel(s.Staff(), traded.UID, changes.RequestOptions{}); err != nil {
		t.Errorf("nothing uses it: %v", err)
	}
	s.Prove()
}

func TestPreviewsOfInternationalPayments(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	traded := s.trade(t, "100")
	v, err := s.Payments.PreviewSend(s.Staff(), s.toGermany("100.00", traded.UID))
	if err != nil || len(v.Faults) > 0 || v.Available.Currency != "USD" ||
		v.After.Minor != v.Available.Minor-traded.SellMinor ||
		len(v.Rails) != 1 || !v.Rails[0].Chosen || v.Rails[0].Settles.Format(time.DateOnly) != "2026-11-20" ||
		fmt.Sprint(v.Most) != "100.00" {
		t.Errorf("%+v (%v)", v, err)
	}
	v, err = s.Payments.PreviewSend(s.Staff(), s.toGermany("99.99", traded.UID))
	if err != nil || len(v.Faults) != 1 || !payments.ErrContractAmount.Is(v.Faults[0]) ||
		fmt.Sprint(v.Most) != "100.00" {
		t.Errorf("%+v (%v)", v, err)
	}
	if _, err := s.pay(s.toGermany("100.00", traded.UID)); err != nil {
		t.Error(err)
	}
	v, err = s.Payments.PreviewSend(s.Staff(), s.toGermany("100.00", traded.UID))
	if err != nil || len(v.Faults) != 1 || !payments.ErrContractUsed.Is(v.Faults[0]) || v.Most != nil {
		t.Errorf("%+v (%v)", v, err)
	}
}
