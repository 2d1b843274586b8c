package rest

import (
	"encoding/json"
	"strconv"
	"time"

	"bankgraph/core/files"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/seal"
)

// fileRecord is a bulk file (rest/CONTRACT.md, bulk file answers).
type fileRecord struct {
	FileNumber                  files.FileUID    `json:"fileNumber"`
	FileName                    string           `json:"fileName"`
	FileType                    files.FileType   `json:"fileType"`
	FileStatus                  files.FileStatus `json:"fileStatus"`
	CounterParty                string           `json:"counterParty"`
	CounterPartyID              json.Number      `json:"counterPartyId"`
	FTPUser                     string           `json:"ftpUser"`
	Channel                     string           `json:"channel"`
	OffsetType                  string           `json:"offsetType"`
	AccountName                 string           `json:"accountName"`
	AccountType                 string           `json:"accountType"`
	TransactionType             string           `json:"transactionType"`
	OffsetAccountNumber         string           `json:"offsetAccountNumber"`
	OffsetRoutingNumber         string           `json:"offsetRoutingNumber"`
	ValidPayments               int32            `json:"validPayments"`
	ErrorPayments               int32            `json:"errorPayments"`
	TotalDebits                 money.Amount     `json:"totalDebits"`
	TotalCredits                money.Amount     `json:"totalCredits"`
	PaymentDate                 *string          `json:"paymentDate,omitzero"`
	MemoPostDate                *string          `json:"memoPostDate,omitzero"`
	CreditMemoPostStatus        string           `json:"creditMemoPostStatus"`
	DebitMemoPostStatus         string           `json:"debitMemoPostStatus"`
	ReverseCreditMemoPostStatus string           `json:"reverseCreditMemoPostStatus"`
	ReverseDebitMemoPostStatus  string           `json:"reverseDebitMemoPostStatus"`
	MemoPostFailureReason       *string          `json:"memoPostFailureReason"`
	MemoPostRetryCount          *int32           `json:"memoPostRetryCount"`
	NotificationRefNumber       *string          `json:"notificationRefNumber"`
	AuthenticationRetryCounter  *int32           `json:"authenticationRetryCounter"`
	CustomerAccountingStatus    string           `json:"customerAccountingStatus"`
	CustomerAccountingDate      *string          `json:"customerAccountingDate"`
	GLAccountingStatus          string           `json:"glAccountingStatus"`
	GLAccountingDate            *string          `json:"glAccountingDate,omitzero"`
	FedSettlementID             *string          `json:"fedSettlementId"`
	Comments                    string           `json:"comments"`
	RejectReason                *string          `json:"rejectReason"`
	Batches                     []fileBatch      `json:"batches"`
	ApprovedBy                  string           `json:"approvedBy"`
	ApprovedDateTime            *time.Time       `json:"approvedDateTime,omitzero"`
	LastUpdatedBy               string           `json:"lastUpdatedBy"`
	LastUpdatedTime             time.Time        `json:"lastUpdatedTime"`
	CreatedBy                   string           `json:"createdBy"`
	CreationDateTime            time.Time        `json:"creationDateTime"`
}

type fileBatch struct {
	ID                           string        `json:"id"`
	BatchNumber                  string        `json:"batchNumber"`
	ServiceClassCode             string        `json:"serviceClassCode"`
	OriginatingDFIIdentification string        `json:"originatingDfiIdentification"`
	Status                       string        `json:"status"`
	OffsetAccountNumber          string        `json:"offsetAccountNumber"`
	OffsetRoutingNumber          string        `json:"offsetRoutingNumber"`
	CreditMemoPostStatus         string        `json:"creditMemoPostStatus"`
	DebitMemoPostStatus          string        `json:"debitMemoPostStatus"`
	CompanyName                  string        `json:"companyName"`
	CompanyID                    string        `json:"companyId"`
	SECCode                      rails.SECCode `json:"secCode"`
	EntryHash                    int64         `json:"entryHash"`
	EffectiveEntryDate           *string       `json:"effectiveEntryDate,omitzero"`
	Currency                     string        `json:"currency"`
	EntryAddendaCount            int32         `json:"entryAddendaCount"`
	TotalCreditAmount            money.Amount  `json:"totalCreditAmount"`
	TotalDebitAmount             money.Amount  `json:"totalDebitAmount"`
	GLOffset                     bool          `json:"glOffset"`
}

