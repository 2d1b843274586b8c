package payments

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/contacts"
	"bankgraph/core/given"
	"bankgraph/core/ident"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
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

// NoticeTx returns what a notice of change says of a contact whose account is still that which the payment
// named. The notice is locked.
func (s *Service) NoticeTx(
	ctx context.Context, tx *changes.Tx, k *contacts.Contact, of contacts.Notice,
) (draft contacts.Draft, err error) {
	n := new(Notice)
	_, err = changes.Lock(ctx, tx.NewSelect().Model(n).
		Column("tenant", "id", "code", "data_sealed", "applied_at").
		Where("an.tenant = ?", k.Tenant).Where("an.payment = ?", of.Payment).Where("an.code = ?", of.Code),
		n, contacts.ErrNotice.On("code"))
	switch {
	case err != nil:
		return draft, err
	case n.AppliedAt != nil:
		return draft, contacts.ErrNoticeApplied
	}
	if err := n.open(s.keys, true); err != nil {
		return draft, err
	}
	if draft, err = n.corrects(k); err != nil {
		return draft, err
	}
	return draft, s.stillNamedTx(ctx, tx, k, n)
}

// theirAccount is an account at another bank, as the entry of a payment names it, or a contact.
type theirAccount struct {
	number  string
	bank    string // routing number; abroad the bank's own id, else its country
	account rails.AccountType
	name    string // whose it is
}

// is reports whether two are of one account.
func (a theirAccount) is(other theirAccount) bool {
	return ident.Same(a.number, other.number) && ident.Same(a.bank, other.bank) && a.account == other.account
}

// as returns the account as a notice of change says it.
func (a theirAccount) as(right nacha.Change) theirAccount {
	return theirAccount{
		cmp.Or(right.Account, a.number), cmp.Or(right.Routing, a.bank), cmp.Or(right.AccountType, a.account),
		cmp.Or(right.Name, a.name),
	}
}

// followed is a notice of change about a payment to a contact, with what its entry named.
type followed struct {
	Payment UID               `bun:"payment"`
	ID      MessageID         `bun:"id"`
	Code    string            `bun:"code"`
	Data    []byte            `bun:"data"`
	Number  []byte            `bun:"number"`
	Bank    string            `bun:"bank"`
	Country string            `bun:"country"`
	Abroad  []byte            `bun:"abroad"`
	Account rails.AccountType `bun:"account"`
	Name    string            `bun:"name"`
}

// stillNamedTx returns a fault unless the contact has the account that the payment of a notice named
// (rest/CONTRACT.md, notices of change): as it was named, as notices that the contact followed have corrected
// it since, or as this one does already. The same holds for the name, where the notice says another one.
func (s *Service) stillNamedTx(ctx context.Context, tx bun.IDB, k *contacts.Contact, n *Notice) error {
	var all []*followed // the notice itself, and then those that the contact follows, in their order
	if err := db.Raw(tx, `SELECT an.payment, an.id, an.code, an.data_sealed AS data, pd.number_sealed AS number,
		  pd.bank_id AS bank, pd.bank_country AS country, pd.abroad_sealed AS abroad, ae.account,
		  CASE ae.entry_type WHEN 'DEBIT' THEN pay.sender_name ELSE pay.receiver_name END AS name
		FROM payment_details AS pd JOIN ach_notices AS an ON an.tenant = ?0 AND an.payment = pd.payment
		JOIN payments AS pay ON pay.tenant = ?0 AND pay.uid = pd.payment
		JOIN ach_entries AS ae ON ae.tenant = ?0 AND ae.payment = pd.payment
		WHERE pd.tenant = ?0 AND pd.contact = ?1 AND (an.id = ?2 OR an.applied_at IS NOT NULL)
		ORDER BY an.id <> ?2, an.applied_at, an.id`, k.Tenant, k.UID, n.ID).Scan(ctx, &all); err != nil {
		return fmt.Errorf("read what the contact follows: %w", err)
	}
	if len(all) == 0 || all[0].ID != n.ID {
		return contacts.ErrNoticeOvertaken
	}
	was := make([]theirAccount, 0, len(all)) // what the account was, one after the other
	for i, f := range all {
		account, err := s.namedBy(k, f)
		switch {
		case err != nil:
			return err
		case i == 0:
			was = append(was, account)
			continue
		case !slices.ContainsFunc(was, account.is):
			continue // it is about another account, which the contact had at another time
		}
		data, err := s.keys.Open(seal.Value{Sealed: f.Data}, (&Notice{Tenant: k.Tenant, ID: f.ID}).place())
		if err != nil {
			return fmt.Errorf("open notice of change %d: %w", f.ID, err)
		}
		was = append(was, was[len(was)-1].as(*nacha.Corrected(f.Code, data)))
	}
	has, err := s.namedNow(k, all[0].Country != "")
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(was, func(account theirAccount) bool {
		right := account.as(n.Right)
		return (account.is(has) || right.is(has)) &&
			(n.Right.Name == "" || has.name == account.name || has.name == right.name)
	}) {
		return contacts.ErrNoticeOvertaken
	}
	return nil
}

