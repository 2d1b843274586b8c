package iso20022_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	head "github.com/moov-io/fedwire20022/gen/BusinessApplicationHeader_head_001_001_03"
	pacs008 "github.com/moov-io/fedwire20022/gen/CustomerCreditTransfer_pacs_008_001_08"
	pain013 "github.com/moov-io/fedwire20022/gen/DrawdownRequest_pain_013_001_07"
	pain014 "github.com/moov-io/fedwire20022/gen/DrawdownResponse_pain_014_001_07"
	pacs002 "github.com/moov-io/fedwire20022/gen/FedwireFundsPaymentStatus_pacs_002_001_10"
	pacs004 "github.com/moov-io/fedwire20022/gen/PaymentReturn_pacs_004_001_10"
	pacs028 "github.com/moov-io/fedwire20022/gen/PaymentStatusRequest_pacs_028_001_03"
	camt029 "github.com/moov-io/fedwire20022/gen/ReturnRequestResponse_camt_029_001_09"
	camt056 "github.com/moov-io/fedwire20022/gen/ReturnRequest_camt_056_001_08"
	"github.com/moov-io/fedwire20022/pkg/fedwire"
	"pgregory.net/rapid"

	"bankgraph/core/rails/iso20022"
)

// part returns the header or the document of a message.
func part(message []byte, name string) []byte {
	text := string(message)
	from, to := strings.Index(text, "<"+name), strings.Index(text, "</"+name+">")
	return []byte(text[from : to+len(name)+3])
}

// understood is read by a stranger's structs, which then check themselves.
func understood(t *rapid.T, text []byte, into interface{ Validate() error }) {
	if err := xml.Unmarshal(text, into); err != nil {
		t.Fatalf("%v of %s", err, text)
	}
	if err := into.Validate(); err != nil {
		t.Fatalf("%v of %s", err, text)
	}
}

func write(t *rapid.T, m iso20022.Message) []byte {
	var out bytes.Buffer
	if err := iso20022.Write(&out, iso20022.Fedwire, m); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func same(t *rapid.T, what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s is read as %v, not %v", what, got, want)
	}
}

func TestAnIndependentReaderUnderstandsTransfers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := draw{t: t, p: iso20022.Fedwire}.transfer().(*iso20022.CreditTransfer)
		text := write(t, m)
		var header head.AppHdr
		understood(t, part(text, "AppHdr"), &header)
		same(t, "the ID", header.BizMsgIdr, m.ID)
		same(t, "the type", header.MsgDefIdr, m.Type())
		same(t, "from", header.Fr.FIId.FinInstnId.ClrSysMmbId.MmbId, m.From)
		var document pacs008.Document
		understood(t, part(text, "Document"), &document)
		group, tx := document.FIToFICstmrCdtTrf.GrpHdr, document.FIToFICstmrCdtTrf.CdtTrfTxInf
		same(t, "the ID", group.MsgId, m.ID)
		same(t, "the time", time.Time(group.CreDtTm).UTC(), m.CreatedAt)
		same(t, "the UETR", tx.PmtId.UETR, m.UETR)
		same(t, "the reference", tx.PmtId.EndToEndId, m.EndToEndID)
		same(t, "the amount", fmt.Sprintf("%.2f", tx.IntrBkSttlmAmt.Value), m.Amount)
		same(t, "the day", fedwire.MarshalISODate(tx.IntrBkSttlmDt), m.SettlementDate.Format(time.DateOnly))
		same(t, "the debtor", *tx.Dbtr.Nm, m.Debtor.Name)
		same(t, "the creditor", *tx.Cdtr.Nm, m.Creditor.Name)
		for i, told := range m.ForCreditorAgent {
			same(t, "what the creditor's bank is told", *tx.InstrForCdtrAgt[i].InstrInf, told)
		}
		if m.Creditor.Account != "" {
			same(t, "the account", tx.CdtrAcct.Id.Othr.Id, m.Creditor.Account)
		}
		if m.Remittance != "" {
			same(t, "the remittance", *tx.RmtInf.Ustrd, m.Remittance)
		}
		if m.Elsewhere.Address != "" {
			at := tx.RltdRmtInf.RmtLctnDtls[0]
			same(t, "how the remittance is had", at.Mtd, m.Elsewhere.Method)
			same(t, "where the remittance is", *at.ElctrncAdr, m.Elsewhere.Address)
		}
	})
}

