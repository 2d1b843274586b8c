package fees

import (
	"cmp"
	"context"
	"slices"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/ident"
	"bankgraph/core/money"
)

// cheaperTx reports whether somebody outside the bank makes something cheaper for a customer, or free, with a
// tier t in the place of was, which is nil for a new one. What is charged before and after is compared for
// each account that may pay by either.
func cheaperTx(ctx context.Context, tx *changes.Tx, was, t *Tier) (bool, error) {
	if tx.Caller.Reach == access.OfBank {
		return false, nil
	}
	all, err := catalogue(ctx, tx, t.Tenant)
	if err != nil {
		return false, err
	}
	var others []*Tier
	err = tx.NewSelect().Model(&others).Where("f.tenant = ?", t.Tenant).Where("f.customer = ?", t.Customer).
		Where("f.status = ?", Active).Where("f.id <> ?", t.ID).Scan(ctx)
	if err != nil {
		return false, err
	}
	ends := []*Tier{t}
	if was != nil {
		ends = append(ends, was)
	}
	for _, of := range ends {
		before, after := pricesOf(of, all, others, was), pricesOf(of, all, others, t)
		for _, account := range accountsOf(ends, others) {
			for _, currency := range before.currencies() {
				was, is := before.of(account, currency), after.of(account, currency)
				if was != nil && was.PriceMinor > 0 && (is == nil || is.PriceMinor < was.PriceMinor) {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

// accountsOf returns the accounts whose charges may differ once one tier comes in the place of another; nil
// among them stands for those that have no tiers of their own.
func accountsOf(ends, others []*Tier) (all []*accounts.UID) {
	whole := func(t *Tier) bool { return t.Account == nil }
	for _, t := range ends {
		all = append(all, t.Account)
	}
	if slices.ContainsFunc(ends, whole) {
		for _, t := range others {
			all = append(all, t.Account)
		}
	}
	return all
}

// prices are what tiers of one fee, by its name, cost: those of accounts before those of the whole customer,
// and the oldest first, as ChargesOf reads them.
type prices []price

type price struct {
	*Tier
	fee *Fee
}

// pricesOf returns the prices of the fee that a tier is of, by some tiers and one more, unless it is nil.
func pricesOf(of *Tier, all []*Fee, tiers []*Tier, more *Tier) (p prices) {
	if more != nil {
		tiers = append(slices.Clone(tiers), more)
	}
	for _, t := range tiers {
		if !ident.Same(t.Application, of.Application) || !ident.Same(t.FeeName, of.FeeName) {
			continue
		}
		if fee := t.fee(all); fee != nil {
			p = append(p, price{t, fee})
		}
	}
	order := func(p price) int { // those of accounts first
		if p.Account != nil {
			return 0
		}
		return 1
	}
	slices.SortFunc(p, func(a, b price) int { return cmp.Or(order(a)-order(b), cmp.Compare(a.ID, b.ID)) })
	return p
}

func (p prices) currencies() (all []money.Currency) {
	for _, one := range p {
		if !slices.Contains(all, one.fee.Currency) {
			all = append(all, one.fee.Currency)
		}
	}
	return all
}

// of returns what an account in a currency is charged; nil for nothing. The account is nil for one that has
// no tiers of its own.
func (p prices) of(account *accounts.UID, currency money.Currency) *Fee {
	for _, one := range p {
		if one.fee.Currency == currency &&
			(one.Account == nil || account != nil && *account == *one.Account) {
			return one.fee
		}
	}
	return nil
}

// fee returns what the catalogue has for a tier; nil if it has nothing by now.
func (t *Tier) fee(all []*Fee) *Fee {
	at := slices.IndexFunc(all, func(f *Fee) bool {
		return ident.Same(f.Application, t.Application) && ident.Same(f.Product, t.Product) &&
			ident.Same(f.FeeName, t.FeeName) && ident.Same(f.FeeTier, t.FeeTier)
	})
	if at < 0 {
		return nil
	}
	return all[at]
}
