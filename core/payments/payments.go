package payments

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/banks"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/customers"
	"bankgraph/core/ledger"
	"bankgraph/core/page"
	"bankgraph/core/positivepay"
	"bankgraph/core/probes"
	"bankgraph/core/screening"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{
		"ach_answers", "ach_received", "ach_entries",
		"ach_notices", "ach_origins", "ach_prenotes", "ach_reversals",
		"information_requests", "network_messages", "payment_details", "payment_repairs", "payment_requests",
		"payment_steps", "payments", "person_usage", "recurrences", "sending_resumptions",
	},
	Reads: map[string]string{
		"bulk_file_lines": "which file a payment is of, in the statements that tell of payments",
		"bulk_files":      "the number and name of that file",
		"waterfall_steps": "which step of a batch a payment is, in the statements that tell of payments",
		"waterfalls":      "the id of that batch",
		"approvals":       "what an operator keeps back after a restore may wait for a second person",
		"accounts": "all accounts of a transaction's payments are read in one statement, after they are " +
			"locked in the books",
		"contacts":         "whom payments name, all of a transaction in one statement",
		"customers":        "in that statement, too; and payments are shown with who pays and who is paid",
		"balances":         "the proof looks up which accounts are the bank's own",
		"holds":            "in the proof, too; and what another account holds is not sent",
		"journals":         "the proof compares each payment with what was booked for it",
		"postings":         "in the proof, too",
		"tenants":          "the bank's currency, in the statement that reads its settings",
		"virtual_accounts": "payments are shown with the virtual account that they name",
	},
}

// Service carries out the payments of every bank.
type Service struct {
	db        *db.DB
	keys      *seal.Keys
	probes    *probes.Counter
	customers *customers.Service
	accounts  *accounts.Service
	ledger    *ledger.Service
	now       clock.Now
	network   Network
	behind    func(context.Context) error // of HoldSendingWhile; nil if nothing is kept outside

	due, runs dueTurns // of payments and of series
	paces     changes.Paces
	unread    unfinished
	senders   changes.Turns[customers.UID] // whose payments were looked at last, to be sent

	entriesOfFile int           // of ACH
	filesFor      time.Duration // how long one call takes in files of ACH

	positivePay *positivepay.Service
	screening   *screening.Service

	transfer *changes.Operation[Draft, Saved]
	send     *changes.Operation[Order, Saved]
	collect  *changes.Operation[Order, Saved]
	cancel   *changes.Operation[struct{}, Saved]
	repair   *changes.Operation[Repairs, Saved]
	giveBack *changes.Operation[Return, Saved]
	reverse  *changes.Operation[Reversal, Saved]
	inform   *changes.Operation[InformationDraft, SavedInformation]
	recurrenceOperations
	decisionOperations
	screeningOperations
}

// New makes the service.
func New(
	d *db.DB, keys *seal.Keys, tried *probes.Counter, c *customers.Service, a *accounts.Service,
	books *ledger.Service, all *changes.Service, now clock.Now, network Network, rules *positivepay.Service,
	lists *screening.Service,
) *Service {
	s := &Service{
		db: d, keys: keys, probes: tried, customers: c, accounts: a, ledger: books, now: now, network: network,
		positivePay: rules, screening: lists, entriesOfFile: mostEntries, filesFor: filesAtATime,
	}
	s.transfer = changes.DeclareLane(all, "transferFunds", "payment", access.InitiatePayments, s.transferTx).
		DecidedWith(access.ApprovePayments).Settle(s.settleTx).Partly(s.agreeTx).ByNow(s.takesNow)
	s.send = changes.DeclareLane(all, "sendPayment", "payment", access.InitiatePayments, s.sendTx).
		DecidedWith(access.ApprovePayments).Settle(s.settleTx).Partly(s.agreeTx).ByNow(s.takesNow)
	s.collect = changes.DeclareLane(all, "requestDebit", "payment", access.InitiatePayments, s.sendTx).
		DecidedWith(access.ApprovePayments).Settle(s.settleTx).Partly(s.agreeTx).ByNow(s.takesNow)
	s.cancel = changes.Declare(all, "cancelPayment", "payment", access.CancelPayments, s.cancelTx)
	s.repair = changes.Declare(all, "repairPayment", "payment", access.InitiatePayments, s.repairTx).
		DecidedWith(access.ApprovePayments).Settle(s.settleTx).Partly(s.agreeTx).ByNow(s.takesNow)
	s.giveBack = changes.Declare(all, "returnPayment", "payment", access.ReturnPayments, s.returnTx).
		DecidedWith(access.ApprovePayments).Partly(s.mayGoOnTx)
	s.reverse = changes.Declare(all, "reversePayment", "payment", access.ReversePayments, s.reverseTx).
		DecidedWith(access.ApprovePayments).Partly(s.mayGoOnTx)
	s.inform = changes.Declare(all, "requestInformation", "payment", access.InitiatePayments,
		s.requestInformationTx)
	rules.ApprovedLikePayments(ApproversForCustomerTx)
	s.declareRecurrences(all)
	s.declareDecisions(all)
	s.declareScreening(all)
	return s
}

