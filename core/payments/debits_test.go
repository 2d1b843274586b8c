package payments_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/ledger"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// collect asks for a debit of the contact's account.
func (s *sender) collect(t *testing.T, o payments.Order) payments.Saved {
	t.Helper()
	out, err := s.Payments.RequestDebit(s.Staff(), o, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Result
}

func (s *sender) shows(t *testing.T, uid payments.UID) *payments.Shown {
	t.Helper()
	p, err := s.Payments.Show(s.Staff(), uid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestADebitIsCreditedWhenItSettles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit          func(*payments.Order)
		before, after string
	}{
		"Economy":      {economy, "2026-11-19 08:29", "2026-11-19 08:30"},
		"Economy Plus": {sameDay, "2026-11-18 16:59", "2026-11-18 17:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.collect(t, s.order("250.00", c.edit))
			if p.Status != payments.StatusReadyToTransmit {
				t.Error(p.Status)
			}
			s.until(t, "2026-11-18 14:00")
			s.has(t, 100_000_00, 0)
			if got := s.shows(t, p.UID); got.MemoPost() != payments.NotPosted || got.State != payments.Sent {
				t.Error(got.State, got.MemoPost())
			}
			s.Prove()
			s.until(t, c.before)
			s.has(t, 100_000_00, 0)
			s.until(t, c.after)
			s.has(t, 100_250_00, 0)
			s.Prove()
			got := s.shows(t, p.UID)
			if got.State != payments.Settled || got.MemoPost() != payments.Posted ||
				got.EntryType != rails.Debit ||
				got.WireType() != payments.OutgoingPayment || got.Own() != s.from.UID ||
				got.Way() != payments.Out ||
				got.Sends().Name != s.to.Name || got.Sends().Number == "" ||
				got.Receives().AccountName != s.from.Name {
				t.Errorf("%+v", got)
			}
			files, batches, _ := s.files(t)
			if len(files) != 1 || len(files[0]) != 1 {
				t.Fatal(files)
			}
			e, b := files[0][0], batches[0]
			if e.Direction != rails.Debit || e.Amount.Minor != 250_00 ||
				e.Number != coretest.ContactNumber(s.to.UID) ||
				e.Account != rails.Checking || !strings.HasPrefix(s.to.Name, strings.TrimSpace(e.Name)) {
				t.Errorf("%+v", e)
			}
			if b.Only != rails.Debit || b.CompanyID != "1234567890" || b.Class != rails.CCD {
				t.Errorf("%+v", b)
			}
		})
	}
}

func TestCreditsAndDebitsOfAWindowShareAFileNotABatch(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.send(t, s.order("10.00", economy))
	s.collect(t, s.order("20.00", economy))
	s.send(t, s.order("30.00", economy))
	s.until(t, "2026-11-18 14:00")
	files, batches, _ := s.files(t)
	if len(files) != 1 || len(files[0]) != 3 || len(batches) != 2 || batches[0].Only != rails.Credit ||
		batches[1].Only != rails.Debit {
		t.Errorf("%d files %+v", len(files), batches)
	}
	s.until(t, "2026-11-19 08:30")
	s.has(t, 99_980_00, 0)
	s.Prove()
}

func TestWhatComesBackOfDebits(t *testing.T) {
	t.Parallel()
	for amount, c := range map[string]struct {
		when, life, reason string
		has                int64
	}{
		"10.01": {"2026-11-20 08:31", "QUEUED SENT SETTLED RETURNED", "R01: there is not enough money", 100_000_00},
		"10.11": {
			"2026-11-23 08:31", "QUEUED SENT SETTLED RETURNED",
			"R10: the debtor says that it was not authorized", 100_000_00,
		},
		"10.13": {"2026-11-18 15:01", "QUEUED SENT RETURNED", "R08: the debtor has stopped it", 100_000_00},
		"10.23": {"2026-11-20 08:40", "QUEUED SENT SETTLED RETURNED", "R01: there is not enough money", 100_000_00},
		"10.25": {"2026-11-20 08:31", "QUEUED SENT SENT SETTLED", "", 100_010_25},
	} {
		t.Run(amount, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.collect(t, s.order(amount, economy))
			s.until(t, "2026-11-18 14:00")
			s.until(t, c.when)
			s.run(t)
			s.until(t, "2026-11-24 09:00")
			if got := s.life(t, p.UID); got != c.life {
				t.Errorf("%s, want %s", got, c.life)
			}
			s.has(t, c.has, 0)
			if got := s.shows(t, p.UID); got.Reason != c.reason ||
				(got.Returned() != nil) != (c.reason != "") {
				t.Errorf("%q %v", got.Reason, got.Returned())
			}
			s.Prove()
		})
	}
}

