package payments

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/virtualaccounts"
)

// transaction returns the other bank's own id of a credit, or of a request for one. It is the same in every
// message about it, and "" for other messages and where that bank gives none.
func (a *incoming) transaction() string {
	bank, own := "", ""
	switch t, r := a.transfer, a.request; {
	case t != nil:
		bank, own = t.Sender, cmp.Or(t.UETR, t.TransactionID, t.InstructionID)
	case r != nil:
		bank, own = "request "+r.CreditorAgent, cmp.Or(r.UETR, r.InstructionID, r.RequestID)
	}
	if own == "" {
		return ""
	}
	return bank + " " + own
}

// uetr returns the UETR of a credit, or of a request for one; "" of other messages.
func (a *incoming) uetr() string {
	switch {
	case a.transfer != nil:
		return a.transfer.UETR
	case a.request != nil:
		return a.request.UETR
	}
	return ""
}

// accountNumber returns the number of the account that a credit is for, or that is asked to pay;
// "" of other messages.
func (a *incoming) accountNumber() string {
	switch {
	case a.transfer != nil:
		return cmp.Or(a.transfer.Creditor.Account, a.transfer.Creditor.IBAN)
	case a.request != nil:
		return a.request.Debtor.Account
	}
	return ""
}

// arrival says how to decide on a message that begins a payment, and how to answer it.
type arrival struct {
	refusal func() string            // returns a reason of ISO 20022; "" if there is none
	take    func() (*Payment, error) // makes the payment
	code    func(*Payment) iso20022.Code
	silent  bool   // a message that is accepted gets no answer
	brings  bool   // each message brings its money, as a wire does: another one is another payment
	from    string // the routing number of ours that answers
	verdict func(code, why string) func(iso20022.Group) iso20022.Message
}

// credit takes in a credit of another bank: it is booked, or refused with the reason. Its network is told
// which.
func (in *intake) credit(a *incoming) error {
	return in.takeIn(a, arrival{
		refusal: func() string { return in.f.uncreditable(in.s, a) },
		take: func() (*Payment, error) {
			p, err := in.book(a)
			if err == nil {
				in.complete(p, a, p.State != Screening)
			}
			return p, err
		},
		code: func(p *Payment) iso20022.Code {
			if p.State == Screening {
				return iso20022.NotPosted
			}
			return creditCodes[a.over]
		},
		silent: a.over == rails.Fedwire, brings: a.over == rails.Fedwire && !a.transfer.Duplicate,
		from: a.transfer.Receiver, verdict: a.verdict,
	})
}

// takeIn takes in a message that begins a payment. A payment that comes in several messages counts once;
// where each of them brings its money, the money of the later ones goes back.
func (in *intake) takeIn(a *incoming, of arrival) error {
	row := a.message(in.s.keys, in.caller.Tenant, in.now)
	in.messages = append(in.messages, row)
	at := place{a.over, In, a.transaction(), ""}
	first := in.firsts[at]
	if at.id == "" {
		first = nil
	}
	k := in.known(a)
	other := in.elsewhere(a)
	again := first != nil && first.equals(k) && !of.brings
	var why string
	switch {
	case first == nil && other != nil && other.equals(k):
		row.Code = other.Code
	case again: // it counts once, and gets the same answer
		row.Payment, row.Code = first.Payment, first.Code
		if why = reasonIn(first.Code); first.Payment != 0 {
			why = ""
		}
	case first != nil, other != nil, a.twice:
		why = "AM05"
	default:
		row.Transaction = at.id
		if why = of.refusal(); why == "" {
			p, err := of.take()
			if err != nil {
				return err
			}
			row.Payment, row.Code = p.UID, string(of.code(p))
		}
	}
	if why != "" {
		row.Code = string(iso20022.Rejected) + " " + why
	}
	if !of.silent || why != "" && !again {
		in.reply(row, of.from, of.verdict(row.Code, why))
	}
	k.Payment, k.Code, k.Transaction = row.Payment, row.Code, row.Transaction
	in.onRecord[place{a.over, In, a.id, a.from}] = k
	if row.Transaction != "" {
		in.firsts[at] = k
	}
	return nil
}

