package graph

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/limits"
	"bankgraph/core/rails"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

func init() {
	has(customerKind, "limits", queueLimits)
	listSizes["Customer.limits"] = 15 // the most for each rail
	precise = append(precise,
		preciseCode{is: limits.ErrProcessingOrg, code: "CUSTOMER_CUSTOMERID_NOTALLOWED"},
		preciseCode{is: limits.ErrNone, code: "CUSTOMERLIMIT_BASELINE_NOTFOUND"},
		preciseCode{subject: "limit", field: "limits", problem: fault.Required, code: "CUSTOMERLIMIT_LIST_EMPTY"},
		preciseCode{
			subject: "limit", field: "code", problem: fault.Required, code: "CUSTOMERLIMIT_ENTITYLIMITID_REQUIRED",
		},
		preciseCode{subject: "limit", field: "code", problem: fault.Unknown, code: "CUSTOMERLIMIT_UNKNOWN_KEY"},
		preciseCode{
			subject: "limit", field: "value", problem: fault.Required,
			code: "CUSTOMERLIMIT_VALUE_REQUIRED",
		},
		preciseCode{subject: "limit", field: "value", problem: fault.Min, code: "CUSTOMERLIMIT_VALUE_NEGATIVE"},
		preciseCode{subject: "limit", field: "value", code: "CUSTOMERLIMIT_VALUE_INVALID"},
		preciseCode{subject: "limit", field: "amount", code: "CUSTOMERLIMIT_AMOUNT_INVALID"},
		preciseCode{
			subject: "limit", field: "entryType", problem: fault.Required, code: "CUSTOMERLIMIT_ENTRYTYPE_REQUIRED",
		},
		preciseCode{subject: "limit", code: "CUSTOMERLIMIT_INVALID_REQUEST"},
	)
}

func queueLimits(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (func(customers.UID) ([]*limits.Limit, error), step) {
	asked, err := askedLimits(argumentsOf(ctx, f))
	if err != nil {
		return func(customers.UID) ([]*limits.Limit, error) { return nil, err }, nil
	}
	answers := o.core.Limits.OfCustomers(ctx, b, s.keys.([]customers.UID), asked)
	return func(uid customers.UID) ([]*limits.Limit, error) {
		found, err := answers.Of(uid)
		return found, ofLimits(err)
	}, nil
}

func askedLimits(a arguments) (asked limits.Asked, err error) {
	text := func(name string) string { value, _ := a[name].(string); return value }
	asked.Rail, asked.EntryType = rails.Rail(text("rail")), rails.EntryType(text("entryType"))
	asked.SECCode = rails.SECCode(text("secCode"))
	if a["amount"] != nil {
		amount, err := scalar.UnmarshalAmountText(a["amount"])
		if err != nil {
			return asked, on("amount", err)
		}
		asked.Amount = string(amount)
	}
	if a["date"] != nil {
		asked.On, err = scalar.UnmarshalDate(a["date"])
	}
	return asked, on("date", err)
}

// limitWords replaces the partners' names, which core uses, by those of the schema.
var limitWords = strings.NewReplacer("body", "limits", "entityLimitId", "code",
	"entityLimitValue", "value",
	"appName", "application", "paymentRail", "rail", "paymentAmount", "amount")

// ofLimits names arguments and fields of the schema in faults about limits.
func ofLimits(err error) error {
	if f, ok := fault.Of(err); ok && f.Subject == "limit" {
		field := f.Field
		if strings.HasPrefix(field, "[") { // the request is the list
			field = "limits" + field
		}
		return f.On(limitWords.Replace(field))
	}
	return err
}

func (m mutations) ChangeLimits(ctx context.Context, in model.LimitsDraft) (*model.CustomerPayload, error) {
	done, err := m.core.Limits.Change(ctx, in.Customer, in.Limits, in.RequestOptions)
	return customerKind.payload(ctx, done.Result.Customer, done.Receipt, ofLimits(err))
}