func TestAReturnedDebitIsTakenBackThoughItsMoneyIsGone(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.collect(t, s.order("50000.01", economy))
	s.until(t, "2026-11-18 14:00")
	s.until(t, "2026-11-19 08:30")
	s.has(t, 150_000_01, 0)
	wire := s.send(t, s.order("120000.00", func(o *payments.Order) { // is held until Fedwire opens
		byWire(o)
		o.Receiver = payments.Receiver{
			Number: "8800", Name: "Ada", Bank: payments.ReceiverBank{ID: "611590103"},
		}
		o.Receiver.Address.Line1, o.Receiver.Address.City, o.Receiver.Address.CountryCode =
			"1 Main St", "Austin", "US"
	}))
	rest := s.send(t, s.order("30000.00", economy)) // is held until its window
	s.run(t)
	s.until(t, "2026-11-19 10:00")
	s.until(t, "2026-11-20 08:31")
	if s.life(t, p.UID) != "QUEUED SENT SETTLED RETURNED" || s.life(t, wire.UID) == "" ||
		s.life(t, rest.UID) == "" {
		t.Error(s.life(t, p.UID))
	}
	s.has(t, -50_000_00, 0)
	s.Prove()
	_, err := s.Payments.Send(s.Staff(), s.order("0.50"), changes.RequestOptions{})
	if f, _ := fault.Of(err); f == nil || !ledger.ErrUncovered.Is(f) {
		t.Errorf("a payment from an account below its overdraft: %v", err)
	}
	again := s.collect(t, s.order("60000.00", sameDay))
	s.until(t, "2026-11-20 10:00")
	s.until(t, "2026-11-20 13:00")
	s.has(t, 10_000_00, 0)
	s.Prove()
	if s.life(t, again.UID) != "QUEUED SENT SETTLED" {
		t.Error(s.life(t, again.UID))
	}
	s.send(t, s.order("10000.00"))
	s.Prove()
}

func TestWhatWasHeldIsPaidAlthoughAReturnTookTheAccountBelowItsOverdraft(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.collect(t, s.order("50000.01", economy))
	s.until(t, "2026-11-18 14:00")
	s.until(t, "2026-11-19 08:30")
	held := s.send(t, s.order("140000.00", economy, func(o *payments.Order) { // leaves after the return
		o.Date = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	}))
	other := s.send(t, s.order("10.00", economy, func(o *payments.Order) {
		o.Date = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	}))
	s.until(t, "2026-11-20 00:00") // both are queued, and their money is held
	s.has(t, 150_000_01, 140_010_00)
	s.until(t, "2026-11-20 08:31") // the return
	s.has(t, 100_000_00, 140_010_00)
	s.Prove()
	s.until(t, "2026-11-20 10:00")
	s.has(t, -40_010_00, 0)
	if s.life(t, held.UID) != "SCHEDULED QUEUED SENT" || s.life(t, other.UID) != "SCHEDULED QUEUED SENT" {
		t.Error(s.life(t, held.UID), s.life(t, other.UID))
	}
	s.Prove()
}

func TestADebitCostsItsFeeWhenItSettles(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Configured("Payments", "Outgoing Payment", "Economy", "Gold")
	s.Exec(`UPDATE fee_catalogue SET price = 1500 WHERE tenant = ? AND fee_name = 'Economy'`, s.Tenant)
	s.Fee(&customers.Customer{UID: s.from.Customer}, func(f *fees.Tier) { f.FeeName = "Economy" })
	p := s.collect(t, s.order("10.00", economy))
	s.until(t, "2026-11-18 14:00")
	if fee := s.shows(t, p.UID).Fee(); fee != nil {
		t.Error(fee)
	}
	s.until(t, "2026-11-19 08:30")
	s.has(t, 99_995_00, 0)
	if fee := s.shows(t, p.UID).Fee(); fee == nil || fee.Minor != 15_00 {
		t.Error(fee)
	}
	s.Prove()
}

