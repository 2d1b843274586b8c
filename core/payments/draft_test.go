package payments_test

import (
	"strings"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
)

// What a request says of an account beside its UID or number must be true of it.
func TestDetailsOfAnAccountFitIt(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	detailed := func(edit func(*payments.Party)) payments.Draft {
		d := p.draft("1")
		d.Receiver = payments.Party{
			Number: coretest.AccountNumber(p.to.UID), Type: "deposit", SubType: "checking", RoutingNumber: p.to.BankID,
			Name: "As others call it", Currency: "usd",
		}
		edit(&d.Receiver)
		return d
	}
	if _, err := p.transfer(p.Staff(), detailed(func(r *payments.Party) { r.UID = p.to.UID })); err != nil {
		t.Fatal(err)
	}
	for field, edit := range map[string]func(*payments.Party){
		"accountType":      func(r *payments.Party) { r.Type = "Loan" },
		"accountType ":     func(r *payments.Party) { r.Type = "GL" },
		"accountType  ":    func(r *payments.Party) { r.Type = "Purse" },
		"accountSubType":   func(r *payments.Party) { r.SubType = "Savings" },
		"accountSubType ":  func(r *payments.Party) { r.SubType = "GL" },
		"accountSubType  ": func(r *payments.Party) { r.SubType = "Sock" },
		"routingNumber":    func(r *payments.Party) { r.RoutingNumber = "021000021" },
		"routingNumber ":   func(r *payments.Party) { r.RoutingNumber = "0210000210210" },
		"accountName":      func(r *payments.Party) { r.Name = strings.Repeat("x", 256) },
		"accountNumber":    func(r *payments.Party) { r.Number = "****" },
		"accountNumber, other": func(r *payments.Party) {
			r.UID, r.Number = p.to.UID,
				coretest.AccountNumber(p.from.UID)
		},
		"accountNumber, none": func(r *payments.Party) { r.UID, r.Number = p.to.UID, "4711" },
	} {
		_, err := p.transfer(p.Staff(), detailed(edit))
		name, _, _ := strings.Cut(strings.TrimSpace(field), ",")
		if f, is := fault.Of(err); !is || f.Kind != fault.Invalid || f.Field != "receiverAccount."+name {
			t.Errorf("%s: %v", field, err)
		}
	}
	p.has(t, 99_00, 101_00)
}

func TestTheDocumentedFormRequiresMore(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	full := p.draft("1")
	full.Date, full.Documented = day(0), true
	if _, err := p.transfer(p.Staff(), full); err != nil {
		t.Fatal(err)
	}
	for field, edit := range map[string]func(*payments.Draft){
		"externalReferenceId": func(d *payments.Draft) { d.ExternalReferenceID = " " },
		"paymentDate":         func(d *payments.Draft) { d.Date = payments.Draft{}.Date },
		"senderAccount.accountType": func(d *payments.Draft) {
			d.Sender = payments.Party{Number: coretest.AccountNumber(p.from.UID)}
		},
	} {
		d := full
		edit(&d)
		if f, is := fault.Of(func() error { _, err := p.transfer(p.Staff(), d); return err }()); !is ||
			f.Problem != fault.Required || f.Field != field {
			t.Errorf("%s: %+v", field, f)
		}
		d.Documented = false
		if _, err := p.transfer(p.Staff(), d); err != nil {
			t.Errorf("%s, of another form: %v", field, err)
		}
	}
}

func TestACancellationThatComesTooLateSaysWhereThePaymentIs(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	out, err := p.transfer(p.Staff(), p.draft("40"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Payments.Cancel(p.Staff(), out.Result.UID, changes.RequestOptions{})
	if f, is := fault.Of(err); !is || !f.Is(payments.ErrOver) || !strings.Contains(f.Message, "PROCESSED") ||
		f.Detail != string(payments.Settled) {
		t.Errorf("%+v", f)
	}
}
