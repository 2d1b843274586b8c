package iso20022_test

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"bankgraph/core/money"
	"bankgraph/core/postal"
	"bankgraph/core/rails/iso20022"
)

// draw makes messages of which any part that may be missing is there or not.
type draw struct {
	t *rapid.T
	p *iso20022.Profile
}

func (d draw) text(name string, most int) string {
	letters := rapid.RuneFrom([]rune("abcXYZ0189 .,&<>'\"/-+()?:@#=!"))
	text := strings.TrimSpace(rapid.StringOfN(letters, 1, most, -1).Draw(d.t, name))
	if text == "" {
		return "x"
	}
	return text
}

func (d draw) maybe(name string, most int) string {
	if rapid.Bool().Draw(d.t, name+" is there") {
		return d.text(name, most)
	}
	return ""
}

func (d draw) number() string {
	if d.p == iso20022.SWIFT {
		return rapid.StringMatching(`[A-Z]{4}DE[0-9A-Z]{2}([0-9A-Z]{3})?`).Draw(d.t, "bic")
	}
	return d.routing()
}

func (d draw) routing() string { return rapid.StringMatching(`[0-9]{9}`).Draw(d.t, "number") }

func (d draw) uetr() string {
	form := `[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}`
	return rapid.StringMatching(form).Draw(d.t, "uetr")
}

func (d draw) instant() time.Time {
	return time.Unix(rapid.Int64Range(1_750_000_000, 2_050_000_000).Draw(d.t, "seconds"), 0).UTC()
}

func (d draw) day() time.Time { return d.instant().Truncate(24 * time.Hour) }

func (d draw) dollars() money.Amount {
	if d.p == iso20022.SWIFT {
		return money.Of(rapid.Int64Range(1, 99_999_999_999_999).Draw(d.t, "minor"),
			rapid.SampledFrom([]money.Currency{"USD", "EUR", "JPY", "KWD"}).Draw(d.t, "currency"))
	}
	return money.Of(rapid.Int64Range(1, 99_999_999_999_999).Draw(d.t, "cents"), "USD")
}

func (d draw) id() string {
	sender := "20240115"
	if d.p != iso20022.Fedwire {
		sender = d.p.Sender(d.number())
	}
	return d.p.MessageID(d.day(), sender, rapid.Int64Range(1, 999_999_999_999).Draw(d.t, "n"))
}

func (d draw) group() iso20022.Group {
	return iso20022.Group{
		ID: d.id(), CreatedAt: d.instant(), From: d.number(), To: d.number(),
		Duplicate: rapid.Bool().Draw(d.t, "duplicate"),
	}
}

func (d draw) address() postal.Address {
	if rapid.Bool().Draw(d.t, "no address") {
		return postal.Address{}
	}
	return postal.Address{
		Line1: d.text("street", 70), Line2: d.maybe("line", 35),
		City: d.text("city", 35), State: d.maybe("state", 35), PostalCode: d.maybe("zip", 16), CountryCode: "US",
	}
}

func (d draw) party() iso20022.Party {
	p := iso20022.Party{Name: d.text("party", 140), Address: d.address()}
	switch rapid.IntRange(0, 2).Draw(d.t, "account") {
	case 1:
		p.Account, p.AccountType = d.text("account", 34), "CACC"
	case 2:
		p.IBAN = "DE89370400440532013000"
	}
	return p
}

func (d draw) agentAccount() (a iso20022.AgentAccount) {
	switch rapid.IntRange(0, 2).Draw(d.t, "account of a bank") {
	case 1:
		a.Number = d.text("number", 34)
	case 2:
		a.IBAN = "DE89370400440532013000"
	}
	return a
}

func (d draw) ultimate() iso20022.Party {
	if rapid.Bool().Draw(d.t, "no ultimate") {
		return iso20022.Party{}
	}
	return iso20022.Party{Name: d.text("ultimate", 140), Address: d.address()}
}

func (d draw) agent() iso20022.Agent {
	a := iso20022.Agent{Name: d.maybe("bank", 140)}
	switch rapid.IntRange(0, 2).Draw(d.t, "bank by") {
	case 0:
		a.Routing = d.routing()
	case 1:
		a.BIC = "DEUTDEFF500"
	case 2:
		a.Routing, a.System = "200415", "GBDSC"
	}
	return a
}

func (d draw) original() iso20022.Original {
	return iso20022.Original{
		MessageID: d.id(), Type: iso20022.TypeCreditTransfer, CreatedAt: d.instant(), UETR: d.uetr(),
		InstructionID: d.maybe("instruction", 35), EndToEndID: d.maybe("end to end", 35),
		TransactionID: d.maybe("transaction", 35),
	}
}

