package webhooks

import (
	"encoding/json"
	"time"

	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/virtualaccounts"
)

// TransactionPayload is what an event of a virtual account says, under the published names (rest/CONTRACT.md,
// transaction bodies). What does not apply is left out.
type TransactionPayload struct {
	Data TransactionData `json:"data"`
}

// TransactionData is what came in for a virtual account, or went back.
type TransactionData struct {
	TransactionID        virtualaccounts.PostingID `json:"transactionId"`
	Channel              string                    `json:"channel,omitzero"`
	CustomerName         string                    `json:"customerName,omitzero"`
	VirtualAccountNumber virtualaccounts.Number    `json:"virtualAccountNumber,omitzero"`
	// above zero, in whole units: 30.25
	TransactionAmount        string    `json:"transactionAmount"`
	CreditDebitType          string    `json:"creditDebitType"` // CREDIT or DEBIT
	TransactionDateTime      time.Time `json:"transactionDateTime"`
	LastUpdatedTime          time.Time `json:"lastUpdatedTime"`
	TransactionStatus        string    `json:"transactionStatus"`
	ExternalAccountReference string    `json:"externalAccountReference,omitzero"`
	TransactionDescription   string    `json:"transactionDescription,omitzero"`
	PaymentMethod            string    `json:"paymentMethod,omitzero"`
	SenderBankID             string    `json:"senderBankId,omitzero"`
	SenderBankCountry        string    `json:"senderBankCountry,omitzero"`
	ReceiverBankID           string    `json:"receiverBankId,omitzero"`
	ReceiverBankCountry      string    `json:"receiverBankCountry,omitzero"`
}

// booked is the status of a transaction that is on the master account. Only such transactions are told.
const booked = "PROCESSED"

// transactionOf makes the body of a posting, which a step of a payment made. What goes back goes from the
// payee to the payer.
func transactionOf(p *virtualaccounts.ShownPosting, of *payments.Snapshot) TransactionPayload {
	amount, side := p.Amount(), "CREDIT"
	from, to := of.Sends(), of.Receives()
	if p.Side() == virtualaccounts.Debit {
		amount, side = money.Of(-p.Minor, p.Currency), "DEBIT"
		from, to = to, from
	}
	return TransactionPayload{TransactionData{
		TransactionID: p.ID, Channel: of.Channel, CustomerName: of.OwnSide().ShortName,
		VirtualAccountNumber: p.Clear, TransactionAmount: amount.String(), CreditDebitType: side,
		TransactionDateTime: p.At.UTC(), LastUpdatedTime: p.At.UTC(), TransactionStatus: booked,
		ExternalAccountReference: p.Reference, TransactionDescription: p.Description,
		PaymentMethod: p.PaymentMethod(), SenderBankID: from.BankID, SenderBankCountry: from.BankCountry,
		ReceiverBankID: to.BankID, ReceiverBankCountry: to.BankCountry,
	}}
}

// sampleTransaction returns the body of a test: an event in shape, but of no transaction.
func sampleTransaction(now time.Time) ([]byte, error) {
	return json.Marshal(TransactionPayload{TransactionData{
		TransactionAmount: money.Of(0, "USD").String(), CreditDebitType: "CREDIT", TransactionDateTime: now.UTC(),
		LastUpdatedTime: now.UTC(), TransactionStatus: booked, TransactionDescription: "TEST",
	}})
}
