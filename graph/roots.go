package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/graph/model"
)

// under makes rows that were read siblings and plans their relations.
func under[T any, K comparable](ctx context.Context, o *operation, next *db.Batch, k *kind, rows []*T, keys []K, relations []graphql.CollectedField) []step {
	s := family(keys)
	arrive(o, s, rows)
	return o.children(ctx, next, k, s, relations)
}

// find queues rows by their keys and, beside them, the relations that need no more than the keys.
func find[K comparable, T any](ctx context.Context, o *operation, b *db.Batch, k *kind, keys []K, selection ast.SelectionSet,
	many func(context.Context, *db.Batch, []K, db.Columns) *db.Many[K, T],
) (*db.Many[K, T], step) {
	want, relations := k.wants(ctx, selection)
	queued := b.Len()
	found := many(ctx, b, keys, want)
	if len(relations) == 0 || found.Err != nil && b.Len() == queued { // nothing hangs below what is refused
		return found, nil
	}
	s := family(keys)
	steps := o.children(ctx, b, k, s, relations)
	return found, func(ctx context.Context, next *db.Batch) []step {
		var rows []*T
		for _, key := range keys {
			rows = append(rows, found.Of[key]...)
		}
		arrive(o, s, rows)
		var further []step
		for _, step := range steps {
			further = append(further, step(ctx, next)...)
		}
		return further
	}
}

// oneOf is the row of a key; nil where it does not exist for the caller.
func oneOf[K comparable, T any](found *db.Many[K, T], key K) (*T, error) {
	if found.Err != nil || len(found.Of[key]) == 0 {
		return nil, found.Err
	}
	return found.Of[key][0], nil
}

// root reads one object and all that its selection asks for.
func root[K comparable, T any](ctx context.Context, k *kind, key K, f graphql.CollectedField, many func(context.Context, *db.Batch, []K, db.Columns) *db.Many[K, T]) (*T, error) {
	o := operationOf(ctx)
	b := o.batch()
	found, next := find(ctx, o, b, k, []K{key}, f.Selections, many)
	if err := o.read(ctx, b, some(next)); err != nil {
		return nil, err
	}
	return oneOf(found, key)
}

var errOneOf = fault.Field("lookup", "by", fault.Malformed, "exactly one of the fields must be given")

// lookup is the one field that the argument by names. Validation has seen to it in literals, not in variables.
func lookup[By any](ctx context.Context, f graphql.CollectedField) (by By, name string, err error) {
	a := argumentsOf(ctx, f)
	given, _ := a["by"].(map[string]any)
	if len(given) != 1 {
		return by, "", errOneOf
	}
	for name = range given {
		if given[name] == nil {
			return by, "", errOneOf
		}
	}
	by, err = decode[By](ctx, a, "by")
	return by, name, err
}

// customer answers Query.customer.
func (o *operation) customer(ctx context.Context, f graphql.CollectedField) (*customers.Customer, error) {
	by, key, err := lookup[model.CustomerBy](ctx, f)
	if err != nil {
		return nil, err
	}
	var search customers.Search
	switch key {
	case "uid":
		return root(ctx, customerKind, *by.UID, f, o.core.Customers.FindMany)
	case "accountNumber":
		b := o.batch()
		account := o.core.Accounts.FindWith(ctx, b, accounts.By{Number: *by.AccountNumber}, db.Want[accounts.Account]("Customer"), db.Columns{})
		if err := b.Send(ctx); err != nil {
			return nil, err
		}
		found, err := account.One()
		if err != nil || found == nil {
			return nil, err
		}
		return root(ctx, customerKind, found.Account.Customer, f, o.core.Customers.FindMany)
	case "customerId":
		search.CustomerID = *by.CustomerID
	case "shortName":
		search.ShortName = *by.ShortName
	}
	if search == (customers.Search{}) {
		return nil, nil // the empty text names nobody; to a search it would mean everybody
	}
	found, err := o.search(ctx, search, page.First(1), f.Selections)
	if err != nil {
		return nil, err
	}
	return found.One()
}

// search reads customers and what is asked of each.
func (o *operation) search(ctx context.Context, by customers.Search, w page.Window, selection ast.SelectionSet) (*db.Rows[customers.Customer], error) {
	want, relations := customerKind.wants(ctx, selection)
	b := o.batch()
	rows := o.core.Customers.List(ctx, b, by, want, w)
	return rows, o.read(ctx, b, []step{o.customersArrive(rows, w, relations)})
}

