package iso20022_test

import (
	"bytes"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zone is known on machines without a zone database

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

func (d draw) number() string { return rapid.StringMatching(`[0-9]{9}`).Draw(d.t, "number") }

func (d draw) uetr() string {
	form := `[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}`
	return rapid.StringMatching(form).Draw(d.t, "uetr")
}

func (d draw) instant() time.Time {
	return time.Unix(rapid.Int64Range(1_750_000_000, 2_050_000_000).Draw(d.t, "seconds"), 0).UTC()
}

func (d draw) day() time.Time { return d.instant().Truncate(24 * time.Hour) }

func (d draw) dollars() money.Amount {
	return money.Of(rapid.Int64Range(1, 99_999_999_999_999).Draw(d.t, "cents"), "USD")
}

func (d draw) id() string {
	sender := "20240115"
	if d.p != iso20022.Fedwire {
		sender = d.number()
	}
	return d.p.MessageID(d.day(), sender, rapid.IntRange(1, 999_999).Draw(d.t, "n"))
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
		a.Routing = d.number()
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
		Debtor: d.party(), Creditor: d.party(), DebtorAgent: d.agent(), CreditorAgent: d.agent(), UltimateDebtor: d.ultimate(), UltimateCreditor: d.ultimate(),
		Remittance: d.maybe("remittance", 140),
	}
	if rapid.Bool().Draw(d.t, "more") {
		m.Intermediary, m.Purpose, m.AcceptedAt = d.agent(), "SALA", d.instant()
	}
	if d.p == iso20022.Fedwire {
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

var profiles = []*iso20022.Profile{iso20022.Fedwire, iso20022.FedNow, iso20022.RTP}

var makers = map[string]func(draw) iso20022.Message{
	iso20022.TypeCreditTransfer: draw.transfer,
	iso20022.TypeStatus:         draw.status,
	iso20022.TypeReturn:         draw.returned,
	iso20022.TypeStatusRequest:  draw.request,
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, p := range profiles {
		for name, maker := range makers {
			t.Run(p.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) {
					want := maker(draw{t: t, p: p})
					var out bytes.Buffer
					if err := iso20022.Write(&out, p, want); err != nil {
						t.Fatalf("%v of %+v", err, want)
					}
					got, err := iso20022.Read(bytes.NewReader(out.Bytes()), p)
					if err != nil {
						t.Fatalf("%v of %s", err, &out)
					}
					if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || got.Type() != name {
						t.Fatalf("%s is read differently: %s", name, diff)
					}
					if p == iso20022.Fedwire {
						valid(t, out.Bytes())
					}
				})
			})
		}
	}
}

// transfer is a message as a bank sends it.
func transfer() *iso20022.CreditTransfer {
	return &iso20022.CreditTransfer{
		Group: iso20022.Group{
			ID: "20261123BANKGRPH000017", CreatedAt: time.Date(2026, 11, 23, 15, 4, 5, 0, time.UTC),
			From: "021040078", To: iso20022.Fedwire.Operator,
		},
		EndToEndID: "INV-2026-118", UETR: "8a562c67-ca16-48ba-b074-65581be6f011",
		Amount:         money.Of(12_500_00, "USD"),
		SettlementDate: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC),
		Sender:         "021040078", Receiver: "121182904",
		Debtor:        iso20022.Party{Name: "Northwind Traders LLC", Account: "1234567890"},
		Creditor:      iso20022.Party{Name: "José Müller", Account: "9876543210", AccountType: "CACC"},
		DebtorAgent:   iso20022.Agent{Routing: "021040078", Name: "First Bank"},
		CreditorAgent: iso20022.Agent{Routing: "121182904"},
		Remittance:    "Invoice 118",
	}
}