func (d draw) reason() iso20022.Reason {
	r := iso20022.Reason{Code: "AC04"}
	for range rapid.IntRange(0, 2).Draw(d.t, "texts") {
		r.Text = append(r.Text, d.text("why", 105))
	}
	return r
}

func (d draw) transfer() iso20022.Message {
	m := &iso20022.CreditTransfer{
		Group: d.group(), InstructionID: d.maybe("instruction", 35), EndToEndID: d.text("end to end", 35),
		TransactionID: d.maybe("transaction", 35), UETR: d.uetr(), LocalInstrument: map[string]string{
			"Fedwire": "CTRC", "FedNow": "FDNA", "RTP": "ZELLE",
		}[d.p.Name],
		CategoryPurpose: d.maybe("category", 35),
		Amount:          d.dollars(), SettlementDate: d.day(), ChargeBearer: "SHAR",
		Sender: d.number(), Receiver: d.number(),
		Debtor: d.party(), Creditor: d.party(),
		DebtorAgent: d.agent(), CreditorAgent: d.agent(),
		UltimateDebtor: d.ultimate(), UltimateCreditor: d.ultimate(),
		Remittance: d.maybe("remittance", 140),
	}
	if rapid.Bool().Draw(d.t, "remittance elsewhere") {
		m.Elsewhere = iso20022.Location{Method: "URID", Address: d.text("where", 2048)}
	}
	if rapid.Bool().Draw(d.t, "more") {
		m.Intermediary, m.Purpose, m.AcceptedAt = d.agent(), "SALA", d.instant()
	}
	if d.p == iso20022.Fedwire || d.p == iso20022.SWIFT {
		m.IntermediaryAccount, m.CreditorAgentAccount = d.agentAccount(), d.agentAccount()
	}
	if d.p == iso20022.Fedwire {
		m.ForCreditorAgent = rapid.SliceOfN(rapid.Just(d.text("for the bank", 140)), 0, 2).
			Draw(d.t, "for the bank")
		if len(m.ForCreditorAgent) == 0 {
			m.ForCreditorAgent = nil
		}
		m.Instructed = money.Of(rapid.Int64Range(1, 1e15-1).Draw(d.t, "instructed"),
			rapid.SampledFrom([]money.Currency{"USD", "EUR", "JPY", "KWD"}).Draw(d.t, "currency"))
	}
	return m
}

func (d draw) status() iso20022.Message {
	m := &iso20022.Status{
		Group: d.group(), Original: d.original(), Code: iso20022.Rejected, Reasons: []iso20022.Reason{
			d.reason(), {Code: "E433", Proprietary: true, Text: []string{d.text("why", 105)}},
		},
		Sender: d.p.Operator, Receiver: d.number(),
	}
	if d.p == iso20022.Fedwire {
		o := m.Original
		m.Original = iso20022.Original{MessageID: o.MessageID, Type: o.Type, CreatedAt: o.CreatedAt, UETR: o.UETR}
		m.Reasons = m.Reasons[1:]
	}
	if rapid.Bool().Draw(d.t, "settled") {
		m.Code, m.Reasons, m.AcceptedAt, m.SettlementDate = iso20022.Settled, nil, d.instant(), d.day()
	}
	return m
}

func (d draw) request() iso20022.Message {
	return &iso20022.StatusRequest{
		Group: d.group(), Original: d.original(), Sender: d.number(), Receiver: d.number(),
	}
}

func (d draw) returned() iso20022.Message {
	m := &iso20022.Return{
		Group: d.group(), ReturnID: d.maybe("return", 35), Original: d.original(),
		LocalInstrument: map[string]string{
			"Fedwire": "CTRC", "FedNow": "FDNA", "RTP": "STANDARD",
		}[d.p.Name],
		Amount: d.dollars(), SettlementDate: d.day(), Reason: d.reason(), Sender: d.number(), Receiver: d.number(),
		Debtor: d.party(), Creditor: d.party(),
	}
	if rapid.Bool().Draw(d.t, "more") {
		m.OriginalAmount, m.OriginalDate = d.dollars(), d.day()
		m.DebtorAgent, m.CreditorAgent = d.agent(), d.agent()
	}
	if d.p == iso20022.Fedwire {
		m.Instructed = d.dollars()
	}
	return m
}