// customersArrive goes on, once the rows are there, to what each customer on the page was asked for.
func (o *operation) customersArrive(rows *db.Rows[customers.Customer], w page.Window, relations []graphql.CollectedField) step {
	return func(ctx context.Context, next *db.Batch) []step {
		if len(relations) == 0 {
			return nil
		}
		shown := page.Cut(rows.Items, w).Items
		return under(ctx, o, next, customerKind, shown, each(shown, func(c *customers.Customer) (customers.UID, bool) { return c.UID, true }), relations)
	}
}

// customers answers Query.customers.
func (o *operation) customers(ctx context.Context, f graphql.CollectedField) (*model.CustomerConnection, error) {
	a := argumentsOf(ctx, f)
	by, err := decode[customers.Search](ctx, a, "filter")
	if err != nil {
		return nil, err
	}
	order := customers.ByUID
	if a["orderBy"] == "NAME" {
		order = customers.ByName
	}
	by.Order = order
	named := customerKind.orderOf(string(order))
	w, err := a.window(ctx, f, named)
	if err != nil {
		return nil, err
	}
	asked := inConnection(ctx, customerKind, f.Selections)
	if order == customers.ByName {
		asked.want = asked.want.And(db.Want[customers.Customer]("LegalName")) // the cursor carries it
	}
	b := o.batch()
	rows := o.core.Customers.List(ctx, b, by, asked.want, w)
	var count *db.Rows[db.Count]
	if asked.count {
		count = o.core.Customers.CountUpTo(ctx, b, by, model.MostCounted+1)
	}
	if err := o.read(ctx, b, []step{o.customersArrive(rows, w, asked.further)}); err != nil {
		return nil, err
	}
	return &model.CustomerConnection{
		Page: page.Cut(rows.Items, w), Window: w,
		Cursor: func(c *customers.Customer) page.Cursor {
			if order == customers.ByName {
				return page.Cursor{Order: named, Value: c.LegalName, UID: int64(c.UID)}
			}
			return page.Cursor{Order: named, UID: int64(c.UID)}
		},
		Count: func(context.Context) (int64, error) {
			n, err := count.One()
			if err != nil {
				return 0, err
			}
			return n.N, nil
		},
	}, rows.Err
}

// account answers Query.account. The customer's own columns come in the same statement.
func (o *operation) account(ctx context.Context, f graphql.CollectedField) (*accounts.Account, error) {
	by, _, err := lookup[model.AccountBy](ctx, f)
	if err != nil {
		return nil, err
	}
	var key accounts.By
	if by.UID != nil {
		key.UID = *by.UID
	} else {
		key.Number = *by.Number
	}
	want, relations := accountKind.wants(ctx, f.Selections)
	var (
		ofCustomer             db.Columns
		customer, own, further []graphql.CollectedField
	)
	for _, f := range relations {
		if f.Name != "customer" {
			own = append(own, f)
			continue
		}
		customer = append(customer, f)
		columns, relations := customerKind.wants(ctx, f.Selections)
		ofCustomer = ofCustomer.And(columns).And(db.Want[customers.Customer]("UID"))
		further = append(further, relations...)
	}
	b := o.batch()
	rows := o.core.Accounts.FindWith(ctx, b, key, want, ofCustomer)
	var found *accounts.Found
	err = o.read(ctx, b, []step{func(ctx context.Context, next *db.Batch) []step {
		if found, _ = rows.One(); found == nil {
			return nil
		}
		s := family([]accounts.UID{found.Account.UID})
		arrive(o, s, []*accounts.Account{&found.Account})
		steps := o.children(ctx, next, accountKind, s, own)
		if found.Customer.UID == 0 {
			return steps // the customer is not the caller's to see, or not asked for: accountCustomer says which
		}
		owner := family([]customers.UID{found.Customer.UID})
		arrive(o, owner, []*customers.Customer{&found.Customer})
		for _, f := range customer {
			s.answers[f.Field] = func(accounts.UID) (*customers.Customer, error) { return &found.Customer, nil }
		}
		return append(steps, o.children(ctx, next, customerKind, owner, together(further))...)
	}})
	if err != nil || rows.Err != nil || found == nil {
		return nil, firstError(err, rows.Err)
	}
	return &found.Account, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
