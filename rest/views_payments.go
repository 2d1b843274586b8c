package rest

import (
	"strconv"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// transferDraft reads the body of a book transfer (rest/CONTRACT.md, book transfers).
func transferDraft(body fields) payments.Draft {
	info := body.object("additionalInfo")
	info.none("accounts have no tokens here: name the account", "senderAccountTokenId", "receiverAccountTokenId")
	return payments.Draft{
		Sender: partyDraft(body.object("senderAccount")), Receiver: partyDraft(body.object("receiverAccount")),
		Amount: body.number("paymentAmount").Value, Date: orZero(wordIn(body, date, "paymentDate")),
		ExternalReferenceID: body.text("externalReferenceId").Value, Notes: body.text("paymentNotes").Value,
		Channel: body.text("channel").Value, Repeat: repetition(body, date), Documented: true,
	}
}

func partyDraft(f fields) payments.Party {
	return payments.Party{
		UID:    orZero(idIn(f, notZero(accounts.ParseUID), "accountUID")),
		Number: f.text("accountNumber").Value, Currency: f.text("currency").Value,
		Type: f.text("accountType").Value, SubType: f.text("accountSubType").Value,
		RoutingNumber: f.text("routingNumber").Value, Name: f.text("accountName").Value,
	}
}

// paymentSaved answers a book transfer.
type paymentSaved struct {
	PaymentUID          string          `json:"paymentUID"`
	PaymentStatus       payments.Status `json:"paymentStatus"`
	ExternalReferenceID string          `json:"externalReferenceId"`
	// of the series that it begins; left out for a single payment
	RecurrenceID payments.RecurrenceUID `json:"recurrenceId,omitzero"`
}

func paymentSavedOf(p payments.Saved) paymentSaved {
	return paymentSaved{p.UID.String(), p.Status, p.ExternalReferenceID, p.Recurrence}
}

type paymentCancelled struct {
	PaymentUID string `json:"paymentUID"`
}

// payment is the answer of the get. Its amount is text, and the search answers a number (rest/CONTRACT.md,
// payment answers).
type payment struct {
	paymentFields
	SenderAmount string       `json:"senderAmount"`
	Fee          []paymentFee `json:"fee"`
}

type paymentFee struct {
	FeeName  string         `json:"feeName"`
	Currency money.Currency `json:"currency"`
	Amount   money.Amount   `json:"amount"`
}

func paymentOf(p *payments.Shown, zone *time.Location) payment {
	view := payment{
		paymentFields: paymentFieldsOf(p, zone), SenderAmount: p.Debited().String(),
		Fee: []paymentFee{},
	}
	if fee := p.Fee(); fee != nil {
		view.Fee = append(view.Fee, paymentFee{p.FeeName, fee.Currency, *fee})
	}
	return view
}

// paymentItem is a row of the search.
type paymentItem struct {
	paymentFields
	SenderAmount           money.Amount `json:"senderAmount"`
	SenderAccountTokenID   string       `json:"senderAccountTokenId"`
	ReceiverAccountTokenID string       `json:"receiverAccountTokenId"`
}

func paymentItemOf(p *payments.Shown, zone *time.Location) paymentItem {
	return paymentItem{paymentFields: paymentFieldsOf(p, zone), SenderAmount: p.Debited()}
}

// paymentFields are what get and search have in common.
type paymentFields struct {
	PaymentUID          payments.UID      `json:"paymentUID"`
	ExternalReferenceID string            `json:"externalReferenceId"`
	SourceReferenceID   string            `json:"sourceReferenceId"`
	CounterParty        string            `json:"counterParty"`
	CounterPartyID      string            `json:"counterPartyId"`
	CustomerType        customers.Type    `json:"customerType,omitzero"`
	BusinessUnit        string            `json:"businessUnit"`
	BusinessUnitID      string            `json:"businessUnitId"`
	Channel             string            `json:"channel"`
	CostCenter          string            `json:"costCenter"`
	Book                string            `json:"book"`
	PaymentDate         string            `json:"paymentDate"`
	SenderAccountUID    string            `json:"senderAccountUID"`
	SenderCurrency      money.Currency    `json:"senderCurrency"`
	ReceiverAmount      money.Amount      `json:"receiverAmount"`
	ReceiverCurrency    money.Currency    `json:"receiverCurrency"`
	PaymentNotes        string            `json:"paymentNotes"`
	DeliveryAgentType   accounts.Type     `json:"deliveryAgentType"`
	QuoteID             string            `json:"quoteId"`
	ForexContract       string            `json:"forexContract"`
	CreatedBy           string            `json:"createdBy"`
	CreationDateTime    string            `json:"creationDateTime"`
	EntryType           rails.EntryType   `json:"entryType"`
	Status              payments.Status   `json:"status"`
	DeliveryMethod      rails.Rail        `json:"deliveryMethod,omitempty"`
	WireType            payments.WireType `json:"wireType,omitempty"`
	// what became of asking for the money back; left out if nobody has
	ReturnStatus          payments.ReturnStatus `json:"returnStatus,omitempty"`
	MemoPostStatus        payments.MemoPost     `json:"memoPostStatus"`
	MemoPostFailureReason string                `json:"memoPostFailureReason"`
	Recurrence            *recurrence           `json:"recurrence,omitzero"` // left out for a single payment
	FedWireDetails        *fedWireDetails       `json:"fedWireDetails,omitzero"`
	// of an enrolment; left out of others
	BenefitReceiver   *payments.Benefit  `json:"benefitReceiver,omitzero"`
	RemittanceDetails *remittanceDetails `json:"remittanceDetails,omitzero"`
	senderFields
	receiverFields
	otherParties
}

// fedWireDetails are left out of payments over other networks.
type fedWireDetails struct {
	BusinessFunctionCode    string `json:"businessFunctionCode"`
	Comments                string `json:"comments"` // empty: nobody writes any
	OriginatorToBeneficiary string `json:"originatorToBeneficiaryInformation"`
	IMAD                    string `json:"imad"`
	OMAD                    string `json:"omad"` // empty: the network tells it to the receiver's bank alone
}

func fedWireDetailsOf(p *payments.Shown) *fedWireDetails {
	function := p.BusinessFunction()
	if function == "" {
		return nil
	}
	return &fedWireDetails{
		BusinessFunctionCode:    function,
		OriginatorToBeneficiary: p.To.Originator, IMAD: p.To.IMAD,
	}
}

// remittanceDetails are left out where the payment has the remittance itself.
type remittanceDetails struct {
	RemittanceMethod  string `json:"remittanceMethod"`
	RemittanceAddress string `json:"remittanceAddress"`
}

func remittanceDetailsOf(p *payments.Shown) *remittanceDetails {
	if p.To.RemittanceMethod == "" {
		return nil
	}
	return &remittanceDetails{p.To.RemittanceMethod, p.To.RemittanceAddress}
}

type senderFields struct {
	SenderName           string           `json:"senderName"`
	SenderAccountNumber  string           `json:"senderAccountNumber"`
	SenderAccountName    string           `json:"senderAccountName"`
	SenderAddress1       string           `json:"senderAddress1"`
	SenderAddress2       string           `json:"senderAddress2"`
	SenderCity           string           `json:"senderCity"`
	SenderState          string           `json:"senderState"`
	SenderZip            string           `json:"senderZip"`
	SenderCountryCode    string           `json:"senderCountryCode"`
	SenderCountry        string           `json:"senderCountry"`
	SenderEmail          string           `json:"senderEmail"`
	SenderAccountType    accounts.Type    `json:"senderAccountType,omitzero"`
	SenderAccountSubType accounts.SubType `json:"senderAccountSubType,omitzero"`
	SenderBankIDType     string           `json:"senderBankIdType"`
	SenderBankID         string           `json:"senderBankId"`
	SenderBankName       string           `json:"senderBankName"`
	SenderBankAddress1   string           `json:"senderBankAddress1"`
	SenderBankAddress2   string           `json:"senderBankAddress2"`
	SenderBankCity       string           `json:"senderBankCity"`
	SenderBankState      string           `json:"senderBankState"`
	SenderBankZip        string           `json:"senderBankZip"`
	SenderBankCountry    string           `json:"senderBankCountry"`
}

type receiverFields struct {
	ReceiverName           string           `json:"receiverName"`
	ReceiverAccountNumber  string           `json:"receiverAccountNumber"`
	ReceiverAccountType    accounts.Type    `json:"receiverAccountType,omitzero"`
	ReceiverAccountSubType accounts.SubType `json:"receiverAccountSubType,omitzero"`
	ReceiverType           customers.Type   `json:"receiverType,omitzero"`
	ReceiverAddress1       string           `json:"receiverAddress1"`
	ReceiverAddress2       string           `json:"receiverAddress2"`
	ReceiverCity           string           `json:"receiverCity"`
	ReceiverState          string           `json:"receiverState"`
	ReceiverZip            string           `json:"receiverZip"`
	ReceiverCountry        string           `json:"receiverCountry"`
	ReceiverPhoneNumber    string           `json:"receiverPhoneNumber"`
	ReceiverEmail          string           `json:"receiverEmail"`
	ReceiverBankIDType     string           `json:"receiverBankIdType"`
	ReceiverBankID         string           `json:"receiverBankId"`
	ReceiverBankName       string           `json:"receiverBankName"`
	ReceiverBankAddress1   string           `json:"receiverBankAddress1"`
	ReceiverBankAddress2   string           `json:"receiverBankAddress2"`
	ReceiverBankCity       string           `json:"receiverBankCity"`
	ReceiverBankState      string           `json:"receiverBankState"`
	ReceiverBankZip        string           `json:"receiverBankZip"`
	ReceiverBankCountry    string           `json:"receiverBankCountry"`
}

// otherParties are those that a book transfer does not have, so that all of it is empty.
type otherParties struct {
	IntermediarySender            bool   `json:"intermediarySender"`
	IntermediarySenderName        string `json:"intermediarySenderName"`
	IntermediarySenderAddress1    string `json:"intermediarySenderAddress1"`
	IntermediarySenderAddress2    string `json:"intermediarySenderAddress2"`
	IntermediarySenderCity        string `json:"intermediarySenderCity"`
	IntermediarySenderState       string `json:"intermediarySenderState"`
	IntermediarySenderZip         string `json:"intermediarySenderZip"`
	IntermediarySenderCountry     string `json:"intermediarySenderCountry"`
	IntermediarySenderID          string `json:"intermediarySenderId"`
	IntermediarySenderIDType      string `json:"intermediarySenderIdType"`
	UltimateSenderName            string `json:"ultimateSenderName"`
	UltimateSenderAccountNumber   string `json:"ultimateSenderAccountNumber"`
	UltimateSenderAddress1        string `json:"ultimateSenderAddress1"`
	UltimateSenderAddress2        string `json:"ultimateSenderAddress2"`
	UltimateSenderTaxID           string `json:"ultimateSenderTaxId"`
	UltimateSenderCity            string `json:"ultimateSenderCity"`
	UltimateSenderState           string `json:"ultimateSenderState"`
	UltimateSenderZip             string `json:"ultimateSenderZip"`
	UltimateSenderCountry         string `json:"ultimateSenderCountry"`
	FBOAccountName                string `json:"fboAccountName"`
	FBOAccountNumber              string `json:"fboAccountNumber"`
	FBOAccountType                string `json:"fboAccountType"`
	IntermediaryReceiver          bool   `json:"intermediaryReceiver"`
	IntermediaryReceiverName      string `json:"intermediaryReceiverName"`
	IntermediaryReceiverAddress1  string `json:"intermediaryReceiverAddress1"`
	IntermediaryReceiverAddress2  string `json:"intermediaryReceiverAddress2"`
	IntermediaryReceiverCity      string `json:"intermediaryReceiverCity"`
	IntermediaryReceiverState     string `json:"intermediaryReceiverState"`
	IntermediaryReceiverZip       string `json:"intermediaryReceiverZip"`
	IntermediaryReceiverCountry   string `json:"intermediaryReceiverCountry"`
	IntermediaryReceiverIDType    string `json:"intermediaryReceiverIdType"`
	IntermediaryReceiverID        string `json:"intermediaryReceiverId"`
	UltimateReceiverName          string `json:"ultimateReceiverName"`
	UltimateReceiverAccountNumber string `json:"ultimateReceiverAccountNumber"`
	UltimateReceiverAddress1      string `json:"ultimateReceiverAddress1"`
	UltimateReceiverAddress2      string `json:"ultimateReceiverAddress2"`
	UltimateReceiverTaxID         string `json:"ultimateReceiverTaxId"`
	UltimateReceiverCity          string `json:"ultimateReceiverCity"`
	UltimateReceiverState         string `json:"ultimateReceiverState"`
	UltimateReceiverZip           string `json:"ultimateReceiverZip"`
	UltimateReceiverCountry       string `json:"ultimateReceiverCountry"`
}

func paymentFieldsOf(p *payments.Shown, zone *time.Location) paymentFields {
	view := paymentFields{
		PaymentUID: p.UID, ExternalReferenceID: p.ExternalReferenceID, CounterParty: p.OwnerName(),
		CounterPartyID: p.Customer.String(), CustomerType: p.Payer.Type, BusinessUnit: p.Bank.Name,
		BusinessUnitID: p.Bank.UID.String(), Channel: p.Channel, CostCenter: p.CostCenter(),
		PaymentDate: p.Date.Format(time.DateOnly), SenderAccountUID: shownAccount(p.SenderAccount),
		SenderCurrency: p.DebitedCurrency(), ReceiverAmount: p.Amount(), ReceiverCurrency: p.Currency,
		PaymentNotes: p.Notes, DeliveryAgentType: ownType(p), CreatedBy: p.CreatedBy(),
		CreationDateTime: p.CreatedAt.In(zone).Format("2006-01-02T15:04:05"), EntryType: p.EntryType,
		Status: p.Status(), MemoPostStatus: p.MemoPost(), MemoPostFailureReason: p.Failure(),
		ReturnStatus: p.ReturnStatus(),
		senderFields: senderFieldsOf(p.Sends()), receiverFields: receiverFieldsOf(p.Receives()),
		Recurrence: recurrenceOf(&p.Series), FedWireDetails: fedWireDetailsOf(p),
		BenefitReceiver: p.To.Benefit(), RemittanceDetails: remittanceDetailsOf(p),
	}
	if p.BulkFile != 0 {
		view.SourceReferenceID = strconv.FormatInt(p.BulkFile, 10)
	}
	if p.Trade != 0 {
		view.ForexContract = p.Trade.String()
	}
	if id := p.To.CorrespondentID; id != "" {
		view.IntermediarySender, view.IntermediarySenderName = true, p.To.CorrespondentName
		view.IntermediarySenderID, view.IntermediarySenderIDType = id, payments.BankIDType(id)
	}
	if id := p.To.IntermediaryID; id != "" {
		view.IntermediaryReceiver, view.IntermediaryReceiverName = true, p.To.IntermediaryName
		view.IntermediaryReceiverID, view.IntermediaryReceiverIDType = id, payments.BankIDType(id)
	}
	view.DeliveryMethod, view.WireType = p.DeliveryMethod(), p.WireType()
	view.UltimateReceiverName, view.UltimateReceiverAccountNumber = p.Ultimate.Name, p.Ultimate.Masked()
	return view
}

// shownAccount is the number of an account here; "" for one at another bank.
func shownAccount(uid accounts.UID) string {
	if uid == 0 {
		return ""
	}
	return uid.String()
}

// ownType is the type of the account that is the bank's customer's, of the two.
func ownType(p *payments.Shown) accounts.Type {
	if p.OwnerPaid() {
		return p.Receiver.Type
	}
	return p.Sender.Type
}

func senderFieldsOf(p payments.Person) senderFields {
	return senderFields{
		SenderName: p.Name, SenderAccountNumber: p.Number, SenderAccountName: p.AccountName,
		SenderAddress1: p.Line1, SenderAddress2: p.Line2, SenderCity: p.City, SenderState: p.State,
		SenderZip: p.PostalCode, SenderCountryCode: p.CountryCode, SenderCountry: p.Country, SenderEmail: p.Email,
		SenderAccountType: p.AccountType, SenderAccountSubType: p.AccountSubType, SenderBankIDType: p.BankIDType,
		SenderBankID: p.BankID, SenderBankName: p.BankName, SenderBankCountry: p.BankCountry,
	}
}

func receiverFieldsOf(p payments.Person) receiverFields {
	return receiverFields{
		ReceiverName: p.Name, ReceiverAccountNumber: p.Number, ReceiverAccountType: p.AccountType,
		ReceiverAccountSubType: p.AccountSubType, ReceiverType: p.Type, ReceiverAddress1: p.Line1,
		ReceiverAddress2: p.Line2, ReceiverCity: p.City, ReceiverState: p.State, ReceiverZip: p.PostalCode,
		ReceiverCountry: p.Country, ReceiverPhoneNumber: p.Phone, ReceiverEmail: p.Email,
		ReceiverBankIDType: p.BankIDType, ReceiverBankID: p.BankID, ReceiverBankName: p.BankName,
		ReceiverBankCountry: p.BankCountry,
	}
}
