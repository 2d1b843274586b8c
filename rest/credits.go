package rest

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

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
		lines: orderLines("CREDIT",
			because(payments.ErrNoNetwork, "CREDIT_SPEED_NOTENABLED").exactly(),
			because(payments.ErrNoBIC, "CREDIT_SPEED_NOTENABLED").exactly(),
			because(payments.ErrContractAmount, "CREDIT_AMOUNT_NOFXMATCH").exactly(),
			because(payments.ErrContractOver, "ADDITIONALINFO_FXCONTRACT_STATUS").exactly(),
			because(payments.ErrContractUsed, "ADDITIONALINFO_FXCONTRACT_DUPLICATE").exactly(),
			because(payments.ErrNoCompany, "SENDER_ACHCOMPANYID_REQUIRED").exactly(),
			because(ledger.ErrUncovered, "SENDER_ACCOUNT_INSUFFICIENTFUNDS").exactly()),
	}
)

// orderLines are the lines of the generation that tells all mistakes at once, for credits or debits.
func orderLines(area string, particular ...line) []line {
	return table(area+"_REQUEST_INVALID", notAuthorized, append(particular,
		because(payments.ErrRailOff, area+"_SPEED_NOTENABLED").exactly(),
		because(payments.ErrRoute, area+"_ROUTE_NOTFOUND").exactly(),
		because(payments.ErrOwnAccount, area+"_ROUTE_NOTFOUND").exactly(),
		because(payments.ErrNetworkLimit, area+"_AMOUNT_LIMIT").exactly(),
		because(payments.ErrLimit, area+"_AMOUNT_LIMIT").exactly(),
		because(payments.ErrOwnLimit, area+"_AMOUNT_LIMIT").exactly(),
		because(payments.ErrDay, area+"_DATE_INVALID").exactly(),
		because(payments.ErrClass, "ADDITIONALINFO_SECCODE_NOTALLOWED").exactly(),
		because(errNoUUID, area+"_IDEMPOTENTKEY_INVALID").exactly(),
		line{is: changes.ErrKeyReused, status: http.StatusConflict, code: area +
			"_IDEMPOTENTKEY_CONFLICT", exact: true})...)
}

// errNoUUID is of the generation that asks for keys that are UUIDs (rest/CONTRACT.md, idempotency).
var errNoUUID = fault.New(fault.Invalid, "request.key_uuid", "must be a UUID").On("Idempotent-Key")

// area begins the codes of the fields whose names begin alike.
type area struct{ field, code string }

// creditAreas are the areas of credits; the first that fits counts (rest/CONTRACT.md, credit requests).
var creditAreas = append(orderAreas("CREDIT"), []area{
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
	{"fee.", "FEE_"},
	{"additionalInfo.fxContractNumber", "ADDITIONALINFO_FXCONTRACT"},
	{"additionalInfo.", "ADDITIONALINFO_"},
	{"", "CREDIT_"},
}...)

// orderAreas are those of what credits and debits say alike.
func orderAreas(kind string) []area {
	return []area{
		{"Idempotency-Key", kind + "_IDEMPOTENTKEY"},
		{"Idempotent-Key", kind + "_IDEMPOTENTKEY"},
		{"externalReferenceId", kind + "_EXTERNALREF"},
		{"paymentAmount", kind + "_AMOUNT"},
		{"paymentCurrency", kind + "_CURRENCY"},
		{"paymentDate", kind + "_DATE"},
		{"speed", kind + "_SPEED"},
		{"paymentNotes", kind + "_NOTES"},
		{"additionalInfo.paymentRemittanceNotes", kind + "_REMITTANCE"},
	}
}

// failureCredit is C4 with a code for each field, such as CREDIT_AMOUNT_MIN.
func failureCredit(_ string, all []reported) any { return failureOrder(creditAreas, all) }

func failureOrder(areas []area, all []reported) any {
	return envelopeC4{Errors: each(all, func(t reported) codeAndMessage {
		return codeAndMessage{orderCode(areas, t), t.message}
	})}
}

// patterned are the fields whose form has a code of its own.
var patterned = []string{
	"externalReferenceId", "sender.accountNumber", "receiver.accountNumber", "creditor.accountNumber",
	"debtor.accountNumber",
}

