package payments

import (
	"cmp"
	"fmt"
	"strings"

	"bankgraph/core/banks"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/seal"
)

// ErrCorrespondent is returned if a wire needs a correspondent and the one that is named cannot take it.
var ErrCorrespondent = fault.New(fault.NotFound, "payment.correspondent",
	"must be a bank of the directory that the network reaches").On("sender.correspondentBankId")

// way is the banks that a payment goes to and over (rest/CONTRACT.md, banks of wires).
type way struct {
	// the bank that the network has to reach. The message goes to it, but over SWIFT to the intermediary, which
	// the directory need not have (Details.route)
	first *banks.Bank
	// the payee's bank, empty if the directory lacks it, and the intermediary, nil if the directory lacks it
	last, between *banks.Bank
	// the correspondent, by its routing number, over SWIFT by its BIC; "" for none
	correspondent, correspondentName string
	why                              string // what kept the payment from another way
}

// wayOf returns the banks of an order. A wire goes to its correspondent, or else to the intermediary, or else
// to the payee's bank. If the correspondent takes it, nobody has to know the payee's bank; if not, the wire
// goes without a correspondent.
func (f *facts) wayOf(o *Order, to *Receiver) (way, error) {
	last, err := f.bankOf(to)
	if err != nil && !isFault(err) || !o.wire() {
		return way{first: last, last: last}, err
	}
	between, failed := banks.First(f.banks, to.Between.refs()...)
	w := way{first: last, last: cmp.Or(last, new(banks.Bank)), between: between}
	if o.Correspondent != "" && failed == nil {
		var bank *banks.Bank
		if bank, failed = banks.First(f.banks, banks.Routing(o.Correspondent)); failed == nil &&
			w.takes(bank, o) {
			return w, nil
		}
		w.why = fmt.Sprintf("%s does not reach the correspondent %s", o.networks()[0], o.Correspondent)
	}
	fedwire := o.networks()[0] == rails.Fedwire
	foreign := fedwire && (to.Bank.byBIC() || to.Between.byBIC())
	switch {
	case failed != nil:
		return w, failed
	case o.Correspondent != "" && (err != nil || foreign):
		return w, ErrCorrespondent
	case err != nil:
		return w, err
	case foreign:
		return w, fault.Field("payment", "sender.correspondentBankId", fault.Required,
			"is required: Fedwire reaches a bank in the United States, which pays the one that has a BIC")
	case fedwire && to.Between.ID != "" && between == nil && to.Contact != 0:
		return w, ErrBank.On("receiver.accountUID").Saying("its intermediary must be a bank of the directory")
	case fedwire && to.Between.ID != "" && between == nil:
		return w, ErrBank.On("receiver.intermediaryBank.bankId")
	case fedwire && to.Between.ID != "":
		w.first = between
	}
	if o.Correspondent != "" && !w.first.Reached(o.networks()[0]) {
		return w, ErrCorrespondent
	}
	return w, nil
}

// payable returns whether an account may pay somebody over a network: a wire abroad takes its switch for
// those, whatever its speed.
func (r *Receiver) payable(from *party) func(rails.Rail) bool {
	if !r.Bank.abroad() && !r.Between.abroad() {
		return from.sends
	}
	return func(over rails.Rail) bool { return from.sends(over) && from.WiresAbroad }
}

// abroad reports whether a bank is named by the BIC of another country.
func (b *ReceiverBank) abroad() bool { return len(b.BIC) >= 8 && b.BIC[4:6] != "US" }

// takes reports whether the correspondent of an order takes the wire, which then goes to it first.
func (w *way) takes(correspondent *banks.Bank, o *Order) bool {
	over := o.networks()[0]
	if correspondent == nil || !correspondent.Reached(over) {
		return false
	}
	w.first, w.correspondent, w.correspondentName = correspondent, o.Correspondent, correspondent.Name
	if over == rails.SWIFT {
		w.correspondent = correspondent.Code
	}
	return true
}

// joined joins what is not empty.
func joined(texts ...string) string {
	var all []string
	for _, text := range texts {
		if text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

// over adds the banks that a wire goes over, and the sealed numbers of accounts that banks have.
func (d *Details) over(keys *seal.Keys, to *Receiver, by way) {
	d.CorrespondentID, d.CorrespondentName = by.correspondent, by.correspondentName
	d.IntermediaryID, d.IntermediaryName = cmp.Or(to.Between.BIC, to.Between.ID), to.Between.Name
	if by.between != nil {
		d.IntermediaryName = cmp.Or(to.Between.Name, by.between.Name)
	}
	if to.Between.Account != "" {
		d.IntermediaryAccount = keys.Encrypt(to.Between.Account, d.placeOf(IntermediaryAccountColumn))
	}
	if to.Bank.Account != "" {
		d.BankAccount = keys.Encrypt(to.Bank.Account, d.placeOf(BankAccountColumn))
	}
}

// IntermediaryBIC returns the BIC of the bank that a wire goes over; "" for none, or one that is known by its
// routing number.
func (d *Details) IntermediaryBIC() string { return agentOf(d.IntermediaryID, "").BIC }

// accountNumbers are those that the message of a payment tells; "" for what it does not tell.
type accountNumbers struct{ own, other, intermediary, bank string }

// open opens the sealed numbers of the other side.
func (d *Details) open(keys *seal.Keys) (of accountNumbers, err error) {
	if of.other, err = keys.Open(d.Number, d.place()); err != nil {
		return of, err
	}
	for _, n := range []struct {
		into   *string
		sealed []byte
		column string
	}{
		{&of.intermediary, d.IntermediaryAccount, IntermediaryAccountColumn},
		{&of.bank, d.BankAccount, BankAccountColumn},
	} {
		if len(n.sealed) == 0 {
			continue
		}
		if *n.into, err = keys.Open(seal.Value{Sealed: n.sealed}, d.placeOf(n.column)); err != nil {
			return of, err
		}
	}
	return of, nil
}

// route writes into a credit transfer which bank it goes to first, and over which other one.
func (d *Details) route(t *iso20022.CreditTransfer, of accountNumbers) {
	t.Receiver = d.BankID
	switch {
	case d.CorrespondentID != "":
		t.Receiver = d.CorrespondentID
	case d.IntermediaryID != "":
		t.Receiver = d.IntermediaryID
	}
	if t.Receiver != d.IntermediaryID || of.intermediary != "" { // no bank is told of itself
		t.Intermediary = agentOf(d.IntermediaryID, d.IntermediaryName)
	}
	t.IntermediaryAccount = agentAccount(of.intermediary)
	t.CreditorAgentAccount = agentAccount(of.bank)
}

// agentOf names a bank by its routing number or its BIC; it has no values for "".
func agentOf(id, name string) iso20022.Agent {
	switch {
	case id == "":
		return iso20022.Agent{}
	case len(id) == 9 && strings.Trim(id, "0123456789") == "":
		return iso20022.Agent{Routing: id, Name: name}
	}
	return iso20022.Agent{BIC: id, Name: name}
}

func agentAccount(number string) iso20022.AgentAccount {
	if _, _, is := check.BankOfIBAN(number); is {
		return iso20022.AgentAccount{IBAN: number}
	}
	return iso20022.AgentAccount{Number: number}
}
