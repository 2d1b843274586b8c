package payments

import (
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
	"bankgraph/core/fees"
	"bankgraph/core/fx"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/money"
	"bankgraph/core/postal"
	"bankgraph/core/screening"
	"bankgraph/core/virtualaccounts"
	"bankgraph/db"
)

// facts are what payments are decided by: read once for all payments of a transaction, with the accounts
// locked in the books, and up to date with the payments that were decided before.
type facts struct {
	tenant          access.Tenant
	numbers         map[string]accounts.UID // by hash
	parties         map[accounts.UID]*party
	charges         map[accounts.UID][]*fees.Charge
	known           map[contacts.UID]*contact // by UID
	banks           *db.Many[banks.Ref, banks.Bank]
	limits          *limits.Counter
	houses          map[house]accounts.UID // the bank's own accounts
	books           *ledger.Books
	uids            []UID           // for new payments
	recurrences     []RecurrenceUID // for new series
	trades          map[fx.TradeUID]*fx.Trade
	used            map[fx.TradeUID]bool // trades that payments use
	bank            bankApproval         // the bank's own settings, which count for every customer
	virtual         map[virtualaccounts.UID]*virtualaccounts.Creditable
	virtualNumbers  map[string]virtualaccounts.UID // by hash
	virtualPostings []virtualPosting               // of what was booked so far
	by              access.Caller                  // who brings these about
	own             *ownUse                        // of people whose roles bound what they pay in a day or a month
	aside           map[customers.UID]int          // payments that wait for repair, where that was looked at
	screen          *screening.Screen              // what names are compared with; nil where nothing is sent
	stopped         map[UID]bool                   // on their way back since compliance has rejected them
	reopened        []UID                          // of those, at which people look again
	screenings      []screening.Found              // of the payments that people look at
	inScreening     map[customers.UID]int          // how many they look at, of customers that were looked at
	countScreening  func(customers.UID) (int, error)
}

type bankApproval struct {
	approval
	Currency money.Currency `bun:"currency"` // the bank's
	BIC      string         `bun:"bic"`      // the bank's, by which SWIFT knows it; empty for none
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
	BIC      string          `bun:"bic"` // of the bank
	// of the bank in between
	BetweenBIC  string `bun:"between_bic"`
	BetweenName string `bun:"between_name"`
	Routing     string `bun:"routing"` // national code of the bank
	Country     string `bun:"country"` // of the bank: its name
	BankName    string `bun:"bank_name"`
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
	CompanyID      string                  `bun:"company_id"`     // in ACH
	Classes        []string                `bun:"classes,array"`  // that it may send
	Switches
	approval
	bic string // of the bank itself
}

// Switches are the features of an account that let payments out (rest/CONTRACT.md, speeds), and in
// (rest/CONTRACT.md, incoming credits).
type Switches struct {
	FedNow        bool   `bun:"fednow"`
	ACH           bool   `bun:"ach"`
	RTP           bool   `bun:"rtp"`
	Wires         bool   `bun:"wires"` // domestic
	WiresAbroad   bool   `bun:"wires_abroad"`
	FedNowIn      bool   `bun:"fednow_in"`
	RTPIn         bool   `bun:"rtp_in"`
	WiresIn       bool   `bun:"wires_in"`
	FedNowAsks    bool   `bun:"fednow_asks"` // it may ask for payments
	RTPAsks       bool   `bun:"rtp_asks"`
	RFPIn         bool   `bun:"rfp_in"`         // it may be asked for payments, but by wire
	PositivePay   bool   `bun:"positive_pay"`   // debits of other banks are paid that its rules allow
	CallbackLimit *int64 `bun:"callback_limit"` // minor units: a wire above it is confirmed by a person; nil for none
}

// approval is what settings say of the approval of payments. Amounts are in hundredths of the bank's
// currency.
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

type takenRecurrence struct {
	UID RecurrenceUID `bun:"uid"`
}

