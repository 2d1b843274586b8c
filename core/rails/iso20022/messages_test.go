package iso20022_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
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

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, p := range profiles {
		for name, maker := range makers {
			if p == iso20022.SWIFT && strings.HasPrefix(name, "pain.") {
				continue // nobody asks for payments there
			}
			if slices.Contains(instant, name) && p != iso20022.FedNow && p != iso20022.RTP {
				continue
			}
			t.Run(p.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) {
					want := maker(draw{t: t, p: p})
					var out bytes.Buffer
					if err := checked(&out, p, want); err != nil {
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
	if err := checked(&out, iso20022.Fedwire, maker()); err != nil {
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
		"GrpHdr/MsgId":  func(m *iso20022.CreditTransfer) { m.ID = "20261123BANKGRPH00017" },
		"CreDt":         func(m *iso20022.CreditTransfer) { m.CreatedAt = time.Time{} },
		"MmbId":         func(m *iso20022.CreditTransfer) { m.From = "021" },
		"EndToEndId":    func(m *iso20022.CreditTransfer) { m.EndToEndID = "" },
		"UETR":          func(m *iso20022.CreditTransfer) { m.UETR = "8A562C67-CA16-48BA-B074-65581BE6F011" },
		"LclInstrm":     func(m *iso20022.CreditTransfer) { m.LocalInstrument = "ZELLE" },
		"IntrBkSttlmDt": func(m *iso20022.CreditTransfer) { m.SettlementDate = time.Time{} },
		"ChrgBr":        func(m *iso20022.CreditTransfer) { m.ChargeBearer = "NONE" },
		"InstdAgt":      func(m *iso20022.CreditTransfer) { m.Receiver = "12118290x" },
		"Dbtr/Nm":       func(m *iso20022.CreditTransfer) { m.Debtor.Name = "Тест" },
		"Cdtr/Nm": func(m *iso20022.CreditTransfer) {
			m.Creditor.Name = strings.Repeat("ß",
				71)
		},
		"CdtrAcct": func(m *iso20022.CreditTransfer) {
			m.Creditor.IBAN = "DE89370400440532013000"
		},
		"CdtrAgt":                    func(m *iso20022.CreditTransfer) { m.CreditorAgent = iso20022.Agent{} },
		"RltdRmtInf/RmtLctnDtls/Mtd": func(m *iso20022.CreditTransfer) { m.Elsewhere.Address = "R1" },
		"RmtLctnDtls/ElctrncAdr":     func(m *iso20022.CreditTransfer) { m.Elsewhere.Method = "URID" },
		"Ustrd":                      func(m *iso20022.CreditTransfer) { m.Remittance = "two\nlines" },
		"DbtrAcct/Id/Othr/Id":        func(m *iso20022.CreditTransfer) { m.Debtor.Account = "12é" },
		"UltmtDbtr": func(m *iso20022.CreditTransfer) {
			m.UltimateDebtor = iso20022.Party{Name: "x", Address: postal.Address{City: "Boston"}}
		},
		"Dbtr/PstlAdr/Ctry": func(m *iso20022.CreditTransfer) { m.Debtor.Address.CountryCode = "usa" },
		"Purp/Cd":           func(m *iso20022.CreditTransfer) { m.Purpose = "SALARY" },
	} {
		m := transfer()
		change(m)
		var out bytes.Buffer
		err := checked(&out, iso20022.Fedwire, m)
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
		if err := checked(&out, iso20022.Fedwire, m); (err == nil) != c.ok {
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

func TestOutcomesOfCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[iso20022.Code]iso20022.Meaning{
		"ACSC": iso20022.Accepted, "ACCC": iso20022.Accepted, "ACTC": iso20022.Accepted, "ACWP": iso20022.Accepted,
		"RJCT": iso20022.Refused, "PDNG": iso20022.Open, "RCVD": iso20022.Open, "ACSP": iso20022.Open,
		"XXXX": iso20022.Open,
	} {
		if code.Meaning() != want {
			t.Errorf("%s is %d", code, code.Meaning())
		}
	}
}

func TestOutcomesOfRecalls(t *testing.T) {
	t.Parallel()
	for code, want := range map[iso20022.RecallCode]iso20022.Meaning{
		"CNCL": iso20022.Accepted, "IPAY": iso20022.Accepted, "PECR": iso20022.Accepted,
		"RJCR": iso20022.Refused, "PDCR": iso20022.Open, "XXXX": iso20022.Open,
	} {
		if code.Meaning() != want {
			t.Errorf("%s is %d", code, code.Meaning())
		}
	}
}

// drawn is a message of a type, always the same one.
func drawn[M iso20022.Message](p *iso20022.Profile, maker func(draw) iso20022.Message) M {
	return rapid.Custom(func(t *rapid.T) M { return maker(draw{t: t, p: p}).(M) }).Example(1)
}

func TestAnswersThatNobodyUnderstandsAreNotWritten(t *testing.T) {
	t.Parallel()
	status := drawn[*iso20022.Status](iso20022.Fedwire, draw.status)
	status.Code, status.Reasons = iso20022.Rejected, nil
	coded := drawn[*iso20022.Status](iso20022.Fedwire, draw.status)
	coded.Code, coded.Reasons = iso20022.Rejected, []iso20022.Reason{{Code: "AC04", Text: []string{"closed"}}}
	silent := drawn[*iso20022.Status](iso20022.Fedwire, draw.status)
	silent.Code, silent.Reasons = iso20022.Rejected, []iso20022.Reason{{Code: "E433", Proprietary: true}}
	back := drawn[*iso20022.Return](iso20022.Fedwire, draw.returned)
	back.Reason = iso20022.Reason{Code: "E433", Proprietary: true}
	unexplained := drawn[*iso20022.Return](iso20022.Fedwire, draw.returned)
	unexplained.Reason = iso20022.Reason{}
	talkative := drawn[*iso20022.Return](iso20022.Fedwire, draw.returned)
	talkative.Reason.Text = []string{"1", "2", "3"}
	asked := drawn[*iso20022.PaymentRequest](iso20022.Fedwire, draw.asked)
	asked.ExpiresAt = asked.CreatedAt
	refused := drawn[*iso20022.RecallAnswer](iso20022.Fedwire, draw.resolved)
	refused.Code, refused.Reasons = iso20022.RecallRefused, nil
	for path, m := range map[string]iso20022.Message{
		"TxInfAndSts/StsRsnInf": status, "StsRsnInf": coded, "TxInfAndSts/StsRsn": silent, "RtrRsnInf/Rsn": back,
		"RtrRsnInf": unexplained, "RtrRsnInf/AddtlInf": talkative, "XpryDt": asked, "CxlDtls": refused,
	} {
		wrong := (*iso20022.FieldError)(nil)
		err := checked(io.Discard, iso20022.Fedwire, m)
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Path, path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAskingForInformationNamesWhatIsUnclearAndOnePayment(t *testing.T) {
	t.Parallel()
	unclear := drawn[*iso20022.InformationRequest](iso20022.FedNow, draw.unclear)
	unclear.Creator, unclear.Missing = "Ada Byron", []iso20022.Lack{{Code: "NARR", Text: "Which invoice?"}}
	unclear.Incorrect, unclear.Original.Type = nil, iso20022.TypeCreditTransfer
	var out bytes.Buffer
	if err := checked(&out, iso20022.FedNow, unclear); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"urn:iso:std:iso:20022:tech:xsd:camt.026.001.07", "<Cretr><Pty><Nm>Ada Byron</Nm></Pty></Cretr>",
		"<MssngInf><Cd>NARR</Cd><AddtlMssngInf>Which invoice?</AddtlMssngInf></MssngInf>", "<IntrBk><OrgnlGrpInf>",
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%s is not in %s", part, &out)
		}
	}
	for _, change := range [][2]string{{"<IntrBk>", "<Initn></Initn><IntrBk>"}, {"IntrBk>", "Other>"}} {
		text := strings.ReplaceAll(out.String(), change[0], change[1])
		if _, err := iso20022.Read(strings.NewReader(text), iso20022.FedNow); err == nil {
			t.Errorf("%s for %s is read", change[1], change[0])
		}
	}
	nothing, much := *unclear, *unclear
	nothing.Missing, much.Missing = nil, make([]iso20022.Lack, iso20022.MostLacks+1)
	for path, m := range map[string]*iso20022.InformationRequest{
		"Justfn/MssngOrIncrrctInf": &nothing, "MssngInf": &much,
	} {
		wrong := (*iso20022.FieldError)(nil)
		if err := checked(io.Discard, iso20022.FedNow, m); !errors.As(err, &wrong) ||
			!strings.Contains(wrong.Path, path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestMessagesOfSWIFTNameBanksByBIC(t *testing.T) {
	t.Parallel()
	back := drawn[*iso20022.Return](iso20022.SWIFT, draw.returned)
	back.Sender, back.Amount = "MUSTDEFFXXX", money.Of(12_500, "JPY")
	var out bytes.Buffer
	if err := checked(&out, iso20022.SWIFT, back); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"<BizSvc>swift.cbprplus.02</BizSvc>", "<MsgDefIdr>pacs.004.001.09</MsgDefIdr>",
		`xmlns="urn:iso:std:iso:20022:tech:xsd:pacs.004.001.09"`,
		"<SttlmInf><SttlmMtd>INDA</SttlmMtd></SttlmInf>",
		"<InstgAgt><FinInstnId><BICFI>MUSTDEFFXXX</BICFI></FinInstnId></InstgAgt>",
		`<RtrdIntrBkSttlmAmt Ccy="JPY">12500</RtrdIntrBkSttlmAmt>`,
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %s in %s", part, &out)
		}
	}
	transfer := drawn[*iso20022.CreditTransfer](iso20022.SWIFT, draw.transfer)
	transfer.Sender = "021040078"
	var wrong *iso20022.FieldError
	if err := checked(io.Discard, iso20022.SWIFT, transfer); !errors.As(err, &wrong) ||
		!strings.Contains(wrong.Path, "InstgAgt") {
		t.Errorf("a routing number: %v", err)
	}
}

func TestWhatIsLeftOutIsTheUsual(t *testing.T) {
	t.Parallel()
	asked := drawn[*iso20022.PaymentRequest](iso20022.RTP, draw.asked)
	asked.LocalInstrument, asked.ChargeBearer, asked.Initiator = "", "", iso20022.Party{}
	recalled := drawn[*iso20022.Recall](iso20022.RTP, draw.recalled)
	recalled.CaseCreator = iso20022.Agent{}
	for _, c := range []struct {
		m    iso20022.Message
		want func(iso20022.Message) bool
	}{
		{asked, func(m iso20022.Message) bool {
			r := m.(*iso20022.PaymentRequest)
			return r.LocalInstrument == "STANDARD" &&
				r.ChargeBearer == "SLEV" && r.Initiator.Name == asked.Creditor.Name
		}},
		{recalled, func(m iso20022.Message) bool {
			return m.(*iso20022.Recall).CaseCreator == iso20022.Agent{Routing: recalled.Sender}
		}},
	} {
		var out bytes.Buffer
		if err := checked(&out, iso20022.RTP, c.m); err != nil {
			t.Fatal(err)
		}
		if m, err := iso20022.Read(&out, iso20022.RTP); err != nil || !c.want(m) {
			t.Errorf("%+v (%v)", m, err)
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
		"20261123SNDBUS30000017":   iso20022.SWIFT.MessageID(day, iso20022.SWIFT.Sender("SNDBUS30XXX"), 17),
		// more than a million a day, which only the instant networks have room for
		"202611230210400781000017":  iso20022.FedNow.MessageID(day, "021040078", 1_000_017),
		"M202611230210400781000017": iso20022.RTP.MessageID(day, "021040078", 1_000_017),
		"20261123BANKGRPH000018":    iso20022.Fedwire.MessageID(day, "BANKGRPH", 1_000_017),
	} {
		if got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// checked is iso20022.Write, whose verdict iso20022.Check must share.
func checked(w io.Writer, p *iso20022.Profile, m iso20022.Message) error {
	verdict, err := iso20022.Check(p, m), iso20022.Write(w, p, m)
	if fmt.Sprint(verdict) != fmt.Sprint(err) {
		panic(fmt.Sprintf("Check says %v, and Write %v", verdict, err))
	}
	return err
}
