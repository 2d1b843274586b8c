package payments_test

import (
	"errors"
	"strings"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/sandbox"
)

// enrol makes an order an enrolment of Ada King for Social Security.
func enrol(o *payments.Order) {
	o.Amount, o.Speed, o.SECCode, o.Receiver = "0", "Economy", "ENR", payments.Receiver{}
	o.Benefit = &payments.Benefit{
		Type: payments.SocialSecurity, AccountNumber: "4400123401", SocialSecurityNumber: "219099999",
		FirstName: "Ada", LastName: "O'Neil-King", SubAccountType: "Savings",
	}
}

// newEnroller is a sender whose account may send enrolments.
func newEnroller(t *testing.T) *sender {
	t.Helper()
	s := newSender(t)
	s.Exec(`UPDATE accounts SET sec_codes = '{PPD,ENR}' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
	return s
}

func TestAnEnrolmentTellsAnAgencyWhereToPayABenefit(t *testing.T) {
	t.Parallel()
	const adas = `32*61109000*1*4400123401*219099999*O'NEIL-KING*ADA*0\`
	for name, c := range map[string]struct {
		edit               func(*payments.Order)
		bank, number, says string
		to                 string
		account            rails.AccountType
	}{
		"to the agency that pays it": {
			edit: enrol, bank: "655060042", number: "0", says: adas, to: "Social Security Administration",
			account: rails.Checking,
		},
		"somebody represents the person": {
			edit: func(o *payments.Order) {
				enrol(o)
				o.Amount, o.Benefit.RepresentativePayee, o.Benefit.SubAccountType = "0.00", true, "checking"
			},
			bank: "655060042", number: "0", to: "Social Security Administration", account: rails.Checking,
			says: `22*61109000*1*4400123401*219099999*O'NEIL-KING*ADA*1\`,
		},
		"to an agency that is named by its bank": {
			edit: func(o *payments.Order) {
				enrol(o)
				o.Benefit.Type = "Railroad Retirement Annuity"
				o.Receiver.Bank, o.Receiver.Name = payments.ReceiverBank{IDType: "NID", ID: "011000015"}, "RRB"
			},
			bank: "011000015", number: "0", says: adas, to: "RRB", account: rails.Checking,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnroller(t)
			p := s.send(t, s.order("", c.edit))
			s.run(t)
			s.has(t, 100_000_00, 0)
			s.Prove()
			s.until(t, "2026-11-18 14:00")
			files, batches, _ := s.files(t)
			if len(files) != 1 || len(files[0]) != 1 || len(batches) != 1 {
				t.Fatalf("%d files %+v", len(files), batches)
			}
			e, b := files[0][0], batches[0]
			if e.Kind != nacha.Prenote || e.Amount.Minor != 0 || e.Routing != c.bank ||
				e.Number != c.number ||
				e.Account != c.account || e.Remittance != c.says || e.Direction != rails.Credit {
				t.Errorf("%+v", e)
			}
			if b.Class != rails.ENR || b.Description != nacha.AutoEnroll || b.CompanyID != "1234567890" {
				t.Errorf("%+v", b)
			}
			s.until(t, "2026-11-19 08:30")
			if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED" {
				t.Error(got)
			}
			found, err := s.Payments.Show(s.Staff(), p.UID)
			if err != nil {
				t.Fatal(err)
			}
			if found.ReceiverName != c.to || found.MemoPost() != payments.NotApplicable ||
				found.Fee() != nil ||
				found.Amount().String() != "0.00" {
				t.Errorf("%+v", found.Payment)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}

// Neither fee nor limit counts: a customer without money enrols, and the networks' answers book nothing.
func TestAnEnrolmentMovesNoMoney(t *testing.T) {
	t.Parallel()
	s := newEnroller(t)
	s.Configured("Payments", "Outgoing Payment", "Economy", "Gold")
	s.Exec(`UPDATE fee_catalogue SET price = 25 WHERE tenant = ? AND fee_name = 'Economy'`, s.Tenant)
	s.Fee(&customers.Customer{UID: s.from.Customer}, func(f *fees.Tier) { f.FeeName = "Economy" })
	p := s.send(t, s.order("", enrol))
	if _, err := s.Payments.Cancel(s.Staff(), p.UID, changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	p = s.send(t, s.order("", enrol))
	s.until(t, "2026-11-18 14:00")
	s.until(t, "2026-11-19 08:30")
	if err := s.takeBack(p.UID); !errors.Is(err, payments.ErrNoReversal) {
		t.Error(err)
	}
	s.arrive(t, rails.ACH, s.noticeOf(t, "655060042", 1, s.trace(t), "C01", "1"))
	s.has(t, 100_000_00, 0)
	s.Prove()
	s.answered(t, p.UID, sandbox.Answer{Verdict: sandbox.Returned, Code: "R41"})
	if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED SETTLED RETURNED" {
		t.Error(got)
	}
	if found := s.shows(t, p.UID); found.Returned() != nil || !strings.HasPrefix(found.Reason, "R41") {
		t.Errorf("%+v", found.Payment)
	}
	s.has(t, 100_000_00, 0)
	s.Prove()
}

// In a sandbox the social security number says what comes of an enrolment.
func TestAnAgencySendsAnEnrolmentBack(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"900000045": "QUEUED SENT SETTLED RETURNED R45: the enrolment has another person's name",
		"900000047": "QUEUED SENT RETURNED R47: the enrolment is a duplicate",
		"900000041": "QUEUED SENT SETTLED ",
	} {
		t.Run(number, func(t *testing.T) {
			t.Parallel()
			s := newEnroller(t)
			p := s.send(t, s.order("", enrol, func(o *payments.Order) { o.Benefit.SocialSecurityNumber = number }))
			s.until(t, "2026-11-18 14:00")
			s.until(t, "2026-11-18 15:01")
			s.until(t, "2026-11-19 08:30")
			s.until(t, "2026-11-20 08:31")
			s.run(t)
			if got := s.life(t, p.UID) + " " + s.shows(t, p.UID).Reason; got != want {
				t.Errorf("%s, want %s", got, want)
			}
			s.Prove()
		})
	}
}

func TestAnEnrolmentSaysWhatItsAgencyNeeds(t *testing.T) {
	t.Parallel()
	s := newEnroller(t)
	for want, edit := range map[string]func(*payments.Order){
		"paymentAmount MAX": func(o *payments.Order) { o.Amount = "0.01" },
		"paymentAmount MIN": func(o *payments.Order) {
			o.SECCode = "PPD"
			o.Benefit = nil
			o.Receiver.Contact = s.to.UID
		},
		"speed":                                 func(o *payments.Order) { o.Speed = "Economy Plus" },
		"fee":                                   costing("1.00"),
		"additionalInfo.paymentRemittanceNotes": func(o *payments.Order) { o.Remittance = "July" },
		"additionalInfo.benefitReceiver REQUIRED": func(o *payments.Order) { o.Benefit = nil },
		"additionalInfo.benefitReceiver": func(o *payments.Order) {
			o.SECCode = "PPD"
			o.Amount = "1"
			o.Receiver.Contact = s.to.UID
		},
		"additionalInfo.benefitReceiver.federalBenefitType": func(o *payments.Order) {
			o.Benefit.Type = "Dole"
		},
		"additionalInfo.benefitReceiver.accountNumber": func(o *payments.Order) {
			o.Benefit.AccountNumber = "44*1"
		},
		"additionalInfo.benefitReceiver.socialSecurityNumber": func(o *payments.Order) {
			o.Benefit.SocialSecurityNumber = "21909999"
		},
		"additionalInfo.benefitReceiver.socialSecurityNumber NUMBER": func(o *payments.Order) {
			o.Benefit.SocialSecurityNumber = "21909999X"
		},
		"additionalInfo.benefitReceiver.firstName": func(o *payments.Order) {
			o.Benefit.FirstName = "Alexandra"
		},
		"additionalInfo.benefitReceiver.lastName": func(o *payments.Order) { o.Benefit.LastName = "King*1" },
		"additionalInfo.benefitReceiver.subAccountType": func(o *payments.Order) {
			o.Benefit.SubAccountType = "Loan"
		},
		"receiver.bank.bankId REQUIRED": func(o *payments.Order) { o.Benefit.Type = "Post 911 GI Bill" },
		"receiver.bank.bankId": func(o *payments.Order) {
			o.Receiver.Bank = payments.ReceiverBank{IDType: "NID", ID: "655060041"}
		},
	} {
		_, err := s.Payments.Send(s.Staff(), s.order("", enrol, edit), changes.RequestOptions{})
		var all fault.Faults
		if f, _ := fault.Of(err); errors.As(err, &all) && len(all) > 1 || f == nil ||
			!strings.HasPrefix(f.Field+" "+string(f.Problem), want) {
			t.Errorf("%s: %q %v", want, all, err)
		}
	}
	s.Exec(`UPDATE accounts SET sec_codes = '{PPD}' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
	if _, err := s.pay(s.order("", enrol)); !errors.Is(err, payments.ErrClass) {
		t.Error(err)
	}
	s.has(t, 100_000_00, 0)
}

// The numbers are sealed: neither the record, nor what is read, nor a row says them.
func TestTheNumbersOfAnEnrolmentAreSealed(t *testing.T) {
	t.Parallel()
	s := newEnroller(t)
	p := s.send(t, s.order("", enrol))
	details, _ := s.details(t, s.Staff(), p.UID)
	want := payments.Benefit{
		Type: payments.SocialSecurity, AccountNumber: "****3401", SocialSecurityNumber: "****9999",
		FirstName: "Ada", LastName: "O'Neil-King", SubAccountType: "Savings",
	}
	if got := details.Benefit(); got == nil || *got != want {
		t.Errorf("%+v", got)
	}
}
