package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/banks"
	"bankgraph/core/contacts"
	"bankgraph/core/fault"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var bankKind = numbered("Bank", kind[banks.UID, banks.Bank]{
	prefix: scalar.BankPrefix,
	find:   func(c *core.Core) finder[banks.UID, banks.Bank] { return c.Banks.FindMany },
	key:    func(b *banks.Bank) banks.UID { return b.UID },
	columns: columns{
		"bic": {"Code"}, "branchBic": {"Code"}, "deliveryMethods": {"Code", "ACH", "Fedwire", "RTP", "FedNow"},
	},
})

func init() {
	query("bank", (*operation).bank)
	queryList("banks", bankKind, func(c *core.Core) *banks.Service { return c.Banks },
		(*banks.Service).List, (*banks.Service).CountUpTo, bankOrders)
	prices["BankConnection.totalCount"], prices["BankConnection.totalCountIsExact"] = countMany, countMany
	prices["BankFilter.text"], prices["BankFilter.city"] = search, search
	subjects["bank"] = subject{codes: codes{
		fault.Invalid:  "BANK_BANKID_NOMATCH",
		fault.NotFound: "BANK_BANKID_NOTFOUND",
	}}

	accountKind.relations["bank"] = bankOf(accountKind.key, (*accounts.Account).BankRefs)
	hasWithin(contactKind, "bank", "ContactBank", func(k *contacts.Contact) *contacts.Bank { return &k.Bank },
		(*contacts.Bank).Refs)
	hasWithin(contactKind, "intermediaryBank", "IntermediaryBank",
		func(k *contacts.Contact) *contacts.IntermediaryBank { return &k.Intermediary },
		(*contacts.IntermediaryBank).Refs)
}

// bankOrders sorts banks by their refs.
func bankOrders(arguments, *banks.Search) order[banks.Bank] { return byRef }

var byRef = order[banks.Bank]{
	name: "ref", needs: db.ColumnsOf[banks.Bank]("Ref"),
	value: func(b *banks.Bank) string { return string(b.Ref) },
}

// bank answers Query.bank.
func (o *operation) bank(ctx context.Context, f graphql.CollectedField) (*banks.Bank, error) {
	by, key, err := lookup[model.BankBy](ctx, f)
	if err != nil {
		return nil, err
	}
	var refs []banks.Ref
	switch key {
	case "routingNumber":
		refs, err = banks.Lookup{ID: *by.RoutingNumber, Type: string(banks.NID)}.Refs()
	case "bic":
		refs, err = banks.Lookup{ID: *by.BIC, Type: string(banks.BIC)}.Refs()
	case "iban":
		refs, err = banks.RefsOfIBAN(*by.IBAN)
	case "nationalId":
		refs, err = by.NationalID.Refs()
	}
	if wrong, ok := fault.Of(err); ok {
		return nil, wrong.On("by." + key)
	}
	want, _ := bankKind.wants(ctx, f.Selections)
	b := o.batch()
	found := o.core.Banks.Named(ctx, b, refs, want)
	if err := o.read(ctx, b, nil); err != nil {
		return nil, err
	}
	return banks.First(found, refs...)
}

// bankOf makes the relation from a row to the bank that it names; names returns the refs in the order in
// which they count.
func bankOf[P comparable, T any](key func(*T) P, names func(*T) banks.Refs) *relation[T, P, *banks.Bank] {
	type of = func(P) (*banks.Bank, error)
	return &relation[T, P, *banks.Bank]{
		key: key, late: true,
		queue: func(ctx context.Context, o *operation, b *db.Batch, s *siblings,
			f graphql.CollectedField,
		) (of, step) {
			named, all := map[P]banks.Refs{}, map[banks.Ref]bool{}
			var refs []banks.Ref
			for _, row := range s.rows.([]*T) {
				named[key(row)] = names(row)
				for _, ref := range names(row) {
					if ref != "" && !all[ref] {
						all[ref], refs = true, append(refs, ref)
					}
				}
			}
			if len(refs) == 0 {
				return func(P) (*banks.Bank, error) { return nil, nil }, nil
			}
			want, _ := bankKind.wants(ctx, f.Selections)
			found := o.core.Banks.Named(ctx, b, refs, want)
			return func(key P) (*banks.Bank, error) { refs := named[key]; return banks.First(found, refs[:]...) }, nil
		},
	}
}

// hasWithin declares that a group of columns, such as a contact's bank, names a bank of the directory.
func hasWithin[P objectKey, T, G any](
	k *kind[P, T], field, object string, of func(*T) *G, names func(*G) banks.Refs,
) {
	inner := &objectType{
		name: object, satisfies: []string{object},
		relations: map[string]planner{"entry": bankOf(names, names)},
	}
	objectTypes[object] = inner
	k.relations[field] = group[T, G, banks.Refs]{inner, of, names}
}
