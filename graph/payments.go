package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var paymentKind = numbered("Payment", kind[payments.UID, payments.Payment]{
	prefix: scalar.PaymentPrefix,
	find:   func(c *core.Core) finder[payments.UID, payments.Payment] { return c.Payments.FindMany },
	key:    func(p *payments.Payment) payments.UID { return p.UID },
	columns: columns{
		"status": {"State"}, "returnStatus": {"State"}, "returned": {"ReturnedMinor", "Currency"},
		"amount": {"Minor", "Currency"}, "fee": {"FeeMinor", "Currency", "SoldMinor", "SoldCurrency"},
		"customFee":      {"CustomFeeMinor", "Currency", "SoldMinor", "SoldCurrency"},
		"senderAmount":   {"Minor", "Currency", "SoldMinor", "SoldCurrency"},
		"senderCurrency": {"Currency", "SoldMinor", "SoldCurrency"}, "senderNumber": {"Sender.Last4"},
		"receiverNumber": {"Receiver.Last4"}, "details": {"UID"}, "screening": {"UID"}, "achEntry": {"UID"},
		"request": {"UID"},
	},
})

func init() {
	query("payment", (*operation).payment)
	query("refusedCredits", (*operation).refusedCredits)
	queryList("payments", paymentKind, func(c *core.Core) *payments.Service { return c.Payments },
		listPayments, countPayments, nil)
	hasMany(customerKind, "payments", paymentKind,
		paymentsOf((*payments.Service).OfCustomers, (*payments.Service).CountOfCustomers))
	hasMany(accountKind, "payments", paymentKind,
		paymentsOf((*payments.Service).OfAccounts, (*payments.Service).CountOfAccounts))
	hasCustomer(paymentKind, "customer", func(p *payments.Payment) *customers.UID { return &p.Customer })
	hasOne(paymentKind, "senderAccount", accountKind,
		func(p *payments.Payment) *accounts.UID { return named(&p.SenderAccount) })
	hasOne(paymentKind, "receiverAccount", accountKind,
		func(p *payments.Payment) *accounts.UID { return named(&p.ReceiverAccount) })
	hasOne(paymentKind, "trade", tradeKind, (*payments.Payment).TradeNumber)
	hasOne(paymentKind, "contact", contactKind,
		func(p *payments.Payment) *contacts.UID { return named(&p.Contact) })
	service := func(c *core.Core) *payments.Service { return c.Payments }
	hasSome(paymentKind, "timeline", "last", payments.MostOfPayment, service, (*payments.Service).StepsOf)
	hasSome(paymentKind, "messages", "last", payments.MostOfPayment, service, (*payments.Service).MessagesOf)
	hasPart(paymentKind, "details", service, (*payments.Service).DetailsOf)
	hasPart(paymentKind, "achEntry", service, (*payments.Service).EntriesOf)
	hasPart(paymentKind, "request", service, (*payments.Service).RequestsOf)
	has(paymentKind, "noticesOfChange", queueNotices)
	prices["PaymentConnection.totalCount"] = countMany
	prices["PaymentConnection.totalCountIsExact"] = countMany
	prices["PaymentFilter.account"], prices["PaymentFilter.contact"] = sorted, sorted
	prices["PaymentFilter.recurrence"] = sorted
	for _, field := range []string{
		"status", "rail", "direction", "entryType", "speed",
		"senderName", "receiverName", "externalReferenceId",
		"notes", "currency", "amount", "amountAtLeast", "amountAtMost", "paymentDateFrom", "paymentDateTo",
	} {
		prices["PaymentFilter."+field] = scan
	}
	subjects["payment"] = subject{
		codes:  codes{fault.NotFound: "API900", fault.State: bookFailed},
		fields: fieldsOfPayments,
	}
	subjects[credit] = subject{
		codes:  codes{fault.NotFound: "PAYMENT001", fault.State: "PAYMENT001"},
		fields: fieldsOfPayments,
	}
	subjects[returned] = subject{
		codes: codes{fault.NotFound: "API900", fault.State: "PAYMENT003"},
		fields: map[string]string{
			"returnCode": "code", "returnNotes": "notes", "returnType": "type",
			"settlementAmount": "amount", "rejectReasonCode": "rejectCode",
		},
	}
	subjects[reversed] = subject{
		codes:  codes{fault.NotFound: "API900", fault.State: "PAYMENT004"},
		fields: map[string]string{"reversalCode": "code", "reversalNotes": "notes"},
	}
	precise = append(precise,
		preciseCode{is: payments.ErrAccount, code: bookFailed},
		preciseCode{is: ledger.ErrUncovered, code: bookFailed},
		preciseCode{is: payments.ErrOver, code: "PAYMENT001"})
}