// namedBy returns the account that the payment of a notice named. Of a bank abroad, whose gateway the entry
// went to, it is the bank that has the account.
func (s *Service) namedBy(k *contacts.Contact, f *followed) (account theirAccount, err error) {
	d := Details{Tenant: k.Tenant, Payment: f.Payment, AbroadSealed: f.Abroad}
	account = theirAccount{bank: f.Bank, account: f.Account, name: f.Name}
	if account.number, err = s.keys.Open(seal.Value{Sealed: f.Number}, d.place()); err != nil {
		return account, fmt.Errorf("open the account number of payment %s: %w", f.Payment, err)
	}
	if f.Country == "" {
		return account, nil
	}
	if err := d.openAbroad(s.keys); err != nil {
		return account, err
	}
	switch bic := k.Bank.SWIFTCode; {
	case d.abroad != nil && d.abroad.To.Kind == nacha.BIC:
		account.bank = d.abroad.To.ID
	case len(bic) > 5 && bic[4:6] == f.Country: // by an id that contacts do not have
		account.bank = bic
	default:
		account.bank = f.Country
	}
	return account, nil
}

// namedNow returns the account that a contact has; abroad if that is where the entry went.
func (s *Service) namedNow(k *contacts.Contact, abroad bool) (has theirAccount, err error) {
	has = theirAccount{
		bank: k.Bank.NationalCode, account: accountTypes[cmp.Or(k.Bank.AccountSubType, k.Bank.AccountType)],
		name: k.Name,
	}
	country, known := check.CountryOf(k.Bank.Country)
	switch {
	case abroad:
		has.bank = k.Bank.SWIFTCode
	case known && country.Code != "US":
		has.bank = ""
	}
	if has.number, err = s.keys.Open(seal.Value{Sealed: k.Bank.AccountNumber.Sealed}, seal.Place{
		Tenant: int64(k.Tenant), Column: contacts.NumberColumn, Row: int64(k.UID),
	}); err != nil {
		err = fmt.Errorf("open the account number of contact %s: %w", k.UID, err)
	}
	return has, err
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
// any more. People are then still told of notices of other codes that came for the version before.
func (s *Service) FollowedTx(
	ctx context.Context, tx *changes.Tx, k *contacts.Contact, of contacts.Notice,
) error {
	q := tx.NewUpdate().Model((*Notice)(nil)).Where("tenant = ?", tx.Caller.Tenant).
		Where("payment = ?", of.Payment).Where("code = ?", of.Code)
	if !tx.Approved() {
		q = q.Set("maker_client = ?", tx.Caller.Client).Set("maker_login = ?", tx.Caller.LoginID).
			Set("maker_reach = ?", tx.Caller.Reach)
	}
	if tx.Waits() {
		_, err := q.Set("approval = ?", tx.Approval()).Exec(ctx)
		return err
	}
	if _, err := q.Set("applied_at = ?", tx.Now).Exec(ctx); err != nil {
		return err
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_notices AS an SET contact_version = $4 FROM payment_details AS pd
		WHERE an.tenant = $1 AND pd.tenant = $1 AND pd.payment = an.payment AND pd.contact = $2 AND an.code <> $3
		  AND an.contact_version = $4 - 1 AND an.applied_at IS NULL`, k.Tenant, int64(k.UID), of.Code, k.Version)
}
