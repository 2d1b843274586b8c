package payments_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/ledger"
	"bankgraph/core/payments"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/seal"
)

// sender is a bank with an account that has 100,000.00, and a contact of the same customer.
type sender struct {
	*coretest.Bank
	from *accounts.Account
	to   *contacts.Contact
}

func newSender(t *testing.T, edits ...func(*customers.Customer)) *sender {
	t.Helper()
	return newSenderOf(coretest.New(t), edits...)
}

func newSenderOf(b *coretest.Bank, edits ...func(*customers.Customer)) *sender {
	b.Directory()
	b.Payments.TakeFilesFor(time.Minute) // one call takes all, however slow the machine is
	c := b.Customer(edits...)
	return &sender{b, b.Account(c, coretest.Holding(100_000_00, 0), coretest.Sends), b.Contact(c)}
}

func (s *sender) order(amount string, edits ...func(*payments.Order)) payments.Order {
	o := payments.Order{
		Sender: payments.Party{UID: s.from.UID}, Receiver: payments.Receiver{Contact: s.to.UID}, Amount: amount,
		Currency: "USD", Speed: "Instant", ExternalReferenceID: "INV-7", Notes: "Rent",
	}
	for _, edit := range edits {
		edit(&o)
	}
	return o
}

// A rejection is told with its meaning, over whichever network.
func TestARejectionIsToldWithItsMeaning(t *testing.T) {
	t.Parallel()
	for _, speed := range []payments.Speed{payments.Instant, payments.Express} {
		s := newSender(t)
		p := s.send(t, s.order("10.01", func(o *payments.Order) { o.Speed = string(speed) }))
		s.run(t)
		if got := s.shows(t, p.UID); got.Reason != "AC03: the account is not known" {
			t.Errorf("%s: %q", speed, got.Reason)
		}
	}
}

// Beside a contact another account is not named: one of the two would be paid without a word.
func TestBesideAContactItsOwnAccountAloneIsNamed(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	number, err := s.Keys.Open(s.to.Bank.AccountNumber, seal.Place{
		Tenant: int64(s.Tenant), Column: contacts.NumberColumn, Row: int64(s.to.UID),
	})
	if err != nil {
		t.Fatal(err)
	}
	for named, fits := range map[string]bool{"": true, number: true, "99999999": false} {
		credit, debit := s.order("5.00", instantly), s.order("5.00", asking)
		credit.Receiver.Number, debit.Receiver.Number = named, named
		_, paid := s.Payments.Send(s.Staff(), credit, changes.RequestOptions{})
		_, asked := s.Payments.RequestDebit(s.Staff(), debit, changes.RequestOptions{})
		for _, err := range []error{paid, asked} {
			f, _ := fault.Of(err)
			if fits != (err == nil) || err != nil && (f == nil || !strings.HasSuffix(f.Field, "accountNumber")) {
				t.Errorf("%q: %v", named, err)
			}
		}
	}
}

func (s *sender) send(t *testing.T, o payments.Order) payments.Saved {
	t.Helper()
	out, err := s.Payments.Send(s.Staff(), o, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Result
}

// run does the bank's own work once: what is queued is sent, and what the networks answer by now is taken in.
func (s *sender) run(t *testing.T) {
	t.Helper()
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	for _, work := range []func() (int, error){
		func() (int, error) { return s.Payments.RunRecurrences(operator) },
		func() (int, error) { return s.Payments.CarryOutDue(operator) },
		func() (int, error) { return s.Payments.SendQueued(operator) },
		func() (int, error) { return s.Payments.SealFiles(operator) },
		func() (int, error) { return s.Payments.HandOver(operator) },
		func() (int, error) { return s.Payments.Receive(operator) },
		func() (int, error) { return s.Payments.SettleEntries(operator) },
		func() (int, error) { return s.Payments.ExpireExceptions(operator) },
		func() (int, error) { return s.Payments.ExpireScreenings(operator) },
		func() (int, error) { return s.Payments.PostEntries(operator) },
	} {
		if _, err := work(); err != nil {
			t.Fatal(err)
		}
	}
}

// has fails the test unless the account has this much, of which so much is held, in cents.
func (s *sender) has(t *testing.T, want, held int64) {
	t.Helper()
	var b ledger.Balance
	if err := s.DB.NewSelect().Model(&b).Where("b.tenant = ? AND b.account = ?", s.Tenant, s.from.UID).
		Scan(t.Context()); err != nil || b.Ledger != want || b.Held != held {
		t.Errorf("the account has %d with %d held, want %d with %d (%v)", b.Ledger, b.Held, want, held, err)
	}
}

func (s *sender) life(t *testing.T, uid payments.UID) string {
	t.Helper()
	_, steps, err := s.Payments.Find(s.Staff(), uid)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, step := range steps {
		all = append(all, string(step.State))
	}
	return strings.Join(all, " ")
}

func instantly(o *payments.Order) { o.Speed = "Instant" }
func byWire(o *payments.Order)    { o.Speed = "express" }

func TestACreditIsHeldThenSentThenSettled(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*payments.Order){"FEDNOW": instantly, "FEDWIRE": byWire} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("250.00", edit))
			if p.Status != payments.StatusReadyToTransmit {
				t.Error(p.Status)
			}
			s.has(t, 100_000_00, 250_00)
			s.Prove()
			operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
			if n, err := s.Payments.SendQueued(operator); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			s.has(t, 99_750_00, 0)
			s.Prove()
			s.run(t)
			if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED" {
				t.Error(got)
			}
			found, err := s.Payments.Show(s.Staff(), p.UID)
			if err != nil || string(found.Rail) != name || found.Receiver.BankID != "611590103" ||
				found.Receiver.BankName != "Old Mill Bank" || found.ReceiverName != s.to.Name ||
				found.Receiver.Masked() == "" || found.Status() != payments.StatusProcessed {
				t.Errorf("%+v %v", found, err)
			}
			s.Prove()
		})
	}
}

