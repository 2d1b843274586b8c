package rest

import (
	"net/http"
	"strconv"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/clock"
	"bankgraph/core/fault"
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
		Account: orZero(idIn(f, notZero(accounts.ParseUID), "accountUID")), Amount: f.number("paymentAmount").Value,
		Currency: f.text("paymentCurrency").Value, Rail: f.text("deliveryMethod").Value,
		SenderName: f.text("senderName").Value, SenderNumber: f.text("senderAccountNumber").Value,
		SenderBank: f.text("senderBankId").Value, Reference: f.text("externalReferenceId").Value,
		Notes: f.text("paymentNotes").Value, Virtual: f.number("virtualAccountNumber").Value,
		CreditEntry: sandbox.CreditEntry{
			CompanyID: f.number("achCompanyID").Value, CompanyName: f.text("companyName").Value,
			SECCode: f.text("secCode").Value, IndividualID: f.text("transactionIdNumber").Value,
			Description: f.text("description").Value, Date: orZero(wordIn(f, date, "paymentDate")),
		},
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Sandbox.PlayCredit(r.Context(), draft, options)
	return done(http.StatusOK, out.Receipt, playedOf(out.Result)), err
}

func (a *api) playIncomingDebit(r *http.Request) (answer, error) {
	q := readBody(r)
	f, options := q.fields(), q.options()
	draft := sandbox.Debit{
		Account: orZero(idIn(f, notZero(accounts.ParseUID), "accountUID")), Amount: f.number("paymentAmount").Value,
		Number: f.number("accountNumber").Value, CompanyID: f.number("achCompanyID").Value,
		CompanyName: f.text("companyName").Value, CompanyBank: f.number("companyBankId").Value,
		SECCode: f.text("secCode").Value, IndividualID: f.text("transactionIdNumber").Value,
		Description: f.text("description").Value, Date: orZero(wordIn(f, date, "paymentDate")),
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Sandbox.PlayDebit(r.Context(), draft, options)
	return done(http.StatusOK, out.Receipt, playedOf(out.Result)), err
}

func (a *api) playIncomingRequest(r *http.Request) (answer, error) {
	q := readBody(r)
	f, options := q.fields(), q.options()
	draft := sandbox.Request{
		Account: orZero(idIn(f, notZero(accounts.ParseUID), "accountUID")), Amount: f.number("paymentAmount").Value,
		Rail: f.text("deliveryMethod").Value, CreditorName: f.text("creditorName").Value,
		CreditorNumber: f.number("creditorAccountNumber").Value, CreditorBank: f.number("creditorBankId").Value,
		Reference: f.text("externalReferenceId").Value, Notes: f.text("paymentNotes").Value,
		On: orZero(wordIn(f, date, "requestedExecutionDate")), Expires: orZero(wordIn(f, date, "expiryDate")),
		Modifiable: f.flag("amountModificationAllowed").Value, Early: f.flag("earlyPayment").Value,
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Sandbox.PlayRequest(r.Context(), draft, options)
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

func (a *api) playAnswer(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options, f := inPath(q, "paymentUID", payments.ParseUID), q.options(), q.fields()
	draft := sandbox.Answer{
		Verdict: sandbox.Verdict(f.text("answer").Value), Code: f.text("code").Value,
		Amount: f.number("paymentAmount").Value, Number: f.number("correctedAccountNumber").Value,
		Routing: f.number("correctedRoutingNumber").Value,
		Account: rails.AccountType(f.text("correctedAccountType").Value),
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Sandbox.PlayAnswer(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, playedOf(out.Result)), err
}

func (a *api) playInformationRequest(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options, f := inPath(q, "paymentUID", payments.ParseUID), q.options(), q.fields()
	draft := sandbox.Inquiry{
		Code: f.text("code").Value, Info: f.text("additionalInfo").Value,
		Party: f.text("initiatingPartyName").Value,
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Sandbox.PlayInformationRequest(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, playedOf(out.Result)), err
}

// played answers a play: the message that is on its way to the bank.
type played struct {
	MessageID      string     `json:"messageId"`
	DeliveryMethod rails.Rail `json:"deliveryMethod"`
}

func playedOf(p sandbox.Played) played { return played{p.MessageID, p.Rail} }

func (a *api) readClock(r *http.Request) (answer, error) {
	reading, err := a.core.Clock.Read(r.Context())
	return versioned(0, clockOf(reading)), err
}

func (a *api) moveClock(r *http.Request) (answer, error) {
	q := readBody(r)
	f, options := q.fields(), q.options()
	move := sandbox.Move{
		To:      orZero(wordIn(f, instant, "to")),
		Minutes: orZero(idIn(f, notZero(minutes), "minutes")),
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Sandbox.MoveClock(r.Context(), move, options)
	return done(http.StatusOK, out.Receipt, clockOf(out.Result)), err
}

// instant reads a time with its zone.
func instant(field, text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fault.Field("clock", field, fault.Malformed,
			"must be a time with its zone, as 2026-11-23T09:00:00-05:00")
	}
	return at, nil
}

// minutes reads a number of minutes.
func minutes(field, text string) (int32, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fault.Field("clock", field, fault.Number, "must be a whole number of minutes")
	}
	return int32(n), nil
}

// clockView is the clock of the bank.
type clockView struct {
	Now    string `json:"now"`
	Target string `json:"target"` // to which it is moving on; '' if it is not
	Moved  bool   `json:"moved"`  // it is ahead of the machine's
}

func clockOf(c clock.Reading) clockView {
	view := clockView{Now: c.Now.UTC().Format(time.RFC3339), Moved: c.Moved}
	if c.Target != nil {
		view.Target = c.Target.UTC().Format(time.RFC3339)
	}
	return view
}
