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
	"bankgraph/core/screening"
	"bankgraph/core/virtualaccounts"
	"bankgraph/db"
)

// numbered is an account that was named by its number or, in a request, by its UID.
type numbered struct {
	Account  accounts.UID `bun:"uid"`
	Hash     []byte       `bun:"number_hash"` // nil if it was named by its UID, from outside the bank
	Customer int64        `bun:"customer"`
	Owner    int64        `bun:"owner"` // of the customer
}

// ourAccount is an account in the books of this bank that a payment takes for one at another bank, or a bank
// at which such accounts are.
type ourAccount struct {
	Hash []byte `bun:"number_hash"` // nil for a bank
	Bank string `bun:"bank_id"`
}

type taken struct {
	UID UID `bun:"uid"`
}

type takenRecurrence struct {
	UID RecurrenceUID `bun:"uid"`
}

var (
	findingNamed = db.NewQuery[numbered](`SELECT a.uid, a.number_hash, a.customer, c.owner FROM accounts AS a
		JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
		WHERE a.tenant = $1 AND a.number_hash = ANY($2::bytea[]) AND a.deleted_at IS NULL
		UNION ALL SELECT a.uid, NULL, a.customer, c.owner FROM accounts AS a
		JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
		WHERE a.tenant = $1 AND a.uid = ANY($3::bigint[]) AND a.deleted_at IS NULL`)
	findingOurs = db.NewQuery[ourAccount](`SELECT number_hash, bank_id FROM accounts
		WHERE tenant = $1 AND number_hash = ANY($2::bytea[]) AND deleted_at IS NULL
		  AND system_of_record = 'Internal Core' AND status <> 'Pending' -- others are reached over networks
		UNION ALL SELECT NULL, b.id FROM unnest($3::text[]) AS b(id) WHERE EXISTS (SELECT FROM accounts
		  WHERE tenant = $1 AND bank_id = b.id AND deleted_at IS NULL
		    AND system_of_record = 'Internal Core' AND status <> 'Pending')`)
	readingBank = db.NewQuery[bankApproval](`SELECT c.access_payment_dual_approval AS dual,
		c.access_number_of_approvers AS people, c.access_first_approver_limit AS first,
		  c.access_second_approver_limit AS second, t.currency, t.sandbox, c.swift_code AS bic
		FROM tenants AS t JOIN customers AS c ON c.tenant = t.id AND c.relationship_type = 'Self'
		WHERE t.id = $1 AND c.tenant = $1`)
	readingApproval = db.NewQuery[approval](`SELECT access_payment_dual_approval AS dual,
		access_number_of_approvers AS people, access_first_approver_limit AS first,
		access_second_approver_limit AS second FROM customers WHERE tenant = $1 AND uid = $2`)
	readingParties = db.NewQuery[party](`SELECT a.uid, a.status, a.currency, a.type, a.sub_type, a.bank_id,
		a.bank_name, a.system_of_record, a.customer, c.legal_name,
		c.status AS customer_status, c.owner, coalesce(o.status, '') AS partner_status,
		c.access_payment_dual_approval AS dual, c.access_number_of_approvers AS people,
		  c.access_first_approver_limit AS first, c.access_second_approver_limit AS second,
		a.enable_fednow AND a.fednow_send AS fednow, a.enable_rtp AND a.rtp_send AS rtp, a.enable_wires
		AND a.enable_domestic_wires AS wires, a.enable_wires AND a.enable_international_wires AS wires_abroad,
		a.enable_fednow AS fednow_in, a.enable_rtp AS rtp_in, a.enable_wires AS wires_in,
		a.enable_fednow AND a.fednow_rfp_send AS fednow_asks, a.enable_rtp AND a.rtp_rfp_send AS rtp_asks,
		a.rfp_receive AS rfp_in,
		a.enable_ach AS ach, a.enable_positive_pay AS positive_pay, coalesce(nullif(a.ach_company_id, ''),
		c.ach_company_id) AS company_id, CASE WHEN cardinality(a.sec_codes) > 0 THEN a.sec_codes
		ELSE c.sec_codes END AS classes, a.number_sealed AS sealed, c.legal_line1 AS address_line1,
		  c.legal_line2 AS address_line2, c.legal_city AS address_city,
		c.legal_state AS address_state, c.legal_postal_code AS address_postal_code,
		  c.legal_country_code AS address_country_code,
		CASE WHEN a.enable_callbacks THEN a.callback_limit END AS callback_limit
		FROM accounts AS a JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
		LEFT JOIN customers AS o ON o.tenant = c.tenant AND o.uid = c.owner AND o.uid <> c.uid
		WHERE a.tenant = $1 AND c.tenant = $1 AND a.uid = ANY($2::bigint[]) AND a.deleted_at IS NULL`)
	readingContacts = db.NewQuery[contact](`SELECT k.uid, k.customer, k.version, k.status,
		k.bank_account_number_sealed AS sealed, k.name, k.bank_account_type AS type,
		  k.bank_account_sub_type AS sub_type, k.bank_account_currency AS currency,
		k.phone_number AS phone, k.email_address AS email, k.address_line1, k.address_line2, k.address_city,
		k.address_state, k.address_postal_code, k.address_country_code, k.address_country,
		k.bank_national_code AS routing, k.bank_country AS country, k.bank_name, k.bank_swift_code AS bic,
		k.intermediary_swift_code AS between_bic, k.intermediary_name AS between_name,
		CASE WHEN k.intermediary_national_code ~ '^[0-9]{9}$' THEN k.intermediary_national_code
		ELSE '' END AS between_routing
		FROM contacts AS k WHERE k.tenant = $1 AND k.uid = ANY($2::bigint[])`)
	takingUIDs = db.NewQuery[taken](`SELECT nextval('payment_uids') AS uid
		FROM generate_series(1, $1::bigint)`)
	takingRecurrenceUIDs = db.NewQuery[takenRecurrence](
		`SELECT nextval('recurrence_uids') AS uid FROM generate_series(1, $1::bigint)`)
	// countingOpenSeries counts, up to a bound, the series that the customers of accounts have.
	countingOpenSeries = db.NewQuery[seriesCount](`SELECT a.customer, (SELECT count(*) FROM (
		SELECT FROM recurrences AS r WHERE r.tenant = $1 AND r.customer = a.customer
		AND r.status IN ('Active', 'Pending') LIMIT $3) AS c) AS series
		FROM (SELECT DISTINCT customer FROM accounts WHERE tenant = $1 AND uid = ANY($2::bigint[])) AS a`)
)