func TestWhatTheNetworksAnswerDecidesWhereTheMoneyIs(t *testing.T) {
	t.Parallel()
	for amount, want := range map[string]struct {
		life   string
		after  time.Duration
		has    int64
		reason string
	}{
		"10.01": {"QUEUED SENT REJECTED", 0, 100_000_00, "AC03: the account is not known"},
		"10.11": {"QUEUED SENT SETTLED RETURNED", time.Minute, 100_000_00, "AC04: the account is closed"},
		"10.20": {"QUEUED SENT SETTLED", 30 * time.Second, 99_989_80, ""},
		"10.21": {"QUEUED SENT SETTLED", 10 * time.Minute, 99_989_79, ""},
		"10.22": {"QUEUED SENT", 24 * time.Hour, 99_989_78, ""},
		"10.23": {"QUEUED SENT SETTLED", time.Minute, 99_989_77, ""},
		"10.24": {"QUEUED SENT SETTLED", time.Minute, 99_989_76, ""},
	} {
		for _, speed := range []payments.Speed{payments.Instant, payments.Express} {
			t.Run(amount+" "+string(speed), func(t *testing.T) {
				t.Parallel()
				s := newSender(t)
				p := s.send(t, s.order(amount, func(o *payments.Order) { o.Speed = string(speed) }))
				s.run(t)
				s.Prove()
				s.Clock.Advance(want.after)
				s.run(t)
				s.run(t)
				if got := s.life(t, p.UID); got != want.life {
					t.Errorf("%s, want %s", got, want.life)
				}
				s.has(t, want.has, 0)
				found, err := s.Payments.Show(s.Staff(), p.UID)
				if err != nil || speed == payments.Instant && found.Reason != want.reason {
					t.Errorf("%q, want %q (%v)", found.Reason, want.reason, err)
				}
				s.Prove()
			})
		}
	}
}

func TestARejectedCreditCostsNothing(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Configured("Payments", "Outgoing Payment", "Instant", "Gold")
	s.Exec(`UPDATE fee_catalogue SET price = 150 WHERE tenant = ?`, s.Tenant)
	s.Fee(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, func(f *fees.Tier) {
		f.FeeName, f.FeeTier = "Instant", "Gold"
	})
	kept, refused := s.send(t, s.order("10.00")), s.send(t, s.order("10.01"))
	s.has(t, 100_000_00, 23_01)
	s.run(t)
	s.has(t, 99_988_50, 0)
	for uid, fee := range map[payments.UID]int64{kept.UID: 1_50, refused.UID: 0} {
		if found, err := s.Payments.Show(s.Staff(), uid); err != nil || found.FeeMinor != fee {
			t.Errorf("%s costs %d, want %d (%v)", uid, found.FeeMinor, fee, err)
		}
	}
	s.Prove()
}