// written returns the text of a message on Fedwire.
func written[M iso20022.Message](t *testing.T, maker func() M) string {
	t.Helper()
	var out bytes.Buffer
	if err := iso20022.Write(&out, iso20022.Fedwire, maker()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestATransferHasOneDefaultNamespaceForEachPart(t *testing.T) {
	t.Parallel()
	text := written(t, transfer)
	for _, want := range []string{
		`<AppHdr xmlns="urn:iso:std:iso:20022:tech:xsd:head.001.001.03"><Fr>`,
		`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pacs.008.001.08"><FIToFICstmrCdtTrf>`,
		`<IntrBkSttlmAmt Ccy="USD">12500.00</IntrBkSttlmAmt>`, `<InstdAmt Ccy="USD">12500.00</InstdAmt>`,
		`<CreDtTm>2026-11-23T10:04:05-05:00</CreDtTm>`, `<IntrBkSttlmDt>2026-11-23</IntrBkSttlmDt>`,
		`<LclInstrm><Prtry>CTRC</Prtry></LclInstrm>`, `<Nm>Jose Muller</Nm>`, `<ChrgBr>SLEV</ChrgBr>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in %s", want, text)
		}
	}
	if strings.Count(text, "xmlns") != 2 {
		t.Errorf("namespaces: %s", text)
	}
}

func TestWhatANetworkWouldRefuseIsNotWrittenAndTheFieldIsNamed(t *testing.T) {
	t.Parallel()
	for path, change := range map[string]func(*iso20022.CreditTransfer){
		"GrpHdr/MsgId":        func(m *iso20022.CreditTransfer) { m.ID = "20261123BANKGRPH00017" },
		"CreDt":               func(m *iso20022.CreditTransfer) { m.CreatedAt = time.Time{} },
		"MmbId":               func(m *iso20022.CreditTransfer) { m.From = "021" },
		"EndToEndId":          func(m *iso20022.CreditTransfer) { m.EndToEndID = "" },
		"UETR":                func(m *iso20022.CreditTransfer) { m.UETR = "8A562C67-CA16-48BA-B074-65581BE6F011" },
		"LclInstrm":           func(m *iso20022.CreditTransfer) { m.LocalInstrument = "ZELLE" },
		"IntrBkSttlmDt":       func(m *iso20022.CreditTransfer) { m.SettlementDate = time.Time{} },
		"ChrgBr":              func(m *iso20022.CreditTransfer) { m.ChargeBearer = "NONE" },
		"InstdAgt":            func(m *iso20022.CreditTransfer) { m.Receiver = "12118290x" },
		"Dbtr/Nm":             func(m *iso20022.CreditTransfer) { m.Debtor.Name = "Тест" },
		"Cdtr/Nm":             func(m *iso20022.CreditTransfer) { m.Creditor.Name = strings.Repeat("ß", 71) },
		"CdtrAcct":            func(m *iso20022.CreditTransfer) { m.Creditor.IBAN = "DE89370400440532013000" },
		"CdtrAgt":             func(m *iso20022.CreditTransfer) { m.CreditorAgent = iso20022.Agent{} },
		"Ustrd":               func(m *iso20022.CreditTransfer) { m.Remittance = "two\nlines" },
		"DbtrAcct/Id/Othr/Id": func(m *iso20022.CreditTransfer) { m.Debtor.Account = "12é" },
		"UltmtDbtr": func(m *iso20022.CreditTransfer) {
			m.UltimateDebtor = iso20022.Party{Name: "x", Address: postal.Address{City: "Boston"}}
		},
		"Dbtr/PstlAdr/Ctry": func(m *iso20022.CreditTransfer) { m.Debtor.Address.CountryCode = "usa" },
		"Purp/Cd":           func(m *iso20022.CreditTransfer) { m.Purpose = "SALARY" },
	} {
		m := transfer()
		change(m)
		var out bytes.Buffer
		err := iso20022.Write(&out, iso20022.Fedwire, m)
		wrong, is := err.(*iso20022.FieldError) //nolint:errorlint // that it is not wrapped is the promise
		if !is || !strings.Contains(wrong.Path, path) || out.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", path, err, out.Len())
		}
		if is && strings.Contains(wrong.Error(), "12é") {
			t.Errorf("the error quotes: %v", wrong)
		}
	}
}

func TestAmountsAreExactAndBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount money.Amount
		ok     bool
	}{
		{money.Of(1, "USD"), true},
		{money.Of(99_999_999_999_999, "USD"), true},
		{money.Of(100_000_000_000_000, "USD"), false},
		{money.Of(0, "USD"), false},
		{money.Of(-1, "USD"), false},
		{money.Of(100, "EUR"), false},
		{money.Amount{}, false},
	} {
		m := transfer()
		m.Amount = c.amount
		var out bytes.Buffer
		if err := iso20022.Write(&out, iso20022.Fedwire, m); (err == nil) != c.ok {
			t.Errorf("%s %s: %v", c.amount, c.amount.Currency, err)
		}
	}
	text := written(t, transfer)
	for amount, ok := range map[string]bool{
		"12500": true, "12500.5": true, " 12500.00\n": true, "12500.001": false, "1e3": false, "-1.00": false,
		"0.00": false, "": false, "NaN": false, "12,500.00": false, "0x10": false, "１": false,
		"1000000000000.00": false, "+1.00": false,
	} {
		changed := strings.ReplaceAll(text, "12500.00", amount)
		if _, err := iso20022.Read(strings.NewReader(changed), iso20022.Fedwire); (err == nil) != ok {
			t.Errorf("%q: %v", amount, err)
		}
	}
}

func TestAccentsAreLostAndOtherLettersRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"José Müller": "Jose Muller", "Łódź": "Lodz", "Straße": "Strasse", "Ærø": "AEro", "O’Neil": "O'Neil",
		"Søren Þór": "Soren Thor", "ﬁnance": "finance", "Ñandú — x": "Nandu - x", "plain~!": "plain~!",
		"e\u0301": "e", "日本": "日本", "€": "€",
	} {
		if got := iso20022.Plain(text); got != want {
			t.Errorf("%s is %s", text, got)
		}
	}
}

func TestOutcomesOfCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[iso20022.Code]iso20022.Outcome{
		"ACSC": iso20022.Accepted, "ACCC": iso20022.Accepted, "ACTC": iso20022.Accepted, "ACWP": iso20022.Accepted,
		"RJCT": iso20022.Refused, "PDNG": iso20022.Open, "RCVD": iso20022.Open, "ACSP": iso20022.Open,
		"XXXX": iso20022.Open,
	} {
		if code.Outcome() != want {
			t.Errorf("%s is %d", code, code.Outcome())
		}
	}
}

func TestMessageIDsHaveTheFormOfTheirNetwork(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for want, got := range map[string]string{
		"20261123BANKGRPH000017":   iso20022.Fedwire.MessageID(day, "BANKGRPH", 17),
		"20261123021040078000017":  iso20022.FedNow.MessageID(day, "021040078", 17),
		"M20261123021040078000017": iso20022.RTP.MessageID(day, "021040078", 17),
	} {
		if got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
