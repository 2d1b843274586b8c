package graph

import (
	"context"
	"strconv"

	"bankgraph/core/accounts"
	"bankgraph/core/fault"
	"bankgraph/core/holds"
	"bankgraph/core/payments"
	"bankgraph/db"
	"bankgraph/graph/model"

	"github.com/99designs/gqlgen/graphql"
)

// holdPart is what is held on an account. It has no global id: it is a part of the account.
var holdPart = part("Hold", kind[holdKey, holds.Held]{
	key:     func(h *holds.Held) holdKey { return holdKey(h.ID) },
	columns: columns{"amount": {"Minor", "Currency"}, "uid": {"UID"}},
})

// holdKey is the number of a hold in the books.
type holdKey int64

func (k holdKey) String() string { return strconv.FormatInt(int64(k), 10) }

func init() {
	has(accountKind, "holds", queueHolds)
	hasOne(holdPart, "payment", paymentKind, func(h *holds.Held) *payments.UID {
		return named((*payments.UID)(&h.Payment))
	})
	subjects["hold"] = subject{codes: codes{fault.NotFound: "ACC002", fault.State: "ACC002"}}
}

func queueHolds(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (func(accounts.UID) ([]*holds.Held, error), step) {
	first, err := howMany(ctx, f, "first", holds.MostShown)
	if err != nil {
		return func(accounts.UID) ([]*holds.Held, error) { return nil, err }, nil
	}
	keys := s.keys.([]accounts.UID)
	found := o.core.Holds.OfAccounts(ctx, b, keys, first)
	of := func(key accounts.UID) ([]*holds.Held, error) {
		return append([]*holds.Held{}, found.Of[key]...), found.Err
	}
	_, relations := holdPart.wants(ctx, f.Selections)
	if len(relations) == 0 {
		return of, nil
	}
	return of, arrivals(holdPart, o, keys, found, relations)
}

func (m mutations) PlaceHold(ctx context.Context, in model.HoldDraft) (*model.PlaceHoldPayload, error) {
	done, err := m.core.Holds.Place(ctx,
		holds.Draft{Account: in.Account, Amount: in.Amount, ExpiresAt: in.ExpiresAt}, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.PlaceHoldPayload{
		UID: int64(done.Result.UID), Account: accountKind.changed(ctx, done.Result.Account),
		Approval: waiting(ctx, done.Receipt), Replayed: done.Replayed,
	}, nil
}

func (m mutations) ReleaseHold(ctx context.Context, in model.HoldDraft) (*model.ReleaseHoldPayload, error) {
	done, err := m.core.Holds.Release(ctx, holds.UID(in.UID), in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.ReleaseHoldPayload{
		UID: int64(done.Result.UID), Account: accountKind.changed(ctx, done.Result.Account),
		Approval: waiting(ctx, done.Receipt), Replayed: done.Replayed,
	}, nil
}