func TestASomebodyDescribedInFullIsPaidToo(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("12", func(o *payments.Order) {
		o.Sender = payments.Party{
			Number: coretest.AccountNumber(s.from.UID), Type: "Deposit",
			RoutingNumber: "611090001",
		}
		o.Receiver = payments.Receiver{
			Number: "440055551", Name: "Łucja Sørensen", Currency: "USD",
			Bank: payments.ReceiverBank{IDType: "NID", ID: "021000021"},
		}
	}))
	s.run(t)
	found, err := s.Payments.Show(s.Staff(), p.UID)
	if err != nil || found.Rail != "RTP" || found.ReceiverName != "Łucja Sørensen" ||
		found.Receiver.Masked() != "****5551" ||
		found.Status() != payments.StatusProcessed {
		t.Errorf("%+v %v", found, err)
	}
	s.Prove()
}

func TestWhatCannotBeSentIsRefusedAndHoldsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit  func(*sender, *payments.Order)
		want  error
		field string
	}{
		"more than there is": {
			func(_ *sender, o *payments.Order) { o.Amount = "100000.01" },
			ledger.ErrUncovered, "",
		},
		"above the network": {
			func(_ *sender, o *payments.Order) { o.Amount = "1000000.01" },
			payments.ErrNetworkLimit, "paymentAmount",
		},
		"another currency":   {func(_ *sender, o *payments.Order) { o.Currency = "EUR" }, nil, "paymentCurrency"},
		"too many decimals":  {func(_ *sender, o *payments.Order) { o.Amount = "1.001" }, nil, "paymentAmount"},
		"nothing":            {func(_ *sender, o *payments.Order) { o.Amount = "0" }, nil, "paymentAmount"},
		"an unknown speed":   {func(_ *sender, o *payments.Order) { o.Speed = "Soon" }, nil, "speed"},
		"a day that is over": {func(s *sender, o *payments.Order) { o.Date = day(-1) }, nil, "paymentDate"},
		"a wire on a Sunday": {func(_ *sender, o *payments.Order) {
			o.Speed, o.Date = "Express", day((7-int(coretest.Start.In(coretest.Zone()).Weekday()))%7)
		}, payments.ErrDay, "paymentDate"},
		"a contact of nobody": {
			func(_ *sender, o *payments.Order) { o.Receiver.Contact = 99 }, payments.ErrContact, "receiver.accountUID",
		},
		"another's contact": {func(s *sender, o *payments.Order) {
			o.Receiver.Contact = s.Contact(s.Customer()).UID
		}, payments.ErrContact, "receiver.accountUID"},
		"a contact that waits": {func(s *sender, o *payments.Order) {
			o.Receiver.Contact = s.Contact(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
				func(k *contacts.Contact) { k.Status = contacts.Pending }).UID
		}, payments.ErrContact, "receiver.accountUID"},
		"a contact abroad": {func(s *sender, o *payments.Order) {
			o.Receiver.Contact = s.Contact(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
				func(k *contacts.Contact) { k.Bank.NationalCode = "" }).UID
		}, payments.ErrNoAccount, "receiver.accountUID"},
		"an unknown bank": {func(_ *sender, o *payments.Order) {
			o.Receiver = payments.Receiver{Number: "1", Name: "A", Bank: payments.ReceiverBank{ID: "031000053"}}
		}, payments.ErrBank, "receiver.bank.bankId"},
		"a bank out of reach": {func(_ *sender, o *payments.Order) {
			o.Receiver = payments.Receiver{Number: "1", Name: "A", Bank: payments.ReceiverBank{ID: "011000015"}}
		}, payments.ErrRoute, "speed"},
		"letters that no network carries": {func(_ *sender, o *payments.Order) {
			o.Receiver = payments.Receiver{Number: "1", Name: "李小龍", Bank: payments.ReceiverBank{ID: "611590103"}}
		}, nil, "receiver.name"},
		"an account that may not": {func(s *sender, o *payments.Order) {
			o.Sender.UID = s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}).UID
		}, payments.ErrRailOff, "speed"},
		"an account that is not theirs": {func(s *sender, o *payments.Order) {
			o.Sender.RoutingNumber = "021000021"
		}, nil, "sender.bankId"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			o := s.order("10")
			c.edit(s, &o)
			_, err := s.Payments.Send(s.Staff(), o, changes.RequestOptions{})
			f, is := fault.Of(err)
			if !is || c.want != nil && !errors.Is(err, c.want) || f.Field != c.field {
				t.Errorf("%v on %q, want %v on %q", err, f.Field, c.want, c.field)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}

func TestABankOnNoNetworkSendsNothing(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	if _, err := s.Owner().ExecContext(t.Context(), `UPDATE tenants SET sandbox = false WHERE id = ?`,
		s.Tenant); err != nil {
		t.Fatal(err)
	}
	_, err := s.Payments.Send(s.Staff(), s.order("10"), changes.RequestOptions{})
	if !errors.Is(err, payments.ErrNoNetwork) {
		t.Error(err)
	}
}

func TestAQueuedCreditCanBeCancelledAndASentOneNot(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	first, second := s.send(t, s.order("10")), s.send(t, s.order("20.22"))
	if _, err := s.Payments.Cancel(s.Staff(), first.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.has(t, 100_000_00, 20_22)
	s.run(t)
	s.has(t, 99_979_78, 0)
	if _, err := s.Payments.Cancel(s.Staff(), second.UID,
		changes.RequestOptions{}); !errors.Is(err, payments.ErrOver) {
		t.Error("on its way:", err)
	}
	if got := s.life(t, first.UID); got != "QUEUED CANCELLED" {
		t.Error(got)
	}
	s.Prove()
}

func TestTheMoneyOfASuspendedCustomerStandsStill(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10"))
	s.Exec(`UPDATE customers SET status = 'Suspended' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.Customer)
	s.run(t)
	s.has(t, 100_000_00, 10_00)
	s.Exec(`UPDATE customers SET status = 'Active' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.Customer)
	s.run(t)
	if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED" {
		t.Error(got)
	}
	s.Prove()
}

func TestAWireAfterTheCutOffWaitsForTheNextBankingDay(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	s.Clock.Set(time.Date(2026, 11, 25, 18, 0, 0, 0, newYork)) // the evening before Thanksgiving
	p := s.send(t, s.order("10", byWire))
	if p.Status != payments.StatusFutureDated {
		t.Error(p.Status)
	}
	s.has(t, 100_000_00, 0)
	s.Clock.Set(time.Date(2026, 11, 26, 12, 0, 0, 0, newYork))
	s.run(t)
	if got := s.life(t, p.UID); got != "SCHEDULED" {
		t.Error("on the holiday:", got)
	}
	s.Clock.Set(time.Date(2026, 11, 27, 0, 0, 1, 0, newYork))
	s.run(t)
	if got := s.life(t, p.UID); got != "SCHEDULED QUEUED SENT SETTLED" {
		t.Error(got)
	}
	s.Prove()
}

// A limit binds the payments of a day together, those of the same lane too, and no longer those that came to
// nothing.
func TestLimitsOfTheCustomerBind(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Limit(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
		"INSTANT_PAYMENT_LIMIT_PER_DAY", 100_00)
	s.Limit(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
		"FEDWIRE_PAYMENT_LIMIT_PER_TRANSACTION", 30_00)
	refuse := func(amount string, edits ...func(*payments.Order)) {
		t.Helper()
		if _, err := s.Payments.Send(s.Staff(), s.order(amount, edits...),
			changes.RequestOptions{}); !errors.Is(err, payments.ErrLimit) {
			t.Errorf("%s: %v", amount, err)
		}
	}
	refuse("100.01")
	refuse("30.01", byWire)
	s.send(t, s.order("30", byWire))
	first := s.send(t, s.order("60"))
	refuse("40.01")
	s.send(t, s.order("40"))
	refuse("0.01")
	if _, err := s.Payments.Cancel(s.Staff(), first.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.send(t, s.order("59.01")) // which is rejected
	s.run(t)
	s.send(t, s.order("60"))
	s.Clock.Advance(24 * time.Hour)
	s.send(t, s.order("100"))
	s.Prove()
}

func TestACallbackAsksTheBank(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	bound := int64(50_00)
	s.from = s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
		coretest.Holding(100_000_00,
			0), coretest.Sends, func(a *accounts.Account) {
			a.EnableCallbacks, a.CallbackLimit = true, &bound
		})
	if p := s.send(t, s.order("50", byWire)); p.Status != payments.StatusReadyToTransmit {
		t.Error(p.Status)
	}
	out, err := s.Payments.Send(s.Staff(), s.order("50.09", byWire), changes.RequestOptions{})
	if err != nil || out.Result.Status != payments.StatusPendingApproval {
		t.Fatal(out, err)
	}
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	if got := s.life(t, out.Result.UID); got != "PENDING_APPROVAL QUEUED SENT SETTLED" {
		t.Error(got)
	}
	s.Prove()
}

// Whatever part of the work stops, and however often it is done again, each payment is sent once and settles
// once.
func TestWorkThatIsDoneAgainChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10"))
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if _, err := s.Payments.SendQueued(operator); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the process stopped after the network had taken the message
		if n, err := s.Payments.HandOver(operator); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		s.Exec(`UPDATE network_messages SET handed_at = NULL
			WHERE tenant = ? AND direction = 'OUT'`, s.Tenant)
	}
	for range 2 { // and after the answer was in the books
		if n, err := s.Payments.Receive(operator); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		s.Exec(`UPDATE sandbox_messages SET taken_at = NULL WHERE tenant = ? AND answer > 0`, s.Tenant)
	}
	if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED" {
		t.Error(got)
	}
	s.has(t, 99_990_00, 0)
	s.Prove()
}

