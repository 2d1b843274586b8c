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
	"bankgraph/core/banks"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/ident"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/money"
	"bankgraph/core/postal"
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
	known   map[contacts.UID]*contact // by UID
	banks   *db.Many[banks.Ref, banks.Bank]
	limits  *limits.Counter
	houses  map[house]accounts.UID // the bank's own accounts
	books   *ledger.Books
	uids    []UID        // for new payments
	bank    bankApproval // the bank's own settings, which count for every customer
}

type bankApproval struct {
	approval
	Currency money.Currency `bun:"currency"` // the bank's
	Sandbox  bool           `bun:"sandbox"`  // it is connected to simulated networks
}

// contact is what payments need of a contact.
type contact struct {
	UID      contacts.UID    `bun:"uid"`
	Customer customers.UID   `bun:"customer"`
	Status   contacts.Status `bun:"status"`
	Sealed   []byte          `bun:"sealed"` // the account number
	Type     string          `bun:"type"`
	SubType  string          `bun:"sub_type"`
	Currency string          `bun:"currency"`
	Name     string          `bun:"name"`
	Phone    string          `bun:"phone"`
	Email    string          `bun:"email"`
	Address  postal.Address  `bun:"embed:address_"`
	Routing  string          `bun:"routing"` // national code of the bank
	Country  string          `bun:"country"` // of the bank: its name
	BankName string          `bun:"bank_name"`
}

// party is an account with what matters of its customer.
type party struct {
	Account        accounts.UID            `bun:"uid"`
	Status         accounts.Status         `bun:"status"`
	Currency       money.Currency          `bun:"currency"`
	Type           accounts.Type           `bun:"type"`
	SubType        accounts.SubType        `bun:"sub_type"`
	BankID         string                  `bun:"bank_id"`
	BankName       string                  `bun:"bank_name"`
	SystemOfRecord accounts.SystemOfRecord `bun:"system_of_record"`
	Customer       customers.UID           `bun:"customer"`
	Name           string                  `bun:"legal_name"`
	CustomerStatus customers.Status        `bun:"customer_status"`
	Owner          customers.UID           `bun:"owner"`
	PartnerStatus  customers.Status        `bun:"partner_status"` // '' for a partner itself, and without one
	Sealed         []byte                  `bun:"sealed"`         // the account's number
	Address        postal.Address          `bun:"embed:address_"` // of the customer
	Switches
	approval
}

