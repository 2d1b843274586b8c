package rest

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/fault"
	"bankgraph/core/fx"
	"bankgraph/core/ledger"
	"bankgraph/core/payments"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
)

var (
	creditsV3 = dialect{
		success: successC1, failure: failureC1, lines: table("PAYMENT001", notAuthorized),
		phrase: "Credit request failed",
	}

	// Codes are AREA_FIELD_PROBLEM (rest/CONTRACT.md, credit requests).
	creditsV4 = dialect{
		success: successV3, failure: failureCredit,
		spelled: map[string]string{"receiver.accountUID": "receiver.beneficiaryId"},
		lines: table("CREDIT_REQUEST_INVALID", notAuthorized,
			because(payments.ErrNoNetwork, "CREDIT_SPEED_NOTENABLED").exactly(),
			because(payments.ErrRailOff, "CREDIT_SPEED_NOTENABLED").exactly(),
			because(payments.ErrNoBIC, "CREDIT_SPEED_NOTENABLED").exactly(),
			because(payments.ErrContractAmount, "CREDIT_AMOUNT_NOFXMATCH").exactly(),
			because(payments.ErrContractOver, "ADDITIONALINFO_FXCONTRACT_STATUS").exactly(),
			because(payments.ErrContractUsed, "ADDITIONALINFO_FXCONTRACT_DUPLICATE").exactly(),
			because(payments.ErrRoute, "CREDIT_ROUTE_NOTFOUND").exactly(),
			because(payments.ErrNetworkLimit, "CREDIT_AMOUNT_LIMIT").exactly(),
			because(payments.ErrLimit, "CREDIT_AMOUNT_LIMIT").exactly(),
			because(payments.ErrOwnLimit, "CREDIT_AMOUNT_LIMIT").exactly(),
			because(payments.ErrDay, "CREDIT_DATE_INVALID").exactly(),
			because(payments.ErrClass, "ADDITIONALINFO_SECCODE_NOTALLOWED").exactly(),
			because(payments.ErrNoCompany, "SENDER_ACHCOMPANYID_REQUIRED").exactly(),
			because(ledger.ErrUncovered, "SENDER_ACCOUNT_INSUFFICIENTFUNDS").exactly(),
			because(errNoUUID, "CREDIT_IDEMPOTENTKEY_INVALID").exactly(),
			line{is: changes.ErrKeyReused, status: http.StatusConflict, code: "CREDIT_IDEMPOTENTKEY_CONFLICT", exact: true}),
	}
)

// errNoUUID is of the generation that asks for keys that are UUIDs (rest/CONTRACT.md, idempotency).
var errNoUUID = fault.New(fault.Invalid, "request.key_uuid", "must be a UUID").On("Idempotent-Key")

// creditAreas are the beginnings of the codes of fields, the first that fits (rest/CONTRACT.md, credit requests).
var creditAreas = []struct{ field, area string }{
	{"externalReferenceId", "CREDIT_EXTERNALREF"},
	{"paymentAmount", "CREDIT_AMOUNT"},
	{"paymentCurrency", "CREDIT_CURRENCY"},
	{"paymentDate", "CREDIT_DATE"},
	{"speed", "CREDIT_SPEED"},
	{"paymentNotes", "CREDIT_NOTES"},
	{"additionalInfo.paymentRemittanceNotes", "CREDIT_REMITTANCE"},
	{"sender.accountUID", "SENDER_ACCOUNT"},
	{"sender.accountNumber", "SENDER_ACCOUNT"},
	{"receiver.beneficiaryId", "BENEFICIARY_ID"},
	{"receiver.accountNumber", "BENEFICIARY_ACCTNUM"},
	{"receiver.bank.swiftCode", "RECEIVERBANK_SWIFT"},
	{"receiver.bank.", "RECEIVERBANK_"},
	{"receiver.intermediaryBank.swiftCode", "INTERMEDIARYBANK_SWIFT"},
	{"receiver.intermediaryBank", "INTERMEDIARYBANK"},
	{"receiver.", "BENEFICIARY_"},
	{"sender.", "SENDER_"},
	{"additionalInfo.fxContractNumber", "ADDITIONALINFO_FXCONTRACT"},
	{"additionalInfo.", "ADDITIONALINFO_"},
	{"", "CREDIT_"},
}

// failureCredit is C4 with a code for each field, such as CREDIT_AMOUNT_MIN.
func failureCredit(_ string, all []reported) any {
	return envelopeC4{Errors: each(all, func(t reported) codeAndMessage { return codeAndMessage{creditCode(t), t.message} })}
}

func creditCode(t reported) string {
	if t.field == "" || t.status != http.StatusBadRequest {
		return t.code
	}
	if field, is := strings.CutPrefix(t.field, "recurrence."); is {
		t.field = field
		return recurrenceCode(t)
	}
	for _, a := range creditAreas {
		if rest, is := strings.CutPrefix(t.field, a.field); is {
			rest = strings.ReplaceAll(places.ReplaceAllString(rest, ""), ".", "_")
			return a.area + strings.ToUpper(rest) + "_" + string(t.problem)
		}
	}
	return t.code
}