// asking are the networks over which other banks ask for payments.
var asking = []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire}

// elsewhere returns the request for payment of the same UETR that has come over another network and waits, or
// was decided on; nil if there is none. It would be paid twice.
func (in *intake) elsewhere(a *incoming) *known {
	if a.request == nil || a.request.UETR == "" {
		return nil
	}
	for _, over := range asking {
		k := in.firsts[place{over, In, a.transaction(), ""}]
		if over != a.over && k != nil && k.Payment != 0 {
			return k
		}
	}
	return nil
}

// creditCodes are the codes of booked credits, by network. They stand in the record, and an instant network
// is sent its own.
var creditCodes = map[rails.Rail]iso20022.Code{
	rails.FedNow: iso20022.AcceptedTechnical, rails.RTP: iso20022.AcceptedTechnical,
	rails.Fedwire: iso20022.Credited,
}

// approach is what another bank wants of an account here: to credit it, or to be paid from it.
type approach struct {
	over    rails.Rail
	amount  money.Amount
	bank    string // the bank that the message says the account is at
	account *party
	virtual *virtualaccounts.Creditable // if the message has its number; nil if it has the account's
	allowed func(of *party, over rails.Rail) bool
}

// refusal returns why an account cannot be credited, or asked to pay, as a reason of ISO 20022; "" if it can
// (rest/CONTRACT.md, incoming credits).
func (f *facts) refusal(by approach) string {
	of, virtual := by.account, by.virtual
	switch {
	case by.amount.Minor > most[service("", by.over)]:
		return "AM02"
	case of == nil || by.bank != of.BankID || of.SystemOfRecord != accounts.InternalCore ||
		f.books.Of(of.Account) == nil:
		return "AC03"
	case of.Status == accounts.Closed, virtual != nil && virtual.Status == virtualaccounts.Closed:
		return "AC04"
	case of.blocked(), virtual != nil && virtual.Status != virtualaccounts.Active:
		return "AC06"
	case of.Currency != by.amount.Currency:
		return "AM03"
	case !by.allowed(of, by.over):
		return "AG01"
	}
	return ""
}

// blocked reports whether an account, its customer or its partner is not active.
func (a *party) blocked() bool {
	return a.Status != accounts.Active || !customers.InBusiness(a.CustomerStatus) ||
		a.PartnerStatus != "" && !customers.InBusiness(a.PartnerStatus)
}

// uncreditable returns why a credit cannot be booked, as a reason of ISO 20022; "" if it can.
func (f *facts) uncreditable(s *Service, a *incoming) string {
	t := a.transfer
	to, virtual := f.creditor(s, t.Creditor.Account)
	if a.account != 0 {
		to = f.parties[a.account]
	}
	return f.refusal(approach{a.over, t.Amount, t.CreditorAgent.Routing, to, virtual, (*party).receives})
}

// creditor returns the account that a number leads to, and the virtual account that has the number; nil if
// there is none.
func (f *facts) creditor(s *Service, number string) (to *party, virtual *virtualaccounts.Creditable) {
	if to = f.parties[f.numbered(s, number)]; to != nil || number == "" {
		return to, nil
	}
	for _, hash := range s.keys.Hashes(int64(f.tenant), virtualaccounts.NumberColumn, number) {
		if virtual = f.virtual[f.virtualNumbers[string(hash)]]; virtual != nil {
			return f.parties[virtual.Account], virtual
		}
	}
	return nil, nil
}

// receives reports whether an account takes credits over a network.
func (a *party) receives(over rails.Rail) bool {
	switch over {
	case rails.FedNow:
		return a.FedNowIn
	case rails.RTP:
		return a.RTPIn
	case rails.Fedwire:
		return a.WiresIn
	}
	return false
}

