package rest

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/virtualaccounts"
)

// virtualAccountsV2 answers without an envelope. Codes of failures are VIRTUALACCOUNT_FIELD_PROBLEM
// (rest/CONTRACT.md, virtual accounts).
var virtualAccountsV2 = dialect{
	success: successVirtual, failure: failureVirtual,
	lines: table("VIRTUALACCOUNT_REQUEST_INVALID", notAuthorized,
		because(customers.ErrNotFound, "VIRTUALACCOUNT_CUSTOMERUID_NOTFOUND").exactly(),
		line{
			is: customers.ErrOutOfScope, status: http.StatusBadRequest, code: "VIRTUALACCOUNT_CUSTOMERUID_NOTFOUND",
			as: customers.ErrNotFound, exact: true,
		},
		because(virtualaccounts.ErrNotFound, "VIRTUALACCOUNT_ACCOUNTNUMBER_NOTFOUND").exactly(),
		because(virtualaccounts.ErrMaster, "VIRTUALACCOUNT_MASTERACCOUNTNUMBER_NOTFOUND").exactly(),
		because(virtualaccounts.ErrMasterState, "VIRTUALACCOUNT_MASTERACCOUNTNUMBER_STATUS").exactly(),
		because(virtualaccounts.ErrMasterStays, "VIRTUALACCOUNT_MASTERACCOUNTNUMBER_NOMATCH").exactly(),
		because(virtualaccounts.ErrClosed, "VIRTUALACCOUNT_STATUS_CLOSED").exactly()),
}

// failureVirtual is C4 with a code for each field.
func failureVirtual(_ string, all []reported) any {
	return envelopeC4{Errors: each(all, func(t reported) codeAndMessage {
		if t.status != http.StatusBadRequest {
			return codeAndMessage{t.code, t.message}
		}
		return codeAndMessage{t.detail("VIRTUALACCOUNT"), t.message}
	})}
}

// successVirtual is bare, or data and pagination of a list (rest/CONTRACT.md, PG8).
func successVirtual(said answer) any {
	if said.pages == nil {
		return said.data
	}
	size := int64(said.pages.PageSize)
	return virtualList{said.data, virtualPages{
		said.pages.TotalRecords, (said.pages.TotalRecords + size - 1) / size, said.pages.PageReturned,
		said.pages.PageSize,
	}}
}

type virtualList struct {
	Data       any          `json:"data"`
	Pagination virtualPages `json:"pagination"`
}

type virtualPages struct {
	TotalRecords int64 `json:"totalRecords"`
	TotalPages   int64 `json:"totalPages"`
	PageReturned int   `json:"pageReturned"`
	PageSize     int   `json:"pageSize"`
}

func (a *api) openVirtualAccount(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, draft, options := inPath(q, "customerUID", customers.ParseUID),
		virtualDraft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.VirtualAccounts.Open(r.Context(), customer, draft, options)
	return a.virtualSaved(r.Context(), customer, out, err)
}

func (a *api) findVirtualAccount(r *http.Request) (answer, error) {
	q := read(r)
	customer, number := inPath(q, "customerUID", customers.ParseUID),
		inPath(q, "accountNumber", virtualaccounts.ParseNumber)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.VirtualAccounts.Find(r.Context(), customer, number)
	if err != nil {
		return answer{}, err
	}
	return versioned(found.Version, virtualAccountOf(found)), nil
}

func (a *api) changeVirtualAccount(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, number := inPath(q, "customerUID", customers.ParseUID),
		inPath(q, "accountNumber", virtualaccounts.ParseNumber)
	draft, options := virtualDraft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.VirtualAccounts.ChangeNumbered(r.Context(), customer, number, draft, options)
	return a.virtualSaved(r.Context(), customer, out, err)
}

// closeVirtualAccount answers no body (rest/CONTRACT.md, envelopes: C10). The comments are the reason in the
// record.
func (a *api) closeVirtualAccount(r *http.Request) (answer, error) {
	q := read(r)
	customer, number := inPath(q, "customerUID", customers.ParseUID),
		inPath(q, "accountNumber", virtualaccounts.ParseNumber)
	options := q.options()
	options.Reason = inQuery(q, "comments", text)
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.VirtualAccounts.CloseNumbered(r.Context(), customer, number, options)
	return done(http.StatusOK, out.Receipt, nil), err
}

