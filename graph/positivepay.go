package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/positivepay"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var positivePayRuleKind = numbered("PositivePayRule", kind[positivepay.UID, positivepay.Rule]{
	prefix: scalar.PositivePayRulePrefix,
	find:   func(c *core.Core) finder[positivepay.UID, positivepay.Rule] { return c.PositivePay.FindMany },
	key:    func(r *positivepay.Rule) positivepay.UID { return r.UID },
	columns: columns{
		"amount": {"Minor", "Currency"}, "status": {
			"State", "EffectiveDate", "ExpiryDate", "Today", "Frequency", "Used", "NumberOfPayments",
		},
		"beneficiaryAccountNumber": {"BeneficiaryNumber"},
	},
})

func init() {
	service := func(c *core.Core) *positivepay.Service { return c.PositivePay }
	queryList("positivePayRules", positivePayRuleKind, service, (*positivepay.Service).List,
		(*positivepay.Service).CountUpTo, nil)
	hasMany(customerKind, "positivePayRules", positivePayRuleKind, pages(service,
		(*positivepay.Service).OfCustomers, capped((*positivepay.Service).CountOfCustomers)))
	hasCustomer(positivePayRuleKind, "customer", func(r *positivepay.Rule) *customers.UID { return &r.Customer })
	hasOne(positivePayRuleKind, "account", accountKind,
		func(r *positivepay.Rule) *accounts.UID { return &r.Account })
	prices["PositivePayRuleConnection.totalCount"] = countMany
	prices["PositivePayRuleConnection.totalCountIsExact"] = countMany
	for _, field := range []string{"account", "status", "type", "achCompanyId", "beneficiaryName"} {
		prices["PositivePayRuleFilter."+field] = scan
	}
	prices["PositivePayRuleFilter.customer"] = sorted
	subjects["positivePayRule"] = subject{
		codes: codes{fault.NotFound: "PP001", fault.State: "PP001"},
		fields: map[string]string{
			"customerAccountNumber": "account", "paymentRuleType": "type", "achCompanyID": "achCompanyId",
			"beneName": "beneficiaryName", "beneBankId": "beneficiaryBankId", "beneBankName": "beneficiaryBankName",
			"beneAccountNumber": "beneficiaryAccountNumber", "transactionIdNumber": "individualId",
		},
	}
}

func (m mutations) CreatePositivePayRule(
	ctx context.Context, in model.PositivePayRuleDraft,
) (*model.PositivePayRulePayload, error) {
	done, err := m.core.PositivePay.Create(ctx, in.Draft, in.RequestOptions)
	return positivePayRuleKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ChangePositivePayRule(
	ctx context.Context, in model.PositivePayRuleDraft,
) (*model.PositivePayRulePayload, error) {
	done, err := m.core.PositivePay.Change(ctx, in.UID, in.Draft, in.RequestOptions)
	return positivePayRuleKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ActivatePositivePayRule(
	ctx context.Context, in model.PositivePayRuleDraft,
) (*model.PositivePayRulePayload, error) {
	done, err := m.core.PositivePay.Activate(ctx, in.UID, in.RequestOptions)
	return positivePayRuleKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) SuspendPositivePayRule(
	ctx context.Context, in model.PositivePayRuleDraft,
) (*model.PositivePayRulePayload, error) {
	done, err := m.core.PositivePay.Suspend(ctx, in.UID, in.RequestOptions)
	return positivePayRuleKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) DeletePositivePayRule(
	ctx context.Context, in model.PositivePayRuleDraft,
) (*model.DeletePositivePayRulePayload, error) {
	done, err := m.core.PositivePay.Delete(ctx, in.UID, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.DeletePositivePayRulePayload{
		UID: done.Result.UID, Approval: waiting(ctx, done.Receipt), Replayed: done.Replayed,
	}, nil
}