// fieldsOfPayments are the names that inputs have for the fields that faults of payments name.
var fieldsOfPayments = map[string]string{
	"senderAccount.accountUID": "senderAccount.uid", "senderAccount.accountNumber": "senderAccount.number",
	"receiverAccount.accountUID":    "receiverAccount.uid",
	"receiverAccount.accountNumber": "receiverAccount.number", "senderAccount.currency": "currency",
	"receiverAccount.currency": "currency", "paymentAmount": "amount", "paymentNotes": "notes",
	"paymentCurrency": "currency", "sender.accountUID": "senderAccount.uid",
	"sender.accountNumber": "senderAccount.number", "receiver.accountUID": "receiver.contact",
	"receiver.subAccountType": "receiver.accountSubType", "receiver.email": "receiver.emailAddress",
	"receiver.phone": "receiver.phoneNumber", "receiver.address.addressLine1": "receiver.address.line1",
	"receiver.address.addressLine2": "receiver.address.line2", "receiver.bank": "receiver.bankId",
	"receiver.bank.swiftCode": "receiver.bankBic", "receiver.bank.bankIdType": "receiver.bankId",
	"receiver.intermediaryBank":               "receiver.intermediaryBic",
	"receiver.intermediaryBank.swiftCode":     "receiver.intermediaryBic",
	"receiver.intermediaryBank.bankIdType":    "receiver.intermediaryBankId",
	"receiver.intermediaryBank.bankId":        "receiver.intermediaryBankId",
	"receiver.intermediaryBank.accountNumber": "receiver.intermediaryAccountNumber",
	"receiver.bank.accountNumber":             "receiver.bankAccountNumber",
	"sender.correspondentBankId":              "correspondentBankId",
	"additionalInfo.fxContractNumber":         "trade", "receiver.bank.bankId": "receiver.bankId",
	"receiver.bank.name":        "receiver.bankName",
	"receiver.bank.countryCode": "receiver.bankCountry", "debtor.bank.countryCode": "debtor.bankCountry",
	"sender.address": "senderAccount", "creditor.address": "creditorAccount",
	"additionalInfo.transactionTypeCode":          "transactionTypeCode",
	"additionalInfo.receiverIdentificationNumber": "receiverIdentificationNumber",
	"creditor.accountUID":                         "creditorAccount.uid",
	"creditor.accountNumber":                      "creditorAccount.number", "creditor": "creditorAccount",
	"debtor.accountUID": "debtor.contact", "debtor.subAccountType": "debtor.accountSubType",
	"debtor.email": "debtor.emailAddress", "debtor.phone": "debtor.phoneNumber",
	"debtor.address.addressLine1": "debtor.address.line1",
	"debtor.address.addressLine2": "debtor.address.line2", "debtor.bank": "debtor.bankId",
	"debtor.bank.bankId": "debtor.bankId", "debtor.bank.name": "debtor.bankName",
	"additionalInfo.channel": "channel", "additionalInfo.costCenter": "costCenter",
	"additionalInfo.requestMethod": "requestMethod", "additionalInfo.operationNote": "operationNote",
	"additionalInfo.paymentRemittanceNotes":  "remittance",
	"additionalInfo.remittanceMethod":        "remittanceMethod",
	"additionalInfo.referenceForBeneficiary": "referenceForBeneficiary",
	"additionalInfo.originatorToBeneficiary": "originatorToBeneficiary",
	"additionalInfo.senderToReceiverNotes":   "senderToReceiver", "additionalInfo.secCode": "secCode",
	"additionalInfo.benefitReceiver":        "benefit",
	"additionalInfo.localInstruments":       "localInstrument",
	"additionalInfo.requestedExecutionDate": "requestedExecutionDate",
	"additionalInfo.expiryDate":             "expiryDate",
	"additionalInfo.detailsOfCharges":       "detailsOfCharges",
}

