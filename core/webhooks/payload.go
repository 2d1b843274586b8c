package webhooks

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
)

// Payload is what an event of a payment says, under the published names (rest/CONTRACT.md, webhook bodies).
// What does not apply is left out. Package payments decides who sends, who receives and which way the money
// goes.
type Payload struct {
	PaymentID                 payments.UID        `json:"paymentId"`
	ExternalReferenceID       string              `json:"externalReferenceId,omitzero"`
	SourceReferenceID         string              `json:"sourceReferenceId,omitzero"`
	CounterParty              string              `json:"counterParty,omitzero"`
	Channel                   string              `json:"channel,omitzero"`
	PaymentStatus             payments.Status     `json:"paymentStatus"`
	ValidationFailureMessages []ValidationFailure `json:"validationFailureMessages,omitzero"`
	DeliveryDate              string              `json:"deliveryDate,omitzero"`
	DeliveryMethod            rails.Rail          `json:"deliveryMethod,omitzero"`
	FeeAmount                 *money.Amount       `json:"feeAmount,omitzero"`
	PaymentDate               string              `json:"paymentDate"`
	PaymentIOType             payments.Direction  `json:"paymentIOType"`
	PaymentNote1              string              `json:"paymentNote1,omitzero"`
	PaymentNote2              string              `json:"paymentNote2,omitzero"`
	PaymentRemittanceInfo     string              `json:"paymentRemittanceInfo,omitzero"`
	PaymentType               calendar.Service    `json:"paymentType"`
	FeeName                   string              `json:"feeName,omitzero"`
	MemoPostDate              string              `json:"memoPostDate,omitzero"`
	MemoPostStatus            payments.MemoPost   `json:"memoPostStatus"`
	MemoPostFailureReason     string              `json:"memoPostFailureReason,omitzero"`
	CostCenter                string              `json:"costCenter,omitzero"`
	ReceiverPart
	BetweenPart
	NetworkRefID  string          `json:"networkRefId,omitzero"`
	ForexContract string          `json:"forexContract,omitzero"`
	EntryType     rails.EntryType `json:"entryType"`
	SenderPart
	WirePart
	RTPDetails           *InstantDetails    `json:"rtpDetails,omitzero"`
	FedNowDetails        *InstantDetails    `json:"fedNowDetails,omitzero"`
	PaymentReturnDetails []ReturnDetails    `json:"paymentReturnDetails,omitzero"`
	ACHDetails           *ACHDetails        `json:"achDetails,omitzero"`
	Recurrence           *RecurrenceDetails `json:"recurrence,omitzero"`
	PositivePayDecision  *DecisionDetails   `json:"positivePayDecision,omitzero"`
	PaymentNOCDetails    *NoticeDetails     `json:"paymentNocDetails,omitzero"`
	BulkFileName         string             `json:"bulkFileName,omitzero"`
	BulkFileNumber       int64              `json:"bulkFileNumber,omitzero"`
	CreationDateTime     time.Time          `json:"creationDateTime"`
	LastUpdatedTime      time.Time          `json:"lastUpdatedTime"`
	AdditionalAttributes []Addition         `json:"additionalAttributes,omitzero"`
}

// Addition is a further detail, by name.
type Addition struct {
	Name  string `json:"attributeName"`
	Value string `json:"value"`
}

// ValidationFailure says why a payment could not be carried out.
type ValidationFailure struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

// RecurrenceDetails are the series that a payment belongs to, as it is now.
type RecurrenceDetails struct {
	ID               payments.RecurrenceUID `json:"recurrenceId"`
	Frequency        payments.Frequency     `json:"frequency"`
	PayUntil         payments.PayUntil      `json:"payUntil"`
	EndDate          string                 `json:"endDate,omitzero"`
	NumberOfPayments int32                  `json:"numberOfPayments,omitzero"`
	LastPayment      payments.UID           `json:"lastPaymentRefId"`
	NextPaymentDate  string                 `json:"nextPaymentDate,omitzero"`
}