// The network is told both account numbers, and nobody who reads the database is.
func TestTheMessageOfAPaymentIsWholeAndSealed(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.send(t, s.order("10", func(o *payments.Order) { o.Reference, o.Remittance = "LEASE-44", "Rent of März" }))
	s.run(t)
	var m payments.Message
	if err := s.DB.NewSelect().Model(&m).Where("nm.tenant = ?", s.Tenant).Where("nm.direction = 'OUT'").
		Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := seal.Place{Tenant: int64(s.Tenant), Column: payments.BodyColumn, Row: int64(m.ID)}
	text, err := s.Keys.Open(seal.Value{Sealed: m.Body}, at)
	if err != nil {
		t.Fatal(err)
	}
	read, err := iso20022.Read(strings.NewReader(text), iso20022.FedNow)
	if err != nil {
		t.Fatal(err)
	}
	sent := read.(*iso20022.CreditTransfer)
	if from, to := coretest.AccountNumber(s.from.UID),
		coretest.ContactNumber(s.to.UID); sent.Debtor.Account != from ||
		sent.Creditor.Account != to || strings.Contains(string(m.Body), to) ||
		sent.Amount.String() != "10.00" ||
		sent.EndToEndID != "LEASE-44" || sent.Remittance != "Rent of Marz" ||
		sent.Creditor.Name != s.to.Name ||
		sent.Creditor.Address.City != "Tampa" {
		t.Errorf("%+v", sent)
	}
}