// creditRequest is the form without a version and of v3, in which a contact is the receiver's accountUID.
func (a *api) creditRequest(r *http.Request) (answer, error) {
	q := readBody(r)
	return a.sendPayment(r, q, orderDraft(q.fields(), "accountUID"))
}

// creditV4 is stricter, tells all mistakes at once, and calls a contact beneficiaryId.
func (a *api) creditV4(r *http.Request) (answer, error) {
	q := readBody(r)
	order := orderDraft(q.fields(), "beneficiaryId")
	order.Strict = true
	if key := q.key(); key != "" && uuid.Validate(key) != nil {
		q.fail(errNoUUID)
	}
	return a.sendPayment(r, q, order)
}

func (a *api) sendPayment(r *http.Request, q *reader, order payments.Order) (answer, error) {
	options := q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Payments.Send(r.Context(), order, options)
	saved := initiatedOf(out.Result)
	if order.Strict {
		return done(http.StatusOK, out.Receipt,
			paymentInitiated{saved.PaymentUID, saved.PaymentStatus, saved.RecurrenceID}), err
	}
	return done(http.StatusOK, out.Receipt, saved), err
}

// paymentInitiated answers a credit of v4.
type paymentInitiated struct {
	PaymentUID    string                 `json:"paymentUID"`
	PaymentStatus payments.Status        `json:"paymentStatus"`
	RecurrenceID  payments.RecurrenceUID `json:"recurrenceId,omitzero"` // of the series that it begins
}

// orderDraft reads the body of a credit request; contact is the member of the receiver that names a contact.
func orderDraft(body fields, contact string) payments.Order {
	body.none("a payment costs what the customer's fee tier says", "fee")
	sender, receiver, info := body.object("sender"), body.object("receiver"), body.object("additionalInfo")
	info.none("belongs to enrolments and entries of IAT, which are not offered", "benefitReceiver", "transactionTypeCode")
	return payments.Order{
		Sender: payments.Party{
			UID: orZero(idIn(sender, accounts.ParseUID, "accountUID")), Number: sender.text("accountNumber").Value,
			Type: sender.text("accountType").Value, SubType: sender.text("subAccountType").Value,
			RoutingNumber: sender.text("bankId").Value, Name: sender.text("name").Value,
		},
		SenderEntity: sender.text("entityType").Value, SenderAddress: paymentAddress(sender.object("address")),
		SenderEmail: sender.text("email").Value, SenderPhone: sender.text("phone").Value,
		Receiver: payments.Receiver{
			Contact: orZero(idIn(receiver, contacts.ParseUID, contact)), Number: receiver.text("accountNumber").Value,
			Type: receiver.text("accountType").Value, SubType: receiver.text("subAccountType").Value,
			Currency: receiver.text("accountCurrency").Value, Name: receiver.text("name").Value,
			Phone: receiver.text("phone").Value, Email: receiver.text("email").Value,
			Address: paymentAddress(receiver.object("address")),
			Bank:    bankOfReceiver(receiver.object("bank")), Between: bankOfReceiver(receiver.object("intermediaryBank")),
		},
		Amount: body.number("paymentAmount").Value, Currency: body.text("paymentCurrency").Value,
		Date: orZero(wordIn(body, date, "paymentDate")), Speed: body.text("speed").Value,
		ExternalReferenceID: body.text("externalReferenceId").Value, Notes: body.text("paymentNotes").Value,
		Channel: info.text("channel").Value, CostCenter: info.text("costCenter").Value,
		RequestMethod: info.text("requestMethod").Value, OperationNote: info.text("operationNote").Value,
		Remittance: info.text("paymentRemittanceNotes").Value, Reference: info.text("referenceForBeneficiary").Value,
		Charges:        info.text("detailsOfCharges").Value,
		Contract:       orZero(idIn(info, fx.ParseTradeUID, "fxContractNumber")),
		OriginatorInfo: info.text("originatorToBeneficiary", "originatortoBeneficiary").Value,
		BankInfo:       info.text("senderToReceiverNotes").Value,
		SECCode:        rails.SECCode(info.text("secCode").Value),
		CompanyID:      sender.text("achCompanyID").Value,
		Repeat:         repetition(body),
	}
}

func bankOfReceiver(f fields) payments.ReceiverBank {
	return payments.ReceiverBank{
		IDType: f.text("bankIdType").Value, ID: f.text("bankId").Value, BIC: f.text("swiftCode").Value,
		Name: f.text("name").Value, Country: f.text("countryCode").Value, Address: paymentAddress(f.object("address")),
	}
}

// paymentAddress reads an address, whose postal code may be a number.
func paymentAddress(f fields) postal.Address {
	return postal.Address{
		Line1: f.text("addressLine1").Value, Line2: f.text("addressLine2").Value, City: f.text("city").Value,
		State: f.text("state").Value, PostalCode: f.number("postalCode").Value, CountryCode: f.text("countryCode").Value,
	}
}