// recurrenceOf returns the details of a series; nil for a single payment, and for readers who do not see the
// payer.
func recurrenceOf(s *payments.Series) *RecurrenceDetails {
	if s.UID == 0 {
		return nil
	}
	return &RecurrenceDetails{
		ID: s.UID, Frequency: s.Frequency, PayUntil: s.Until, EndDate: dayOrNone(s.End), NumberOfPayments: s.Number,
		LastPayment: s.Last, NextPaymentDate: dayOrNone(s.Next),
	}
}

// DecisionDetails say what positive pay says of a debit of another bank.
type DecisionDetails struct {
	ExceptionID               string                     `json:"exceptionId"`
	ExceptionReason           positivepay.Mismatch       `json:"exceptionReason,omitzero"`
	ExceptionDateTime         time.Time                  `json:"exceptionDateTime"`
	PositivePayDecisionStatus positivepay.DecisionStatus `json:"positivePayDecisionStatus"`
	ApprovedBy                string                     `json:"approvedBy,omitzero"`
	ApprovedDate              *time.Time                 `json:"approvedDate,omitzero"`
	PositivePayRule           *RuleDetails               `json:"positivePayRule,omitzero"`
}

// RuleDetails describe the rule that allows a debit.
type RuleDetails struct {
	ID             positivepay.UID        `json:"ruleId"`
	Currency       money.Currency         `json:"currency"`
	DeliveryMethod positivepay.Type       `json:"deliveryMethod"`
	CustomerName   string                 `json:"customerName,omitzero"`
	CustomerNumber string                 `json:"customerAccountNumber,omitzero"` // masked, as the next one
	CompanyID      string                 `json:"companyId,omitzero"`
	BeneName       string                 `json:"beneName,omitzero"`
	BeneBankID     string                 `json:"beneBankId,omitzero"`
	BeneNumber     string                 `json:"beneAccountNumber,omitzero"`
	Amount         money.Amount           `json:"amount"`
	AmountType     positivepay.AmountType `json:"amountType"`
	Frequency      positivepay.Frequency  `json:"frequency"`
	SECCode        string                 `json:"secCode"`
	Status         string                 `json:"status"` // Active or inactive
	EffectiveDate  string                 `json:"effectiveDate"`
	ExpiryDate     string                 `json:"expiryDate,omitzero"`
}

// decisionOf returns what positive pay says; nil for a payment that it was not asked about. debited is whose
// rule it is.
func decisionOf(e *positivepay.ExceptionWithRule, debited payments.Person) *DecisionDetails {
	if e == nil {
		return nil
	}
	said := &DecisionDetails{
		ExceptionID: e.UID.String(), ExceptionReason: e.Reason, ExceptionDateTime: e.CreatedAt.UTC(),
		PositivePayDecisionStatus: e.Status, ApprovedBy: e.DecidedBy(),
	}
	if e.DecidedAt != nil {
		at := e.DecidedAt.UTC()
		said.ApprovedDate = &at
	}
	if r := &e.Allowing; r.UID != 0 {
		said.PositivePayRule = &RuleDetails{
			ID: r.UID, Currency: r.Currency, DeliveryMethod: r.Type, CustomerName: debited.Name,
			CustomerNumber: debited.Number, CompanyID: r.ACHCompanyID,
			BeneName: r.BeneficiaryName, BeneBankID: r.BeneficiaryBankID,
			BeneNumber: seal.Value{Last4: r.BeneficiaryLast4}.Masked(), Amount: r.Amount(), AmountType: r.AmountType,
			Frequency: r.Frequency, SECCode: r.SECCode, Status: "inactive",
			EffectiveDate: dayOrNone(r.EffectiveDate), ExpiryDate: dayOrNone(r.ExpiryDate),
		}
		if r.State == positivepay.Active {
			said.PositivePayRule.Status = "Active"
		}
	}
	return said
}

// dayOrNone writes a day; "" if there is none.
func dayOrNone(day *time.Time) string {
	if day == nil {
		return ""
	}
	return day.Format(time.DateOnly)
}