func orderCode(areas []area, t reported) string {
	if t.field == "" || t.status != http.StatusBadRequest {
		return t.code
	}
	if field, is := strings.CutPrefix(t.field, "recurrence."); is {
		t.field = field
		return recurrenceCode(t)
	}
	problem := string(t.problem)
	switch address, _, in := strings.Cut(t.field, ".address."); {
	case t.problem == fault.Malformed && slices.Contains(patterned, t.field) && !t.noText:
		problem = "PATTERN"
	case t.problem == fault.Required && in: // the message says which line
		t.field = address + ".address"
	case t.problem == fault.Required && t.field == "receiver.beneficiaryId":
		return "BENEFICIARY_REQUIRED"
	}
	for _, a := range areas {
		if rest, is := strings.CutPrefix(t.field, a.field); is {
			rest = strings.ReplaceAll(places.ReplaceAllString(rest, ""), ".", "_")
			return a.code + strings.ToUpper(rest) + "_" + problem
		}
	}
	return t.code
}

// creditRequest is the form without a version and of v3, in which a contact is the receiver's accountUID.
func (a *api) creditRequest(r *http.Request) (answer, error) {
	q := readBody(r)
	return a.sendPayment(r, q, orderDraft(q.fields(), "accountUID", dateOfOldest))
}

// creditV4 is stricter, tells all mistakes at once, and calls a contact beneficiaryId.
func (a *api) creditV4(r *http.Request) (answer, error) {
	q := readBody(r).gather()
	order := orderDraft(q.fields(), "beneficiaryId", date)
	order.Strict = true
	q.keyUUID()
	return a.sendPayment(r, q, order)
}

// creditV5 is creditV4 that keeps what can be repaired, for the bank's people to repair, in place of refusing
// it.
func (a *api) creditV5(r *http.Request) (answer, error) {
	q := readBody(r).gather()
	order := orderDraft(q.fields(), "beneficiaryId", date)
	order.Strict, order.Repairable = true, true
	q.keyUUID()
	return a.sendPayment(r, q, order)
}

// keyUUID fails unless the idempotency key, where there is one, is a UUID.
func (q *reader) keyUUID() {
	if key := q.key(); key != "" && uuid.Validate(key) != nil {
		q.fail(errNoUUID)
	}
}

func (a *api) sendPayment(r *http.Request, q *reader, order payments.Order) (answer, error) {
	options := q.options()
	if q.err != nil {
		return answer{}, q.misreadIn(order, creditsV4)
	}
	out, err := a.core.Payments.Send(r.Context(), order, options)
	if order.Strict {
		return a.begun(r, out, err, inShort)
	}
	return a.begun(r, out, err, inFull)
}

// decisive are members by which others are required. Where one cannot be read, nothing is said of what begins
// so and is absent.
var decisive = map[string]string{
	"sender.accountUID": "sender.", "sender.accountNumber": "sender.",
	"receiver.beneficiaryId": "receiver.", "receiver.accountNumber": "receiver.",
	"creditor.accountUID": "creditor.", "creditor.accountNumber": "creditor.",
	"debtor.accountUID": "debtor.", "debtor.accountNumber": "debtor.",
	"paymentDate": "additionalInfo.fxContractNumber",
}

// misreadIn returns what could not be read of a payment and, where that is gathered, what else is wrong with
// its form.
func (q *reader) misreadIn(o payments.Order, said dialect) error {
	var form fault.Faults
	if len(q.misread) == 0 || !errors.As(fault.Called(o.Form(), said.spelled), &form) {
		return q.err
	}
	return append(q.misread, slices.DeleteFunc(form, func(f *fault.Fault) bool {
		return slices.ContainsFunc(q.misread, func(m *fault.Fault) bool {
			begins := decisive[m.Field]
			return f.Field == m.Field || strings.HasPrefix(f.Field, m.Field+".") ||
				begins != "" && f.Problem == fault.Required && strings.HasPrefix(f.Field, begins)
		})
	})...)
}

// inFull is how the form without a version and v3 answer, inShort how later ones do.
func inFull(p paymentSaved) any { return p }

func inShort(p paymentSaved) any {
	return paymentInitiated{p.PaymentUID, p.PaymentStatus, p.RecurrenceID}
}

// paymentInitiated answers credits and debits of v4 and later.
type paymentInitiated struct {
	PaymentUID    string                 `json:"paymentUID"`
	PaymentStatus payments.Status        `json:"paymentStatus"`
	RecurrenceID  payments.RecurrenceUID `json:"recurrenceId,omitzero"` // of the series that it begins
}

