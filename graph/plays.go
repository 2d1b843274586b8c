package graph

import (
	"context"

	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/sandbox"
	"bankgraph/graph/model"
)

func init() {
	subjects["play"] = subject{
		codes: codes{fault.NotFound: "SANDBOX001", fault.State: "SANDBOX001"},
		fields: map[string]string{
			"accountUID": "account", "paymentAmount": "amount", "paymentCurrency": "currency",
			"deliveryMethod": "rail", "senderAccountNumber": "senderNumber", "paymentNotes": "notes",
			"achCompanyID": "achCompanyId", "transactionIdNumber": "individualId",
			"creditorAccountNumber": "creditorNumber", "reversalCode": "code", "reversalNotes": "notes",
			"correctedAccountNumber": "accountNumber", "correctedRoutingNumber": "routingNumber",
			"correctedAccountType": "accountType",
		},
	}
	subjects["sandbox"] = subject{codes: subjects["play"].codes}
}

func (m mutations) PlayIncomingCredit(
	ctx context.Context, in model.IncomingCredit,
) (*model.PlayPayload, error) {
	in.Credit.Currency, in.Credit.Rail = string(in.Currency), string(in.Rail)
	return played(m.core.Sandbox.PlayCredit(ctx, in.Credit, in.RequestOptions))
}

func (m mutations) PlayIncomingDebit(
	ctx context.Context, in model.IncomingDebit,
) (*model.PlayPayload, error) {
	return played(m.core.Sandbox.PlayDebit(ctx, in.Debit, in.RequestOptions))
}

func (m mutations) PlayIncomingRequest(
	ctx context.Context, in model.IncomingRequest,
) (*model.PlayPayload, error) {
	in.Request.Rail = string(in.Rail)
	return played(m.core.Sandbox.PlayRequest(ctx, in.Request, in.RequestOptions))
}

func (m mutations) PlayRecall(ctx context.Context, in model.IncomingRecall) (*model.PlayPayload, error) {
	return played(m.core.Sandbox.PlayRecall(ctx, in.Payment, in.Recall, in.RequestOptions))
}

func (m mutations) PlayAnswer(ctx context.Context, in model.PlayedAnswer) (*model.PlayPayload, error) {
	return played(m.core.Sandbox.PlayAnswer(ctx, in.Payment, in.Answer, in.RequestOptions))
}

func played(done changes.Outcome[sandbox.Played], err error) (*model.PlayPayload, error) {
	if err != nil {
		return nil, err
	}
	return &model.PlayPayload{Played: done.Result, Replayed: done.Replayed}, nil
}