var (
	findingNumbers = db.NewQuery[numbered](`SELECT uid, number_hash FROM accounts
		WHERE tenant = $1 AND number_hash = ANY($2::bytea[]) AND deleted_at IS NULL`)
	readingBank = db.NewQuery[bankApproval](`SELECT c.access_payment_dual_approval AS dual, c.access_number_of_approvers AS people,
		c.access_first_approver_limit AS first, c.access_second_approver_limit AS second, t.currency, t.sandbox, c.swift_code AS bic
		FROM tenants AS t JOIN customers AS c ON c.tenant = t.id AND c.relationship_type = 'Self'
		WHERE t.id = $1 AND c.tenant = $1`)
	readingParties = db.NewQuery[party](`SELECT a.uid, a.status, a.currency, a.type, a.sub_type, a.bank_id, a.bank_name,
		a.system_of_record, a.customer, c.legal_name,
		c.status AS customer_status, c.owner, coalesce(o.status, '') AS partner_status, c.access_payment_dual_approval AS dual,
		c.access_number_of_approvers AS people, c.access_first_approver_limit AS first, c.access_second_approver_limit AS second,
		a.enable_fednow AND a.fednow_send AS fednow, a.enable_rtp AND a.rtp_send AS rtp, a.enable_wires AND a.enable_domestic_wires AS wires,
		a.enable_wires AND a.enable_international_wires AS wires_abroad,
		a.enable_fednow AS fednow_in, a.enable_rtp AS rtp_in, a.enable_wires AS wires_in,
		a.enable_fednow AND a.fednow_rfp_send AS fednow_asks, a.enable_rtp AND a.rtp_rfp_send AS rtp_asks,
		a.rfp_receive AS rfp_in,
		a.enable_ach AS ach, a.enable_positive_pay AS positive_pay, coalesce(nullif(a.ach_company_id, ''), c.ach_company_id) AS company_id,
		CASE WHEN cardinality(a.sec_codes) > 0 THEN a.sec_codes ELSE c.sec_codes END AS classes,
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
		k.bank_country AS country, k.bank_name, k.bank_swift_code AS bic, k.intermediary_swift_code AS between_bic,
		k.intermediary_name AS between_name
		FROM contacts AS k WHERE k.tenant = $1 AND k.uid = ANY($2::bigint[])`)
	takingUIDs           = db.NewQuery[taken](`SELECT nextval('payment_uids') AS uid FROM generate_series(1, $1::bigint)`)
	takingRecurrenceUIDs = db.NewQuery[takenRecurrence](
		`SELECT nextval('recurrence_uids') AS uid FROM generate_series(1, $1::bigint)`)
)

// headAndBranch are the refs by which the directory may have a bank: the branch, and its head office.
func headAndBranch(bic string) []banks.Ref {
	return []banks.Ref{banks.Coded(bic), banks.Coded(bic[:min(len(bic), 8)])}
}

// want is what payments need facts about.
type want struct {
	payers, payees []Party  // payers own the payments: they bear fees and limits, also of what they collect
	virtual        []string // numbers that may be those of virtual accounts
	virtualUIDs    []virtualaccounts.UID
	contacts       []contacts.UID
	banks          []banks.Ref
	trades         []fx.TradeUID
	from, to       time.Time // the days on which limits count; zero if none does
	houses         []house   // that take part
	created        int       // of the payments, at most
	recurrences    int       // series that begin, at most
	journals       int       // at most, beside those of the payers
	people         bounded   // who make new payments
	screened       bool      // whether names are compared with lists
}

// madeBy adds who makes the payments.
func (w want) madeBy(now time.Time, callers ...access.Caller) want {
	w.people = boundedOf(paid, now, callers...)
	return w
}

// house is an account of the bank's own.
type house struct {
	of ledger.House
	in money.Currency
}

