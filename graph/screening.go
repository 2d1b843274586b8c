package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/payments"
	"bankgraph/graph/model"
)

func init() {
	hasPart(paymentKind, "screening", func(c *core.Core) *payments.Service { return c.Payments },
		(*payments.Service).ScreeningsOf)
	listSizes["PaymentScreening.matches"] = 2 // few payments have any
}

func (m mutations) ReleaseScreenedPayment(
	ctx context.Context, in model.PaymentDraft,
) (*model.PaymentPayload, error) {
	done, err := m.core.Payments.ReleaseScreened(ctx, in.UID, in.RequestOptions)
	return paymentKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) RejectScreenedPayment(
	ctx context.Context, in model.PaymentDraft,
) (*model.PaymentPayload, error) {
	done, err := m.core.Payments.RejectScreened(ctx, in.UID, in.RequestOptions)
	return paymentKind.payload(ctx, done.Result.UID, done.Receipt, err)
}
