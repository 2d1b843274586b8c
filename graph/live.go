package graph

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/files"
	"bankgraph/core/live"
	"bankgraph/core/payments"
	"bankgraph/db"
	"bankgraph/graph/direct"
	"bankgraph/graph/generated"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
	"bankgraph/graph/transport"
)

// subscription answers a field of Subscription.
type subscription struct {
	// open begins to listen.
	open func(ctx context.Context, c *core.Core, a arguments) (*live.Listener, error)
	// read makes the answer to a change. It is nil if the caller does not see the object.
	read func(ctx context.Context, f graphql.CollectedField, change *live.Change) (any, error)
}

// subscriptions holds the fields of Subscription.
var subscriptions = map[string]subscription{
	"paymentChanged": {
		open: func(ctx context.Context, c *core.Core, a arguments) (*live.Listener, error) {
			customer, uid, since, err := a.heard("payment")
			if err != nil {
				return nil, err
			}
			return c.Live.Payments(ctx, customers.UID(customer), payments.UID(uid), since)
		},
		read: func(ctx context.Context, f graphql.CollectedField, change *live.Change) (any, error) {
			row, err := paymentKind.objectOf(ctx, payments.UID(change.UID), f, "payment")
			if row == nil {
				return nil, err
			}
			return &model.PaymentChange{ChangeHeader: model.ChangeHeaderOf(change), Payment: row}, nil
		},
	},
	"fileChanged": {
		open: func(ctx context.Context, c *core.Core, a arguments) (*live.Listener, error) {
			customer, uid, since, err := a.heard("file")
			if err != nil {
				return nil, err
			}
			return c.Live.Files(ctx, customers.UID(customer), files.FileUID(uid), since)
		},
		read: func(ctx context.Context, f graphql.CollectedField, change *live.Change) (any, error) {
			row, err := fileKind.objectOf(ctx, files.FileUID(change.UID), f, "file")
			if row == nil {
				return nil, err
			}
			return &model.FileChange{ChangeHeader: model.ChangeHeaderOf(change), File: row}, nil
		},
	},
	"balanceAlertFired": {
		open: func(ctx context.Context, c *core.Core, a arguments) (*live.Listener, error) {
			customer, uid, since, err := a.heard("account")
			if err != nil {
				return nil, err
			}
			return c.Live.BalanceAlerts(ctx, customers.UID(customer), accounts.UID(uid), since)
		},
		read: func(ctx context.Context, f graphql.CollectedField, change *live.Change) (any, error) {
			row, err := accountKind.objectOf(ctx, accounts.UID(change.UID), f, "account")
			if row == nil {
				return nil, err
			}
			return &model.BalanceAlertChange{ChangeHeader: model.ChangeHeaderOf(change), Account: row}, nil
		},
	},
}

func init() {
	subjects["stream"] = subject{codes: codes{
		fault.TooMany: "STREAM_TOO_SLOW", fault.Unavailable: "STREAM_ENDED", fault.Invalid: "INVALID_REQUEST",
	}}
}

// heard reads the arguments of a subscription to the changes of one kind of object.
func (a arguments) heard(object string) (customer, uid int64, since string, err error) {
	for name, into := range map[string]*int64{"customer": &customer, object: &uid} {
		if a[name] == nil {
			continue
		}
		if *into, err = scalar.ParseUID(a[name]); err != nil {
			return 0, 0, "", on(name, err)
		}
	}
	if a["since"] != nil {
		if since, err = scalar.UnmarshalString(a["since"]); err != nil {
			return 0, 0, "", on("since", err)
		}
	}
	return customer, uid, since, nil
}

// objectOf reads the object of a change with all that is asked of it. It is nil if the caller does not see
// it, also where nothing is asked of it.
func (k *kind[K, T]) objectOf(ctx context.Context, key K, f graphql.CollectedField, name string) (*T, error) {
	var asked []graphql.CollectedField
	answer := []string{f.Definition.Type.Name()}
	for _, field := range graphql.CollectFields(graphql.GetOperationContext(ctx), f.Selections, answer) {
		if field.Name == name {
			asked = append(asked, field)
		}
	}
	if len(asked) == 0 {
		b := operationOf(ctx).batch()
		found := k.find(operationOf(ctx).core)(ctx, b, []K{key}, db.ColumnsOf[T]("UID"))
		if err := b.Send(ctx); err != nil {
			return nil, err
		}
		return oneOf(found, key)
	}
	return k.one(ctx, key, mergeAliases(asked))
}