// virtualSaved answers the virtual account as a change has left it.
func (a *api) virtualSaved(
	ctx context.Context, of customers.UID, out changes.Outcome[virtualaccounts.Saved], err error,
) (answer, error) {
	if err != nil {
		return done(http.StatusOK, out.Receipt, nil), err
	}
	now, err := a.core.VirtualAccounts.Show(ctx, of, out.Result.UID)
	if err != nil {
		a.Log.ErrorContext(ctx, "a virtual account was changed, but cannot be shown", "error", err)
		return done(http.StatusOK, out.Receipt, nil), errUnshown
	}
	return done(http.StatusOK, out.Receipt, virtualAccountOf(now)), nil
}

func (a *api) searchVirtualAccounts(r *http.Request) (answer, error) {
	q := readBody(r)
	sheet, by := q.page(virtualPaging), virtualSearch(q.fields())
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.VirtualAccounts.Page(r.Context(), by, sheet.window())
	return list(found.Items, found.Total, sheet, virtualAccountOf), err
}

func (a *api) searchVirtualTransactions(r *http.Request) (answer, error) {
	q := readBody(r)
	sheet, f := q.page(virtualPaging), q.fields()
	by := virtualaccounts.PostingSearch{
		Customer:            orZero(idIn(f, customers.ParseUID, "customerUID")),
		Number:              orZero(idIn(f, virtualaccounts.ParseNumber, "accountNumber")),
		Side:                orZero(wordIn(f, virtualaccounts.ParseSide, "creditDebitType")),
		Payment:             orZero(idIn(f, virtualaccounts.ParsePayment, "paymentReferenceNo")),
		ExternalReferenceID: f.text("externalReferenceId").Value,
		Status:              orZero(wordIn(f, virtualaccounts.ParsePostingStatus, "status")),
		From:                orZero(wordIn(f, date, "fromDate")), To: orZero(wordIn(f, date, "toDate")),
	}
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.VirtualAccounts.PostingsPage(r.Context(), by, sheet.window())
	return list(found.Items, found.Total, sheet, virtualTransactionOf), err
}

// virtualDraft reads the body of a virtual account, which names the whole of it in a change, too.
func virtualDraft(f fields) virtualaccounts.Draft {
	return virtualaccounts.Draft{
		Name: f.text("accountName"), ProductCode: f.text("productCode"),
		MasterNumber: f.text("masterAccountNumber"), Purpose: f.text("purpose"), SubmittedBy: f.text("submittedBy"),
		ExternalAccountReference: f.text("externalAccountReference"), Whole: true,
	}
}

func virtualSearch(f fields) virtualaccounts.Search {
	by := virtualaccounts.Search{
		Partner:  orZero(idIn(f, customers.ParseUID, "partnerId")),
		Customer: orZero(idIn(f, customers.ParseUID, "customerUID")),
		Name:     f.text("accountName").Value, MasterNumber: f.text("masterAccountNumber").Value,
		Purpose:                  f.text("purpose").Value,
		CreatedFrom:              orZero(wordIn(f, date, "createdDateFrom")),
		CreatedTo:                orZero(wordIn(f, date, "createdDateTo")),
		UpdatedFrom:              orZero(wordIn(f, date, "lastUpdatedDateFrom")),
		UpdatedTo:                orZero(wordIn(f, date, "lastUpdatedDateTo")),
		BalanceFrom:              orZero(idIn(f, virtualaccounts.ParseDecimal, "balanceFrom")),
		BalanceTo:                orZero(idIn(f, virtualaccounts.ParseDecimal, "balanceTo")),
		ExternalAccountReference: f.text("externalAccountReference").Value,
	}
	for _, word := range f.texts("status").Value {
		status, err := virtualaccounts.ParseStatus("status", word)
		f.q.fail(err)
		by.Status = append(by.Status, status)
	}
	return by
}

