package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/db"
	"bankgraph/graph/model"
)

func init() {
	has(paymentKind, "informationRequests", queueInformation)
	for _, list := range []string{
		"Payment.informationRequests", "PaymentInformationRequest.missingInformation",
		"PaymentInformationRequest.incorrectInformation", "PaymentInformationRequest.answer",
	} {
		listSizes[list] = 2 // of a payment little is asked
	}
	subjects["rfi"] = subject{
		codes:  codes{fault.NotFound: "RFI_PAYMENT_NOTFOUND", fault.State: "RFI_VALIDATION_ERROR"},
		fields: map[string]string{"paymentId": "uid"},
	}
	precise = append(precise,
		preciseCode{is: payments.ErrNoInformation, code: "RFI_PAYMENTDELIVERYMETHOD_INVALID"},
		preciseCode{is: payments.ErrInformationEarly, code: "RFI_OUTPAYMENTSTATUS_INVALID"},
		preciseCode{is: payments.ErrOwnRequest, code: "RFI_DIRECTION_INVALID"},
		preciseCode{is: payments.ErrOtherRail, code: "RFI_INCORRECTINFOCODE_MISMATCH"})
}

// queueInformation reads what was asked about payments, and opens its words.
func queueInformation(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, _ graphql.CollectedField,
) (func(payments.UID) ([]*payments.InformationRequest, error), step) {
	all := o.core.Payments.InformationRequestsOf(ctx, b, s.keys.([]payments.UID))
	return func(key payments.UID) ([]*payments.InformationRequest, error) {
		if all.Err != nil {
			return nil, all.Err
		}
		requests := append([]*payments.InformationRequest{}, all.Of[key]...)
		return requests, o.core.Payments.InformationIn(ctx, requests)
	}, nil
}

func (m mutations) RequestInformation(
	ctx context.Context, in model.InformationDraft,
) (*model.PaymentPayload, error) {
	done, err := m.core.Payments.RequestInformation(ctx, in.UID, in.InformationDraft, in.RequestOptions)
	return paymentKind.payload(ctx, in.UID, done.Receipt, err)
}

func (m mutations) PlayInformationRequest(
	ctx context.Context, in model.IncomingInquiry,
) (*model.PlayPayload, error) {
	return played(m.core.Sandbox.PlayInformationRequest(ctx, in.Payment, in.Inquiry, in.RequestOptions))
}