func TestADebitLeavesOnTheDayThatItWasAskedForOrTheNextOne(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for day, want := range map[int]string{
		18: "2026-11-19", 20: "2026-11-23", 21: "2026-11-24", 26: "2026-11-30",
	} {
		p := s.collect(t, s.order("10.00", economy, func(o *payments.Order) {
			o.Date = time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC)
		}))
		status := payments.StatusFutureDated
		if day == 18 {
			status = payments.StatusReadyToTransmit
		}
		if got := s.shows(t, p.UID).Date.Format(time.DateOnly); got != want || p.Status != status {
			t.Errorf("of %d: settles on %s, want %s; %s", day, got, want, p.Status)
		}
	}
	s.until(t, "2026-11-18 14:00")
	s.until(t, "2026-11-20 00:00")
	s.has(t, 100_010_00, 0)
	s.until(t, "2026-11-20 10:00")
	s.until(t, "2026-11-23 08:30")
	s.has(t, 100_020_00, 0)
	s.Prove()
}

func TestADebitIsCancelledUntilItsWindowAndCountsNoMore(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	c := &customers.Customer{UID: s.from.Customer}
	s.Limit(c, "ACH_CCD_DEBIT_TRANSACTION_LIMIT", 500_00)
	s.Limit(c, "ACH_PAYMENT_LIMIT_PER_DAY", 600_00)
	s.Limit(c, "ACH_CCD_CREDIT_TRANSACTION_LIMIT", 1)
	refused := func(amount, code string) {
		t.Helper()
		_, err := s.Payments.RequestDebit(s.Staff(), s.order(amount, economy), changes.RequestOptions{})
		if f, _ := fault.Of(err); f == nil || !payments.ErrLimit.Is(f) || f.Detail != code {
			t.Errorf("%s: %v, want %s", amount, err, code)
		}
	}
	refused("500.01", "ACH_CCD_DEBIT_TRANSACTION_LIMIT")
	p := s.collect(t, s.order("500.00", economy))
	refused("100.01", "ACH_PAYMENT_LIMIT_PER_DAY")
	if _, err := s.Payments.Cancel(s.Staff(), p.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.collect(t, s.order("100.01", economy))
	s.has(t, 100_000_00, 0)
	s.until(t, "2026-11-18 14:00")
	if files, _, _ := s.files(t); len(files) != 1 || len(files[0]) != 1 ||
		s.life(t, p.UID) != "QUEUED CANCELLED" {
		t.Error(files, s.life(t, p.UID))
	}
	s.Prove()
}

// It is not set aside for repair either: nothing is wrong with it.
func TestAPaymentThatWouldWaitIsRefusedWhereTooManyWait(t *testing.T) {
	t.Parallel()
	s := newSender(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	s.Exec(`INSERT INTO approvals (tenant, customer, operation, object, object_uid, creation, draft, version,
		maker_client)
		SELECT ?, ?, 'sendPayment', 'payment', 'x' || n, true, '', 1, 'staff'
		FROM generate_series(1, 999) AS n`, s.Tenant, s.from.Customer)
	foreseen := func(want error) {
		t.Helper()
		sent, err := s.Payments.PreviewSend(s.Staff(), s.order("10.00"))
		if err != nil || (len(sent.Faults) > 0) != (want != nil) || (sent.State == "") != (want != nil) ||
			(sent.Most == nil) != (want != nil) || want != nil && !errors.Is(sent.Faults[0], want) {
			t.Errorf("%+v %v, want %v", sent, err, want)
		}
	}
	foreseen(nil)
	for i, want := range []error{nil, changes.ErrOpen} {
		out, err := s.Payments.RequestDebit(s.Staff(), s.order("10.00", economy), changes.RequestOptions{})
		if !errors.Is(err, want) || (out.Result.UID == 0) != (want != nil) {
			t.Errorf("payment %d: %v %v, want %v", i, out.Result, err, want)
		}
	}
	foreseen(changes.ErrOpen)
	if n, err := s.DB.NewSelect().Table("payments").Where("tenant = ?", s.Tenant).
		Count(t.Context()); n != 1 || err != nil {
		t.Errorf("%d payments, %v", n, err)
	}
	s.Prove()
}

func TestADebitWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	s := newSender(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	out, err := s.Payments.RequestDebit(s.Staff(), s.order("10.00", economy), changes.RequestOptions{})
	if err != nil || out.Result.Status != payments.StatusPendingApproval {
		t.Fatal(out.Result, err)
	}
	s.until(t, "2026-11-18 14:00")
	if got := s.life(t, out.Result.UID); got != "PENDING_APPROVAL" {
		t.Error(got)
	}
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.until(t, "2026-11-18 16:00")
	if got := s.life(t, out.Result.UID); got != "PENDING_APPROVAL QUEUED SENT" {
		t.Error(got)
	}
	s.Prove()
}

func TestADebitOfWhomOrForWhomItCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	stranger := s.Contact(s.Customer())
	details := func(o *payments.Order) {
		o.Receiver = payments.Receiver{
			Number: "8800112233", Type: "Deposit", SubType: "Checking", Name: "Ada Debtor",
			Bank: payments.ReceiverBank{ID: "611590103"},
		}
	}
	for name, c := range map[string]struct {
		edit  func(*payments.Order)
		field string
	}{
		"no class":      {func(o *payments.Order) { o.SECCode = "" }, "additionalInfo.secCode"},
		"class":         {func(o *payments.Order) { o.SECCode = "POP" }, "additionalInfo.secCode"},
		"not allowed":   {func(o *payments.Order) { o.SECCode = "WEB" }, "additionalInfo.secCode"},
		"company":       {func(o *payments.Order) { o.CompanyID = "0987654321" }, "creditor.achCompanyID"},
		"contact":       {func(o *payments.Order) { o.Receiver.Contact = stranger.UID }, "debtor.accountUID"},
		"nobody":        {func(o *payments.Order) { o.Receiver.Contact = 0 }, "debtor.accountUID"},
		"account":       {func(o *payments.Order) { o.Sender.UID = 1 }, "creditor.accountUID"},
		"other product": {func(o *payments.Order) { o.Sender.SubType = "Savings" }, "creditor.subAccountType"},
		"a loan": {
			func(o *payments.Order) { details(o); o.Receiver.SubType = "Heloc" },
			"debtor.subAccountType",
		},
		"unknown bank": {
			func(o *payments.Order) { details(o); o.Receiver.Bank.ID = "026009593" },
			"debtor.bank.bankId",
		},
		"bad bank": {func(o *payments.Order) { details(o); o.Receiver.Bank.ID = "1" }, "debtor.bank.bankId"},
		"amount":   {func(o *payments.Order) { o.Amount = "0" }, "paymentAmount"},
		"currency": {func(o *payments.Order) { o.Currency = "EUR" }, "paymentCurrency"},
		"yesterday": {
			func(o *payments.Order) { o.Date = time.Date(2026, 11, 17, 0, 0, 0, 0, time.UTC) },
			"paymentDate",
		},
		"same day, much": {
			func(o *payments.Order) { o.Speed, o.Amount = "Economy Plus", "1000000.01" },
			"paymentAmount",
		},
		"speed": {func(o *payments.Order) { o.Speed = "SPOT" }, "speed"},
	} {
		_, err := s.Payments.RequestDebit(s.Staff(), s.order("10.00", economy, c.edit), changes.RequestOptions{})
		f, is := fault.Of(err)
		if !is || f.Field != c.field {
			t.Errorf("%s: %v on %v, want %s", name, err, f, c.field)
		}
	}
	p := s.collect(t, s.order("10.00", economy, details, func(o *payments.Order) {
		o.Sender = payments.Party{Number: coretest.AccountNumber(s.from.UID), Type: "Deposit", SubType: "Checking"}
	}))
	s.until(t, "2026-11-18 14:00")
	if got := s.shows(t, p.UID); got.SenderName != "Ada Debtor" || got.Sends().Number != "••••••2233" &&
		!strings.HasSuffix(got.Sends().Number, "2233") {
		t.Errorf("%+v", got.Sends())
	}
	_, err := s.Payments.Reverse(s.Staff(), p.UID, payments.Reversal{}, changes.RequestOptions{})
	if f, _ := fault.Of(err); f == nil || !payments.ErrNoReversal.Is(f) {
		t.Error(err)
	}
}

func TestDebitsAreFoundByTheirKindAndBothSides(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	debit, credit := s.collect(t, s.order("10.00", economy)), s.send(t, s.order("10.00", economy))
	for name, c := range map[string]struct {
		by   payments.Search
		want payments.UID
	}{
		"debits":           {payments.Search{EntryTypes: []rails.EntryType{rails.Debit}}, debit.UID},
		"credits":          {payments.Search{EntryTypes: []rails.EntryType{rails.Credit}}, credit.UID},
		"from the contact": {payments.Search{SenderNumber: coretest.ContactNumber(s.to.UID)}, debit.UID},
		"to the contact":   {payments.Search{ReceiverNumber: coretest.ContactNumber(s.to.UID)}, credit.UID},
		"to the account":   {payments.Search{ReceiverAccount: s.from.UID}, debit.UID},
		"from the account": {payments.Search{SenderNumber: coretest.AccountNumber(s.from.UID)}, credit.UID},
		"of the contact": {payments.Search{
			SenderName: s.to.Name,
			EntryTypes: []rails.EntryType{rails.Debit},
		}, debit.UID},
		"to the account, by": {payments.Search{ReceiverNumber: coretest.AccountNumber(s.from.UID)}, debit.UID},
	} {
		found, err := s.Payments.Page(s.Staff(), c.by, page.First(10))
		if err != nil || len(found.Items) != 1 || found.Items[0].UID != c.want {
			t.Errorf("%s: %d found, want %s (%v)", name, len(found.Items), c.want, err)
		}
	}
}

// Each debit of a series is sent so that it settles on its day, by its network and as its account allows.
func TestADebitIsRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		speed payments.Speed
		want  string
	}{
		"Economy": {payments.Economy, "19/11 10.00 PROCESSED, 27/11 10.00 PROCESSED, 3/12 12.00 PROCESSED"},
		"Economy Plus": {
			payments.EconomyPlus, "18/11 10.00 PROCESSED, 25/11 10.00 PROCESSED, 2/12 12.00 PROCESSED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.collect(t, s.order("10", func(o *payments.Order) {
				o.Speed, o.SECCode, o.Repeat = string(c.speed), rails.PPD, weekly()
			}))
			r := s.series(t, p.Recurrence)
			if r.EntryType != rails.Debit || r.Account != s.from.UID {
				t.Errorf("the series is of %s, of account %s", r.EntryType, r.Account)
			}
			s.through(t, "2026-11-28 12:00") // the 26th is Thanksgiving
			if _, err := s.Payments.ChangeRecurrence(s.Staff(), p.Recurrence, payments.RecurrenceDraft{Amount: "12"},
				changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			s.through(t, "2026-12-04 12:00")
			if got := s.of(t, p.Recurrence); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			s.Exec("UPDATE accounts SET sec_codes = '{CCD}' WHERE tenant = ? AND uid = ?", int64(s.Tenant),
				int64(s.from.UID))
			s.through(t, "2026-12-11 12:00")
			if got := s.of(t, p.Recurrence); !strings.HasSuffix(got, "12.00 VALIDATION_FAILURE") {
				t.Errorf("after its account may not collect any more: %s", got)
			}
			s.has(t, 100_032_00, 0)
			s.Prove()
		})
	}
}

func TestARequestForPaymentIsNotRepeated(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	_, err := s.Payments.RequestDebit(s.Staff(), s.order("10", func(o *payments.Order) {
		o.Speed, o.Ask.On, o.Repeat = string(payments.Instant), coretest.Start.AddDate(0, 0, 1).
			Truncate(24*time.Hour), weekly()
	}), changes.RequestOptions{})
	if err == nil || !strings.Contains(err.Error(), "recurrence: a request for payment is not repeated") {
		t.Error(err)
	}
}