func (d draw) asked() iso20022.Message {
	m := &iso20022.PaymentRequest{
		Group: d.group(), RequestID: d.text("request", 35), ExecutionDate: d.day(),
		InstructionID: d.maybe("instruction", 35), EndToEndID: d.text("end to end", 35), UETR: d.uetr(),
		LocalInstrument: map[string]string{"Fedwire": "DRRB", "FedNow": "FDNA", "RTP": "STANDARD"}[d.p.Name],
		CategoryPurpose: d.maybe("category", 35), Amount: d.dollars(), ChargeBearer: "SLEV",
		Initiator: iso20022.Party{Name: d.text("initiator", 140)}, Debtor: d.party(), Creditor: d.party(),
		DebtorAgent: d.number(), CreditorAgent: d.number(),
		UltimateDebtor: d.ultimate(), UltimateCreditor: d.ultimate(), Remittance: d.maybe("remittance", 140),
	}
	if d.p != iso20022.Fedwire && rapid.Bool().Draw(d.t, "expires") {
		m.ExpiresAt = d.instant()
	}
	if d.p != iso20022.Fedwire {
		m.Modifiable, m.Early = rapid.Bool().Draw(d.t, "modifiable"), rapid.Bool().Draw(d.t, "early")
		m.Guaranteed = rapid.Bool().Draw(d.t, "guaranteed")
	}
	return m
}

func (d draw) answered() iso20022.Message {
	m := &iso20022.PaymentAnswer{
		Group: d.group(), Initiator: iso20022.Party{Name: d.text("initiator", 140)},
		DebtorAgent: d.number(), CreditorAgent: d.number(), Original: d.original(),
		RequestID: d.text("request", 35),
		Code:      iso20022.Rejected, Reasons: []iso20022.Reason{d.reason(), {Code: "NOPE1", Proprietary: true}},
	}
	m.Original.TransactionID = ""
	return m
}

func (d draw) recalled() iso20022.Message {
	return &iso20022.Recall{
		Group: d.group(), CaseID: d.text("case", 35), CaseCreator: d.agent(), Original: d.original(),
		OriginalAmount: d.dollars(), OriginalDate: d.day(), Reason: d.reason(),
		Sender: d.number(), Receiver: d.number(),
	}
}

func (d draw) resolved() iso20022.Message {
	m := &iso20022.RecallAnswer{
		Group: d.group(), CaseID: d.text("case", 35), CaseCreator: d.agent(), Original: d.original(),
		Code: iso20022.ReturnInitiated, StatusID: d.maybe("status", 35), Sender: d.number(), Receiver: d.number(),
	}
	if rapid.Bool().Draw(d.t, "refused") {
		m.Code, m.Reasons = iso20022.RecallRefused, []iso20022.Reason{d.reason()}
	}
	return m
}

func (d draw) underlying() (o iso20022.Original, amount money.Amount, on time.Time) {
	o = d.original()
	if rapid.Bool().Draw(d.t, "a request for payment") {
		o.Type, o.TransactionID = iso20022.TypePaymentRequest, ""
	}
	return o, d.dollars(), d.day()
}

func (d draw) lacks(name string, least int) (all []iso20022.Lack) {
	for range rapid.IntRange(least, 10).Draw(d.t, name) {
		all = append(all, iso20022.Lack{Code: "NARR", Text: d.maybe("lack", 140)})
	}
	return all
}

func (d draw) unclear() iso20022.Message {
	m := &iso20022.InformationRequest{
		Group: d.group(), CaseID: d.text("case", 35), Creator: d.maybe("creator", 140),
		Missing: d.lacks("missing", 1), Incorrect: d.lacks("incorrect", 0), Sender: d.number(),
		Receiver: d.number(),
	}
	m.Original, m.OriginalAmount, m.OriginalDate = d.underlying()
	return m
}

func (d draw) informed() iso20022.Message {
	m := &iso20022.Information{
		Group: d.group(), CaseID: d.text("case", 35), Creator: d.maybe("creator", 140), Debtor: d.ultimate(),
		Creditor: d.ultimate(), Sender: d.number(), Receiver: d.number(),
	}
	for range rapid.IntRange(0, 10).Draw(d.t, "texts") {
		m.Text = append(m.Text, d.text("text", 140))
	}
	m.Original, m.OriginalAmount, m.OriginalDate = d.underlying()
	return m
}

var profiles = []*iso20022.Profile{iso20022.Fedwire, iso20022.FedNow, iso20022.RTP, iso20022.SWIFT}

var makers = map[string]func(draw) iso20022.Message{
	iso20022.TypeCreditTransfer: draw.transfer,
	iso20022.TypeStatus:         draw.status,
	iso20022.TypeReturn:         draw.returned,
	iso20022.TypeStatusRequest:  draw.request,
	iso20022.TypePaymentRequest: draw.asked,
	iso20022.TypePaymentAnswer:  draw.answered,
	iso20022.TypeRecall:         draw.recalled,
	iso20022.TypeRecallAnswer:   draw.resolved,

	iso20022.TypeInformationRequest: draw.unclear,
	iso20022.TypeInformation:        draw.informed,
}

// instant are the types that instant networks alone have.
var instant = []string{iso20022.TypeInformationRequest, iso20022.TypeInformation}
