package payments

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/db"
)

// needsApproval reports whether a payment needs a second person.
func (f *facts) needsApproval(p *Payment) bool {
	return p.altered || f.needsSecond(p.Own()) || f.callback(p)
}

// needsSecond reports whether it takes a second person to take money from an account.
func (f *facts) needsSecond(account accounts.UID) bool { return f.bank.Dual || f.parties[account].Dual }

// callback reports whether a wire is above the amount from which the bank's own people confirm it. A drawdown
// request needs no callback, as it only asks for money.
func (f *facts) callback(p *Payment) bool {
	return (p.Rail == rails.Fedwire || p.Rail == rails.SWIFT) && !p.Collects() &&
		f.parties[p.Own()].above(p.Debited())
}

// above reports whether a wire of an amount from the account is above that amount.
func (a *party) above(amount money.Amount) bool {
	return a.CallbackLimit != nil && amount.Minor > *a.CallbackLimit
}

// approvers returns how many people beside the maker have to approve a payment, and the least reach that they
// need.
func (f *facts) approvers(p *Payment) (people int32, by access.Reach) {
	people, by = f.approversOf(p.Own(), p.Committed())
	if f.callback(p) {
		by = access.OfBank
	}
	return people, by
}

// approversOf returns how many people beside the maker have to approve that an amount is taken from an
// account, and the least reach that they need (rest/CONTRACT.md, approval of payments). Bounds in the bank's
// currency do not ease payments in another one.
func (f *facts) approversOf(account accounts.UID, amount money.Amount) (people int32, by access.Reach) {
	return approversBy(amount, f.bank, f.parties[account].approval)
}

func approversBy(amount money.Amount, bank bankApproval, of approval) (people int32, by access.Reach) {
	people = 1
	for _, rule := range []approval{bank.approval, of} {
		if !rule.Dual {
			continue
		}
		within := func(most customers.Cents) bool {
			return amount.Currency == bank.Currency && money.AtMost(amount, most.Amount())
		}
		if rule.People > 1 && (rule.First == 0 || !within(rule.First)) {
			people = 2
		}
		if rule.Second > 0 && !within(rule.Second) {
			by = access.OfBank
		}
	}
	return people, by
}

// takesNow returns how many people have to approve a payment that waits, by the settings of now
// (changes.Takes).
func (s *Service) takesNow(
	ctx context.Context, tx *changes.Tx, at changes.Target,
) (people int32, by access.Reach, err error) {
	p, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return 0, "", err
	}
	f, err := settingsTx(ctx, tx.Tx, p.Tenant, p.Own())
	if err != nil || f.parties[p.Own()] == nil {
		return 0, "", err
	}
	people, by = f.approvers(p)
	return people, by, nil
}

// settingsTx reads what says who approves payments of accounts. It locks nothing: what is decided is carried
// out in the same transaction, which then locks more than these accounts, and all of it in one order.
func settingsTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, of ...accounts.UID) (*facts, error) {
	b := db.TxBatch(tx)
	bank, parties := db.Queue(b, readingBank, tenant), db.Queue(b, readingParties, tenant, of)
	if err := b.Send(ctx); err != nil {
		return nil, fmt.Errorf("read who approves payments: %w", err)
	}
	f := &facts{tenant: tenant, parties: map[accounts.UID]*party{}}
	if len(bank.Items) > 0 {
		f.bank = *bank.Items[0]
	}
	for _, p := range parties.Items {
		f.parties[p.Account] = p
	}
	return f, nil
}

// ApproversForCustomerTx returns how many people beside the maker have to approve that an amount is taken
// from accounts of a customer, and the least reach that they need, as far as the settings of customer and
// bank say. It locks nothing.
func ApproversForCustomerTx(
	ctx context.Context, tx *changes.Tx, of customers.UID, amount money.Amount,
) (people int32, by access.Reach, err error) {
	b := db.TxBatch(tx.Tx)
	bank := db.Queue(b, readingBank, tx.Caller.Tenant)
	rules := db.Queue(b, readingApproval, tx.Caller.Tenant, of)
	if err := b.Send(ctx); err != nil || len(bank.Items) == 0 || len(rules.Items) == 0 {
		return 0, "", err
	}
	people, by = approversBy(amount, *bank.Items[0], *rules.Items[0])
	return people, by, nil
}

// paidIn is what series of one kind pay a contact, or collect from it.
type paidIn struct {
	Account   accounts.UID    `bun:"account"`
	Currency  money.Currency  `bun:"currency"`
	EntryType rails.EntryType `bun:"entry_type"`
	Rail      rails.Rail      `bun:"rail"`
	Minor     int64           `bun:"amount"`    // the largest
	Committed int64           `bun:"committed"` // the same with a fee of its own
}

