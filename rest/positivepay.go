package rest

import (
	"net/http"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/money"
	"bankgraph/core/positivepay"
)

var (
	// positiveRuleSearch has the code of the specification; all else of v2 has that of the published text.
	positiveRuleSearch = dialect{
		success: successC1, failure: failureC1, lines: table("POSITIVERULE001", notAuthorized),
		phrase: "Positive pay rule search failed",
	}

	positiveRulesV2 = dialect{success: successC1, failure: failureC1, lines: table("PP001", notAuthorized)}

	positiveRulesSavedV2 = dialect{success: bare, failure: failureC1, lines: positiveRulesV2.lines}

	// Codes are POSITIVERULE_FIELD_PROBLEM (rest/CONTRACT.md, positive pay).
	positiveRulesV3 = dialect{
		success: successV3, failure: failurePositiveRule,
		lines: table("POSITIVERULE_REQUEST_INVALID", notAuthorized,
			because(positivepay.ErrNotFound, "POSITIVERULE_RULEUID_NOTFOUND").exactly(),
			because(positivepay.ErrAccount, "POSITIVERULE_CUSTOMERACCOUNTNUMBER_NOTFOUND").exactly(),
			because(positivepay.ErrOwnLimit, "POSITIVERULE_AMOUNT_LIMIT").exactly(),
			because(positivepay.ErrExpired, "POSITIVERULE_EXPIRYDATE_REQUIRED").exactly()),
	}
)

// failurePositiveRule is C4 with a code for each field, such as POSITIVERULE_AMOUNT_REQUIRED.
func failurePositiveRule(_ string, all []reported) any {
	return envelopeC4{Errors: each(all, func(t reported) codeAndMessage {
		if t.status != http.StatusBadRequest {
			return codeAndMessage{t.code, t.message}
		}
		return codeAndMessage{t.detail("POSITIVERULE"), t.message}
	})}
}

// envelopeC13 answers changes of rules in v2.
type envelopeC13 struct {
	Status  string          `json:"status"`
	Code    *string         `json:"code"`
	Message *string         `json:"message"`
	RuleUID positivepay.UID `json:"ruleUID"`
}

// ruleDone answers a change of a rule in v2.
func ruleDone(out changes.Outcome[positivepay.Saved], what string, err error) (answer, error) {
	message := says(out.Receipt, what)
	return done(http.StatusOK, out.Receipt,
		envelopeC13{Status: "Success", Message: &message, RuleUID: out.Result.UID}), err
}

// searchPositiveRules takes the page from the query (rest/CONTRACT.md, pages).
func (a *api) searchPositiveRules(r *http.Request) (answer, error) {
	q := readBody(r)
	sheet, by := q.page(rulePages), ruleSearch(q.fields().filled())
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.PositivePay.Page(r.Context(), by, sheet.window())
	return list(found.Items, found.Total, sheet, positiveRuleOf), err
}

func (a *api) findPositiveRule(r *http.Request) (answer, error) {
	q := read(r)
	uid := inPath(q, "ruleUID", positivepay.ParseUID)
	if q.err != nil {
		return answer{}, q.err
	}
	rule, err := a.core.PositivePay.Find(r.Context(), uid)
	if err != nil {
		return answer{}, err
	}
	return versioned(rule.Version, positiveRuleOf(rule)), nil
}

func (a *api) createPositiveRuleV2(r *http.Request) (answer, error) {
	q := readBody(r)
	draft, options := ruleDraft(q.fields(), positivepay.Second), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.PositivePay.Create(r.Context(), draft, options)
	return ruleDone(out, "Positive pay rule created", err)
}

