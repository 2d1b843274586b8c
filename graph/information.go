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
	const request = "PaymentInformationRequest."
	for field := range informationWords {
		prices[request+field] = 1 // to open them
	}
	listSizes[request+"missingInformation"], listSizes[request+"incorrectInformation"] = 2, 2 // of ten in all
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

// informationWords are the fields of a request for information whose words are sealed.
var informationWords = map[string]bool{
	"initiatingPartyName": true, "missingInformation": true, "incorrectInformation": true, "answer": true,
}

// queueInformation reads what was asked about payments last, and opens its words if they are asked for.
func queueInformation(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (func(payments.UID) ([]*payments.InformationRequest, error), step) {
	last, err := howMany(ctx, f, "last", payments.MostInformationShown)
	if err != nil {
		return func(payments.UID) ([]*payments.InformationRequest, error) { return nil, err }, nil
	}
	part := payments.InformationPart{Last: last}
	op := graphql.GetOperationContext(ctx)
	for _, asked := range graphql.CollectFields(op, f.Selections, []string{"PaymentInformationRequest"}) {
		part.Words = part.Words || informationWords[asked.Name]
	}
	all := o.core.Payments.InformationRequestsOf(ctx, b, s.keys.([]payments.UID), part)
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