// seriesCount is how many series of a customer go on.
type seriesCount struct {
	Customer customers.UID `bun:"customer"`
	Series   int           `bun:"series"`
}

// headAndBranch returns the refs under which the directory may have a bank: the branch, and its head office.
func headAndBranch(bic string) []banks.Ref {
	return []banks.Ref{banks.Coded(bic), banks.Coded(bic[:min(len(bic), 8)])}
}

// refs returns those under which the directory may have the bank of a contact.
func (k *contact) refs() []banks.Ref {
	refs := []banks.Ref{banks.Routing(k.Routing)}
	if k.BIC != "" {
		refs = append(refs, headAndBranch(k.BIC)...)
	}
	if k.BetweenRouting != "" {
		refs = append(refs, banks.Routing(k.BetweenRouting))
	}
	if k.BetweenBIC != "" {
		refs = append(refs, headAndBranch(k.BetweenBIC)...)
	}
	return refs
}

// want says which facts payments need.
type want struct {
	payers, payees []Party  // payers own the payments: they bear fees and limits, also of what they collect
	virtual        []string // numbers that may be those of virtual accounts
	virtualUIDs    []virtualaccounts.UID
	contacts       []contacts.UID
	banks          []banks.Ref
	trades         []fx.TradeUID
	others         []string  // numbers of accounts at other banks
	othersAt       []string  // those banks, by routing number
	from, to       time.Time // the days on which limits count; zero if none does
	houses         []house   // that take part
	created        int       // of the payments, at most
	recurrences    int       // series that begin, at most
	journals       int       // at most, beside those of the payers
	people         bounded   // who make new payments
	screened       bool      // whether names are compared with lists
	// who named the parties, one for all or one for each; none if it was the bank
	askers []access.Caller
}

