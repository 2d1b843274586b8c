package payments

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/db"
)

// facts are what payments are decided by: read once for all payments of a transaction, with the accounts
// locked in the books, and up to date with the payments that were decided before.
type facts struct {
	tenant  access.Tenant
	numbers map[string]accounts.UID // by hash
	parties map[accounts.UID]*party
	charges map[accounts.UID][]*fees.Charge
	houses  map[money.Currency]accounts.UID // that take the fees
	books   *ledger.Books
	uids    []UID        // for new payments
	bank    bankApproval // the bank's own settings, which count for every customer
}

type bankApproval struct {
	approval
	Currency money.Currency `bun:"currency"` // the bank's
}

// party is an account with what matters of its customer.
type party struct {
	Account        accounts.UID            `bun:"uid"`
	Status         accounts.Status         `bun:"status"`
	Currency       money.Currency          `bun:"currency"`
	Type           accounts.Type           `bun:"type"`
	SubType        accounts.SubType        `bun:"sub_type"`
	BankID         string                  `bun:"bank_id"`
	SystemOfRecord accounts.SystemOfRecord `bun:"system_of_record"`
	Customer       customers.UID           `bun:"customer"`
	Name           string                  `bun:"legal_name"`
	CustomerStatus customers.Status        `bun:"customer_status"`
	Owner          customers.UID           `bun:"owner"`
	PartnerStatus  customers.Status        `bun:"partner_status"` // '' for a partner itself, and without one
	approval
}

// approval is what settings say of the approval of payments. Amounts are in hundredths of the bank's currency.
type approval struct {
	Dual   bool            `bun:"dual"`   // it takes a second person
	People int32           `bun:"people"` // 2: it takes two
	First  customers.Cents `bun:"first"`  // up to this amount one is enough all the same; 0: never
	Second customers.Cents `bun:"second"` // above it the bank's own people decide; 0: never
}

// numbered is an account that was named by its number.
type numbered struct {
	Account accounts.UID `bun:"uid"`
	Hash    []byte       `bun:"number_hash"`
}

type taken struct {
	UID UID `bun:"uid"`
}

var (
	findingNumbers = db.NewQuery[numbered](`SELECT uid, number_hash FROM accounts
		WHERE tenant = $1 AND number_hash = ANY($2::bytea[]) AND deleted_at IS NULL`)
	readingBank = db.NewQuery[bankApproval](`SELECT c.access_payment_dual_approval AS dual, c.access_number_of_approvers AS people,
		c.access_first_approver_limit AS first, c.access_second_approver_limit AS second, t.currency
		FROM tenants AS t JOIN customers AS c ON c.tenant = t.id AND c.relationship_type = 'Self'
		WHERE t.id = $1 AND c.tenant = $1`)
	readingParties = db.NewQuery[party](`SELECT a.uid, a.status, a.currency, a.type, a.sub_type, a.bank_id,
		a.system_of_record, a.customer, c.legal_name,
		c.status AS customer_status, c.owner, coalesce(o.status, '') AS partner_status, c.access_payment_dual_approval AS dual,
		c.access_number_of_approvers AS people, c.access_first_approver_limit AS first, c.access_second_approver_limit AS second
		FROM accounts AS a JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
		LEFT JOIN customers AS o ON o.tenant = c.tenant AND o.uid = c.owner AND o.uid <> c.uid
		WHERE a.tenant = $1 AND c.tenant = $1 AND a.uid = ANY($2::bigint[]) AND a.deleted_at IS NULL`)
	takingUIDs = db.NewQuery[taken](`SELECT nextval('payment_uids') AS uid FROM generate_series(1, $1::bigint)`)
)

// want is what payments need facts about.
type want struct {
	payers, payees []Party
	created        int // of the payments, at most
}

// named returns the accounts that parties name, by UID or by hash.
func (s *Service) named(tenant access.Tenant, all []Party) (uids []accounts.UID, hashes [][]byte) {
	for _, p := range all {
		if p.UID != 0 {
			uids = append(uids, p.UID)
		}
		if p.Number != "" {
			hashes = append(hashes, s.keys.Hashes(int64(tenant), accounts.NumberColumn, p.Number)...)
		}
	}
	return uids, hashes
}