// changePositiveRuleV2 has the rule's number in the body.
func (a *api) changePositiveRuleV2(r *http.Request) (answer, error) {
	q := readBody(r)
	f := q.fields()
	uid, draft, options := idIn(f, positivepay.ParseUID, "ruleUID"),
		ruleDraft(f, positivepay.Second), q.options()
	if uid == nil {
		q.fail(fault.Field("positivePayRule", "ruleUID", fault.Required, "is required"))
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.PositivePay.Change(r.Context(), *uid, draft, options)
	return ruleDone(out, "Positive pay rule updated", err)
}

type ruleSaved struct {
	RuleUID string `json:"ruleUID"`
}

func (a *api) createPositiveRuleV3(r *http.Request) (answer, error) {
	q := readBody(r)
	draft, options := ruleDraft(q.fields(), positivepay.Current), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.PositivePay.Create(r.Context(), draft, options)
	return done(http.StatusCreated, out.Receipt, ruleSaved{out.Result.UID.String()}), err
}

func (a *api) changePositiveRuleV3(r *http.Request) (answer, error) {
	q := readBody(r)
	uid := inPath(q, "ruleUID", positivepay.ParseUID)
	draft, options := ruleDraft(q.fields(), positivepay.Current), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.PositivePay.Change(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, ruleSaved{out.Result.UID.String()}), err
}

func (a *api) activatePositiveRule(r *http.Request) (answer, error) {
	q := read(r)
	uid, options := inPath(q, "ruleUID", positivepay.ParseUID), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.PositivePay.Activate(r.Context(), uid, options)
	return ruleDone(out, "Positive pay rule activated", err)
}

func (a *api) suspendPositiveRule(r *http.Request) (answer, error) {
	q := read(r)
	uid, options := inPath(q, "ruleUID", positivepay.ParseUID), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.PositivePay.Suspend(r.Context(), uid, options)
	return ruleDone(out, "Positive pay rule suspended", err)
}

func (a *api) deletePositiveRule(r *http.Request) (answer, error) {
	q := read(r)
	uid, options := inPath(q, "ruleUID", positivepay.ParseUID), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.PositivePay.Delete(r.Context(), uid, options)
	return ruleDone(out, "Positive pay rule deleted", err)
}

// ruleDraft reads the body of a rule. The words are spelled without regard to letter case, and a frequency as
// in either generation.
func ruleDraft(f fields, form positivepay.Form) positivepay.Draft {
	d := positivepay.Draft{
		Form: form, AccountNumber: f.text("customerAccountNumber"), CustomerName: f.text("customerName"),
		Type:         positivepay.Type(f.text("paymentRuleType").Value),
		ACHCompanyID: f.number("achCompanyID"), BeneficiaryName: f.text("beneName"),
		BeneficiaryBankID: f.number("beneBankId"), BeneficiaryBankName: f.text("beneBankName"),
		BeneficiaryAccountNumber: f.text("beneAccountNumber"), Amount: f.number("amount"),
		AmountType: positivepay.AmountType(f.text("amountType").Value),
		Frequency:  positivepay.Frequency(f.text("frequency").Value), SECCode: f.text("secCode"),
		IndividualID: f.text("transactionIdNumber"), EffectiveDate: orZero(wordIn(f, date, "effectiveDate")),
		NumberOfPayments: f.whole("numberOfPayments"), Currency: f.text("currency"),
	}
	if f.text("expiryDate").Given {
		d.ExpiryDate = given.Of(orZero(wordIn(f, date, "expiryDate")))
	}
	return d
}

// ruleSearch reads what to search for. The other side has two names for each of its fields.
func ruleSearch(f fields) positivepay.Search {
	by := positivepay.Search{
		CustomerName:        f.text("customerName").Value,
		AccountNumber:       orZero(wordIn(f, accounts.ParseNumber, "customerAccountNumber")),
		RoutingNumber:       f.number("customerRoutingNumber").Value,
		TranCode:            f.number("tranCode").Value,
		ACHCompanyID:        f.number("achCompanyID").Value,
		BeneficiaryName:     f.text("companyName", "beneName").Value,
		BeneficiaryBankID:   f.number("companyBankId", "beneBankId").Value,
		BeneficiaryBankName: f.text("beneBankName").Value,
		BeneficiaryAccountNumber: orZero(wordIn(f, accounts.ParseNumber, "companyAccountNumber",
			"beneAccountNumber")),
		Amount:        orZero(idIn(f, positivepay.ParseAmount, "amount")),
		AmountType:    orZero(wordIn(f, positivepay.ParseAmountType, "amountType")),
		Frequency:     orZero(wordIn(f, positivepay.ParseFrequency, "frequency")),
		IndividualID:  f.text("transactionIdNumber").Value,
		EffectiveDate: orZero(wordIn(f, date, "effectiveDate")),
		ExpiryDate:    orZero(wordIn(f, date, "expiryDate")),
		Status:        orZero(wordIn(f, positivepay.ParseStatuses, "status")),
	}
	if over := wordIn(f, positivepay.ParseType, "paymentRuleType"); over != nil {
		by.Type = []positivepay.Type{*over}
	}
	return by
}

// positiveRule is a rule as it is shown: the union of what the texts publish (rest/CONTRACT.md, positive
// pay).
type positiveRule struct {
	PaymentRuleType        positivepay.Type       `json:"paymentRuleType"`
	CustomerName           string                 `json:"customerName"`
	CustomerAccountNumber  string                 `json:"customerAccountNumber"`
	CustomerRoutingNumber  string                 `json:"customerRoutingNumber"`
	CustomerAccountType    accounts.Type          `json:"customerAccountType"`
	CustomerAccountSubType accounts.SubType       `json:"customerAccountSubType"`
	BeneBankID             string                 `json:"beneBankId"`
	BeneBankName           string                 `json:"beneBankName"`
	BeneName               string                 `json:"beneName"`
	BeneAccountNumber      string                 `json:"beneAccountNumber"`
	Currency               money.Currency         `json:"currency"`
	Amount                 money.Amount           `json:"amount"`
	AmountType             positivepay.AmountType `json:"amountType"`
	Frequency              positivepay.Frequency  `json:"frequency"`
	SECCode                string                 `json:"secCode"`
	Status                 positivepay.Status     `json:"status"`
	TransactionIDNumber    string                 `json:"transactionIdNumber"`
	AuthType               string                 `json:"authType"`
	TranCode               string                 `json:"tranCode"`
	AuthorizationUntil     string                 `json:"authorizationUntil"`
	ACHCompanyID           string                 `json:"achCompanyID"`
	EffectiveDate          string                 `json:"effectiveDate"`
	ExpiryDate             string                 `json:"expiryDate"` // "" without one
	RuleUID                positivepay.UID        `json:"ruleUID"`
	NumberOfPayments       int32                  `json:"numberOfPayments"` // 0 without a bound
}

func positiveRuleOf(r *positivepay.Shown) positiveRule {
	view := positiveRule{
		PaymentRuleType: r.Type, CustomerName: r.CustomerName, CustomerAccountNumber: r.AccountNumber(),
		CustomerRoutingNumber: r.RoutingNumber, CustomerAccountType: r.AccountType,
		CustomerAccountSubType: r.AccountSubType, BeneBankID: r.BeneficiaryBankID,
		BeneBankName: r.BeneficiaryBankName, BeneName: r.BeneficiaryName,
		BeneAccountNumber: r.BeneficiaryNumber.Masked(), Currency: r.Currency, Amount: r.Amount(),
		AmountType: r.AmountType, Frequency: r.Frequency, SECCode: r.SECCode, Status: r.Status(),
		TransactionIDNumber: r.IndividualID, AuthType: "DEBIT", TranCode: r.TranCode(),
		AuthorizationUntil: "Until Cancelled", ACHCompanyID: r.ACHCompanyID,
		EffectiveDate: ruleDay(r.EffectiveDate), RuleUID: r.UID,
	}
	if view.Status == positivepay.PendingApproval { // which the published words do not tell apart
		view.Status = positivepay.Pending
	}
	if r.ExpiryDate != nil {
		view.ExpiryDate, view.AuthorizationUntil = ruleDay(*r.ExpiryDate), "End Date"
	}
	if r.NumberOfPayments != nil {
		view.NumberOfPayments, view.AuthorizationUntil = *r.NumberOfPayments, "Number of Payments"
	}
	return view
}

// ruleDay writes a day as rules are published: MM-DD-YYYY.
func ruleDay(day time.Time) string { return day.Format("01-02-2006") }