// named returns the accounts that parties name, by UID or by hash.
func (s *Service) named(tenant access.Tenant, all []Party) (uids []accounts.UID, hashes [][]byte) {
	hashed := map[string]bool{} // many payments may be from one account
	for _, p := range all {
		if p.UID != 0 {
			uids = append(uids, p.UID)
		}
		if p.Number != "" && !hashed[p.Number] {
			hashed[p.Number] = true
			hashes = append(hashes, s.keys.Hashes(int64(tenant), accounts.NumberColumn, p.Number)...)
		}
	}
	return uids, hashes
}

// gatherTx reads and locks what the payments of a transaction are decided by, in two round trips. Whether an
// account is active is read after it was locked: an account is closed under the same lock.
func (s *Service) gatherTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, w want) (*facts, error) {
	r := &reading{
		batch: func() *db.Batch { return db.TxBatch(tx) }, books: ledger.Lock, limits: limits.Count, trades: fx.Lock,
		house: func(ctx context.Context, h house, shard int16) (accounts.UID, error) {
			return s.ledger.HouseTx(ctx, tx, tenant, h.of, h.in, shard)
		},
		uids: func(b *db.Batch, n int) *db.Rows[taken] { return db.Queue(b, takingUIDs, n) },
		recurrences: func(b *db.Batch, n int) *db.Rows[takenRecurrence] {
			return db.Queue(b, takingRecurrenceUIDs, n)
		},
		own: lockingOwn,
	}
	if w.screened {
		r.screen = func(ctx context.Context, asked *screening.Asked) (*screening.Screen, error) {
			return s.screening.ScreenTx(ctx, tx, tenant, asked)
		}
	}
	f, err := s.gather(ctx, r, tenant, w)
	if err == nil && f.screen != nil {
		f.inScreening, f.countScreening = map[customers.UID]int{}, func(of customers.UID) (int, error) {
			return inScreeningTx(ctx, tx, tenant, of)
		}
	}
	return f, err
}

// reading is how facts are read: locked, to be changed, or as they are.
type reading struct {
	batch  func() *db.Batch
	house  func(ctx context.Context, h house, shard int16) (accounts.UID, error)
	books  func(b *db.Batch, tenant access.Tenant, of []accounts.UID, journals int) *ledger.Books
	limits func(b *db.Batch, tenant access.Tenant, payers []accounts.UID, from, to time.Time) *limits.Counter
	uids   func(b *db.Batch, n int) *db.Rows[taken]
	trades func(b *db.Batch, tenant access.Tenant, of []fx.TradeUID) *db.Rows[fx.Trade]
	// numbers for new series
	recurrences func(b *db.Batch, n int) *db.Rows[takenRecurrence]
	own         *db.Query[personUse]
	// what names are compared with; nil where they are not
	screen func(ctx context.Context, asked *screening.Asked) (*screening.Screen, error)
}

