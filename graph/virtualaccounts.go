package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/virtualaccounts"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var virtualAccountKind = numbered("VirtualAccount", kind[virtualaccounts.UID, virtualaccounts.VirtualAccount]{
	prefix: scalar.VirtualAccountPrefix,
	find: func(c *core.Core) finder[virtualaccounts.UID, virtualaccounts.VirtualAccount] {
		return c.VirtualAccounts.FindMany
	},
	key:     func(v *virtualaccounts.VirtualAccount) virtualaccounts.UID { return v.UID },
	columns: columns{"balance": {"BalanceMinor", "Currency"}, "limit": {"LimitMinor", "Currency"}},
})

var virtualTransactionKind = numbered("VirtualTransaction",
	kind[virtualaccounts.PostingID, virtualaccounts.VirtualPosting]{
		prefix: scalar.VirtualTransactionPrefix,
		find: func(c *core.Core) finder[virtualaccounts.PostingID, virtualaccounts.VirtualPosting] {
			return c.VirtualAccounts.FindPostings
		},
		key: func(p *virtualaccounts.VirtualPosting) virtualaccounts.PostingID { return p.ID },
		columns: columns{
			"amount": {"Minor", "Currency"}, "fee": {"FeeMinor", "Currency"}, "postedBy": {"LoginID", "Client"},
		},
	})

func init() {
	service := func(c *core.Core) *virtualaccounts.Service { return c.VirtualAccounts }
	query("virtualAccount", (*operation).virtualAccount)
	queryList("virtualAccounts", virtualAccountKind, service, (*virtualaccounts.Service).List,
		(*virtualaccounts.Service).CountUpTo, nil)
	hasMany(customerKind, "virtualAccounts", virtualAccountKind, pages(service,
		(*virtualaccounts.Service).OfCustomers, capped((*virtualaccounts.Service).CountOfCustomers)))
	hasMany(accountKind, "virtualAccounts", virtualAccountKind, pages(service,
		(*virtualaccounts.Service).OfAccounts, capped((*virtualaccounts.Service).CountOfAccounts)))
	hasMany(virtualAccountKind, "transactions", virtualTransactionKind, pages(service,
		(*virtualaccounts.Service).Postings, capped((*virtualaccounts.Service).CountPostings)))
	has(virtualAccountKind, "fullNumber", queueFullNumbers)
	hasCustomer(virtualAccountKind, "customer",
		func(v *virtualaccounts.VirtualAccount) *customers.UID { return &v.Customer })
	hasOne(virtualAccountKind, "account", accountKind,
		func(v *virtualaccounts.VirtualAccount) *accounts.UID { return &v.Account })
	hasOne(virtualTransactionKind, "virtualAccount", virtualAccountKind,
		func(p *virtualaccounts.VirtualPosting) *virtualaccounts.UID { return &p.VirtualAccount })
	hasOne(virtualTransactionKind, "payment", paymentKind,
		func(p *virtualaccounts.VirtualPosting) *payments.UID { return (*payments.UID)(&p.Payment) })
	for _, connection := range []string{"VirtualAccountConnection", "VirtualTransactionConnection"} {
		prices[connection+".totalCount"], prices[connection+".totalCountIsExact"] = countMany, countMany
	}
	for _, field := range []string{"account", "name", "purpose", "externalAccountReference", "status"} {
		prices["VirtualAccountFilter."+field] = scan
	}
	prices["VirtualAccountFilter.customer"] = sorted
	subjects["virtualAccount"] = subject{
		codes: codes{
			fault.NotFound: "VIRTUALACCOUNT_ACCOUNTNUMBER_NOTFOUND", fault.State: "VIRTUALACCOUNT_REQUEST_INVALID",
		},
		fields: map[string]string{
			"accountName": "name", "masterAccountNumber": "account", "accountNumber": "number", "limit": "limitPeriod",
			"limitAmount": "limit",
		},
	}
}

// virtualAccount answers Query.virtualAccount.
func (o *operation) virtualAccount(
	ctx context.Context, f graphql.CollectedField,
) (*virtualaccounts.VirtualAccount, error) {
	by, _, err := lookup[model.VirtualAccountBy](ctx, f)
	if err != nil {
		return nil, err
	}
	if by.UID != nil {
		return virtualAccountKind.one(ctx, *by.UID, f)
	}
	number, err := virtualaccounts.ParseNumber("by.number", *by.Number)
	if err != nil {
		return nil, err
	}
	b := o.batch()
	rows := o.core.VirtualAccounts.List(ctx, b, virtualaccounts.Search{Number: number},
		db.ColumnsOf[virtualaccounts.VirtualAccount]("UID"), page.First(1))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	found, err := rows.One()
	if err != nil || found == nil {
		return nil, err
	}
	return virtualAccountKind.one(ctx, found.UID, f)
}

// queueFullNumbers reads the numbers of virtual accounts, in full.
func queueFullNumbers(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, _ graphql.CollectedField,
) (func(virtualaccounts.UID) (*virtualaccounts.FullNumber, error), step) {
	found := o.core.VirtualAccounts.FindMany(ctx, b, s.keys.([]virtualaccounts.UID),
		db.ColumnsOf[virtualaccounts.VirtualAccount]("Whole"))
	return func(key virtualaccounts.UID) (*virtualaccounts.FullNumber, error) {
		v, err := oneOf(found, key)
		if err != nil || v == nil {
			return nil, err
		}
		number, err := o.core.VirtualAccounts.NumberOf(ctx, v)
		if err != nil {
			return nil, err
		}
		return &virtualaccounts.FullNumber{Digits: string(number)}, nil
	}, nil
}

func (m mutations) OpenVirtualAccount(
	ctx context.Context, in model.VirtualAccountDraft,
) (*model.VirtualAccountPayload, error) {
	done, err := m.core.VirtualAccounts.Open(ctx, in.Customer, in.Draft, in.RequestOptions)
	return virtualAccountKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ChangeVirtualAccount(
	ctx context.Context, in model.VirtualAccountDraft,
) (*model.VirtualAccountPayload, error) {
	done, err := m.core.VirtualAccounts.Change(ctx, 0, in.UID, in.Draft, in.RequestOptions)
	return virtualAccountKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) CloseVirtualAccount(
	ctx context.Context, in model.VirtualAccountDraft,
) (*model.VirtualAccountPayload, error) {
	done, err := m.core.VirtualAccounts.Close(ctx, 0, in.UID, in.RequestOptions)
	return virtualAccountKind.payload(ctx, done.Result.UID, done.Receipt, err)
}
