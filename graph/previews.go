package graph

import (
	"context"
	"errors"
	"reflect"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/graph/generated"
	"bankgraph/graph/model"
)

func init() {
	query("previewPayment", (*operation).previewPayment)
	query("previewTransfer", (*operation).previewTransfer)
	prices["Query.previewPayment"], prices["Query.previewTransfer"] = tried, tried
	listSizes["PaymentPreview.rails"], listSizes["PaymentPreview.limits"] = 2, 8
	listSizes["PaymentPreview.faults"], listSizes["PaymentPreview.warnings"] = 4, 1
}

// previewPayment answers Query.previewPayment.
func (o *operation) previewPayment(
	ctx context.Context, f graphql.CollectedField,
) (*model.PaymentPreview, error) {
	in, err := drafted[model.OrderDraft](ctx, f)
	if err != nil {
		return nil, err
	}
	order, err := in.Whole()
	return previewed(credit, err, func() (*payments.Preview,
		error,
	) {
		return o.core.Payments.PreviewSend(ctx, order)
	})
}

// previewTransfer answers Query.previewTransfer.
func (o *operation) previewTransfer(
	ctx context.Context, f graphql.CollectedField,
) (*model.PaymentPreview, error) {
	in, err := drafted[model.FundsDraft](ctx, f)
	if err != nil {
		return nil, err
	}
	draft, err := in.Whole()
	return previewed("payment", err, func() (*payments.Preview,
		error,
	) {
		return o.core.Payments.PreviewTransfer(ctx, draft)
	})
}

// drafted reads the argument input as a mutation would.
func drafted[D any](ctx context.Context, f graphql.CollectedField) (draft D, err error) {
	given := argumentsOf(ctx, f)[mutationInput]
	reader := generated.Inputs[reflect.TypeFor[D]()]
	read, err := reader(ctx, given)
	if err != nil {
		return draft, malformed(ctx, mutationInput, given, reader,
			fault.Field("argument", mutationInput, fault.Malformed, err.Error()))
	}
	return read.(D), nil
}

// previewed shows a preview, whose faults read as those of the mutation for payments of a subject. An input
// that is refused before it comes to the bank is previewed by nothing else.
func previewed(
	subject string, refused error, preview func() (*payments.Preview, error),
) (*model.PaymentPreview, error) {
	if refused != nil {
		shown := shownFaults(subject, refused)
		if len(shown) == 0 {
			return nil, refused
		}
		return &model.PaymentPreview{Preview: new(payments.Preview), Faults: shown}, nil
	}
	v, err := preview()
	if err != nil {
		return nil, err
	}
	shown := &model.PaymentPreview{Preview: v}
	for _, one := range v.Faults {
		shown.Faults = append(shown.Faults, shownFaults(subject, one)...)
	}
	for _, one := range v.Warnings {
		shown.Warnings = append(shown.Warnings, shownFaults(subject, one)...)
	}
	return shown, nil
}

// shownFaults returns the faults of an error as the extensions of errors would say them.
func shownFaults(subject string, err error) (all []*model.PaymentFault) {
	var several fault.Faults
	if !errors.As(err, &several) {
		err = failed(err, subject)
	}
	for _, f := range faultsOf(err) {
		message, state := messageOf(f)
		all = append(all, &model.PaymentFault{
			Kind: string(f.Kind), Code: codeOf(f), Field: f.Field, Message: message, State: state,
		})
	}
	return all
}