const (
	notApplicable   = "NOT_APPLICABLE" // of memo posts
	notAccounted    = "NOTAPPLICABLE"  // of accounting, published without the underscore
	batchValidated  = "VALIDATED"
	batchInError    = "ERROR"
	offsetByBatch   = "BATCH_LEVEL"
	accountCustomer = "CUSTOMER"
	originated      = "Origination"
	fromAPI         = "API" // of cancellations: no other way of cancelling one payment is there
)

func fileRecordOf(f *files.ShownFile, zone *time.Location) fileRecord {
	view := fileRecord{
		FileNumber: f.UID, FileName: f.Name, FileType: f.Type, FileStatus: f.Status, CounterParty: f.CounterParty,
		CounterPartyID: json.Number(f.Customer.String()), Channel: f.Channel, AccountName: f.Offset.Name,
		AccountType: accountCustomer, TransactionType: originated,
		OffsetAccountNumber: shownNumber(f.Offset.Number), OffsetRoutingNumber: f.Offset.BankID,
		ValidPayments: f.Valid, ErrorPayments: f.Failed, TotalDebits: f.TotalDebits(),
		TotalCredits: f.TotalCredits(), PaymentDate: dayOf(f.PaymentDate), CreditMemoPostStatus: notApplicable,
		DebitMemoPostStatus: notApplicable, ReverseCreditMemoPostStatus: notApplicable,
		ReverseDebitMemoPostStatus: notApplicable, CustomerAccountingStatus: notAccounted,
		GLAccountingStatus: notAccounted, Comments: commentOf(f),
		Batches:    each(f.Batches, func(b *files.ShownBatch) fileBatch { return fileBatchOf(b, f) }),
		ApprovedBy: f.ApprovedBy, LastUpdatedBy: f.UpdatedBy, LastUpdatedTime: f.UpdatedAt.In(zone),
		CreatedBy: f.CreatedBy(), CreationDateTime: f.CreatedAt.In(zone),
	}
	if f.Type == files.NACHA {
		view.OffsetType = offsetByBatch
	}
	if f.ApprovedAt != nil {
		at := f.ApprovedAt.In(zone)
		view.ApprovedDateTime = &at
	}
	if f.RejectReason != "" {
		view.RejectReason = &f.RejectReason
	}
	return view
}

// commentOf tells how far a file has come, in plain words, and of what is wrong with it the first.
func commentOf(f *files.ShownFile) string {
	text := strconv.Itoa(int(f.Made)) + " of " + strconv.Itoa(int(f.Valid)) + " payments are made"
	switch f.Status {
	case files.Received:
		return "waits to be checked"
	case files.Validating:
		return strconv.Itoa(int(f.Valid+f.Failed)) + " lines are checked"
	case files.Failed:
		text = f.RejectReason
	}
	if len(f.Faults) > 0 && f.Faults[0].Line > 0 {
		text += ": line " + strconv.Itoa(int(f.Faults[0].Line))
		if f.Faults[0].Field != "" {
			text += ", " + f.Faults[0].Field
		}
	}
	return text
}

func fileBatchOf(b *files.ShownBatch, f *files.ShownFile) fileBatch {
	status := batchValidated
	switch {
	case b.Fault != "" || f.Status == files.Failed:
		status = batchInError
	case f.Status == files.Rejected || f.Status == files.Processed:
		status = string(f.Status)
	}
	return fileBatch{
		ID: b.ID, BatchNumber: strconv.Itoa(int(b.BatchNumber)), ServiceClassCode: b.ServiceClass,
		OriginatingDFIIdentification: b.Originator, Status: status,
		OffsetAccountNumber: shownNumber(b.Offset.Number), OffsetRoutingNumber: b.Offset.BankID,
		CreditMemoPostStatus: notApplicable, DebitMemoPostStatus: notApplicable, CompanyName: b.CompanyName,
		CompanyID: b.CompanyID, SECCode: b.Class, EntryHash: b.EntryHash, EffectiveEntryDate: dayOf(b.Effective),
		Currency: "USD", EntryAddendaCount: b.Entries, TotalCreditAmount: b.TotalCredits(),
		TotalDebitAmount: b.TotalDebits(),
	}
}