// InstantDetails are the references of a payment over an instant network.
type InstantDetails struct {
	MessageID     string `json:"messageId,omitzero"`
	InstructionID string `json:"instructionId,omitzero"`
	EndToEndID    string `json:"endToEndId"`
	TransactionID string `json:"transactionId,omitzero"`
}

// ACHDetails are the references of an entry of ACH.
type ACHDetails struct {
	SECCode rails.SECCode `json:"achSecCode"`
	// such as 22, a credit to a checking account; left out of entries without money
	TransactionCode string `json:"achTransactionCode,omitzero"`
	TraceID         string `json:"achTraceId,omitzero"`
	OriginationID   string `json:"achOriginationId,omitzero"`
	OriginalTrace   string `json:"originalAchTraceNumber,omitzero"` // of the entry that came back
	// of an enrolment for a federal benefit; left out of others
	Enrolment *EnrolmentDetails `json:"enrAddendaInformation,omitzero"`
}

// EnrolmentDetails are what an enrolment tells the agency that pays the benefit. Its numbers are masked.
type EnrolmentDetails struct {
	AccountType         string `json:"accountType"`
	RoutingNumber       string `json:"routingNumber"` // of the bank that has the account
	AccountNumber       string `json:"accountNumber"`
	SSN                 string `json:"ssn"`
	AccountName         string `json:"accountName"`
	RepresentativePayee bool   `json:"reprehensivePayee"`
}

// ReturnDetails say why a payment came back.
type ReturnDetails struct {
	Code        string `json:"code"`
	Description string `json:"description,omitzero"`
	ReturnDate  string `json:"returnDate"`
}

// NoticeDetails are a notice of change of ACH: what the entry had, and what later ones should have. What the
// notice says nothing of is left out. The account number that is right is whole, as the partner is to use it.
type NoticeDetails struct {
	Code             string    `json:"nocCode"`
	OriginalNumber   string    `json:"originalAccountNumber"`
	CorrectedNumber  string    `json:"correctedAccountNumber,omitzero"`
	OriginalRouting  string    `json:"originalRoutingNumber"`
	CorrectedRouting string    `json:"correctedRoutingNumber,omitzero"`
	OriginalCode     string    `json:"originalTranCode,omitzero"`
	CorrectedCode    string    `json:"correctedTranCode,omitzero"`
	ReceivedAt       time.Time `json:"receivedDateTime"`
}

func noticeOf(n *payments.Notice) *NoticeDetails {
	if n == nil {
		return nil
	}
	return &NoticeDetails{
		Code: n.Code, OriginalNumber: seal.Value{Last4: n.Last4}.Masked(), CorrectedNumber: n.RightNumber(),
		OriginalRouting: n.Routing, CorrectedRouting: n.RightRouting(), OriginalCode: transactionCode(n.Original()),
		CorrectedCode: transactionCode(n.Corrected()), ReceivedAt: n.At.UTC(),
	}
}

// transactionCode writes a transaction code of ACH; "" for none.
func transactionCode(code int) string {
	if code == 0 {
		return ""
	}
	return strconv.Itoa(code)
}

// ReceiverPart describes the payee.
type ReceiverPart struct {
	ReceiverAccountNumber string         `json:"receiverAccountNumber,omitzero"`
	ReceiverAccountType   accounts.Type  `json:"receiverAccountType,omitzero"`
	ReceiverAddress1      string         `json:"receiverAddress1,omitzero"`
	ReceiverAddress2      string         `json:"receiverAddress2,omitzero"`
	ReceiverCity          string         `json:"receiverCity,omitzero"`
	ReceiverAmount        money.Amount   `json:"receiverAmount"`
	ReceiverBankName      string         `json:"receiverBankName,omitzero"`
	ReceiverName          string         `json:"receiverName,omitzero"`
	ReceiverRoutingNumber string         `json:"receiverRoutingNumber,omitzero"`
	ReceiverType          customers.Type `json:"receiverType,omitzero"`
	ReceiverState         string         `json:"receiverState,omitzero"`
	ReceiverZip           string         `json:"receiverZip,omitzero"`
	ReceiverCountry       string         `json:"receiverCountry,omitzero"`
	ReceiverEmail         string         `json:"receiverEmail,omitzero"`
	ReceiverPhoneNumber   string         `json:"receiverPhoneNumber,omitzero"`
	ReceiverBankIDType    string         `json:"receiverBankIdType,omitzero"`
	ReceiverBankID        string         `json:"receiverBankId,omitzero"`
	ReceiverBankCountry   string         `json:"receiverBankCountry,omitzero"`
}

