package payments_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/core/payments"
)

func repairably(o *payments.Order) { o.Repairable = true }

// described names who is paid in full.
func described(o *payments.Order) {
	o.Receiver = payments.Receiver{
		Number: "4417123456", Name: "Ada King", Type: "Deposit", SubType: "Checking",
		Bank: payments.ReceiverBank{IDType: "NID", ID: "611590103"},
	}
}

// inRepair sends an order, and fails the test unless the payment waits for repair for this reason.
func (s *sender) inRepair(t *testing.T, o payments.Order, why string) *payments.Shown {
	t.Helper()
	made := s.send(t, o)
	found, err := s.Payments.Show(s.Staff(), made.UID)
	if err != nil || made.Status != payments.StatusRepair || found.State != payments.Repair ||
		!strings.Contains(found.Reason, why) {
		t.Fatalf("%+v %q %v, want %q", made, found.Reason, err, why)
	}
	return found
}

// What can be mended is kept, with the reasons; nothing is held, charged or counted for it, and no series
// begins.
func TestACreditThatCannotBeCarriedOutWaitsForRepair(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*sender, *payments.Order)
		why  string
	}{
		"an unknown bank": {
			func(_ *sender, o *payments.Order) { described(o); o.Receiver.Bank.ID = "011000138" },
			"receiver.bank.bankId: must be a bank of the directory",
		},
		"a routing number that is none": {
			func(_ *sender, o *payments.Order) { described(o); o.Receiver.Bank.ID = "611590104" },
			"receiver.bank.bankId: ",
		},
		"nobody": {
			func(_ *sender, o *payments.Order) { o.Receiver = payments.Receiver{} },
			"receiver.accountUID: ",
		},
		"an unknown contact": {
			func(_ *sender, o *payments.Order) { o.Receiver.Contact = 9_999_999 },
			"receiver.accountUID: ",
		},
		"a contact of another": {
			func(s *sender, o *payments.Order) { o.Receiver.Contact = s.Contact(s.Customer()).UID },
			"receiver.accountUID: ",
		},
		"too little money": {func(_ *sender, o *payments.Order) { o.Amount = "100000.01" }, ""},
		"a limit": {func(s *sender, o *payments.Order) {
			s.Limit(&customers.Customer{UID: s.from.Customer}, "INSTANT_PAYMENT_LIMIT_PER_DAY", 1_00)
		}, "paymentAmount: "},
		"a day that is over":  {func(_ *sender, o *payments.Order) { o.Date = day(-1) }, "paymentDate: "},
		"a day without wires": {func(_ *sender, o *payments.Order) { byWire(o); o.Date = day(4) }, "paymentDate: "},
		"an account that is closed to money": {func(s *sender, _ *payments.Order) {
			s.Exec(`UPDATE accounts SET status = 'Suspended' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
		}, "sender.accountUID: "},
		"a network that is off": {func(s *sender, o *payments.Order) {
			s.Exec(`UPDATE accounts SET enable_wires = false WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
			byWire(o)
		}, "speed: "},
		"no class": {func(_ *sender, o *payments.Order) { o.Speed = "Economy" }, "additionalInfo.secCode: "},
		"no trade": {
			func(_ *sender, o *payments.Order) { o.Speed, o.Currency, o.Contract = "SPOT", "EUR", 4711 },
			"fxContractNumber: ",
		},
		"a series": {func(_ *sender, o *payments.Order) {
			described(o)
			o.Receiver.Bank.ID = "011000138"
			o.Repeat = &payments.Repetition{Frequency: "Monthly", Until: "Cancelled"}
		}, "receiver.bank.bankId: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			o := s.order("250.00", repairably)
			c.edit(s, &o)
			p := s.inRepair(t, o, c.why)
			if p.Reason == "" || p.Recurrence != 0 || p.Trade != 0 || p.FeeMinor != 0 || p.SendAt != nil {
				t.Errorf("%+v", p.Payment)
			}
			s.has(t, 100_000_00, 0)
			s.run(t)
			s.Prove()
			plain := o
			plain.Repairable = false
			_, err := s.Payments.Send(s.Staff(), plain, changes.RequestOptions{})
			if _, refused := fault.Of(err); !refused {
				t.Errorf("without repair: %v", err)
			}
			if got := s.life(t, p.UID); got != "REPAIR" {
				t.Error(got)
			}
			if _, err := s.Payments.Cancel(s.Staff(), p.UID, changes.RequestOptions{}); err != nil {
				t.Error(err)
			}
			var kept int
			if err := s.DB.NewRaw(`SELECT count(*) FROM payment_repairs WHERE tenant = ?`, s.Tenant).
				Scan(t.Context(), &kept); err != nil || kept != 0 {
				t.Error(kept, err)
			}
			s.Prove()
		})
	}
}

