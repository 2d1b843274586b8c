package payments

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/contacts"
	"bankgraph/core/given"
	"bankgraph/core/rails"
	"bankgraph/db"
)

// NoticedContact returns the contact that the payment of a notice of change named.
func (s *Service) NoticedContact(ctx context.Context, n contacts.Notice) (contacts.UID, error) {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return 0, err
	}
	var contact contacts.UID
	err = db.Raw(s.db, `SELECT coalesce(pd.contact, 0) FROM payments AS pay
		LEFT JOIN payment_details AS pd ON pd.tenant = ?0 AND pd.payment = pay.uid
		WHERE pay.tenant = ?0 AND pay.uid = ?2 AND `+caller.Reach.ScopeTx("pay.customer"),
		caller.Tenant, caller.ScopeCustomer(), n.Payment).Scan(ctx, &contact)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, ErrNotFound.On("payment")
	case err == nil && contact == 0:
		return 0, contacts.ErrNoticeOfNone
	}
	return contact, err
}

// NoticeTx returns what a notice of change says of a contact that is as the notice found it. The notice is
// locked.
func (s *Service) NoticeTx(
	ctx context.Context, tx *changes.Tx, k *contacts.Contact, of contacts.Notice,
) (draft contacts.Draft, err error) {
	n := new(Notice)
	_, err = changes.Lock(ctx, tx.NewSelect().Model(n).
		Column("tenant", "id", "code", "data_sealed", "contact_version", "applied_at").
		Where("an.tenant = ?", k.Tenant).Where("an.payment = ?", of.Payment).Where("an.code = ?", of.Code),
		n, contacts.ErrNotice.On("code"))
	switch {
	case err != nil:
		return draft, err
	case n.AppliedAt != nil:
		return draft, contacts.ErrNoticeApplied
	case n.Contact != k.Version:
		return draft, contacts.ErrNoticeOvertaken
	}
	if err := n.open(s.keys, true); err != nil {
		return draft, err
	}
	return n.corrects(k)
}

// corrects returns how a notice changes a contact. One that cannot be read, or says something that contacts
// do not have, changes none.
func (n *Notice) corrects(k *contacts.Contact) (draft contacts.Draft, err error) {
	right := n.Right
	country, _ := check.CountryOf(k.Bank.Country)
	switch {
	case !n.whole():
		return draft, contacts.ErrNoticeUseless.Saying("the notice of change says nothing that a contact has")
	case right.Routing != "" && country.Code != "US" && country.Code != "":
		return draft, contacts.ErrNoticeUseless.Saying(
			"the notice of change says another routing number, and the contact's bank is abroad")
	}
	if right.Account != "" {
		draft.Bank.AccountNumber = given.Of(right.Account)
	}
	if right.Routing != "" {
		draft.Bank.NationalCode = given.Of(right.Routing)
	}
	if right.Name != "" {
		draft.Name = given.Of(right.Name)
	}
	if kind := right.AccountType; kind != "" && kind != accountTypes[k.Bank.AccountSubType] {
		product, known := products[kind]
		if !known {
			return draft, contacts.ErrNoticeUseless.Saying(
				"the notice of change says that the account is a loan, and not of which kind")
		}
		draft.Bank.AccountType, draft.Bank.AccountSubType = given.Of(product[0]), given.Of(product[1])
	}
	return draft, nil
}

// products are what a contact's account is, by the account type of ACH. Of a loan, ACH does not say which.
var products = map[rails.AccountType][2]string{
	rails.Checking: {"Deposit", "Checking"}, rails.Savings: {"Deposit", "Savings"}, rails.GL: {general, general},
}

// whole reports whether a notice says all of a contact that its code announces.
func (n *Notice) whole() bool {
	has := map[string]bool{
		"number": n.Right.Account != "", "routing": n.Right.Routing != "", "type": n.Right.AccountType != "",
		"name": n.Right.Name != "",
	}
	return len(announced[n.Code]) > 0 &&
		!slices.ContainsFunc(announced[n.Code], func(part string) bool { return !has[part] })
}

// announced is what notices say of a contact, by their code.
var announced = map[string][]string{
	"C01": {"number"}, "C02": {"routing"}, "C03": {"routing", "number"}, "C04": {"name"}, "C05": {"type"},
	"C06": {"number", "type"}, "C07": {"routing", "number", "type"},
}

// FollowedTx keeps who has a contact follow a notice of change, and that it does, once nobody has to agree
// any more.
func (s *Service) FollowedTx(ctx context.Context, tx *changes.Tx, of contacts.Notice) error {
	q := tx.NewUpdate().Model((*Notice)(nil)).Where("tenant = ?", tx.Caller.Tenant).
		Where("payment = ?", of.Payment).Where("code = ?", of.Code)
	if !tx.Approved() {
		q = q.Set("maker_client = ?", tx.Caller.Client).Set("maker_login = ?", tx.Caller.LoginID).
			Set("maker_reach = ?", tx.Caller.Reach)
	}
	if tx.Waits() {
		q = q.Set("approval = ?", tx.Approval())
	} else {
		q = q.Set("applied_at = ?", tx.Now)
	}
	_, err := q.Exec(ctx)
	return err
}
