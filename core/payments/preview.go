package payments

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/fx"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/db"
)

// Preview is what would become of a payment if it were asked for now. It is decided by the code that decides
// on payments, from facts that are read without locks, on books in memory that are never written.
type Preview struct {
	// what stands in the way: the faults with which the payment would be refused
	Faults []*fault.Fault
	// what would stop a payment that waits for its day or for a second person if it were carried out now
	Warnings []*fault.Fault

	State State // that it would begin with; "" if it would be refused
	// as it would be, as far as that is known; nil where the request says too little
	Payment *Payment
	Rails   []RailChoice // of its speed, the preferred one first; none for a book transfer
	// people beside the maker who would have to approve it, and whether they must be the bank's own
	Approvers int32
	ByBank    bool
	CutOff    *time.Time     // of the window of its network; nil for none
	SendAt    *time.Time     // when it would be sent to its network; nil for a book transfer
	Limits    []PlannedLimit // none for callers that do not see customers
	// what it would cost now
	Charge *money.Amount
	// the most that could be paid in this way now; nil if something other than the amount stands in the way,
	// and for callers that do not see what bounds it: the account, and of a payment that limits count customers
	Most *money.Amount
	// of the account that is debited, now and once the money is held or has moved; nil for callers that do
	// not see it, and After if it cannot. Whether an amount is covered is told to all, as a payment tells it.
	Available, After *money.Amount
}

// RailChoice says whether a network could take a payment.
type RailChoice struct {
	Rail    rails.Rail
	Chosen  bool
	For     []string // what speaks for it, in plain words
	Against []string // what keeps the payment from it
	Most    money.Amount
	CutOff  *time.Time // of its window; nil if it has none
	SendAt  time.Time
	Settles time.Time // the day, midnight UTC
}

// PlannedLimit is a limit of the customer that a payment would be tested against.
type PlannedLimit struct {
	Limit *limits.Limit
	After money.Amount // what would be left; negative if the payment exceeds it
	// the first day of settlement that counts anew; nil for a limit of one payment
	Resets *time.Time
	Binds  bool // it leaves the least
}

// Status returns the state that the payment would begin with as partners read it; "" if it would be refused.
func (v *Preview) Status() Status { return v.State.Status() }

// planned returns the payment as it would be, without values if nothing is known of it.
func (v *Preview) planned() *Payment {
	if v.Payment == nil {
		return new(Payment)
	}
	return v.Payment
}

// SenderName returns the name of who would pay.
func (v *Preview) SenderName() string { return v.planned().SenderName }

// ReceiverName returns the name of who would be paid.
func (v *Preview) ReceiverName() string { return v.planned().ReceiverName }

// Amount returns what would be paid; nil if that is not known.
func (v *Preview) Amount() *money.Amount {
	if v.Payment == nil {
		return nil
	}
	amount := v.Payment.Amount()
	return &amount
}

// Currency returns that of all amounts.
func (v *Preview) Currency() money.Currency { return v.planned().Currency }

// Rail returns the network; "" if none can take it.
func (v *Preview) Rail() rails.Rail { return v.planned().Rail }

// Date returns the day on which the money would move; nil if that is not known.
func (v *Preview) Date() *time.Time {
	if on := v.planned().Date; v.Rail() != "" && !on.IsZero() {
		return &on
	}
	return nil
}

// PreviewSend tells what Send would do with an order, and does nothing.
func (s *Service) PreviewSend(ctx context.Context, order Order) (*Preview, error) {
	caller, err := access.Require(ctx, access.InitiatePayments)
	if err != nil {
		return nil, err
	}
	now, err := s.now(ctx, caller.Tenant)
	if err != nil {
		return nil, err
	}
	v := new(Preview)
	if form := fault.Called(order.check(), calledInOrders); form != nil {
		v.Faults, err = faultsIn(form)
		return v, err
	}
	f, err := s.lookAt(ctx, caller, wantedBy([]*Order{&order}, now), now)
	if err != nil {
		return nil, err
	}
	build := func(f *facts, amount string) (*Payment, error) {
		o := order
		if amount != "" {
			o.Amount = amount
		}
		return f.drawOrder(s, caller, &o, now)
	}
	least := int64(1)
	if t := f.trades[order.Contract]; t != nil { // which pays its own amount alone
		least = t.BuyMinor
	}
	if err := f.preview(v, caller, now, least, build); err != nil {
		return nil, err
	}
	v.Rails = f.choices(s, caller, &order, now, v.Rail())
	for _, all := range [][]*fault.Fault{v.Faults, v.Warnings} {
		for i, one := range all {
			all[i], _ = fault.Of(fault.Called(one, calledInOrders))
		}
	}
	return v, nil
}