// PaidInSeries reports whether series pay a contact, and who approves their payments. Where these are wires
// that the bank confirms, it confirms to whom they go.
func (s *Service) PaidInSeries(
	ctx context.Context, tx *changes.Tx, k *contacts.Contact,
) (to contacts.Redirection, err error) {
	var series []*paidIn
	err = tx.NewSelect().TableExpr("recurrences AS rec").
		ColumnExpr("rec.account, rec.currency, rec.entry_type, pay.rail, max(rec.amount) AS amount").
		ColumnExpr("max(rec.amount + pay.custom_fee) AS committed").
		Join("JOIN payment_details AS pd ON pd.tenant = rec.tenant AND pd.payment = rec.last_payment").
		Join("JOIN payments AS pay ON pay.tenant = rec.tenant AND pay.uid = rec.last_payment").
		Where("rec.tenant = ?", k.Tenant).Where("pay.tenant = ?", k.Tenant).
		Where("pd.tenant = ?", k.Tenant).Where("rec.customer = ?", k.Customer).
		Where("rec.status IN (?)", bun.List([]RecurrenceStatus{RecurrencePending, RecurrenceActive})).
		Where("pd.contact = ?", k.UID).GroupExpr("rec.account, rec.currency, rec.entry_type, pay.rail").
		Scan(ctx, &series)
	if err != nil || len(series) == 0 {
		return to, err
	}
	to.Pays = true
	var paying []accounts.UID
	for _, r := range series {
		paying = append(paying, r.Account)
	}
	f, err := settingsTx(ctx, tx.Tx, k.Tenant, paying...)
	if err != nil {
		return to, err
	}
	for _, r := range series {
		committed := money.Of(r.Committed, r.Currency)
		to.Largest = append(to.Largest, committed)
		if f.parties[r.Account] == nil { // it has ended
			continue
		}
		people, by := f.approversOf(r.Account, committed)
		if f.callback(one(r.Account, r.EntryType, r.Rail, money.Of(r.Minor, r.Currency))) {
			by, to.Confirmed = access.OfBank, true
		}
		if to.People = max(to.People, people); by != "" {
			to.By = by
		}
	}
	return to, nil
}

// one returns a payment of a series, as far as it says who approves it.
func one(account accounts.UID, entry rails.EntryType, over rails.Rail, amount money.Amount) *Payment {
	p := &Payment{
		Direction: Out, EntryType: entry, Rail: over, Minor: amount.Minor, Currency: amount.Currency,
		SenderAccount: account,
	}
	if p.Collects() {
		p.SenderAccount, p.ReceiverAccount = 0, account
	}
	return p
}

// agreeTx enters the approval of the first of two people; settleTx carries out what the second decides.
func (s *Service) agreeTx(ctx context.Context, tx *changes.Tx, at changes.Target) (int32, error) {
	p, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return 0, err
	}
	was := *p
	to, err := agreeing.Take(p.State)
	if err == nil {
		err = tx.CheckVersion(p.Version)
	}
	if err == nil {
		err = p.countApprovalTx(ctx, tx)
	}
	if err == nil {
		err = s.enterTx(ctx, tx, &was, p, to, "")
	}
	return p.Version, err
}

// countApprovalTx returns why the caller may not approve the payment, or counts it among what the caller
// approves. Its maker may not, nor who answers for the program that made it, even if somebody else has
// repaired it since: then none of those may who made it what it is, as the repair has led it to where the
// contact leads by now.
func (p *Payment) countApprovalTx(ctx context.Context, tx *changes.Tx) error {
	makers := []audit.Asker{{Client: p.MakerClient, LoginID: p.MakerLogin}}
	repaired, err := tx.NewSelect().Model((*Step)(nil)).Where("ps.tenant = ?", p.Tenant).
		Where("ps.payment = ?", p.UID).Where("ps.state = ?", Repair).Exists(ctx)
	if err == nil && repaired {
		makers, err = p.makersTx(ctx, tx)
	}
	if err == nil {
		err = requireOtherTx(ctx, tx, makers)
	}
	if err != nil {
		return err
	}
	return ApproveTx(ctx, tx.Tx, tx.Caller, p.Committed(), p.Committed(), tx.Now)
}

// settleTx carries out a payment that waited for a second person, or cancels it if that person refused. If
// its day has passed meanwhile, it gets today's; if it cannot be carried out now, it goes on waiting.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	p, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return err
	}
	was := *p
	if !approved && p.State == Cancelled { // its approval was left open by a release that cancelled its series
		return nil
	}
	if _, err := approving.Take(p.State); err != nil {
		return err
	}
	if err := tx.CheckVersion(p.Version); err != nil {
		return err
	}
	if !approved {
		if err := p.uncountTx(ctx); err != nil {
			return err
		}
		if err := s.followsTx(ctx, tx, p, false); err != nil {
			return err
		}
		return s.enterTx(ctx, tx, &was, p, Cancelled, tx.Options.Reason)
	}
	if err := p.countApprovalTx(ctx, tx); err != nil {
		return err
	}
	if today := p.today(tx.Caller, tx.Now); p.Date.Before(today) {
		p.Date = today
	}
	_, f, err := s.mayStillGoTx(ctx, tx, &was, p)
	if err != nil {
		return err
	}
	if err := s.followsTx(ctx, tx, p, true); err != nil {
		return err
	}
	if p.starts().After(p.today(tx.Caller, tx.Now)) {
		p.leaves()
		return s.enterTx(ctx, tx, &was, p, Scheduled, "")
	}
	to, err := f.carryOut(p, tx.Now)
	if err != nil {
		return err
	}
	if err := s.enterTx(ctx, tx, &was, p, to, ""); err != nil {
		return err
	}
	return f.writeTx(ctx)
}