// filePayment is a line of a file, and the payment that was made of it.
type filePayment struct {
	PaymentID                     *payments.UID   `json:"paymentId,omitzero"` // left out where none was made
	FileNumber                    string          `json:"fileNumber"`
	PaymentStatus                 string          `json:"paymentStatus"`
	Amount                        money.Amount    `json:"amount"`
	DeliveryMethod                rails.Rail      `json:"deliveryMethod"`
	PaymentDate                   *string         `json:"paymentDate,omitzero"`
	Currency                      money.Currency  `json:"currency"`
	PaymentNotes                  *string         `json:"paymentNotes"`
	EntryType                     rails.EntryType `json:"entryType"`
	SenderName                    string          `json:"senderName"`
	SenderAccountNumber           string          `json:"senderAccountNumber"`
	SenderBankID                  string          `json:"senderBankId"`
	SenderAddress1                string          `json:"senderAddress1"`
	SenderAddress2                *string         `json:"senderAddress2"`
	ReceiverName                  string          `json:"receiverName"`
	ReceiverAccountNumber         string          `json:"receiverAccountNumber"`
	ReceiverBankID                string          `json:"receiverBankId"`
	ReceiverAddress1              string          `json:"receiverAddress1"`
	ReceiverAddress2              *string         `json:"receiverAddress2"`
	CreationDateTime              time.Time       `json:"creationDateTime"`
	PaymentType                   string          `json:"paymentType"`
	CancellationOriginationSource *string         `json:"cancellationOriginationSource,omitzero"`
	CancellationReason            string          `json:"cancellationReason"`
	LineNumber                    int32           `json:"lineNumber"`
	Errors                        []lineError     `json:"errors"`
}

// lineError is what is wrong with a line.
type lineError struct {
	Line    int32  `json:"line"`
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func filePaymentOf(l *files.ShownLine, zone *time.Location) filePayment {
	said := l.Order
	if said == nil {
		said = new(payments.Order)
	}
	here := side{l.SenderName, shownNumber(l.Account.Number), l.Account.BankID, l.Line1, l.Line2}
	if here.number == "" {
		here.number, here.bank = shownNumber(seal.Mask(said.Sender.Number)), said.Sender.RoutingNumber
	}
	there := side{
		said.Receiver.Name, shownNumber(seal.Mask(said.Receiver.Number)), said.Receiver.Bank.ID,
		said.Receiver.Address.Line1, said.Receiver.Address.Line2,
	}
	from, to := here, there
	if l.EntryType == rails.Debit {
		from, to = there, here
	}
	view := filePayment{
		FileNumber: l.File.String(), PaymentStatus: lineStatus(l), Amount: l.Amount(), DeliveryMethod: l.Rail,
		PaymentDate: dayOf(l.PaymentDate), Currency: l.Currency, PaymentNotes: orNull(said.Notes),
		EntryType: l.EntryType, SenderName: from.name, SenderAccountNumber: from.number, SenderBankID: from.bank,
		SenderAddress1: from.line1, SenderAddress2: orNull(from.line2), ReceiverName: to.name,
		ReceiverAccountNumber: to.number, ReceiverBankID: to.bank, ReceiverAddress1: to.line1,
		ReceiverAddress2: orNull(to.line2), CreationDateTime: l.CreatedAt.In(zone),
		PaymentType: l.Kind(), LineNumber: l.Number,
		Errors: each(l.Faults(), func(f files.FileFault) lineError { return lineError(f) }),
	}
	switch {
	case l.Payment != 0:
		view.PaymentID = &l.Payment
	case !said.Date.IsZero():
		view.PaymentDate = dayOf(&said.Date)
	}
	if l.CancelledAs != nil {
		source := fromAPI
		view.CancellationOriginationSource, view.CancellationReason = &source, *l.CancelledAs
	}
	return view
}

// side is a side of a payment of a file.
type side struct{ name, number, bank, line1, line2 string }

// lineStatus is the status of a payment, spelled as files spell it, or that of a line of which none was made.
func lineStatus(l *files.ShownLine) string {
	switch {
	case l.Payment != 0:
		if status := l.State.Status(); status != payments.StatusValidationFailure {
			return string(status)
		}
		return validationFailed
	case l.Status == files.LineFailed:
		return validationFailed
	}
	switch l.Of.Status {
	case files.PendingApproval, files.PartlyApproved, files.Rejected, files.Cancelled:
		return string(l.Of.Status)
	case files.Failed:
		return validationFailed
	}
	return batchValidated
}

const validationFailed = "VALIDATION_FAILED"

// dayOf writes a day as YYYY-MM-DD; null for none.
func dayOf(day *time.Time) *string {
	if day == nil {
		return nil
	}
	text := day.Format(time.DateOnly)
	return &text
}

// shownNumber is a masked account number; empty if there is none.
func shownNumber(v seal.Value) string { return v.Masked() }