// BetweenPart is the banks that a wire goes over, or the virtual account that an incoming payment names.
type BetweenPart struct {
	CorrespondentIDType string `json:"intermediarySenderBankIdType,omitzero"`
	CorrespondentID     string `json:"intermediarySenderBankId,omitzero"`
	CorrespondentName   string `json:"intermediarySenderBankName,omitzero"`

	BankIDType     string `json:"intermediaryReceiverBankIdType,omitzero"`
	BankID         string `json:"intermediaryReceiverBankId,omitzero"`
	BankName       string `json:"intermediaryReceiverBankName,omitzero"`
	UltimateName   string `json:"ultimateReceiverName,omitzero"`
	UltimateNumber string `json:"ultimateReceiverAccountNumber,omitzero"`
}

// SenderPart describes the payer.
type SenderPart struct {
	SenderName          string         `json:"senderName,omitzero"`
	SenderAmount        money.Amount   `json:"senderAmount"`
	SenderAccountNumber string         `json:"senderAccountNumber,omitzero"`
	SenderRoutingNumber string         `json:"senderRoutingNumber,omitzero"`
	SenderAccountType   accounts.Type  `json:"senderAccountType,omitzero"`
	SenderType          customers.Type `json:"senderType,omitzero"`
	SenderAddress1      string         `json:"senderAddress1,omitzero"`
	SenderAddress2      string         `json:"senderAddress2,omitzero"`
	SenderCity          string         `json:"senderCity,omitzero"`
	SenderState         string         `json:"senderState,omitzero"`
	SenderZip           string         `json:"senderZip,omitzero"`
	SenderCountry       string         `json:"senderCountry,omitzero"`
	SenderEmail         string         `json:"senderEmail,omitzero"`
	SenderBankIDType    string         `json:"senderBankIdType,omitzero"`
	SenderBankID        string         `json:"senderBankId,omitzero"`
	SenderBankName      string         `json:"senderBankName,omitzero"`
	SenderBankCountry   string         `json:"senderBankCountry,omitzero"`
}

// WirePart is what the payer told the other side, over whichever network.
type WirePart struct {
	OriginatorToBeneficiary string `json:"originatorToBeneficiaryInformation,omitzero"`
	SenderToReceiver        string `json:"senderToReceiverInfo,omitzero"`
	ReferenceForBeneficiary string `json:"referenceForBeneficiary,omitzero"`
	RequestMethod           string `json:"requestMethod,omitzero"`
	DetailsOfCharge         string `json:"fedwireDetailsOfCharge,omitzero"`
	BusinessFunction        string `json:"fedwireBusinessFunctionCode,omitzero"`
	IMAD                    string `json:"iMad,omitzero"` // the id of its message over Fedwire
}

// body returns what is posted about a payment. zone is the bank's.
func body(of *payments.Snapshot, zone *time.Location) ([]byte, error) {
	return json.Marshal(payloadOf(of, zone))
}