// book makes a payment of a credit and books it. If people have to look at it, its money waits in the
// clearing account of its network.
func (in *intake) book(a *incoming) (*Payment, error) {
	t, f := a.transfer, in.f
	to, virtual := f.creditor(in.s, t.Creditor.Account)
	p := &Payment{
		Tenant: f.tenant, UID: f.uids[0], Customer: to.Customer, Direction: In, Rail: a.over,
		EntryType: rails.Credit, Minor: t.Amount.Minor, Currency: t.Amount.Currency, Date: calendar.Today(in.now),
		ExternalReferenceID: t.EndToEndID, Notes: t.Remittance, Channel: string(a.over),
		SenderName: cmp.Or(t.Debtor.Name, t.DebtorAgent.Name, t.Sender), ReceiverAccount: to.Account,
		ReceiverCustomer: to.Customer, ReceiverName: to.Name, MakerClient: in.caller.Client,
		MakerLogin: in.caller.LoginID, CreatedAt: in.now, UpdatedAt: in.now,
	}
	if virtual != nil {
		p.Virtual = virtual.UID
	}
	state, kind, why, account := Settled, ledger.Payment, "Credit over ", p.ReceiverAccount
	if f.screenReceived(p, in.now) {
		state, kind, why, account = Screening, ledger.Settlement, "Settled over ", f.clearing(p)
	}
	if err := f.book(p, kind, p.Date, why+string(p.Rail), f.settled(p), account, p.Minor); err != nil {
		return nil, fmt.Errorf("credit %s: %w", a.id, err)
	}
	f.uids = f.uids[1:]
	d := &Details{
		Tenant: p.Tenant, Payment: p.UID, Address: t.Debtor.Address,
		BankID: cmp.Or(t.DebtorAgent.Routing, t.Sender), BankName: t.DebtorAgent.Name, Remittance: t.Remittance,
		Reference: cut(t.EndToEndID, 35), UETR: t.UETR,
		BankInfo:         strings.TrimSpace(strings.Join(t.ForCreditorAgent, " ")),
		RemittanceMethod: t.Elsewhere.Method, RemittanceAddress: t.Elsewhere.Address,
	}
	if slices.Index(Profiles[p.Rail].Transfers, t.LocalInstrument) > 0 {
		d.LocalInstrument = t.LocalInstrument
	}
	// NULL if the payer has no account
	d.Number = in.s.keys.Seal(cmp.Or(t.Debtor.Account, t.Debtor.IBAN), d.place())
	step := p.enter(state, in.caller, in.now, "")
	in.by[p.UID] = p
	in.created, in.details, in.steps = append(in.created, p), append(in.details, d), append(in.steps, step)
	in.record = append(in.record, changes.Change{
		Action: "receivePayment", Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version,
		After: p,
	}.Recorded(in.caller, ""))
	return p, nil
}

// verdict returns the answer to a credit: accepted, with this code, or rejected, with the reason. A wire is
// final when it arrives, so one that cannot be credited is returned.
func (a *incoming) verdict(code, why string) func(iso20022.Group) iso20022.Message {
	t := a.transfer
	reason := iso20022.Reason{Code: why}
	return func(g iso20022.Group) iso20022.Message {
		if a.over == rails.Fedwire {
			return giveBack(g, a.over, t, t.Amount, reason)
		}
		status := &iso20022.Status{
			Group: g, Original: original(t), Code: iso20022.Code(code), Sender: t.Receiver, Receiver: t.Sender,
		}
		if why != "" {
			status.Code, status.Reasons = iso20022.Rejected, []iso20022.Reason{reason}
		}
		return status
	}
}

// reply answers a message, from a routing number of ours. If the message says too little to be answered, its
// code tells people so.
func (in *intake) reply(to *Message, from string, compose func(iso20022.Group) iso20022.Message) {
	id := in.ids[0]
	in.ids = in.ids[1:]
	row, err := in.s.write(&Message{
		Tenant: to.Tenant, ID: id, Rail: to.Rail, Payment: to.Payment, Code: to.Code, At: in.now,
	}, compose(group(to.Rail, from, id, in.now)))
	if err != nil {
		to.Code += " unanswered"
		return
	}
	if to.Payment == 0 && row.Kind == returnKind { // nothing else says how much goes back
		row.Minor, row.Currency = to.Minor, to.Currency
	}
	in.messages = append(in.messages, row)
}
