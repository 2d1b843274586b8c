package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"

	"github.com/99designs/gqlgen/graphql"
)

var exceptionKind = numbered("PositivePayException", kind[positivepay.ExceptionUID, positivepay.Exception]{
	prefix: scalar.PositivePayExceptionPrefix,
	find: func(c *core.Core) finder[positivepay.ExceptionUID, positivepay.Exception] {
		return c.PositivePay.FindExceptions
	},
	key:     func(e *positivepay.Exception) positivepay.ExceptionUID { return e.UID },
	columns: columns{"amount": {"Minor", "Currency"}, "decidedBy": {"DecidedLogin", "DecidedClient"}},
})

func init() {
	service := func(c *core.Core) *positivepay.Service { return c.PositivePay }
	queryList("positivePayExceptions", exceptionKind, service, (*positivepay.Service).ListExceptions,
		(*positivepay.Service).CountExceptions, nil)
	hasMany(customerKind, "positivePayExceptions", exceptionKind, pages(service,
		(*positivepay.Service).ExceptionsOfCustomers, capped((*positivepay.Service).CountExceptionsOfCustomers)))
	has(paymentKind, "positivePayException", queueExceptions)
	hasCustomer(exceptionKind, "customer", func(e *positivepay.Exception) *customers.UID { return &e.Customer })
	hasOne(exceptionKind, "account", accountKind,
		func(e *positivepay.Exception) *accounts.UID { return &e.Account })
	hasOne(exceptionKind, "rule", positivePayRuleKind,
		func(e *positivepay.Exception) *positivepay.UID { return named(&e.Rule) })
	hasOne(exceptionKind, "payment", paymentKind,
		func(e *positivepay.Exception) *payments.UID { return (*payments.UID)(&e.Payment) })
	prices["PositivePayExceptionConnection.totalCount"] = countMany
	prices["PositivePayExceptionConnection.totalCountIsExact"] = countMany
	for _, field := range []string{"account", "status", "secCode", "debitDateFrom", "debitDateTo"} {
		prices["PositivePayExceptionFilter."+field] = scan
	}
	prices["PositivePayExceptionFilter.customer"] = sorted
	listSizes["DecidePositivePayExceptionsPayload.decisions"] = payments.MostDecisions
	subjects[positivepay.ExceptionObject] = subject{
		codes:  codes{fault.NotFound: "PPD001", fault.State: "PPD001"},
		fields: map[string]string{"paymentId": "payment", "ids": "payments"},
	}
}

func queueExceptions(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (func(payments.UID) (*positivepay.Exception, error), step) {
	keys := s.keys.([]payments.UID)
	want, relations := exceptionKind.wants(ctx, f.Selections)
	found := o.core.Payments.ExceptionsOf(ctx, b, keys, want)
	of := func(key payments.UID) (*positivepay.Exception, error) { return oneOf(found, key) }
	if len(relations) == 0 {
		return of, nil
	}
	return of, arrivals(exceptionKind, o, keys, found, relations)
}

func (m mutations) ApprovePositivePayException(
	ctx context.Context, in model.ExceptionDecision,
) (*model.PositivePayExceptionPayload, error) {
	done, err := m.core.Payments.ApproveException(ctx, in.Payment, in.DecisionDraft, in.RequestOptions)
	return exceptionKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) RejectPositivePayException(
	ctx context.Context, in model.ExceptionDecision,
) (*model.PositivePayExceptionPayload, error) {
	done, err := m.core.Payments.RejectException(ctx, in.Payment, in.RequestOptions)
	return exceptionKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) DecidePositivePayExceptions(
	ctx context.Context, in model.ExceptionDecisions,
) (*model.ExceptionDecisionsPayload, error) {
	done, err := m.core.Payments.DecideExceptions(ctx, in.ManyDecisions, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	all := make([]*payments.DecidedException, len(done.Result))
	for i := range done.Result {
		all[i] = &done.Result[i]
	}
	return &model.ExceptionDecisionsPayload{
		Decisions: all, Approval: waiting(ctx, done.Receipt), Replayed: done.Replayed,
	}, nil
}