func payloadOf(p *payments.Snapshot, zone *time.Location) Payload {
	view := Payload{
		PaymentID: p.UID, ExternalReferenceID: p.ExternalReferenceID, CounterParty: p.OwnSide().ShortName,
		Channel: p.Channel, PaymentStatus: p.Status(), DeliveryMethod: p.DeliveryMethod(), FeeAmount: p.Fee(),
		PaymentDate: p.Date.Format(time.DateOnly), PaymentIOType: p.Way(), PaymentType: p.Kind(),
		FeeName: p.FeeName, MemoPostStatus: p.MemoPost(), MemoPostFailureReason: p.Failure(),
		CostCenter: p.CostCenter(), ReceiverPart: receiverPart(p), EntryType: p.EntryType,
		SenderPart: senderPart(p), CreationDateTime: p.CreatedAt.UTC(), LastUpdatedTime: p.UpdatedAt.UTC(),
		Recurrence: recurrenceOf(&p.Series), PositivePayDecision: decisionOf(p.Decision, p.Sends()),
		PaymentNOCDetails: noticeOf(p.Notice),
	}
	view.UltimateName, view.UltimateNumber = p.Ultimate.Name, p.Ultimate.Masked()
	if p.Trade != 0 {
		view.ForexContract = p.Trade.String()
	}
	view.BetweenPart.CorrespondentID, view.CorrespondentName = p.To.CorrespondentID, p.To.CorrespondentName
	view.CorrespondentIDType = payments.BankIDType(p.To.CorrespondentID)
	view.BankID, view.BankName = p.To.IntermediaryID, p.To.IntermediaryName
	view.BetweenPart.BankIDType = payments.BankIDType(p.To.IntermediaryID)
	if p.File != nil {
		view.BulkFileName, view.BulkFileNumber = p.File.Name, p.File.Number
		view.SourceReferenceID = strconv.FormatInt(p.File.Number, 10)
	}
	if p.Batch != nil {
		view.AdditionalAttributes = []Addition{
			{"waterfallId", p.Batch.ID}, {"paymentIndex", strconv.Itoa(int(p.Batch.Index))},
		}
	}
	view.PaymentNote1, view.PaymentNote2 = notes(p.Notes)
	if p.State == payments.Invalid || p.State == payments.Repair {
		for reason := range strings.Lines(p.Reason) {
			view.ValidationFailureMessages = append(view.ValidationFailureMessages,
				ValidationFailure{Code: string(p.Status()), Reason: strings.TrimSpace(reason)})
		}
	}
	if view.DeliveryMethod != "" {
		view.DeliveryDate = view.PaymentDate
	}
	if p.PostedAt != nil && view.MemoPostStatus != payments.MemoFailure {
		view.MemoPostDate = p.PostedAt.In(zone).Format(time.DateOnly)
	}
	if p.State == payments.Returned || p.State == payments.Returning {
		view.PaymentReturnDetails = []ReturnDetails{returnOf(p, zone)}
	}
	if p.Details != nil {
		view.overNetwork(p)
	}
	return view
}

// overNetwork adds what only a payment over a network says, for readers who see the payer.
func (v *Payload) overNetwork(p *payments.Snapshot) {
	d := p.Details
	v.NetworkRefID = p.Message
	v.WirePart = WirePart{
		OriginatorToBeneficiary: d.OriginatorInfo, SenderToReceiver: d.BankInfo,
		ReferenceForBeneficiary: d.Reference,
		RequestMethod:           d.RequestMethod,
	}
	instant := &InstantDetails{MessageID: p.Message, EndToEndID: p.EndToEnd()}
	if !p.Incoming() { // those of the other bank are not known
		instant.InstructionID, instant.TransactionID = p.UID.String(), p.UID.String()
	}
	if p.Entry != nil {
		v.NetworkRefID = p.Entry.Trace // in ACH entries, not files, have numbers of the published length
		v.ACHDetails = &ACHDetails{SECCode: p.Entry.Class, TraceID: p.Entry.Trace, OriginationID: p.Entry.CompanyID}
		if !p.Enrols() {
			v.ACHDetails.TransactionCode = transactionCode(nacha.TransactionCode(p.Entry.Account, p.EntryType))
		}
		if len(v.PaymentReturnDetails) > 0 {
			v.ACHDetails.OriginalTrace = p.Entry.Trace
		}
		if b := d.Benefit(); b != nil {
			v.ACHDetails.Enrolment = &EnrolmentDetails{
				AccountType: b.SubAccountType, RoutingNumber: p.Payment.Sender.BankID, AccountNumber: b.AccountNumber,
				SSN: b.SocialSecurityNumber, AccountName: b.FirstName + " " + b.LastName,
				RepresentativePayee: b.RepresentativePayee,
			}
		}
		v.PaymentRemittanceInfo = cut(d.Remittance, longestAddenda)
	}
	switch p.Rail {
	case rails.RTP:
		v.RTPDetails = instant
	case rails.FedNow:
		v.FedNowDetails = instant
	case rails.Fedwire:
		v.DetailsOfCharge, v.BusinessFunction, v.IMAD = d.Charges, p.BusinessFunction(), p.Message
	case rails.SWIFT:
		v.DetailsOfCharge = d.Charges
	}
}