// Transfer moves money from one account to another in the bank's own books. It is carried out at once, or on
// its day if that is later. If the settings of the customer that pays ask for dual approval
// (paymentDualApproval), it waits for a second person first, and where they ask for two, for a third one too.
func (s *Service) Transfer(
	ctx context.Context, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.transfer.Require(ctx, "")
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.transfer.Do(ctx, caller, changes.Target{}, draft, options)
}

// Cancel cancels a payment that waits for its day, for a second person or for its network. It returns ErrOver
// for others, with their state.
func (s *Service) Cancel(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.cancel.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.cancel.Do(ctx, caller, changes.Target{UID: uid.String()}, struct{}{}, options)
}

var identity = db.ColumnsOf[Payment]("UID", "Customer", "Currency", "SoldMinor", "SoldCurrency")

// sides says where the columns of a payment's sides are, and how they are joined. A side at another bank is
// in the payment's details.
var sides = []struct {
	columns db.Columns
	join    string
}{
	{
		db.ColumnsOf[Payment]("Sender"),
		"LEFT JOIN accounts AS sa ON sa.tenant = pay.tenant AND sa.uid = pay.sender_account",
	},
	{
		db.ColumnsOf[Payment]("Receiver"),
		"LEFT JOIN accounts AS ra ON ra.tenant = pay.tenant AND ra.uid = pay.receiver_account",
	},
	{
		db.ColumnsOf[Payment]("Sender", "Receiver", "Contact"),
		"LEFT JOIN payment_details AS pd ON pd.tenant = pay.tenant AND pd.payment = pay.uid",
	},
}

var inAccounts = func() map[string]string {
	from := map[string]string{
		"listed": "0::bigint", "contact": "coalesce(pd.contact, 0)",
		"sender_account":    "coalesce(pay.sender_account, 0)",
		"receiver_account":  "coalesce(pay.receiver_account, 0)",
		"receiver_customer": "coalesce(pay.receiver_customer, 0)",
		"recurrence":        "coalesce(pay.recurrence, 0)",
		"trade":             "coalesce(pay.trade, 0)",
		"virtual_account":   "coalesce(pay.virtual_account, 0)",
	}
	for _, side := range []struct{ prefix, account string }{{"sender_side_", "sa."}, {"receiver_side_", "ra."}} {
		for _, column := range []string{"type", "sub_type", "bank_id", "number_last4"} {
			from[side.prefix+strings.TrimPrefix(column, "number_")] =
				"coalesce(" + side.account + column + ", pd." + column + ", '')"
		}
		from[side.prefix+"bank_name"] = banks.NameOr("coalesce("+side.account+"bank_name, pd.bank_name)",
			"coalesce(nullif("+side.account+"country_code, ''), 'US')",
			"coalesce("+side.account+"bank_id, pd.bank_id)")
		from[side.prefix+"name"] = "coalesce(" + side.account + "name, '')"
		from[side.prefix+"bank_id_type"] = "coalesce(" + side.account +
			"bank_id_type, CASE WHEN length(pd.bank_id) IN (8, 11) THEN 'BIC' ELSE 'NID' END)"
	}
	return from
}()

// selecting starts a query of payments, joined with the accounts whose columns are wanted. A caller who sees
// a payment but not its owner does not read what is the owner's alone.
func selecting(reach access.Reach, want db.Columns, from map[string]string) *bun.SelectQuery {
	want = db.Or[Payment](want).And(identity)
	hides := reach != access.OfBank && want.Overlaps(ofPayer)
	if hides {
		from = hidden(from)
	}
	q := db.Select[Payment](want, from)
	for _, side := range sides {
		if want.Overlaps(side.columns) {
			q = q.Join(side.join)
		}
	}
	if hides {
		q = q.Join(payerSeen(reach))
	}
	return q
}

// seen returns the condition that the caller sees a payment: its owner or its payee is within the caller's
// reach.
func seen(reach access.Reach) string {
	if reach == access.OfBank {
		return reach.Scope("pay.customer")
	}
	return "(" + reach.Scope("pay.customer") + " OR " + reach.Scope("pay.receiver_customer") + ")"
}

// queryKey is what the SQL of a read depends on.
type queryKey struct {
	want         db.Columns
	reach        access.Reach
	where, order string
}

var finding db.QueryCache[Payment]

