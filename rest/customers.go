package rest

import (
	"context"
	"net/http"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/db"
)

var (
	customerLines = table("CUST001", notAuthorized)

	customersG1 = dialect{
		success: successC1, failure: failureC1, lines: customerLines, spelled: map[string]string{
			"swiftCode": "swiftcode", "webSite": "website",
			"additionalProfileDetails":                       "addtionalProfileDetails[0]",
			"additionalProfileDetails.creditValueAdjustment": "addtionalProfileDetails[0].crediValueAdjustment",
			"additionalProfileDetails.detailsOfCharge":       "addtionalProfileDetails[0].detailsofCharge",
		},
	}

	customersV2 = dialect{success: successC1, failure: failureC1, lines: customerLines}
)

// searchCustomersG1 uses the parameters' published names. Each generation takes the filters of both: one that
// is ignored would show all customers (rest/CONTRACT.md, customer search).
func (a *api) searchCustomersG1(r *http.Request) (answer, error) {
	q := read(r)
	return a.searchCustomers(q, customerFilters(q), customerPagesG1, customerG1Of)
}

func (a *api) searchCustomersV2(r *http.Request) (answer, error) {
	q := read(r)
	return a.searchCustomers(q, customerFilters(q), pagesV2, customerItemV2Of)
}

func customerFilters(q *reader) customers.Search {
	return customers.Search{
		Words:      inQuery(q, "legalName", words),
		Type:       inQuery(q, "customerType", customers.ParseType, "CustomerType"),
		ShortName:  inQuery(q, "shortName", words),
		CustomerID: inQuery(q, "customerId", words, "CustomerID"),
		ACHCompany: inQuery(q, "achCompanyID", words),
		UID:        inQuery(q, "customerUID", customers.ParseUID),
		Status:     inQuery(q, "status", customers.ParseStatus),
		TaxID:      inQuery(q, "taxId", customers.ParseTaxID),
	}
}

// searchCustomers is shared by the two searches, which differ in the view.
func (a *api) searchCustomers(
	q *reader, by customers.Search, n numbering, view func(*customers.Customer) any,
) (answer, error) {
	sheet := q.page(n)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Customers.Page(q.r.Context(), by, sheet.window())
	return list(found.Items, found.Total, sheet, view), err
}

// findCustomerG1 answers an array of one, as documented.
func (a *api) findCustomerG1(r *http.Request) (answer, error) {
	q := read(r)
	uid := inPath(q, "customerUID", customers.ParseUID)
	if q.err != nil {
		return answer{}, q.err
	}
	customer, err := a.core.Customers.Find(r.Context(), uid)
	if err != nil {
		return answer{}, err
	}
	return answer{data: []any{customerG1Of(customer)}, mark: changes.Receipt{Version: customer.Version}}, nil
}

// findCustomerV2 answers an array of one, as documented. It shows all that the customer holds, read in one
// round trip.
func (a *api) findCustomerV2(r *http.Request) (answer, error) {
	q := read(r)
	uid := inPath(q, "customerUID", customers.ParseUID)
	if q.err != nil {
		return answer{}, q.err
	}
	customer, version, err := a.customerV2(r.Context(), a.core.Batch(), uid)
	return answer{data: []customerV2{customer}, mark: changes.Receipt{Version: version}}, err
}

// customerV2 is a customer with all that it holds, and its version.
func (a *api) customerV2(
	ctx context.Context, b *db.Batch, uid customers.UID,
) (view customerV2, version int32, err error) {
	of := []customers.UID{uid}
	found := a.core.Customers.FindMany(ctx, b, of, customers.Everything())
	officers := a.core.Customers.OfficersOf(ctx, b, of)
	tiers := a.core.Fees.OfCustomers(ctx, b, of)
	limits := a.core.Limits.ConfiguredOf(ctx, b, of)
	if err := b.Send(ctx); err != nil {
		return view, 0, err
	}
	customer, err := customers.OneOf(found, uid)
	if err != nil {
		return view, 0, err
	}
	return customerV2Of(customer, officers.Of[uid], fees.Counting(tiers.Of[uid]), limits.Of[uid]),
		customer.Version, nil
}

func (a *api) createCustomerG1(r *http.Request) (answer, error) {
	q := readBody(r)
	draft, options := customerDraftG1(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Customers.Create(r.Context(), draft, options)
	return done(http.StatusOK, out.Receipt, customerSavedG1Of(out.Result)), err
}

func (a *api) createCustomerV2(r *http.Request) (answer, error) {
	q := readBody(r)
	draft, options := newCustomerV2(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Customers.Create(r.Context(), draft, options)
	return done(http.StatusOK, out.Receipt, customerSavedOf(out.Result)), err
}

// changeCustomerG1 merges: fields that the body does not give stay as they are.
func (a *api) changeCustomerG1(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, draft, options := inPath(q, "customerUID", customers.ParseUID), customerDraftG1(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Customers.Change(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, customerSavedG1Of(out.Result)), err
}

// changeCustomerV2 merges too, and answers the whole customer after the change.
func (a *api) changeCustomerV2(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, draft, options := inPath(q, "customerUID", customers.ParseUID), customerChangeV2(q.fields()),
		q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Customers.Change(r.Context(), uid, draft, options)
	if err != nil {
		return done(http.StatusOK, out.Receipt, nil), err
	}
	now, _, err := a.customerV2(r.Context(), a.core.PrimaryBatch(), uid)
	if err != nil {
		a.Log.ErrorContext(r.Context(), "a customer was changed, but cannot be shown", "error", err)
		err = errUnshown
	}
	return done(http.StatusOK, out.Receipt, []customerChangedV2{customerChangedV2Of(now)}), err
}