// Switches are the features of an account that let payments out (rest/CONTRACT.md, speeds).
type Switches struct {
	FedNow        bool   `bun:"fednow"`
	RTP           bool   `bun:"rtp"`
	Wires         bool   `bun:"wires"`          // domestic
	CallbackLimit *int64 `bun:"callback_limit"` // minor units: a wire above it is confirmed by a person; nil for none
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
		c.access_first_approver_limit AS first, c.access_second_approver_limit AS second, t.currency, t.sandbox
		FROM tenants AS t JOIN customers AS c ON c.tenant = t.id AND c.relationship_type = 'Self'
		WHERE t.id = $1 AND c.tenant = $1`)
	readingParties = db.NewQuery[party](`SELECT a.uid, a.status, a.currency, a.type, a.sub_type, a.bank_id, a.bank_name,
		a.system_of_record, a.customer, c.legal_name,
		c.status AS customer_status, c.owner, coalesce(o.status, '') AS partner_status, c.access_payment_dual_approval AS dual,
		c.access_number_of_approvers AS people, c.access_first_approver_limit AS first, c.access_second_approver_limit AS second,
		a.enable_fednow AND a.fednow_send AS fednow, a.enable_rtp AND a.rtp_send AS rtp, a.enable_wires AND a.enable_domestic_wires AS wires,
		a.number_sealed AS sealed, c.legal_line1 AS address_line1, c.legal_line2 AS address_line2, c.legal_city AS address_city,
		c.legal_state AS address_state, c.legal_postal_code AS address_postal_code, c.legal_country_code AS address_country_code,
		CASE WHEN a.enable_callbacks THEN a.callback_limit END AS callback_limit
		FROM accounts AS a JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
		LEFT JOIN customers AS o ON o.tenant = c.tenant AND o.uid = c.owner AND o.uid <> c.uid
		WHERE a.tenant = $1 AND c.tenant = $1 AND a.uid = ANY($2::bigint[]) AND a.deleted_at IS NULL`)
	readingContacts = db.NewQuery[contact](`SELECT k.uid, k.customer, k.status, k.bank_account_number_sealed AS sealed,
		k.name, k.bank_account_type AS type, k.bank_account_sub_type AS sub_type, k.bank_account_currency AS currency,
		k.phone_number AS phone, k.email_address AS email, k.address_line1, k.address_line2, k.address_city, k.address_state,
		k.address_postal_code, k.address_country_code, k.address_country, k.bank_national_code AS routing,
		k.bank_country AS country, k.bank_name
		FROM contacts AS k WHERE k.tenant = $1 AND k.uid = ANY($2::bigint[])`)
	takingUIDs = db.NewQuery[taken](`SELECT nextval('payment_uids') AS uid FROM generate_series(1, $1::bigint)`)
)

// want is what payments need facts about.
type want struct {
	payers, payees []Party
	contacts       []contacts.UID
	routing        []string  // numbers of banks
	from, to       time.Time // the days on which limits count; zero if none does
	houses         []house   // that take part
	created        int       // of the payments, at most
}

// house is an account of the bank's own.
type house struct {
	of ledger.House
	in money.Currency
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
		houses: map[house]accounts.UID{}, known: map[contacts.UID]*contact{},
	}
	payers, payerHashes := s.named(tenant, w.payers)
	payees, payeeHashes := s.named(tenant, w.payees)
	b := db.TxBatch(tx)
	named := new(db.Rows[numbered])
	if hashes := slices.Concat(payerHashes, payeeHashes); len(hashes) > 0 {
		named = db.Queue(b, findingNumbers, tenant, hashes)
	}
	charges := fees.ChargesOf(b, tenant, payers, payerHashes, feeNames...)
	known := new(db.Rows[contact])
	if len(w.contacts) > 0 {
		known = db.Queue(b, readingContacts, tenant, w.contacts)
	}
	bank := db.Queue(b, readingBank, tenant)
	if err := b.Send(ctx); err != nil {
		return nil, fmt.Errorf("read what payments cost: %w", err)
	}
	all := slices.Concat(payers, payees)
	var numberedPayers []accounts.UID
	for _, n := range named.Items {
		f.numbers[string(n.Hash)] = n.Account
		all, numberedPayers = append(all, n.Account), append(numberedPayers, n.Account)
	}
	f.charges = charges.Of
	if len(bank.Items) > 0 {
		f.bank = *bank.Items[0]
	}
	shard := int16(0) // of the house accounts: that of one of the payers
	for _, payer := range slices.Backward(slices.Sorted(maps.Keys(charges.Of))) {
		shard = ledger.ShardOf(payer)
		w.houses = append(w.houses, house{ledger.HouseFees, charges.Of[payer][0].Currency})
	}
	if len(charges.Of) == 0 && len(payers) > 0 {
		shard = ledger.ShardOf(slices.Min(payers))
	}
	for _, h := range w.houses {
		if _, found := f.houses[h]; found {
			continue
		}
		uid, err := s.ledger.HouseTx(ctx, tx, tenant, h.of, h.in, shard)
		if err != nil {
			return nil, err
		}
		f.houses[h], all = uid, append(all, uid)
	}
	refs := make([]banks.Ref, 0, len(w.routing))
	for _, number := range w.routing {
		refs = append(refs, banks.Routing(number))
	}
	for _, k := range known.Items {
		f.known[k.UID] = k
		refs = append(refs, banks.Routing(k.Routing))
	}
	b = db.TxBatch(tx)
	if len(refs) > 0 {
		f.banks = banks.Known(b, refs, reached)
	}
	if !w.from.IsZero() {
		f.limits = limits.Count(b, tenant, slices.Concat(payers, numberedPayers), w.from, w.to)
	}
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

// feeNames are the fees of payments, in the catalogue and in customers' tiers: a payment over a network has that
// of its speed.
var feeNames = []string{bookFee, string(Instant), string(Express)}

const bookFee = "Book Transfer"

// charge returns what a payment costs; nil for nothing.
func (f *facts) charge(p *Payment) *fees.Charge {
	name := cmp.Or(string(p.Speed), bookFee)
	for _, c := range f.charges[p.SenderAccount] {
		if ident.Same(c.FeeName, name) && c.Currency == p.Currency {
			if c.Price > 0 {
				return c
			}
			return nil
		}
	}
	return nil
}

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
func (a *party) fits(field string, named Party) error {
	for _, detail := range []struct{ field, given, is, what string }{
		{"currency", named.Currency, string(a.Currency), "currency"},
		{"accountType", named.Type, string(a.Type), "type"},
		{"accountSubType", named.SubType, string(a.SubType), "sub-type"},
		{"routingNumber", named.RoutingNumber, a.BankID, "bank, with the routing number"},
	} {
		if detail.given != "" && detail.given != detail.is {
			return fault.Field("payment", field+"."+detail.field, fault.NoMatch,
				"must be the account's "+detail.what+" "+detail.is)
		}
	}
	return nil
}

// draw makes a payment from a request. It is refused if it can never be carried out; whether it can be now is
// for movable and carryOut.
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
	if err := mayPay(by, amount); err != nil {
		return nil, err
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

// mayPay returns ErrOwnLimit for an amount above the person's own bound.
func mayPay(by access.Caller, amount money.Amount) error {
	if own := by.Limit("Payments", "Per_Transaction_Payment_Limits"); own != nil && own.Currency == amount.Currency &&
		amount.Minor > own.Minor {
		return ErrOwnLimit.With(own.Value().String())
	}
	return nil
}

// asks reports whether a payment needs a second person.
func (f *facts) asks(p *Payment) bool {
	return f.bank.Dual || f.parties[p.SenderAccount].Dual || f.callback(p)
}

// callback reports whether a wire is above the amount from which the bank's own people confirm it.
func (f *facts) callback(p *Payment) bool {
	most := f.parties[p.SenderAccount].CallbackLimit
	return p.Rail == rails.Fedwire && most != nil && p.Minor > *most
}

// approvers returns how many people a payment needs beside the maker, and how far they must see at least
// (rest/CONTRACT.md, approval of payments). Bounds that are set in the bank's currency do not ease payments in
// another one.
func (f *facts) approvers(p *Payment) (people int32, by access.Reach) {
	people = 1
	if f.callback(p) {
		by = access.OfBank
	}
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
	sides := []struct {
		field string
		uid   accounts.UID
	}{{"senderAccount", p.SenderAccount}, {"receiverAccount", p.ReceiverAccount}}
	if p.Rail != rails.Book {
		sides = sides[:1]
		sides[0].field = "sender.accountUID"
	}
	for _, side := range sides {
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

// carryOut does what a payment is for, all of it or nothing and the reason why: it moves the money of a book
// transfer in the books, and holds that of a payment over a network, which is then sent.
func (f *facts) carryOut(p *Payment, now time.Time) (State, error) {
	if err := f.movable(p); err != nil {
		return p.State, err
	}
	if c := f.charge(p); c != nil {
		p.FeeMinor, p.FeeName, p.FeeTier = c.Price, c.FeeName, c.FeeTier
	}
	if p.Rail != rails.Book {
		p.SendAt = &now
		return Queued, f.books.Hold(p.SenderAccount, p.held(), int64(p.UID))
	}
	return Settled, f.take(p, p.ReceiverAccount, "Book transfer")
}

// take books the money of a payment from who pays to an account, with its fee.
func (f *facts) take(p *Payment, to accounts.UID, why string) error {
	journal, err := p.journal(ledger.Payment, p.Date, why, p.SenderAccount, to, p.Minor)
	if err != nil {
		return err
	}
	if p.FeeMinor == 0 {
		return f.books.Book(journal)
	}
	fee, err := p.journal(ledger.Fee, p.Date, "Fee: "+p.FeeName, p.SenderAccount,
		f.houses[house{ledger.HouseFees, p.Currency}], p.FeeMinor)
	if err != nil {
		return err
	}
	return f.books.Book(journal, fee)
}

// book books an amount of a payment from one account to another.
func (f *facts) book(
	p *Payment, kind ledger.Kind, on time.Time, why string, from, to accounts.UID, minor int64,
) error {
	journal, err := p.journal(kind, on, why, from, to, minor)
	if err != nil {
		return err
	}
	return f.books.Book(journal)
}

// journal makes a journal of the payment, which moves an amount from one account to another.
func (p *Payment) journal(
	kind ledger.Kind, on time.Time, why string, from, to accounts.UID, minor int64,
) (*ledger.Journal, error) {
	journal, err := ledger.NewJournal(kind, on, why, ledger.Entry{Account: from, Amount: money.Of(-minor, p.Currency)},
		ledger.Entry{Account: to, Amount: money.Of(minor, p.Currency)})
	if err != nil {
		return nil, err
	}
	uid := int64(p.UID)
	journal.Payment = &uid
	return journal, nil
}

// held is what is held for a payment until it is sent: its amount and its fee.
func (p *Payment) held() money.Amount { return money.Of(p.Minor+p.FeeMinor, p.Currency) }