// PreviewTransfer tells what Transfer would do, and does nothing.
func (s *Service) PreviewTransfer(ctx context.Context, draft Draft) (*Preview, error) {
	caller, err := access.Require(ctx, access.InitiatePayments)
	if err != nil {
		return nil, err
	}
	now, err := s.now(ctx, caller.Tenant)
	if err != nil {
		return nil, err
	}
	v := new(Preview)
	if form := draft.check(); form != nil {
		v.Faults, err = faultsIn(form)
		return v, err
	}
	w := want{created: 1, recurrences: 1, payers: []Party{draft.Sender}, payees: []Party{draft.Receiver}}
	f, err := s.lookAt(ctx, caller, w, now)
	if err != nil {
		return nil, err
	}
	return v, f.preview(v, caller, now, 1, func(f *facts, amount string) (*Payment, error) {
		d := draft
		if amount != "" {
			d.Amount = amount
		}
		return f.transfer(s, caller, &d, now)
	})
}

// faultsIn returns the faults of an error.
func faultsIn(err error) ([]*fault.Fault, error) {
	var several fault.Faults
	if errors.As(err, &several) {
		return slices.Clone(several), nil
	}
	if f, is := fault.Of(err); is && f.Kind != fault.Internal {
		return []*fault.Fault{f}, nil
	}
	return nil, err
}

// lookAt reads facts as they are, on connections that cannot write. The bank's own accounts are made up, as
// nothing is decided by their balances.
func (s *Service) lookAt(ctx context.Context, by access.Caller, w want, now time.Time) (*facts, error) {
	return s.look(ctx, s.db.PrimaryBatch, by, w, now)
}

// look is lookAt with the batches in which facts are read.
func (s *Service) look(
	ctx context.Context, batch func() *db.Batch, by access.Caller, w want, now time.Time,
) (*facts, error) {
	supposed := map[accounts.UID]house{}
	f, err := s.gather(ctx, &reading{
		batch: batch, books: ledger.Look, limits: limits.Look, trades: fx.Look,
		house: func(_ context.Context, h house, _ int16) (accounts.UID, error) {
			uid := accounts.UID(-1 - len(supposed))
			supposed[uid] = h
			return uid, nil
		},
		uids: func(_ *db.Batch, n int) *db.Rows[taken] {
			numbers := new(db.Rows[taken])
			for range n {
				numbers.Items = append(numbers.Items, new(taken))
			}
			return numbers
		},
		recurrences: func(_ *db.Batch, n int) *db.Rows[takenRecurrence] {
			numbers := new(db.Rows[takenRecurrence])
			for range n {
				numbers.Items = append(numbers.Items, new(takenRecurrence))
			}
			return numbers
		},
		own: readOwn,
	}, by.Tenant, w.madeBy(now, by))
	if err != nil {
		return nil, err
	}
	f.room = sync.OnceValue(func() error {
		_, err := changes.Room(ctx, batch(), by)
		return err
	})
	for uid, h := range supposed {
		f.books.Suppose(uid, h.of, h.in)
	}
	return f, nil
}

// supposed returns a copy of the facts, for a payment that is only tried out.
func (f *facts) supposed() *facts {
	copied := *f
	copied.books, copied.own = f.books.Supposed(), f.own.supposed()
	return &copied
}

// builder makes a payment from a request, with another amount if one is given.
type builder func(f *facts, amount string) (*Payment, error)

// trial is what becomes of a request.
type trial struct {
	facts   *facts // afterwards
	payment *Payment
	state   State
	refusal error    // a fault with which it is refused
	later   error    // one that stops it when it is carried out, as things are
	waits   bool     // for approval
	carried *Payment // as it is once it is carried out; nil if it cannot be
}

// try lets a payment begin, and be carried out if it waits, on a copy of the books.
func (f *facts) try(build builder, amount string, by access.Caller, now time.Time) (t trial, err error) {
	t.facts = f.supposed()
	if t.payment, err = build(t.facts, amount); err == nil {
		if t.waits = t.facts.needsApproval(t.payment); t.waits {
			err = f.room()
		}
		if err == nil {
			t.state, err = t.facts.start(t.payment, by, now, t.waits)
		}
	}
	switch {
	case err == nil:
	case isFault(err):
		t.state, t.refusal = "", err
		return t, nil
	default:
		return t, err
	}
	carried := *t.payment
	if t.state == PendingApproval || t.state == Scheduled {
		if _, err = t.facts.carryOut(&carried, now); isFault(err) {
			t.later = err
			return t, nil
		}
	}
	t.carried = &carried
	return t, err
}

