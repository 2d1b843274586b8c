package rest

import (
	"net/http"

	"bankgraph/core/accounts"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
)

// playsV1 answers what lets the simulated networks begin (rest/CONTRACT.md, sandbox plays).
var playsV1 = dialect{
	success: successC1, failure: failureC1, lines: table("SANDBOX001", notAuthorized,
		line{is: payments.ErrNotFound, status: http.StatusNotFound, code: serverFailure}), phrase: "Play failed",
}

func (a *api) playIncomingCredit(r *http.Request) (answer, error) {
	q := readBody(r)
	f, options := q.fields(), q.options()
	draft := sandbox.Credit{
		Account: orZero(idIn(f, accounts.ParseUID, "accountUID")), Amount: f.number("paymentAmount").Value,
		Currency: f.text("paymentCurrency").Value, Rail: f.text("deliveryMethod").Value,
		SenderName: f.text("senderName").Value, SenderNumber: f.text("senderAccountNumber").Value,
		SenderBank: f.text("senderBankId").Value, Reference: f.text("externalReferenceId").Value,
		Notes: f.text("paymentNotes").Value,
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Sandbox.PlayCredit(r.Context(), draft, options)
	return done(http.StatusOK, out.Receipt, playedOf(out.Result)), err
}

func (a *api) playRecall(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options, f := inPath(q, "paymentUID", payments.ParseUID), q.options(), q.fields()
	draft := sandbox.Recall{Code: f.text("reversalCode").Value, Notes: f.text("reversalNotes").Value}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Sandbox.PlayRecall(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, playedOf(out.Result)), err
}

// played answers a play: the message that is on its way to the bank.
type played struct {
	MessageID      string     `json:"messageId"`
	DeliveryMethod rails.Rail `json:"deliveryMethod"`
}

func playedOf(p sandbox.Played) played { return played{p.MessageID, p.Rail} }