// madeBy adds the callers who make the payments: one for all of them, or one for each. Accounts that they name
// and do not see are not locked.
func (w want) madeBy(now time.Time, callers ...access.Caller) want {
	w.people, w.askers = boundedOf(paid, now, callers...), callers
	return w
}

// outside returns who named a party, if that is somebody outside the bank, who does not see all accounts.
func (w want) outside(i int) (by access.Caller, is bool) {
	if len(w.askers) > 0 {
		by = w.askers[min(i, len(w.askers)-1)]
	}
	return by, len(w.askers) > 0 && by.Reach != access.OfBank
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
// account is active is read after it was locked, as accounts are closed under the same lock.
func (s *Service) gatherTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, w want) (*facts, error) {
	r := &reading{
		batch: func() *db.Batch { return db.TxBatch(tx) }, books: ledger.Lock, limits: limits.Count,
		trades: fx.Lock,
		house: func(ctx context.Context, h house, shard int16) (accounts.UID, error) {
			return s.ledger.HouseTx(ctx, tx, tenant, h.of, h.in, shard)
		},
		uids: func(b *db.Batch, n int) *db.Rows[taken] { return db.Queue(b, takingUIDs, n) },
		recurrences: func(b *db.Batch, n int) *db.Rows[takenRecurrence] {
			return db.Queue(b, takingRecurrenceUIDs, n)
		},
		own: lockOwn,
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
	own         func(b *db.Batch, tenant access.Tenant, of act, who bounded) *ownUse
	// what names are compared with; nil where they are not
	screen func(ctx context.Context, asked *screening.Asked) (*screening.Screen, error)
}

// gather reads what payments are decided by: first what they name, and then, in a second round trip, what
// that leads to.
func (s *Service) gather(ctx context.Context, r *reading, tenant access.Tenant, w want) (*facts, error) {
	g := &gathering{want: w, r: r, refs: w.banks, f: &facts{
		tenant: tenant, numbers: map[string]accounts.UID{}, parties: map[accounts.UID]*party{},
		houses: map[house]accounts.UID{}, known: map[contacts.UID]*contact{}, trades: map[fx.TradeUID]*fx.Trade{},
		used: map[fx.TradeUID]bool{}, ours: map[string]string{}, banksOfOurs: map[string]bool{},
		tried: map[tried]bool{}, aside: map[customers.UID]int{},
		virtual:        map[virtualaccounts.UID]*virtualaccounts.Creditable{},
		virtualNumbers: map[string]virtualaccounts.UID{},
	}}
	if err := g.find(ctx, s); err != nil {
		return nil, err
	}
	if err := g.addHouses(ctx); err != nil {
		return nil, err
	}
	if err := g.lock(ctx); err != nil {
		return nil, err
	}
	return g.f, nil
}

// gathering is facts while they are read.
type gathering struct {
	want
	r       *reading
	f       *facts
	owners  []accounts.UID // that may pay
	named   []accounts.UID // by the payments
	masters []accounts.UID // of virtual accounts
	own     []accounts.UID // the bank's
	refs    []banks.Ref
	// hashes of the numbers in want.others, as those of accounts and of virtual accounts
	otherHashes, otherVirtual [][]byte
}

// some queues a read. If there is nothing to read, it returns no rows.
func some[T, R any](of []T, queue func() *db.Rows[R]) *db.Rows[R] {
	if len(of) == 0 {
		return new(db.Rows[R])
	}
	return queue()
}

// find reads what payments name.
func (g *gathering) find(ctx context.Context, s *Service) error {
	f, r, b := g.f, g.r, g.r.batch()
	payers, payerHashes := s.named(f.tenant, g.payers)
	_, payeeHashes := s.named(f.tenant, g.payees)
	hashes := slices.Concat(payerHashes, payeeHashes)
	var virtualHashes [][]byte
	for _, number := range g.virtual {
		virtualHashes = append(virtualHashes, s.keys.Hashes(int64(f.tenant),
			virtualaccounts.NumberColumn, number)...)
	}
	var asked []accounts.UID
	for _, all := range [][]Party{g.payers, g.payees} {
		for i, p := range all {
			if _, outside := g.outside(i); outside && p.UID != 0 {
				asked = append(asked, p.UID)
			}
		}
	}
	named := new(db.Rows[numbered])
	if len(hashes)+len(asked) > 0 {
		named = db.Queue(b, findingNamed, f.tenant, hashes, asked)
	}
	virtual := some(virtualHashes, func() *db.Rows[virtualaccounts.Creditable] {
		return virtualaccounts.Numbered(b, f.tenant, virtualHashes)
	})
	charges := fees.ChargesOf(b, f.tenant, payers, payerHashes, feeNames...)
	known := some(g.contacts,
		func() *db.Rows[contact] { return db.Queue(b, readingContacts, f.tenant, g.contacts) })
	lists := new(db.Rows[screening.Asked])
	if r.screen != nil {
		lists = screening.Ask(b, f.tenant)
	}
	bank := db.Queue(b, readingBank, f.tenant)
	trades := some(g.trades, func() *db.Rows[fx.Trade] { return r.trades(b, f.tenant, g.trades) })
	err := b.Send(ctx)
	if err != nil {
		return fmt.Errorf("read what payments cost: %w", err)
	}
	leads := map[accounts.UID]*numbered{}
	for _, n := range named.Items {
		if leads[n.Account] = n; n.Hash != nil {
			f.numbers[string(n.Hash)] = n.Account
		}
	}
	g.owners = g.seen(s, g.payers, leads)
	g.named = slices.Concat(g.owners, g.seen(s, g.payees, leads))
	f.charges = charges.Of
	maps.DeleteFunc(f.charges, func(payer accounts.UID, _ []*fees.Charge) bool {
		return !slices.Contains(g.owners, payer)
	})
	g.virtualUIDs = slices.Clone(g.virtualUIDs)
	for _, v := range virtual.Items {
		f.virtualNumbers[string(v.Hash)] = v.UID
		g.masters, g.virtualUIDs = append(g.masters, v.Account), append(g.virtualUIDs, v.UID)
	}
	for _, k := range known.Items {
		f.known[k.UID], g.refs = k, append(g.refs, k.refs()...)
		if number, err := s.numberOf(f.tenant, k); err == nil { // else the payment for this contact fails
			g.others, g.othersAt = append(g.others, number), append(g.othersAt, k.Routing)
		}
	}
	for _, number := range g.others {
		g.otherHashes = append(g.otherHashes, s.keys.Hashes(int64(f.tenant), accounts.NumberColumn, number)...)
		g.otherVirtual = append(g.otherVirtual,
			s.keys.Hashes(int64(f.tenant), virtualaccounts.NumberColumn, number)...)
	}
	for _, t := range trades.Items {
		f.trades[t.UID] = t
		if t.ValueDate.After(g.to) { // the day of the payment that uses it
			g.to = t.ValueDate
		}
		g.houses = append(g.houses, house{ledger.HousePosition, t.Buy}, house{ledger.HousePosition, t.Sell})
	}
	if len(bank.Items) > 0 {
		f.bank = *bank.Items[0]
	}
	if r.screen != nil {
		f.screen, err = r.screen(ctx, lists.Items[0])
	}
	return err
}

// seen returns the accounts of parties, without those that who named them does not see: nobody may make others
// wait for an account by naming it. leads are what numbers, and UIDs of requests, lead to.
func (g *gathering) seen(s *Service, all []Party, leads map[accounts.UID]*numbered) (uids []accounts.UID) {
	for i, p := range all {
		uid := p.UID
		if uid == 0 {
			uid = g.f.numbered(s, p.Number)
		}
		if uid == 0 {
			continue
		}
		if by, outside := g.outside(i); outside {
			if to := leads[uid]; to == nil || !by.Sees(to.Customer, to.Owner) {
				continue
			}
		}
		uids = append(uids, uid)
	}
	return uids
}

// addHouses finds the bank's own accounts that take part, in the shard of one of the payers.
func (g *gathering) addHouses(ctx context.Context) error {
	f, shard := g.f, int16(0)
	for _, payer := range slices.Backward(slices.Sorted(maps.Keys(f.charges))) {
		shard = ledger.ShardOf(payer)
		g.houses = append(g.houses, house{ledger.HouseFees, f.charges[payer][0].Currency})
	}
	if len(f.charges) == 0 && len(g.named) > 0 {
		shard = ledger.ShardOf(slices.Min(g.named))
	}
	for _, h := range g.houses {
		if _, found := f.houses[h]; found {
			continue
		}
		uid, err := g.r.house(ctx, h, shard)
		if err != nil {
			return err
		}
		f.houses[h], g.own = uid, append(g.own, uid)
	}
	return nil
}

// lock reads what is known of everything that takes part, and locks the accounts.
func (g *gathering) lock(ctx context.Context) error {
	f, r, b := g.f, g.r, g.r.batch()
	f.own = r.own(b, f.tenant, paid, g.people)
	if len(g.refs) > 0 {
		slices.Sort(g.refs)
		f.banks = banks.Known(b, slices.Compact(g.refs), reached)
	}
	if !g.from.IsZero() {
		f.limits = r.limits(b, f.tenant, g.owners, g.from, g.to)
	}
	all := slices.Concat(g.named, g.masters, g.own)
	f.books = r.books(b, f.tenant, all, journalsEach*len(g.payers)+g.journals)
	parties := db.Queue(b, readingParties, f.tenant, all)
	ours := some(g.otherHashes, func() *db.Rows[ourAccount] {
		slices.Sort(g.othersAt)
		return db.Queue(b, findingOurs, f.tenant, g.otherHashes, slices.Compact(g.othersAt))
	})
	parts := some(g.otherVirtual, func() *db.Rows[virtualaccounts.BankNumber] {
		return virtualaccounts.BankNumbers(b, f.tenant, g.otherVirtual)
	})
	// after they were locked
	used := some(g.trades, func() *db.Rows[fx.Used] { return fx.UsedOf(b, f.tenant, g.trades) })
	virtual := some(g.virtualUIDs, func() *db.Rows[virtualaccounts.Creditable] {
		return virtualaccounts.Again(b, f.tenant, g.virtualUIDs)
	})
	uids, recurrences, series := r.uids(b, g.created), new(db.Rows[takenRecurrence]), new(db.Rows[seriesCount])
	if g.recurrences > 0 {
		recurrences = r.recurrences(b, g.recurrences)
		series = db.Queue(b, countingOpenSeries, f.tenant, g.named, mostSeries)
	}
	if err := b.Send(ctx); err != nil {
		return fmt.Errorf("lock the accounts of payments: %w", err)
	}
	for _, p := range parties.Items {
		p.bic, f.parties[p.Account] = f.bank.BIC, p
	}
	for _, t := range used.Items {
		f.used[t.UID] = true
	}
	for _, a := range ours.Items {
		if a.Hash == nil {
			f.banksOfOurs[a.Bank] = true
		} else {
			f.ours[string(a.Hash)] = a.Bank
		}
	}
	for _, v := range parts.Items {
		f.ours[string(v.Hash)] = v.Bank
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
	f.series = map[customers.UID]int{}
	for _, c := range series.Items {
		f.series[c.Customer] = c.Series
	}
	return nil
}