func TestAnIndependentReaderUnderstandsAnswersAndReturns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw{t: t, p: iso20022.Fedwire}
		status := d.status().(*iso20022.Status)
		var answer pacs002.Document
		understood(t, part(write(t, status), "Document"), &answer)
		told := answer.FIToFIPmtStsRpt.TxInfAndSts
		same(t, "the code", told.TxSts, status.Code)
		same(t, "the UETR", told.OrgnlUETR, status.Original.UETR)
		if len(status.Reasons) > 0 {
			same(t, "the reason", *told.StsRsnInf[0].Rsn.Prtry, status.Reasons[0].Code)
		}
		back := d.returned().(*iso20022.Return)
		var returned pacs004.Document
		understood(t, part(write(t, back), "Document"), &returned)
		same(t, "the amount", fmt.Sprintf("%.2f", returned.PmtRtr.TxInf.RtrdIntrBkSttlmAmt.Value), back.Amount)
		same(t, "the reason", *returned.PmtRtr.TxInf.RtrRsnInf.Rsn.Cd, back.Reason.Code)
		same(t, "the original", returned.PmtRtr.TxInf.OrgnlGrpInf.OrgnlMsgId, back.Original.MessageID)
		asked := d.request().(*iso20022.StatusRequest)
		var request pacs028.Document
		understood(t, part(write(t, asked), "Document"), &request)
		same(t, "the UETR", request.FIToFIPmtStsReq.TxInf.OrgnlUETR, asked.Original.UETR)
	})
}

func TestAnIndependentReaderUnderstandsRequestsAndRecalls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw{t: t, p: iso20022.Fedwire}
		asked := d.asked().(*iso20022.PaymentRequest)
		var request pain013.Document
		understood(t, part(write(t, asked), "Document"), &request)
		what := request.CdtrPmtActvtnReq.PmtInf.CdtTrfTx
		same(t, "the amount", fmt.Sprintf("%.2f", what.Amt.InstdAmt.Value), asked.Amount)
		same(t, "the reference", what.PmtId.EndToEndId, asked.EndToEndID)
		same(t, "who is to pay", *request.CdtrPmtActvtnReq.PmtInf.Dbtr.Nm, asked.Debtor.Name)
		answered := d.answered().(*iso20022.PaymentAnswer)
		var answer pain014.Document
		understood(t, part(write(t, answered), "Document"), &answer)
		told := answer.CdtrPmtActvtnReqStsRpt.OrgnlPmtInfAndSts
		same(t, "the code", told.TxInfAndSts.TxSts, answered.Code)
		same(t, "the request", told.OrgnlPmtInfId, answered.RequestID)
		recalled := d.recalled().(*iso20022.Recall)
		var recall camt056.Document
		understood(t, part(write(t, recalled), "Document"), &recall)
		back := recall.FIToFIPmtCxlReq.Undrlyg.TxInf
		same(t, "the UETR", back.OrgnlUETR, recalled.Original.UETR)
		same(t, "the reason", *back.CxlRsnInf.Rsn.Cd, recalled.Reason.Code)
		resolved := d.resolved().(*iso20022.RecallAnswer)
		var resolution camt029.Document
		understood(t, part(write(t, resolved), "Document"), &resolution)
		same(t, "the answer", *resolution.RsltnOfInvstgtn.Sts.Conf, resolved.Code)
		same(t, "the case", resolution.RsltnOfInvstgtn.RslvdCase.Id, resolved.CaseID)
	})
}