// answering is what subscriptions need to be answered.
type answering struct {
	core     *core.Core
	answers  *direct.Schema
	deadline time.Duration
}

// errOneField is told where directives leave a subscription without its field.
var errOneField = fault.New(fault.Invalid, "stream.one_field", "a subscription must ask for one field")

// subscribe opens a subscription. What it returns waits for the next change that the caller sees.
func (s answering) subscribe(ctx context.Context) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	asked := graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Subscription"})
	if len(asked) != 1 {
		graphql.AddError(ctx, errOneField)
		return nil
	}
	f, known := asked[0], subscriptions[asked[0].Name]
	at := graphql.WithPathContext(ctx, graphql.NewPathWithField(f.Alias))
	begin, cancel := context.WithTimeout(at, s.deadline)
	defer cancel()
	listener, err := known.open(begin, s.core, argumentsOf(ctx, f))
	if err != nil {
		if wrong, is := fault.Of(err); is && wrong.Subject == "feed" {
			err = on("since", err)
		}
		if ctx.Err() != nil { // nobody is there to be told
			err = ctx.Err()
		}
		graphql.AddError(at, err)
		return nil
	}
	context.AfterFunc(ctx, listener.Close)
	listener.ReadThrough(func(ctx context.Context) (context.Context, func(),
		error,
	) {
		return transport.Enter(ctx, op)
	})
	transport.Listening(op)
	ended := false
	return func(ctx context.Context) *graphql.Response {
		for !ended {
			data, err := s.next(ctx, listener, known, f)
			if err == nil && data == nil {
				continue // the caller does not see it
			}
			if err == nil {
				return &graphql.Response{Data: data}
			}
			ended = true
			listener.Close()
			if ctx.Err() == nil {
				graphql.AddError(ctx, err)
				return &graphql.Response{}
			}
		}
		return nil
	}
}

// next waits for a change and writes the answer to it, which is nil if the caller does not see it. What
// comes after the wait costs something, and so does each read of the past: the caller is asked for again, and
// takes its place among all that is worked on. An answer has the limits of a query.
func (s answering) next(
	ctx context.Context, listener *live.Listener, known subscription, f graphql.CollectedField,
) ([]byte, error) {
	change, err := listener.Next(ctx)
	if err != nil {
		return nil, err
	}
	op := graphql.GetOperationContext(ctx)
	ctx, cancel := context.WithTimeout(ctx, s.deadline)
	defer cancel()
	ctx, leave, err := transport.Enter(ctx, op)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx = db.WithMeter(ctx, db.MeterUnder(ctx, mostStatements))
	document := operationOf(ctx).document
	op.Stats.SetExtension(operationKey,
		&operation{core: s.core, fresh: true, document: document, families: map[any]*siblings{}})
	// What was read is not kept while the stream waits.
	defer op.Stats.SetExtension(operationKey, &operation{core: s.core, document: document})
	payload, err := known.read(graphql.WithPathContext(ctx, graphql.NewPathWithField(f.Alias)), f, change)
	if err != nil || payload == nil {
		return nil, err
	}
	return s.answers.Event(ctx, payload), nil
}

// unlistened is what gqlgen wants to be told of subscriptions, which it does not execute.
type unlistened struct{}

func (r *Resolver) Subscription() generated.SubscriptionResolver { return unlistened{} }

func (unlistened) PaymentChanged(
	context.Context, *int64, *int64, *string,
) (<-chan *model.PaymentChange, error) {
	return nil, errOneField
}

func (unlistened) FileChanged(context.Context, *int64, *int64, *string) (<-chan *model.FileChange, error) {
	return nil, errOneField
}

func (unlistened) BalanceAlertFired(
	context.Context, *int64, *int64, *string,
) (<-chan *model.BalanceAlertChange, error) {
	return nil, errOneField
}