// bookFailed is the code of a book transfer that failed.
const bookFailed = "BOOKTRF001"

// payment answers Query.payment.
func (o *operation) payment(ctx context.Context, f graphql.CollectedField) (*payments.Payment, error) {
	uid, err := scalar.ParseUID(argumentsOf(ctx, f)["uid"])
	if err != nil {
		return nil, on("uid", err)
	}
	return paymentKind.one(ctx, payments.UID(uid), f)
}

// queueNotices reads the last notices of change about payments, and opens what they say.
func queueNotices(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (func(payments.UID) ([]*payments.Notice, error), step) {
	last, err := howMany(ctx, f, "last", payments.MostOfPayment)
	if err != nil {
		return func(payments.UID) ([]*payments.Notice, error) { return nil, err }, nil
	}
	all := o.core.Payments.NoticesOf(ctx, b, s.keys.([]payments.UID), last)
	return func(key payments.UID) ([]*payments.Notice, error) {
		if all.Err != nil {
			return nil, all.Err
		}
		notices := append([]*payments.Notice{}, all.Of[key]...)
		return notices, o.core.Payments.OpenNotices(ctx, notices)
	}, nil
}

// refusedCredits answers Query.refusedCredits.
func (o *operation) refusedCredits(
	ctx context.Context, f graphql.CollectedField,
) ([]*model.RefusedCredit, error) {
	first, err := scalar.UnmarshalInt(argumentsOf(ctx, f)["first"])
	if err == nil && (first < 1 || first > 200) {
		err = fault.Field("list", "first", fault.Max, "must be from 1 to 200")
	}
	if err != nil {
		return nil, on("first", err)
	}
	b := o.core.Batch()
	rows := o.core.Payments.Refused(ctx, b, page.First(int(first)))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	var all []*model.RefusedCredit
	for _, m := range rows.Items[:min(len(rows.Items), int(first))] {
		all = append(all, model.RefusedCreditOf(m))
	}
	return all, rows.Err
}

func listPayments(
	s *payments.Service, ctx context.Context, b *db.Batch, by model.PaymentFilter, want db.Columns, w window,
) *db.Rows[payments.Payment] {
	search, err := by.Search()
	if err != nil {
		return db.RefuseRows[payments.Payment](err)
	}
	return s.List(ctx, b, search, want, w)
}

func countPayments(
	s *payments.Service, ctx context.Context, b *db.Batch, by model.PaymentFilter, most int64,
) *db.Rows[db.Count] {
	search, err := by.Search()
	if err != nil {
		return db.RefuseRows[db.Count](err)
	}
	return s.CountUpTo(ctx, b, search, most)
}

// paymentsOf makes a list from two methods of the service.
func paymentsOf[P comparable](
	rows func(*payments.Service, context.Context, *db.Batch, []P, payments.Search, db.Columns, window,
	) *db.Many[P, payments.Payment],
	count func(*payments.Service, context.Context, *db.Batch, []P, payments.Search, int64) *db.Many[P, db.Count],
) list[P, payments.Payment, model.PaymentFilter] {
	return pages(func(c *core.Core) *payments.Service { return c.Payments },
		func(
			s *payments.Service, ctx context.Context, b *db.Batch, of []P, by model.PaymentFilter,
			want db.Columns, w window,
		) *db.Many[P, payments.Payment] {
			search, err := by.Search()
			if err != nil {
				return db.Refuse[P, payments.Payment](err)
			}
			return rows(s, ctx, b, of, search, want, w)
		},
		capped(func(
			s *payments.Service, ctx context.Context, b *db.Batch, of []P, by model.PaymentFilter, most int64,
		) *db.Many[P, db.Count] {
			search, err := by.Search()
			if err != nil {
				return db.Refuse[P, db.Count](err)
			}
			return count(s, ctx, b, of, search, most)
		}))
}

func (m mutations) TransferFunds(ctx context.Context, in model.FundsDraft) (*model.FundsPayload, error) {
	draft, err := in.Whole()
	if err != nil {
		return nil, err
	}
	done, err := m.core.Payments.Transfer(ctx, draft, in.RequestOptions)
	return paymentKind.payload(ctx, done.Result.UID, done.Receipt, failed(err, "payment"))
}

func (m mutations) SendPayment(ctx context.Context, in model.OrderDraft) (*model.PaymentPayload, error) {
	order, err := in.Whole()
	if err != nil {
		return nil, err
	}
	done, err := m.core.Payments.Send(ctx, order, in.RequestOptions)
	return paymentKind.payload(ctx, done.Result.UID, done.Receipt, failed(err, credit))
}

func (m mutations) RepairPayment(ctx context.Context, in model.RepairDraft) (*model.PaymentPayload, error) {
	repairs, err := in.Whole()
	if err != nil {
		return nil, err
	}
	done, err := m.core.Payments.Repair(ctx, in.UID, repairs, in.RequestOptions)
	return paymentKind.payload(ctx, done.Result.UID, done.Receipt, failed(err, credit))
}

// credit is the subject of faults that stop a payment over a network, or a debit.
const credit = "credit"

// failed gives what stops a payment, such as the state of an account, the code of a failed one of its kind.
func failed(err error, subject string) error {
	f, ok := fault.Of(err)
	if !ok || f.Kind != fault.State && (f.Kind != fault.NotFound || subject != credit) ||
		payments.ErrNotFound.Is(f) {
		return err
	}
	failed := fault.New(f.Kind, subject, f.Message)
	failed.Field = f.Field
	if !payments.ErrLimit.Is(f) { // whose detail is no state
		failed.Detail = f.Detail
	}
	return failed
}

func (m mutations) RequestDebit(ctx context.Context, in model.DebitDraft) (*model.PaymentPayload, error) {
	order, err := in.Whole()
	if err != nil {
		return nil, err
	}
	done, err := m.core.Payments.RequestDebit(ctx, order, in.RequestOptions)
	return paymentKind.payload(ctx, done.Result.UID, done.Receipt, failed(err, credit))
}

func (m mutations) CancelPayment(ctx context.Context, in model.PaymentDraft) (*model.PaymentPayload, error) {
	done, err := m.core.Payments.Cancel(ctx, in.UID, in.RequestOptions)
	return paymentKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

// returned and reversed are the subjects of faults that stop a return, or a reversal.
const (
	returned = "return"
	reversed = "reversal"
)

func (m mutations) ReturnPayment(ctx context.Context, in model.ReturnDraft) (*model.PaymentPayload, error) {
	if err := model.Keyed(in.RequestOptions); err != nil {
		return nil, err
	}
	done, err := m.core.Payments.Return(ctx, in.UID, in.Return, in.RequestOptions)
	return paymentKind.payload(ctx, done.Result.UID, done.Receipt, failed(err, returned))
}

func (m mutations) ReversePayment(
	ctx context.Context, in model.ReversalDraft,
) (*model.PaymentPayload, error) {
	if err := model.Keyed(in.RequestOptions); err != nil {
		return nil, err
	}
	done, err := m.core.Payments.Reverse(ctx, in.UID, in.Reversal, in.RequestOptions)
	return paymentKind.payload(ctx, done.Result.UID, done.Receipt, failed(err, reversed))
}