// virtualAccount is a virtual account as it is published.
type virtualAccount struct {
	AccountName              string `json:"accountName"`
	AccountNumber            int64  `json:"accountNumber"`
	ExternalAccountReference string `json:"externalAccountReference"`
	// left out if the bank has a BIC
	RoutingNumber        int64                  `json:"routingNumber,omitzero"`
	AccountBalance       money.Amount           `json:"accountBalance"`
	AccountStatus        virtualaccounts.Status `json:"accountStatus"`
	AccountPurpose       string                 `json:"accountPurpose"`
	AccountCreatedOn     string                 `json:"accountCreatedOn"`
	CustomerShortName    string                 `json:"customerShortName"`
	CustomerLegalName    string                 `json:"customerLegalName"`
	CustomerID           customers.UID          `json:"customerId"`
	CustomerEmailAddress string                 `json:"customerEmailAddress"`
	CustomerPhoneNumber  string                 `json:"customerPhoneNumber"`
	MasterAccountName    string                 `json:"masterAccountName"`
	MasterAccountNumber  string                 `json:"masterAccountNumber"`
	// left out without one, as the amount
	Limit       virtualaccounts.LimitPeriod `json:"limit,omitzero"`
	LimitAmount *money.Amount               `json:"limitAmount,omitzero"`
	Purpose     string                      `json:"purpose"`
}

func virtualAccountOf(v *virtualaccounts.Shown) virtualAccount {
	view := virtualAccount{
		AccountName: v.Name, AccountNumber: v.Clear.Whole(), ExternalAccountReference: v.ExternalAccountReference,
		AccountBalance: v.Balance(), AccountStatus: v.Status, AccountPurpose: v.Purpose,
		AccountCreatedOn: v.CreatedAt.UTC().Format(time.RFC3339), CustomerShortName: v.Owner.ShortName,
		CustomerLegalName: v.Owner.LegalName, CustomerID: v.Customer, CustomerEmailAddress: v.Owner.Email,
		CustomerPhoneNumber: v.Owner.Phone, MasterAccountName: v.Master.Name,
		MasterAccountNumber: v.Master.Masked(), Limit: v.LimitPeriod, LimitAmount: v.Limit(), Purpose: v.Purpose,
	}
	view.RoutingNumber, _ = strconv.ParseInt(v.Master.BankID, 10, 64) // 0 for a BIC
	return view
}

// virtualTransaction is a posting of a virtual account as it is published.
type virtualTransaction struct {
	TransactionID       virtualaccounts.PostingID     `json:"transactionId"`
	ExternalReferenceID string                        `json:"externalReferenceId"`
	PaymentReferenceNo  int64                         `json:"paymentReferenceNo"`
	AccountName         string                        `json:"accountName"`
	AccountNumber       int64                         `json:"accountNumber"`
	Amount              money.Amount                  `json:"amount"`
	FeeAmount           money.Amount                  `json:"feeAmount"`
	Currency            money.Currency                `json:"currency"`
	Description         string                        `json:"description"`
	Date                string                        `json:"date"`
	PaymentMethod       string                        `json:"paymentMethod"`
	Direction           string                        `json:"direction"`
	Status              virtualaccounts.PostingStatus `json:"status"`
	PostedOn            string                        `json:"postedOn"`
	PostedBy            string                        `json:"postedBy"`
}

func virtualTransactionOf(p *virtualaccounts.ShownPosting) virtualTransaction {
	view := virtualTransaction{
		TransactionID: p.ID, ExternalReferenceID: p.ExternalReferenceID, PaymentReferenceNo: p.Payment,
		AccountName: p.Name, AccountNumber: p.Clear.Whole(), Amount: p.Amount(), FeeAmount: p.Fee(),
		Currency: p.Currency, Description: p.Description, Date: p.Date.Format(time.DateOnly),
		PaymentMethod: p.PaymentMethod(), Direction: "Inbound", Status: p.Status(),
		PostedOn: p.At.UTC().Format(time.RFC3339), PostedBy: p.PostedBy(),
	}
	if p.Minor < 0 {
		view.Direction, view.Amount = "Outbound", money.Of(-p.Minor, p.Currency)
	}
	return view
}
