package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var customerKind = numbered("Customer", kind[customers.UID, customers.Customer]{
	prefix: scalar.CustomerPrefix,
	find:   func(c *core.Core) finder[customers.UID, customers.Customer] { return c.Customers.FindMany },
	key:    func(c *customers.Customer) customers.UID { return c.UID },
})

func init() {
	query("customer", (*operation).customer)
	queryList("customers", customerKind, func(c *core.Core) *customers.Service { return c.Customers },
		(*customers.Service).List, (*customers.Service).CountUpTo, customerOrders)
	hasCustomer(customerKind, "parent", func(c *customers.Customer) *customers.UID { return c.Parent })
	prices["CustomerConnection.totalCount"] = countMany
	prices["CustomerConnection.totalCountIsExact"] = countMany
	prices["CustomerFilter.text"] = search
	for _, field := range []string{"type", "status"} {
		// the index of names does not tell them apart
		prices["CustomerFilter."+field], pricesInOrder["CustomerFilter."+field] = sorted, scan
	}
	precise = append(precise, preciseCode{is: customers.ErrInactive, code: "CUSTOMER_CUSTOMERID_STATUS"})
	subjects["customer"] = subject{
		codes: codes{fault.Denied: "CUST001"},
		fields: map[string]string{
			"customerType": "type", "achCompanyID": "achCompanyId", "webSite": "website",
			"legalAddress.addressLine1":                               "legalAddress.line1",
			"legalAddress.addressLine2":                               "legalAddress.line2",
			"mailingAddress.addressLine1":                             "mailingAddress.line1",
			"mailingAddress.addressLine2":                             "mailingAddress.line2",
			"additionalProfileDetails":                                "profile",
			"legalEntityAccessSettings":                               "access",
			"legalEntityAccessSettings.paymentLimitforFirstApprover":  "access.firstApproverLimit",
			"legalEntityAccessSettings.paymentLimitforSecondApprover": "access.secondApproverLimit",
			"legalEntityAccessSettings.paymentNumberOfApprovers":      "access.numberOfApprovers",
		},
	}
}

func customerOrders(a arguments, by *customers.Search) order[customers.Customer] {
	if a["orderBy"] == "NAME" {
		by.Order = customers.ByName
		return byLegalName
	}
	by.Order = customers.ByUID
	return order[customers.Customer]{name: string(customers.ByUID)}
}

var byLegalName = order[customers.Customer]{
	name: string(customers.ByName), needs: db.ColumnsOf[customers.Customer]("LegalName"),
	value: func(c *customers.Customer) string { return c.LegalName },
}

var customerOfAccount = db.ColumnsOf[accounts.Account]("Customer")

// customer answers Query.customer.
func (o *operation) customer(ctx context.Context, f graphql.CollectedField) (*customers.Customer, error) {
	by, key, err := lookup[model.CustomerBy](ctx, f)
	if err != nil {
		return nil, err
	}
	var search customers.Search
	switch key {
	case "uid":
		return customerKind.one(ctx, *by.UID, f)
	case "accountNumber":
		b := o.batch()
		number := accounts.By{Number: *by.AccountNumber}
		account := o.core.Accounts.FindWith(ctx, b, number, customerOfAccount, db.Columns{})
		if err := b.Send(ctx); err != nil {
			return nil, err
		}
		found, err := account.One()
		if err != nil || found == nil {
			return nil, err
		}
		return customerKind.one(ctx, found.Account.Customer, f)
	case "customerId":
		search.CustomerID = *by.CustomerID
	case "shortName":
		search.ShortName = *by.ShortName
	}
	if search == (customers.Search{}) {
		return nil, nil // empty text names nobody, but would match everybody
	}
	return o.searchCustomer(ctx, search, f.Selections)
}

// searchCustomer reads the customer that a search finds, with what the selection asks for.
func (o *operation) searchCustomer(
	ctx context.Context, by customers.Search, selection ast.SelectionSet,
) (*customers.Customer, error) {
	want, relations := customerKind.wants(ctx, selection)
	b, first := o.batch(), page.First(1)
	rows := o.core.Customers.List(ctx, b, by, want, first)
	if err := o.read(ctx, b, []step{customerKind.arrival(o, rows, first, relations)}); err != nil {
		return nil, err
	}
	return rows.One()
}

func (m mutations) CreateCustomer(
	ctx context.Context, in model.CustomerDraft,
) (*model.CustomerPayload, error) {
	done, err := m.core.Customers.Create(ctx, in.Draft, in.RequestOptions)
	return customerKind.payload(ctx, done.Result.UID, done.Receipt, ofLimits(err))
}

func (m mutations) ChangeCustomer(
	ctx context.Context, in model.CustomerDraft,
) (*model.CustomerPayload, error) {
	done, err := m.core.Customers.Change(ctx, in.UID, in.Draft, in.RequestOptions)
	return customerKind.payload(ctx, done.Result.UID, done.Receipt, ofLimits(err))
}

func (m mutations) SuspendCustomer(
	ctx context.Context, in model.CustomerDraft,
) (*model.CustomerPayload, error) {
	done, err := m.core.Customers.Suspend(ctx, in.UID, in.RequestOptions)
	return customerKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ActivateCustomer(
	ctx context.Context, in model.CustomerDraft,
) (*model.CustomerPayload, error) {
	done, err := m.core.Customers.Activate(ctx, in.UID, in.RequestOptions)
	return customerKind.payload(ctx, done.Result.UID, done.Receipt, err)
}