// However many pay at a time while any number of workers send and take answers in, each payment ends as its
// network says, and the books hold.
func TestManyOrdersAndWorkersAtATime(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	amounts := []string{"1", "2.01", "3", "4.23", "5.02", "6", "7.11", "8"}
	var group sync.WaitGroup
	for i := range 48 {
		group.Go(func() {
			o := s.order(amounts[i%len(amounts)], []func(*payments.Order){instantly, byWire}[i%2])
			if _, err := s.Payments.Send(s.Staff(), o, changes.RequestOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	done := make(chan struct{})
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				_, sent := s.Payments.SendQueued(operator)
				_, handed := s.Payments.HandOver(operator)
				_, received := s.Payments.Receive(operator)
				if sent != nil || handed != nil || received != nil {
					t.Error(sent, handed, received)
				}
			}
		})
	}
	group.Wait()
	close(done)
	workers.Wait()
	s.run(t)
	s.run(t)
	var left int
	if err := s.DB.NewRaw(`SELECT count(*) FROM payments
		WHERE tenant = ? AND state NOT IN ('SETTLED', 'REJECTED')`, s.Tenant).
		Scan(t.Context(), &left); err != nil || left != 0 {
		t.Errorf("%d have not ended (%v)", left, err)
	}
	s.has(t, 100_000_00-6*(1_00+3_00+4_23+6_00+7_11+8_00), 0)
	s.Prove()
}

func TestNobodyWaitsBehindThePaymentsOfAnother(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	other := &sender{s.Bank, s.Account(s.Customer(), coretest.Holding(100_00, 0), coretest.Sends), s.to}
	var orders []*payments.Order
	for range 300 {
		orders = append(orders, new(s.order("1.00")))
	}
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	by, err := access.Require(s.Staff())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DB.InTx(t.Context(), int64(s.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := s.Payments.MakeAllTx(ctx, tx, by, s.from.Customer, orders, true, s.Now())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	last := other.send(t, other.order("5.00", func(o *payments.Order) {
		o.Receiver = payments.Receiver{
			Number: "440055551", Name: "Ada Byron",
			Bank: payments.ReceiverBank{ID: "611590103"},
		}
	}))
	if n, err := s.Payments.SendQueued(operator); n != 250 || err != nil {
		t.Fatal(n, err)
	}
	if got := s.life(t, last.UID); got != "QUEUED SENT" {
		t.Errorf("behind 300 of another customer: %s", got)
	}
	if n, err := s.Payments.SendQueued(operator); n != 51 || err != nil {
		t.Error(n, err)
	}
}