// gatherTx reads and locks what the payments of a transaction are decided by, in two round trips. Whether an
// account is active is read after it was locked: an account is closed under the same lock.
func (s *Service) gatherTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, w want) (*facts, error) {
	f := &facts{
		tenant: tenant, numbers: map[string]accounts.UID{}, parties: map[accounts.UID]*party{},
		houses: map[money.Currency]accounts.UID{},
	}
	payers, payerHashes := s.named(tenant, w.payers)
	payees, payeeHashes := s.named(tenant, w.payees)
	b := db.TxBatch(tx)
	named := new(db.Rows[numbered])
	if hashes := slices.Concat(payerHashes, payeeHashes); len(hashes) > 0 {
		named = db.Queue(b, findingNumbers, tenant, hashes)
	}
	charges := fees.ChargesOf(b, tenant, payers, payerHashes, feeName)
	bank := db.Queue(b, readingBank, tenant)
	if err := b.Send(ctx); err != nil {
		return nil, fmt.Errorf("read what payments cost: %w", err)
	}
	all := slices.Concat(payers, payees)
	for _, n := range named.Items {
		f.numbers[string(n.Hash)] = n.Account
		all = append(all, n.Account)
	}
	f.charges = charges.Of
	if len(bank.Items) > 0 {
		f.bank = *bank.Items[0]
	}
	for _, payer := range slices.Sorted(maps.Keys(charges.Of)) {
		in := charges.Of[payer][0].Currency
		if _, found := f.houses[in]; found {
			continue
		}
		house, err := s.ledger.HouseTx(ctx, tx, tenant, ledger.HouseFees, in, ledger.ShardOf(payer))
		if err != nil {
			return nil, err
		}
		f.houses[in], all = house, append(all, house)
	}
	b = db.TxBatch(tx)
	f.books = ledger.Lock(b, tenant, all, journalsEach*len(w.payers))
	parties := db.Queue(b, readingParties, tenant, all)
	uids := db.Queue(b, takingUIDs, w.created)
	if err := b.Send(ctx); err != nil {
		return nil, fmt.Errorf("lock the accounts of payments: %w", err)
	}
	for _, p := range parties.Items {
		f.parties[p.Account] = p
	}
	for _, t := range uids.Items {
		f.uids = append(f.uids, t.UID)
	}
	return f, nil
}

// feeName is the fee of book transfers, in the catalogue and in customers' tiers.
const feeName = "Book Transfer"

// journalsEach is how many journals one payment books at most: its own and its fee's.
const journalsEach = 2

// party returns the account that a request names, if the caller sees it.
func (f *facts) party(s *Service, by access.Caller, field string, named Party) (*party, error) {
	uid, at := named.UID, field+".accountUID"
	numbered := f.numbered(s, named.Number)
	if uid == 0 {
		uid, at = numbered, field+".accountNumber"
	}
	p := f.parties[uid]
	switch {
	case p == nil || !by.Sees(int64(p.Customer), int64(p.Owner)):
		return nil, ErrAccount.On(at)
	case named.Number != "" && numbered != uid:
		return nil, fault.Field("payment", field+".accountNumber", fault.NoMatch, "must be the account's number")
	}
	return p, p.fits(field, named)
}

// numbered returns the account with a number; 0 if there is none.
func (f *facts) numbered(s *Service, number string) accounts.UID {
	if number == "" {
		return 0
	}
	for _, hash := range s.keys.Hashes(int64(f.tenant), accounts.NumberColumn, number) {
		if uid := f.numbers[string(hash)]; uid != 0 {
			return uid
		}
	}
	return 0
}

// fits returns the first detail of a request that is not the account's (rest/CONTRACT.md, book transfers).
func (p *party) fits(field string, named Party) error {
	for _, detail := range []struct{ field, given, is, what string }{
		{"currency", named.Currency, string(p.Currency), "currency"},
		{"accountType", named.Type, string(p.Type), "type"},
		{"accountSubType", named.SubType, string(p.SubType), "sub-type"},
		{"routingNumber", named.RoutingNumber, p.BankID, "bank, with the routing number"},
	} {
		if detail.given != "" && detail.given != detail.is {
			return fault.Field("payment", field+"."+detail.field, fault.NoMatch,
				"must be the account's "+detail.what+" "+detail.is)
		}
	}
	return nil
}