// orderDraft reads the body of a credit request; contact is the member of the receiver that names a contact,
// and day reads its days. Blank texts count as absent (rest/CONTRACT.md, credit requests).
func orderDraft(body fields, contact string, day parser[time.Time]) payments.Order {
	body = body.spoken()
	sender, receiver, info := body.object("sender"), body.object("receiver"), body.object("additionalInfo")
	return payments.Order{
		Sender: payments.Party{
			UID:    orZero(idIn(sender, notZero(accounts.ParseUID), "accountUID")),
			Number: sender.text("accountNumber").Value,
			Type:   sender.text("accountType").Value, SubType: sender.text("subAccountType").Value,
			RoutingNumber: sender.text("bankId").Value, Name: sender.text("name").Value,
			BankIDType: sender.text("bankIdType").Value,
		},
		SenderEntity: sender.text("entityType").Value, SenderAddress: paymentAddress(sender.object("address")),
		SenderEmail: sender.text("email").Value, SenderPhone: sender.text("phone").Value,
		Receiver: payments.Receiver{
			Contact: orZero(idIn(receiver, notZero(contacts.ParseUID), contact)),
			Number:  receiver.text("accountNumber").Value,
			Type:    receiver.text("accountType").Value, SubType: receiver.text("subAccountType").Value,
			Currency: receiver.text("accountCurrency").Value, Name: receiver.text("name").Value,
			Phone: receiver.text("phone").Value, Email: receiver.text("email").Value,
			Address: paymentAddress(receiver.object("address")), Bank: bankOfReceiver(receiver.object("bank")),
			Between: bankOfReceiver(receiver.object("intermediaryBank")),
		},
		Correspondent: sender.text("correspondentBankId").Value,
		Amount:        body.number("paymentAmount").Value, Currency: body.text("paymentCurrency").Value,
		Date: orZero(wordIn(body, day, "paymentDate")), Speed: body.text("speed").Value,
		ExternalReferenceID: body.text("externalReferenceId").Value, Notes: body.text("paymentNotes").Value,
		Channel: info.text("channel").Value, CostCenter: info.text("costCenter").Value,
		RequestMethod: info.text("requestMethod").Value, OperationNote: info.text("operationNote").Value,
		Remittance:       info.text("paymentRemittanceNotes").Value,
		RemittanceMethod: info.text("remittanceMethod").Value,
		Reference:        info.text("referenceForBeneficiary").Value,
		Charges:          info.text("detailsOfCharges").Value,
		Contract:         orZero(idIn(info, fx.ParseTradeUID, "fxContractNumber")),
		OriginatorInfo:   info.text("originatorToBeneficiary", "originatortoBeneficiary").Value,
		BankInfo:         info.text("senderToReceiverNotes").Value,
		Addenda:          info.object("unstructuredAddendaInfo").text("addendaInformation").Value,
		SECCode:          rails.SECCode(info.text("secCode").Value),
		LocalInstrument:  info.text("localInstruments").Value,
		CompanyID:        sender.text("achCompanyID").Value,
		Benefit:          benefitReceiver(info),
		Purpose:          info.text("transactionTypeCode").Value,
		ReceiverBank:     info.text("receiverIdentificationNumber").Value,
		Repeat:           repetition(body, day),
		Fee:              customFee(body),
	}
}

// benefitReceiver reads what an enrolment says; nil if nothing.
func benefitReceiver(info fields) *payments.Benefit {
	f := info.object("benefitReceiver")
	if f.members == nil {
		return nil
	}
	return &payments.Benefit{
		Type:                 payments.BenefitType(f.text("federalBenefitType").Value),
		AccountNumber:        f.text("accountNumber").Value,
		SocialSecurityNumber: f.text("socialSecurityNumber").Value,
		RepresentativePayee:  f.flag("representativePayee").Value,
		FirstName:            f.text("firstName").Value, LastName: f.text("lastName").Value,
		SubAccountType: f.text("subAccountType").Value,
	}
}

// customFee reads what a payment is to cost; nil for what the fee tier says.
func customFee(body fields) *payments.CustomFee {
	f := body.object("fee")
	if f.members == nil {
		return nil
	}
	return &payments.CustomFee{
		Name: f.text("feeName").Value, Amount: f.number("amount").Value, Currency: f.text("currency").Value,
	}
}

func bankOfReceiver(f fields) payments.ReceiverBank {
	return payments.ReceiverBank{
		IDType: f.text("bankIdType").Value, ID: f.text("bankId").Value, BIC: f.text("swiftCode").Value,
		Name: f.text("name").Value, Country: f.text("countryCode").Value,
		Address:     paymentAddress(f.object("address")),
		AccountType: f.text("accountType").Value, Account: f.text("accountNumber").Value,
	}
}

// paymentAddress reads an address, whose postal code may be a number.
func paymentAddress(f fields) postal.Address {
	return postal.Address{
		Line1: f.text("addressLine1").Value, Line2: f.text("addressLine2").Value, City: f.text("city").Value,
		State: f.text("state").Value, PostalCode: f.id("postalCode").Value,
		CountryCode: f.text("countryCode").Value,
	}
}
