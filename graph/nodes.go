package graph

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/signatories"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

// mostNodes is how many objects nodes reads at once.
const mostNodes = 100

// nodes reads objects of all kinds by their global ids: one statement for each kind, all in one round trip.
// An id that is malformed, absent or not the caller's to see gives nil.
func (o *operation) nodes(ctx context.Context, f graphql.CollectedField) ([]model.Node, error) {
	ids, err := decodeIDs(argumentsOf(ctx, f)["ids"])
	if err != nil {
		return nil, err
	}
	found, errs, err := o.byID(ctx, f, ids)
	if err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			graphql.AddError(ctx, &gqlerror.Error{Err: err, Message: err.Error(), Path: ast.Path{ast.PathName(f.Alias), ast.PathIndex(i)}})
		}
	}
	return found, nil
}

// node is nodes for one.
func (o *operation) node(ctx context.Context, f graphql.CollectedField) (model.Node, error) {
	id, err := graphql.UnmarshalID(argumentsOf(ctx, f)["id"])
	if err != nil {
		return nil, err
	}
	found, errs, err := o.byID(ctx, f, []string{id})
	if err != nil {
		return nil, err
	}
	return found[0], errs[0]
}

func decodeIDs(value any) ([]string, error) {
	list := graphql.CoerceList(value)
	ids := make([]string, len(list))
	for i, item := range list {
		var err error
		if ids[i], err = graphql.UnmarshalID(item); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// byID gives each id its object or its own error.
func (o *operation) byID(ctx context.Context, f graphql.CollectedField, ids []string) ([]model.Node, []error, error) {
	if len(ids) > mostNodes {
		return nil, nil, fault.Field("node", "ids", fault.Max, "at most 100 ids")
	}
	b := o.batch()
	readers := []reader{
		nodesOf[customers.UID](o, scalar.CustomerPrefix, customerKind, o.core.Customers.FindMany),
		nodesOf[accounts.UID](o, scalar.AccountPrefix, accountKind, o.core.Accounts.FindMany),
		nodesOf[contacts.UID](o, scalar.ContactPrefix, contactKind, o.core.Contacts.FindMany),
		nodesOf[signatories.UID](o, scalar.SignatoryPrefix, signatoryKind, o.core.Signatories.FindMany),
		nodesOf[audit.ID](o, scalar.AuditPrefix, auditKind, o.core.Audit.FindMany),
		nodesOf[changes.UID](o, scalar.ApprovalPrefix, approvalKind, o.core.Changes.FindMany),
		nodesBy(o, scalar.UserPrefix, userKind, userOf, o.core.Users.FindMany),
		nodesBy(o, scalar.RolePrefix, roleKind, roleOf, o.core.Roles.FindMany),
	}
	var steps []step
	for i := range readers {
		steps = append(steps, some(readers[i].queue(ctx, b, f, ids))...)
	}
	if err := o.read(ctx, b, steps); err != nil {
		return nil, nil, err
	}
	found, errs := make([]model.Node, len(ids)), make([]error, len(ids))
	for i, id := range ids {
		for _, r := range readers {
			if strings.HasPrefix(id, r.prefix) {
				found[i], errs[i] = r.node(id)
			}
		}
	}
	return found, errs, nil
}

// reader reads the objects of one kind.
type reader struct {
	prefix string
	queue  func(ctx context.Context, b *db.Batch, f graphql.CollectedField, ids []string) step
	node   func(id string) (model.Node, error)
}

func nodesOf[K ~int64, T any](o *operation, prefix string, k *kind, many func(context.Context, *db.Batch, []K, db.Columns) *db.Many[K, T]) reader {
	return nodesBy(o, prefix, k, func(text string) (K, error) {
		uid, err := scalar.ParseUID(text)
		return K(uid), err
	}, many)
}

// nodesBy is nodesOf for keys that are no numbers.
func nodesBy[K comparable, T any](o *operation, prefix string, k *kind, parse func(string) (K, error), many func(context.Context, *db.Batch, []K, db.Columns) *db.Many[K, T]) reader {
	var found *db.Many[K, T]
	return reader{
		prefix: prefix,
		queue: func(ctx context.Context, b *db.Batch, f graphql.CollectedField, ids []string) (next step) {
			var keys []K
			for _, id := range ids {
				uid, err := parse(strings.TrimPrefix(id, prefix))
				if err == nil && strings.HasPrefix(id, prefix) && !slices.Contains(keys, uid) {
					keys = append(keys, uid)
				}
			}
			if len(keys) > 0 {
				found, next = find(ctx, o, b, k, keys, f.Selections, many)
			}
			return next
		},
		node: func(id string) (model.Node, error) {
			uid, malformed := parse(strings.TrimPrefix(id, prefix))
			if malformed == nil && found != nil {
				row, err := oneOf(found, uid)
				if err != nil {
					return nil, err
				}
				if row != nil {
					return row, nil
				}
			}
			return nil, nil
		},
	}
}