// draw makes a payment from a request. It is refused if it can never be carried out; whether it can be now is
// for movable and move.
func (f *facts) draw(s *Service, by access.Caller, d *Draft, now time.Time) (*Payment, error) {
	sender, err := f.party(s, by, "senderAccount", d.Sender)
	if err != nil {
		return nil, err
	}
	receiver, err := f.party(s, by, "receiverAccount", d.Receiver)
	if err != nil {
		return nil, err
	}
	switch {
	case sender.Account == receiver.Account:
		return nil, ErrSame
	case sender.Currency != receiver.Currency:
		return nil, ErrCurrencies
	}
	amount, err := money.Parse(d.Amount, sender.Currency)
	if err != nil {
		return nil, fault.Field("payment", "paymentAmount", fault.Malformed,
			fmt.Sprintf("must be an amount of %s with at most %d decimals", sender.Currency, sender.Currency.Digits()))
	}
	if own := by.Limit("Payments", "Per_Transaction_Payment_Limits"); own != nil && own.Currency == amount.Currency &&
		amount.Minor > own.Minor {
		return nil, ErrOwnLimit.With(own.Value().String())
	}
	today := ledger.Day(now.In(by.Location()))
	on := d.Date
	if on.IsZero() {
		on = today
	}
	switch {
	case on.Before(today):
		return nil, fault.Field("payment", "paymentDate", fault.Min, "must be today or later")
	case on.After(today.AddDate(1, 0, 0)):
		return nil, fault.Field("payment", "paymentDate", fault.Max, "must be at most a year from today")
	}
	p := &Payment{
		Tenant: f.tenant, UID: f.uids[0], Customer: sender.Customer, Rail: rails.Book, Minor: amount.Minor,
		Currency: amount.Currency, Date: on, ExternalReferenceID: d.ExternalReferenceID, Notes: d.Notes,
		Channel: cmp.Or(d.Channel, "API"), SenderAccount: sender.Account, SenderName: sender.Name,
		ReceiverAccount: receiver.Account, ReceiverCustomer: receiver.Customer, ReceiverName: receiver.Name,
		MakerClient: by.Client, MakerLogin: by.LoginID, CreatedAt: now, UpdatedAt: now,
	}
	f.uids = f.uids[1:]
	return p, f.movable(p)
}

// asks reports whether a payment needs a second person.
func (f *facts) asks(p *Payment) bool { return f.bank.Dual || f.parties[p.SenderAccount].Dual }

// approvers returns how many people a payment needs beside the maker, and how far they must see at least
// (rest/CONTRACT.md, approval of payments). Bounds that are set in the bank's currency do not ease payments in
// another one.
func (f *facts) approvers(p *Payment) (people int32, by access.Reach) {
	people = 1
	for _, asks := range []approval{f.bank.approval, f.parties[p.SenderAccount].approval} {
		if !asks.Dual {
			continue
		}
		within := func(most customers.Cents) bool {
			return p.Currency == f.bank.Currency && money.AtMost(p.Amount(), most.Amount())
		}
		if asks.People > 1 && (asks.First == 0 || !within(asks.First)) {
			people = 2
		}
		if asks.Second > 0 && !within(asks.Second) {
			by = access.OfBank
		}
	}
	return people, by
}

// movable reports why the accounts of a payment do not let its money move. The money of a customer that is
// suspended, or whose partner is, stands still, whoever asks.
func (f *facts) movable(p *Payment) error {
	for _, side := range []struct {
		field string
		uid   accounts.UID
	}{{"senderAccount", p.SenderAccount}, {"receiverAccount", p.ReceiverAccount}} {
		a := f.parties[side.uid]
		switch {
		case a == nil:
			return ErrAccount.On(side.field)
		case a.SystemOfRecord != accounts.InternalCore || f.books.Of(side.uid) == nil:
			return ErrElsewhere.On(side.field)
		case a.Status != accounts.Active:
			return ErrAccountState.On(side.field).With(string(a.Status))
		case !customers.InBusiness(a.CustomerStatus):
			return customers.ErrInactive.On(side.field).With(string(a.CustomerStatus))
		case a.PartnerStatus != "" && !customers.InBusiness(a.PartnerStatus):
			return customers.ErrInactive.On(side.field).With(string(a.PartnerStatus))
		}
	}
	return nil
}

// move moves the money of a payment in the books, with its fee: all of it, or nothing and the reason why.
func (f *facts) move(p *Payment) error {
	if err := f.movable(p); err != nil {
		return err
	}
	uid := int64(p.UID)
	journal, err := ledger.NewJournal(ledger.Payment, p.Date, "Book transfer",
		ledger.Entry{Account: p.SenderAccount, Amount: money.Of(-p.Minor, p.Currency)},
		ledger.Entry{Account: p.ReceiverAccount, Amount: p.Amount()})
	if err != nil {
		return err
	}
	journal.Payment = &uid
	journals := []*ledger.Journal{journal}
	if charged := f.charges[p.SenderAccount]; len(charged) > 0 && charged[0].Price > 0 {
		c := charged[0]
		p.FeeMinor, p.FeeName, p.FeeTier = c.Price, c.FeeName, c.FeeTier
		fee, err := ledger.NewJournal(ledger.Fee, p.Date, "Fee of a book transfer",
			ledger.Entry{Account: p.SenderAccount, Amount: money.Of(-c.Price, c.Currency)},
			ledger.Entry{Account: f.houses[c.Currency], Amount: money.Of(c.Price, c.Currency)})
		if err != nil {
			return err
		}
		fee.Payment, journals = &uid, append(journals, fee)
	}
	return f.books.Book(journals...)
}