// What is wrong with the form of an order does not hide what else is, nor the other way round.
func TestARepairIsToldAllThatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*payments.Order)
		want []string // how the lines begin
	}{
		"a trade that does not belong to the speed": {
			func(o *payments.Order) { o.Contract = 4711 },
			[]string{"additionalInfo.fxContractNumber: belongs to the speeds SPOT, ON and TN"},
		},
		"and a bank that is none": {func(o *payments.Order) {
			described(o)
			o.Contract, o.Receiver.Bank.ID = 4711, "011000139"
		}, []string{"receiver.bank.bankId: ", "additionalInfo.fxContractNumber: belongs to"}},
		"a note that is missing, and the trade": {func(o *payments.Order) {
			o.Speed, o.Currency, o.Contract, o.Notes = "SPOT", "EUR", 4711, " "
		}, []string{"paymentNotes: ", "additionalInfo.fxContractNumber: must be a trade"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			out, err := s.Payments.Send(s.Staff(), s.order("250.00", repairably, c.edit), changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(s.shows(t, out.Result.UID).Reason, "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("%q, want %q", lines, c.want)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("%q, want %q", lines, c.want)
				}
			}
		})
	}
}

// A blank text says nothing, and so stops no payment.
func TestABlankTextCountsAsAbsent(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for _, speed := range []func(*payments.Order){instantly, byWire, economy} {
		uid := s.send(t, s.order("1.00", speed, func(o *payments.Order) {
			o.Notes, o.Remittance, o.BankInfo = " ", "  ", " "
		})).UID
		if got := s.shows(t, uid); got.Notes != "" {
			t.Errorf("%q", got.Notes)
		}
	}
}

// ending makes an order a daily series until a day of November.
func ending(day int) func(*payments.Order) {
	return func(o *payments.Order) {
		o.Repeat = &payments.Repetition{Frequency: "Daily", Until: "EndDate", End: on(2026, time.November, day)}
	}
}

func TestWhatNobodyCanRepairIsRefused(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	other := s.Account(s.Customer(), coretest.Holding(5_00, 0), coretest.Sends)
	for name, c := range map[string]struct {
		edit  func(*payments.Order)
		field string
	}{
		"no amount":         {func(o *payments.Order) { o.Amount = "-1" }, "paymentAmount"},
		"a third of a cent": {func(o *payments.Order) { o.Amount = "0.333" }, "paymentAmount"},
		"no such currency":  {func(o *payments.Order) { o.Currency = "XQQ" }, "paymentCurrency"},
		"another currency":  {func(o *payments.Order) { o.Currency = "EUR" }, "paymentCurrency"},
		"no such speed":     {func(o *payments.Order) { o.Speed = "Soon" }, "speed"},
		"no such account":   {func(o *payments.Order) { o.Sender.UID = 999_999 }, "sender.accountUID"},
		"a number of another": {
			func(o *payments.Order) { o.Sender.UID = other.UID; o.Sender.Number = "123456" },
			"sender.accountNumber",
		},
		"no reference": {func(o *payments.Order) { o.ExternalReferenceID = "" }, "externalReferenceId"},
		"a NUL": {
			func(o *payments.Order) { o.Remittance = "a\x00b" },
			"additionalInfo.paymentRemittanceNotes",
		},
		"a name that is long": {
			func(o *payments.Order) { described(o); o.Receiver.Name = strings.Repeat("n", 141) }, "receiver.name",
		},
		"a series without end": {
			func(o *payments.Order) { o.Repeat = &payments.Repetition{Frequency: "Daily"} },
			"recurrence.payUntil",
		},
		"a series that ends today": {ending(18), "recurrence.endDate"},
		"a series that has ended, to nobody": {
			func(o *payments.Order) { ending(17)(o); o.Receiver = payments.Receiver{} }, "recurrence.endDate",
		},
		"a series that ends before its first payment can be made": {
			func(o *payments.Order) { ending(19)(o); o.Speed, o.SECCode = "Economy", "PPD" }, "recurrence.endDate",
		},
		"an enrolment over an instant network": {
			func(o *payments.Order) { enrol(o); o.Speed = "Instant" }, "additionalInfo.secCode",
		},
		"an enrolment by wire": {
			func(o *payments.Order) { enrol(o); o.Speed = "Express" }, "additionalInfo.secCode",
		},
		"a body without an end": {
			func(o *payments.Order) { o.Receiver.Bank.ID = strings.Repeat("1", 20_000) },
			"receiver",
		},
		"beside what can be mended": {
			func(o *payments.Order) { o.Receiver = payments.Receiver{}; o.Amount = "0" },
			"paymentAmount",
		},
	} {
		_, err := s.Payments.Send(s.Staff(), s.order("250.00", repairably, c.edit), changes.RequestOptions{})
		if refused, is := fault.Of(err); !is || refused.Field != c.field {
			t.Errorf("%s: %v, want a fault of %s", name, err, c.field)
		}
	}
	if _, err := s.Payments.Send(s.As(access.ViewPayments), s.order("1", repairably),
		changes.RequestOptions{}); !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
	if all, err := s.Payments.Page(s.Staff(), payments.Search{}, page.First(1)); err != nil ||
		len(all.Items) != 0 {
		t.Errorf("%+v %v", all, err)
	}
}