// FindMany reads payments by UID. Those that the caller may not see are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Payment] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, Payment](err)
	}
	text := finding.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selecting(caller.Reach, want, inAccounts).Where("pay.tenant = $1").Where(seen(caller.Reach)).
			Where("pay.uid = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(p *Payment) UID { return p.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}

// Now reads one payment as it is at this moment, never from a replica, which may be behind.
func (s *Service) Now(ctx context.Context, uid UID) (*Payment, error) {
	b := s.db.PrimaryBatch()
	found := s.FindMany(ctx, b, []UID{uid}, db.Columns{})
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if found.Err == nil && len(found.Of[uid]) == 0 {
		return nil, ErrNotFound
	}
	if found.Err != nil {
		return nil, found.Err
	}
	return found.Of[uid][0], nil
}

// Find reads one payment with the steps of its life.
func (s *Service) Find(ctx context.Context, uid UID) (*Payment, []*Step, error) {
	b := s.db.Batch()
	found, steps := s.FindMany(ctx, b, []UID{uid}, db.Columns{}), s.StepsOf(ctx, b, []UID{uid}, MostOfPayment)
	if err := b.Send(ctx); err != nil {
		return nil, nil, err
	}
	if found.Err != nil {
		return nil, nil, found.Err
	}
	if len(found.Of[uid]) == 0 {
		return nil, nil, ErrNotFound
	}
	return found.Of[uid][0], steps.Of[uid], steps.Err
}

var stepping db.QueryCache[Step]

// MostOfPayment bounds the steps, messages and notices of a payment that are shown.
const MostOfPayment = 200

// unlimited is how many steps, messages or notices of a payment are read where all are.
const unlimited = 0

// lastOf is the text that reads the last rows of each payment $3, $4 at most or all, in their order; rows is
// the text of those of p.payment.
func lastOf(rows, order string) string {
	return "SELECT r.* FROM unnest($3::bigint[]) AS p(payment) CROSS JOIN LATERAL (" + rows + " ORDER BY " +
		order +
		" DESC LIMIT nullif($4::bigint, 0)) AS r ORDER BY r.payment, r." + order
}

// StepsOf reads the last steps of the life of each payment, MostOfPayment at most, in their order.
func (s *Service) StepsOf(ctx context.Context, b *db.Batch, of []UID, last int) *db.Many[UID, Step] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, Step](err)
	}
	return s.stepsOf(b, caller, of, min(last, MostOfPayment))
}

func (s *Service) stepsOf(b *db.Batch, reader access.Caller, of []UID, last int) *db.Many[UID, Step] {
	text := stepping.Get(reader.Reach, func() string {
		return lastOf(db.Select[Step](db.Columns{}, inSteps(reader.Reach)).
			Join("JOIN payments AS pay ON pay.tenant = ps.tenant AND pay.uid = ps.payment").
			Join(payerSeen(reader.Reach)).Where("ps.tenant = $1").
			Where("pay.tenant = $1").Where(seen(reader.Reach)).Where("ps.payment = p.payment").String(), "number")
	})
	return db.QueueMany(b, text, func(step *Step) UID { return step.Payment }, reader.Tenant,
		reader.ScopeCustomer(), of, last)
}

var ofCustomers = customers.Children[Payment]{
	Needs: access.ViewPayments, Table: "pay", Key: "uid",
	Select: func(want db.Columns) *bun.SelectQuery { // the caller sees the payer
		return selecting(access.OfBank, want, inAccounts)
	},
	Customer: func(p *Payment) customers.UID { return p.Customer },
}

// OfCustomers reads a window of the payments that each customer makes, and of those that came in for it,
// newest first.
func (s *Service) OfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, want db.Columns, w page.Window,
) *db.Many[customers.UID, Payment] {
	w.Backward = !w.Backward // Children lists by UID
	return ofCustomers.List(ctx, b, of, s.filter(by), want, w)
}

// CountOfCustomers counts the payments of each customer, up to most; 0 means no bound.
func (s *Service) CountOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, most int64,
) *db.Many[customers.UID, db.Count] {
	return ofCustomers.Count(ctx, b, of, s.filter(by), most)
}

func (s *Service) filter(by Search) customers.Filter {
	return func(tenant access.Tenant, p *db.Params) db.Conditions { return by.where(s, tenant, p) }
}

var (
	listing  db.QueryCache[Payment]
	counting db.QueryCache[db.Count]
)

// List reads a window of the payments that the caller may see and a search finds, newest first.
func (s *Service) List(
	ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window,
) *db.Rows[Payment] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.RefuseRows[Payment](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset}
	list := by.list(s, caller, &p)
	order, after := newestFirst(w, &p)
	list.After, list.Newest = after, !w.Backward
	where := by.page(list, caller.Reach)
	text := listing.Get(queryKey{want, caller.Reach, where.Key(), order}, func() string {
		return where.On(selecting(caller.Reach, want, inAccounts).Where("pay.tenant = $1")).
			OrderExpr(order).String() +
			" LIMIT $3::bigint OFFSET $4::bigint"
	})
	return db.Queue(b, text, p...)
}

// newestFirst returns the order of a list, and the condition that continues from the window's cursor; empty
// if it has none.
func newestFirst(w page.Window, p *db.Params) (order, after string) {
	order, compare := "pay.uid DESC", " < "
	if w.Backward {
		order, compare = "pay.uid", " > "
	}
	if w.Cursor.UID != 0 {
		after = "pay.uid" + compare + p.Add(w.Cursor.UID)
	}
	return order, after
}

// CountUpTo counts the payments that a search finds, up to most; 0 means no bound.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	list := by.list(s, caller, &p)
	list.Most = "1"
	if !by.MostRecent {
		list.Most = p.Up(most)
	}
	text := list.Count(caller.Reach)
	return db.Queue(b, counting.Get(text, func() string { return text }), p...)
}
