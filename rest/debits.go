package rest

import (
	"net/http"

	"bankgraph/core/accounts"
	"bankgraph/core/contacts"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// debitsV3 answers debit requests, of v3 and without a version (rest/CONTRACT.md, debit requests).
var debitsV3 = dialect{
	success: successC1, failure: failureC1, lines: table("PAYMENT001", notAuthorized),
	phrase: "Debit request failed",
}

// debitsV4 tells all mistakes at once, with codes such as DEBIT_AMOUNT_MIN and CREDITOR_ACCOUNT_NOTFOUND.
var debitsV4 = dialect{
	success: successV3, failure: failureDebit,
	lines: orderLines("DEBIT",
		because(payments.ErrNoNetwork, "DEBIT_SPEED_NOTENABLED").exactly(),
		because(payments.ErrNoCompany, "CREDITOR_ACHCOMPANYID_REQUIRED").exactly()),
}

// debitAreas are the areas of debits; the first that fits counts (rest/CONTRACT.md, debit requests).
var debitAreas = append(orderAreas("DEBIT"), []area{
	{"creditor.accountUID", "CREDITOR_ACCOUNT"},
	{"creditor.accountNumber", "CREDITOR_ACCOUNT"},
	{"creditor.", "CREDITOR_"},
	{"debtor.accountUID", "DEBTOR_ID"},
	{"debtor.accountNumber", "DEBTOR_ACCTNUM"},
	{"debtor.bank.", "DEBTORBANK_"},
	{"debtor.", "DEBTOR_"},
	{"fee.", "FEE_"},
	{"additionalInfo.", "ADDITIONALINFO_"},
	{"", "DEBIT_"},
}...)

func failureDebit(_ string, all []reported) any { return failureOrder(debitAreas, all) }

// debitV4 is as strict as credits of v4.
func (a *api) debitV4(r *http.Request) (answer, error) {
	q := readBody(r).gather()
	draft := debitDraft(q.fields())
	draft.Strict, draft.EntryType = true, rails.Debit
	q.keyUUID()
	options := q.options()
	if q.err != nil {
		return answer{}, q.misreadIn(draft, debitsV4)
	}
	out, err := a.core.Payments.RequestDebit(r.Context(), draft, options)
	return a.begun(r, out, err, inShort)
}

func (a *api) debitRequest(r *http.Request) (answer, error) {
	q := readBody(r)
	draft, options := debitDraft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Payments.RequestDebit(r.Context(), draft, options)
	return a.begun(r, out, err, inFull)
}

// initiatedOf shows what a request for a payment over a network made. Accepted is published as INITIATED
// there.
func initiatedOf(p payments.Saved) paymentSaved {
	saved := paymentSavedOf(p)
	if p.Status == payments.StatusReadyToTransmit {
		saved.PaymentStatus = "INITIATED"
	}
	return saved
}

// debitDraft reads the body of a debit request: the creditor has its account here, the debtor at another
// bank. Blank texts count as absent, as of credits.
func debitDraft(body fields) payments.Order {
	body = body.spoken()
	creditor, debtor, info := body.object("creditor"), body.object("debtor"), body.object("additionalInfo")
	debtor.none("these speeds pay without one", "intermediaryBank")
	info.none("belongs to international payments, which no debit is", "fxContractNumber")
	bank := debtor.object("bank")
	return payments.Order{
		Sender: payments.Party{
			UID:    orZero(idIn(creditor, notZero(accounts.ParseUID), "accountUID")),
			Number: creditor.text("accountNumber").Value,
			Type:   creditor.text("accountType").Value, SubType: creditor.text("subAccountType").Value,
			RoutingNumber: creditor.text("bankId").Value, Name: creditor.text("name").Value,
			BankIDType: creditor.text("bankIdType").Value,
		},
		SenderEntity: creditor.text("entityType").Value, SenderAddress: paymentAddress(creditor.object("address")),
		SenderEmail: creditor.text("email").Value, SenderPhone: creditor.text("phone").Value,
		CompanyID: creditor.text("achCompanyID").Value,
		Receiver: payments.Receiver{
			Contact: orZero(idIn(debtor, notZero(contacts.ParseUID), "accountUID")),
			Number:  debtor.text("accountNumber").Value,
			Type:    debtor.text("accountType").Value, SubType: debtor.text("subAccountType").Value,
			Currency: debtor.text("accountCurrency").Value, Name: debtor.text("name").Value,
			Phone: debtor.text("phone").Value, Email: debtor.text("email").Value,
			Address: paymentAddress(debtor.object("address")),
			Bank: payments.ReceiverBank{
				IDType: bank.text("bankIdType").Value, ID: bank.text("bankId").Value, Name: bank.text("name").Value,
				Country: bank.text("countryCode").Value, Address: paymentAddress(bank.object("address")),
			},
		},
		Amount: body.number("paymentAmount").Value, Currency: body.text("paymentCurrency").Value,
		Date: orZero(wordIn(body, date, "paymentDate")), Repeat: repetition(body, date),
		Speed:               body.text("speed").Value,
		ExternalReferenceID: body.text("externalReferenceId").Value, Notes: body.text("paymentNotes").Value,
		Channel: info.text("channel").Value, CostCenter: info.text("costCenter").Value,
		RequestMethod: info.text("requestMethod").Value, OperationNote: info.text("operationNote").Value,
		Remittance: info.text("paymentRemittanceNotes").Value, Charges: info.text("detailsOfCharges").Value,
		OriginatorInfo:  info.text("originatorToBeneficiary", "originatortoBeneficiary").Value,
		BankInfo:        info.text("senderToReceiverNotes").Value,
		SECCode:         rails.SECCode(info.text("secCode").Value),
		Purpose:         info.text("transactionTypeCode").Value,
		ReceiverBank:    info.text("receiverIdentificationNumber").Value,
		LocalInstrument: info.text("localInstruments").Value,
		Fee:             customFee(body),
		Ask: payments.Ask{
			On:         orZero(wordIn(info, date, "requestedExecutionDate")),
			Expires:    orZero(wordIn(info, date, "expiryDate")),
			Modifiable: info.flag("amountModificationAllowed").Value, Early: info.flag("earlyPayment").Value,
			Guaranteed: info.flag("guaranteedPayment").Value,
		},
	}
}