// Hostile texts of what can be repaired are sealed with the order, and are in no plain column.
func TestHostileTextsOfAnUnfitCreditAreKeptSealedAlone(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	o := s.order("250.00", repairably, described, func(o *payments.Order) {
		o.Receiver.Name, o.Receiver.Number, o.Receiver.Bank.ID = "Ada\x00\u202eKing", "44\x00CANARY17123456",
			strings.Repeat("9", 5000)
		o.Receiver.Address.City = "New\x00York"
	})
	p := s.inRepair(t, o, "receiver.name: must be plain text\n")
	if p.ReceiverName != "" || strings.Contains(p.Reason, "CANARY") || p.Receiver.BankID != "" {
		t.Errorf("%+v", p)
	}
	to := payments.Receiver{Contact: s.to.UID}
	if _, err := s.Payments.Repair(s.Staff(), p.UID, payments.Repairs{Receiver: &to},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestARepairedPaymentGoesOnAsANewOne(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	o := s.order("250.00", repairably, described, func(o *payments.Order) {
		o.Receiver.Bank.ID, o.Receiver.Currency, o.Strict = "011000138", "USD", true
	})
	p := s.inRepair(t, o, "receiver.bank.bankId: must be a bank of the directory")
	if p.ReceiverName != "Ada King" || p.Receiver.Last4 != "3456" || p.Receiver.BankID != "011000138" {
		t.Errorf("%+v", p)
	}
	to := o.Receiver
	to.Currency = ""         // which is the payment's
	to.Bank.ID = "611590104" // its check digit is wrong
	_, err := s.Payments.Repair(s.Staff(), p.UID, payments.Repairs{Receiver: &to}, changes.RequestOptions{})
	if wrong, is := fault.Of(err); !is || wrong.Field != "receiver.bank.bankId" {
		t.Fatal(err)
	}
	to.Bank.ID = "611590103"
	repairs := payments.Repairs{Receiver: &to, Notes: "Rent, repaired"}
	_, err = s.Payments.Repair(s.Staff(), p.UID, repairs, changes.RequestOptions{Version: 7})
	if !errors.Is(err, changes.ErrStale) {
		t.Error(err)
	}
	out, err := s.Payments.Repair(s.Staff(), p.UID, repairs, changes.RequestOptions{})
	if err != nil || out.Result.Status != payments.StatusPendingApproval || out.Approval == 0 {
		t.Fatalf("another is paid: %+v %v", out, err)
	}
	if _, err := s.Payments.Repair(s.Checker(), p.UID, repairs,
		changes.RequestOptions{}); !errors.Is(err, payments.ErrNotInRepair) {
		t.Error(err)
	}
	s.has(t, 100_000_00, 0)
	if _, err := s.Changes.Approve(s.Staff(), changes.UID(out.Approval),
		changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
		t.Error(err)
	}
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.has(t, 100_000_00, 250_00)
	s.run(t)
	s.run(t)
	s.has(t, 99_750_00, 0)
	if got := s.life(t, p.UID); got != "REPAIR PENDING_APPROVAL QUEUED SENT SETTLED" {
		t.Error(got)
	}
	now, err := s.Payments.Show(s.Staff(), p.UID)
	if err != nil || now.Receiver.BankName != "Old Mill Bank" || now.Notes != "Rent, repaired" ||
		now.Reason != "" ||
		now.MakerLogin != p.MakerLogin || !now.CreatedAt.Equal(p.CreatedAt) {
		t.Errorf("%+v %v", now, err)
	}
	s.Prove()
}

// What was wrong outside the payment is mended there; the payment is then carried out as it was asked for, at
// once.
func TestAPaymentIsRepairedAsItWasAskedForOnceThatCanBe(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.inRepair(t, s.order("100000.50", repairably, func(o *payments.Order) {
		o.Repeat = &payments.Repetition{Frequency: "Monthly", Until: "Cancelled"}
	}), "")
	if _, err := s.Payments.Repair(s.Staff(), p.UID, payments.Repairs{}, changes.RequestOptions{}); err == nil {
		t.Fatal("there is not enough money")
	}
	if _, err := s.Payments.Transfer(s.Staff(), payments.Draft{
		Sender:   payments.Party{UID: s.Account(s.Customer(), coretest.Holding(10_00, 0)).UID},
		Receiver: payments.Party{UID: s.from.UID}, Amount: "10",
	}, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	out, err := s.Payments.Repair(s.Staff(), p.UID, payments.Repairs{}, changes.RequestOptions{})
	if err != nil || out.Result.Status != payments.StatusReadyToTransmit || out.Result.Recurrence == 0 {
		t.Fatalf("%+v %v", out, err)
	}
	s.Prove()
}

// Who made a payment does not approve it, although somebody else repaired it since.
func TestTheMakerDoesNotApproveTheRepairedPayment(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	made, err := s.Payments.Send(s.Checker(), s.order("250.00", repairably,
		func(o *payments.Order) { o.Receiver.Contact = 9_999_999 }), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	to := payments.Receiver{Contact: s.to.UID}
	out, err := s.Payments.Repair(s.Staff(), made.Result.UID, payments.Repairs{Receiver: &to},
		changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatalf("%+v %v", out, err)
	}
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
		t.Error(err)
	}
	if _, err := s.Changes.Approve(s.Someone("third"), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
}