// gather reads what payments are decided by.
func (s *Service) gather(ctx context.Context, r *reading, tenant access.Tenant, w want) (*facts, error) {
	f := &facts{
		tenant: tenant, numbers: map[string]accounts.UID{}, parties: map[accounts.UID]*party{},
		houses: map[house]accounts.UID{}, known: map[contacts.UID]*contact{},
		trades: map[fx.TradeUID]*fx.Trade{}, used: map[fx.TradeUID]bool{}, aside: map[customers.UID]int{},
		virtual: map[virtualaccounts.UID]*virtualaccounts.Creditable{}, virtualNumbers: map[string]virtualaccounts.UID{},
	}
	payers, payerHashes := s.named(tenant, w.payers)
	payees, payeeHashes := s.named(tenant, w.payees)
	b := r.batch()
	named := new(db.Rows[numbered])
	if hashes := slices.Concat(payerHashes, payeeHashes); len(hashes) > 0 {
		named = db.Queue(b, findingNumbers, tenant, hashes)
	}
	var virtualHashes [][]byte
	for _, number := range w.virtual {
		virtualHashes = append(virtualHashes, s.keys.Hashes(int64(tenant), virtualaccounts.NumberColumn, number)...)
	}
	virtual := new(db.Rows[virtualaccounts.Creditable])
	if len(virtualHashes) > 0 {
		virtual = virtualaccounts.Numbered(b, tenant, virtualHashes)
	}
	charges := fees.ChargesOf(b, tenant, payers, payerHashes, feeNames...)
	known := new(db.Rows[contact])
	if len(w.contacts) > 0 {
		known = db.Queue(b, readingContacts, tenant, w.contacts)
	}
	asked := new(db.Rows[screening.Asked])
	if r.screen != nil {
		asked = screening.Ask(b, tenant)
	}
	bank, trades := db.Queue(b, readingBank, tenant), new(db.Rows[fx.Trade])
	if len(w.trades) > 0 {
		trades = r.trades(b, tenant, w.trades)
	}
	if err := b.Send(ctx); err != nil {
		return nil, fmt.Errorf("read what payments cost: %w", err)
	}
	if r.screen != nil {
		var err error
		if f.screen, err = r.screen(ctx, asked.Items[0]); err != nil {
			return nil, err
		}
	}
	all := slices.Concat(payers, payees)
	var numberedPayers []accounts.UID
	for _, n := range named.Items {
		f.numbers[string(n.Hash)] = n.Account
		all, numberedPayers = append(all, n.Account), append(numberedPayers, n.Account)
	}
	for _, t := range trades.Items {
		f.trades[t.UID] = t
		w.houses = append(w.houses, house{ledger.HousePosition, t.Buy}, house{ledger.HousePosition, t.Sell})
	}
	virtualUIDs := slices.Clone(w.virtualUIDs)
	for _, v := range virtual.Items {
		f.virtualNumbers[string(v.Hash)] = v.UID
		all, virtualUIDs = append(all, v.Account), append(virtualUIDs, v.UID)
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
	if ours := slices.Concat(payers, payees, numberedPayers); len(charges.Of) == 0 && len(ours) > 0 {
		shard = ledger.ShardOf(slices.Min(ours))
	}
	for _, h := range w.houses {
		if _, found := f.houses[h]; found {
			continue
		}
		uid, err := r.house(ctx, h, shard)
		if err != nil {
			return nil, err
		}
		f.houses[h], all = uid, append(all, uid)
	}
	refs := w.banks
	for _, k := range known.Items {
		f.known[k.UID] = k
		refs = append(refs, banks.Routing(k.Routing))
		if k.BIC != "" {
			refs = append(refs, headAndBranch(k.BIC)...)
		}
	}
	b = r.batch()
	f.own = countOwn(b, r.own, tenant, paid, w.people)
	if len(refs) > 0 {
		slices.Sort(refs)
		f.banks = banks.Known(b, slices.Compact(refs), reached)
	}
	if !w.from.IsZero() {
		f.limits = r.limits(b, tenant, slices.Concat(payers, numberedPayers), w.from, w.to)
	}
	f.books = r.books(b, tenant, all, journalsEach*len(w.payers)+w.journals)
	parties := db.Queue(b, readingParties, tenant, all)
	used := new(db.Rows[fx.Used])
	if len(w.trades) > 0 { // after they were locked
		used = fx.UsedOf(b, tenant, w.trades)
	}
	if len(virtualUIDs) > 0 {
		virtual = virtualaccounts.Again(b, tenant, virtualUIDs)
	}
	uids, recurrences := r.uids(b, w.created), new(db.Rows[takenRecurrence])
	if w.recurrences > 0 {
		recurrences = r.recurrences(b, w.recurrences)
	}
	if err := b.Send(ctx); err != nil {
		return nil, fmt.Errorf("lock the accounts of payments: %w", err)
	}
	for _, p := range parties.Items {
		p.bic, f.parties[p.Account] = f.bank.BIC, p
	}
	for _, t := range used.Items {
		f.used[t.UID] = true
	}
	for _, v := range virtual.Items {
		f.virtual[v.UID] = v
	}
	for _, t := range uids.Items {
		f.uids = append(f.uids, t.UID)
	}
	for _, t := range recurrences.Items {
		f.recurrences = append(f.recurrences, t.UID)
	}
	return f, nil
}