// preview tries a request, and fills in what it would do. least is the smallest amount that can be paid by
// it, in minor units.
func (f *facts) preview(v *Preview, by access.Caller, now time.Time, least int64, build builder) error {
	t, err := f.try(build, "", by, now)
	if err != nil {
		return err
	}
	v.State, v.Payment = t.state, t.payment
	for found, into := range map[error]*[]*fault.Fault{t.refusal: &v.Faults, t.later: &v.Warnings} {
		if found != nil {
			if *into, err = faultsIn(found); err != nil {
				return err
			}
		}
	}
	p := t.payment
	if p == nil {
		return nil
	}
	if c := f.charge(p); c != nil {
		v.Charge = amountOf(c.Price, p.DebitedCurrency())
	}
	sees := by.May(access.ViewAccounts)
	if balance := f.books.Of(p.SenderAccount); balance != nil && sees {
		v.Available = amountOf(balance.Available().Minor, p.DebitedCurrency())
	}
	if t.carried != nil && sees {
		v.After = amountOf(t.facts.books.Of(p.SenderAccount).Available().Minor, p.DebitedCurrency())
	}
	if sees && (!p.counts() || by.May(access.ViewCustomers)) {
		if v.Most, err = f.most(build, money.Of(least, p.Currency), by, now); err != nil {
			return err
		}
	}
	if v.Date() == nil {
		return nil
	}
	if t.waits {
		people, reach := f.approvers(p)
		v.Approvers, v.ByBank = people, reach == access.OfBank || by.Reach == access.OfBank
	}
	if p.Rail != rails.Book {
		slot := slotOf(p.Speed, p.Rail, p.pair(), now, p.Date, p.Trade != 0)
		v.SendAt = &slot.Sent
		if !slot.CutOff.IsZero() {
			v.CutOff = &slot.CutOff
		}
	}
	if f.limits != nil && by.May(access.ViewCustomers) {
		v.Limits = f.limitsOf(p)
	}
	return nil
}

func amountOf(minor int64, in money.Currency) *money.Amount {
	amount := money.Of(minor, in)
	return &amount
}

// limitsOf returns the limits that a payment is tested against.
func (f *facts) limitsOf(p *Payment) (all []PlannedLimit) {
	least := 0
	for l := range f.limits.Testing(p.tested(p.entry)) {
		planned := PlannedLimit{Limit: l, After: money.Of(l.Remaining().Minor-p.Debited().Minor,
			p.DebitedCurrency())}
		if first, last := l.Period().Around(p.Date); !last.Before(first) {
			anew := last.AddDate(0, 0, 1)
			planned.Resets = &anew
		}
		if all = append(all, planned); planned.After.Minor < all[least].After.Minor {
			least = len(all) - 1
		}
	}
	if len(all) > 0 {
		all[least].Binds = true
	}
	return all
}

// mostDigits is how many digits a request's amount has at most before the point.
const mostDigits = 15

// most finds the largest amount that would be accepted, and could be carried out now: one that passes while
// one minor unit more does not. It is nil if the least amount does not pass either.
func (f *facts) most(
	build builder, least money.Amount, by access.Caller, now time.Time,
) (*money.Amount, error) {
	in := least.Currency
	passes := func(minor int64) (bool, error) {
		t, err := f.try(build, money.Of(minor, in).String(), by, now)
		return t.refusal == nil && t.later == nil, err
	}
	some, err := passes(least.Minor)
	if err != nil || !some {
		return nil, err
	}
	low, high := least.Minor, int64(math.Pow10(min(mostDigits+in.Digits(), 18)))-1
	for low < high {
		half := low + (high-low+1)/2
		fits, err := passes(half)
		if err != nil {
			return nil, err
		}
		if fits {
			low = half
		} else {
			high = half - 1
		}
	}
	return amountOf(low, in), nil
}

// choices returns what speaks for and against the networks of an order's speed. There are none if the order
// names an account, an amount or a bank that is refused.
func (f *facts) choices(
	s *Service, by access.Caller, o *Order, now time.Time, chosen rails.Rail,
) (all []RailChoice) {
	from, err := f.party(s, by, "sender", o.Sender)
	if err != nil {
		return nil
	}
	amount, err := orderAmount(o, from)
	if err != nil {
		return nil
	}
	wanted := o.Date
	if t := f.trades[o.Contract]; t != nil {
		wanted = t.ValueDate
	}
	to, err := f.receiver(s, by, from, o)
	if err != nil {
		return nil
	}
	way, err := f.wayOf(o, &to)
	if err != nil {
		return nil
	}
	speed, sends := Speed(o.Speed), to.payable(from)
	for _, over := range o.networks() {
		slot := slotOf(speed, over, pair{from.Currency, amount.Currency}, now, wanted, o.Contract != 0)
		choice := RailChoice{
			Rail: over, Chosen: over == chosen, Most: money.Of(most[service(speed, over)], amount.Currency),
			SendAt: slot.Sent, Settles: slot.Settles,
		}
		if !slot.CutOff.IsZero() {
			choice.CutOff = &slot.CutOff
		}
		for _, c := range checks {
			if c.passes(speed, over, sends, way.first, amount.Minor) {
				choice.For = append(choice.For, c.pro)
			} else {
				choice.Against = append(choice.Against, c.against)
			}
		}
		if !wanted.IsZero() && !slot.Settles.Equal(wanted) {
			choice.Against = append(choice.Against, "does not settle on the day")
		}
		all = append(all, choice)
	}
	return all
}