// returnOf returns why a payment came back. The reason begins with its code.
func returnOf(p *payments.Snapshot, zone *time.Location) ReturnDetails {
	code, description, _ := strings.Cut(p.Reason, ": ")
	return ReturnDetails{Code: code, Description: description, ReturnDate: p.UpdatedAt.In(zone).
		Format(time.DateOnly)}
}

// longestNote bounds each of the two notes, in characters.
const longestNote = 35

// notes returns the first and the second note of a payment, cut from its notes.
func notes(text string) (first, second string) {
	first = cut(text, longestNote)
	return first, cut(strings.TrimSpace(text[len(first):]), longestNote)
}

// longestAddenda bounds what an entry of ACH carries for the payee, in characters.
const longestAddenda = 80

// cut returns the beginning of a text, at most so many characters.
func cut(text string, most int) string {
	runes := []rune(text)
	return strings.TrimRight(string(runes[:min(most, len(runes))]), " ")
}

func receiverPart(p *payments.Snapshot) ReceiverPart {
	to := p.Receives()
	part := ReceiverPart{
		ReceiverAccountNumber: to.Number, ReceiverAccountType: to.AccountType, ReceiverAddress1: to.Line1,
		ReceiverAddress2: to.Line2, ReceiverCity: to.City, ReceiverAmount: p.Amount(),
		ReceiverBankName: to.BankName, ReceiverName: to.Name, ReceiverType: to.Type, ReceiverState: to.State,
		ReceiverZip: to.PostalCode, ReceiverCountry: to.Country, ReceiverEmail: to.Email,
		ReceiverPhoneNumber: to.Phone, ReceiverBankIDType: to.BankIDType, ReceiverBankID: to.BankID,
		ReceiverBankCountry: to.BankCountry,
	}
	part.ReceiverRoutingNumber = to.RoutingNumber()
	return part
}

func senderPart(p *payments.Snapshot) SenderPart {
	from := p.Sends()
	part := SenderPart{
		SenderName: from.Name, SenderAmount: p.Debited(), SenderAccountNumber: from.Number,
		SenderAccountType: from.AccountType, SenderType: from.Type, SenderAddress1: from.Line1,
		SenderAddress2: from.Line2, SenderCity: from.City, SenderState: from.State, SenderZip: from.PostalCode,
		SenderCountry: from.Country, SenderEmail: from.Email, SenderBankIDType: from.BankIDType,
		SenderBankID: from.BankID, SenderBankName: from.BankName, SenderBankCountry: from.BankCountry,
	}
	part.SenderRoutingNumber = from.RoutingNumber()
	return part
}

// sample returns the body of a test: an event in shape, but of no payment.
func sample(now time.Time) ([]byte, error) {
	return json.Marshal(Payload{
		ExternalReferenceID: "TEST", PaymentStatus: payments.StatusProcessed,
		PaymentDate: now.UTC().Format(time.DateOnly), PaymentIOType: payments.Out,
		PaymentType: (&payments.Payment{Rail: rails.Book}).Kind(), MemoPostStatus: payments.Settled.MemoPost(),
		EntryType: rails.Credit, CreationDateTime: now.UTC(), LastUpdatedTime: now.UTC(),
		ReceiverPart: ReceiverPart{ReceiverAmount: money.Of(0, "USD")},
		SenderPart:   SenderPart{SenderAmount: money.Of(0, "USD")},
	})
}
