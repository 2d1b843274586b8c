package payments_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/sandbox"
)

// newDebtor is a bank with a customer whose account other banks debit.
func newDebtor(t *testing.T, edits ...func(*accounts.Account)) *sender {
	t.Helper()
	b := coretest.New(t)
	b.Directory()
	b.Payments.TakeFilesFor(time.Minute) // one call takes all, however slow the machine is
	c := b.Customer()
	all := append([]func(*accounts.Account){coretest.Holding(100_000_00, 0), coretest.Sends}, edits...)
	return &sender{b, b.Account(c, all...), b.Contact(c)}
}

func positive(a *accounts.Account) { a.EnablePositivePay = true }

func settling(day int) func(*sandbox.Debit) {
	return func(d *sandbox.Debit) { d.Date = time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC) }
}

func debiting(amount string) func(*sandbox.Debit) {
	return func(d *sandbox.Debit) { d.Amount = amount }
}

// debit lets a company at another bank debit the account, and takes it in. It returns the payment that came
// of it; 0 if none did.
func (s *sender) debit(t *testing.T, edits ...func(*sandbox.Debit)) payments.UID {
	t.Helper()
	d := sandbox.Debit{
		Account: s.from.UID, Amount: "25.00", CompanyID: "9100011223", CompanyName: "Lakefront Util",
		CompanyBank: theirs, SECCode: "CCD", IndividualID: "METER-7",
	}
	for _, edit := range edits {
		edit(&d)
	}
	if _, err := s.Sandbox.PlayDebit(s.Staff(), d, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	before := s.newest(t)
	s.run(t)
	if uid := s.newest(t); uid != before {
		return uid
	}
	return 0
}

// rule makes a rule for the account that allows the debit of debit.
func (s *sender) rule(edits ...func(*positivepay.Rule)) positivepay.UID {
	all := append([]func(*positivepay.Rule){func(r *positivepay.Rule) {
		r.ACHCompanyID, r.Minor, r.AmountType, r.Frequency = "9100011223", 25_00, positivepay.Maximum,
			positivepay.OnGoing
		r.SECCode, r.EffectiveDate, r.ExpiryDate = positivepay.AllClasses,
			coretest.Start.Truncate(24*time.Hour), nil
		r.NumberOfPayments, r.IndividualID = nil, ""
	}}, edits...)
	return s.PositivePayRule(s.from, all...).UID
}

// exception returns what positive pay says of a payment; nil if nothing.
func (s *sender) exception(t *testing.T, of payments.UID) *positivepay.ShownException {
	t.Helper()
	found, err := s.PositivePay.Exceptions(s.Staff(),
		positivepay.ExceptionSearch{Payment: int64(of)}, page.First(2))
	if err != nil {
		t.Fatal(err)
	}
	if found.Total != int64(len(found.Items)) || found.Total > 1 {
		t.Fatalf("payment %s has %d exceptions, and %d are shown", of, found.Total, len(found.Items))
	}
	if found.Total == 0 {
		return nil
	}
	return found.Items[0]
}

func (s *sender) is(
	t *testing.T, of payments.UID, status positivepay.DecisionStatus, reason positivepay.Mismatch,
) {
	t.Helper()
	if e := s.exception(t, of); e == nil || e.Status != status || e.Reason != reason {
		t.Errorf("%+v, want %s %q", e, status, reason)
	}
}

// wentBack returns the codes of the entries that the bank has sent back, with the traces of the entries.
func (s *sender) wentBack(t *testing.T) (all []string) {
	t.Helper()
	files, _, _ := s.files(t)
	for _, entries := range files {
		for _, e := range entries {
			if e.Return == nil {
				t.Errorf("%+v is no return", e)
				continue
			}
			all = append(all, fmt.Sprint(e.Return.Code, " ", e.Amount, " ", e.Routing, " ", e.Number, " ",
				e.Return.OriginalBank))
		}
	}
	return all
}

func TestADebitOfAnotherBankIsTakenWhenItSettles(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	uid := s.debit(t, settling(19))
	s.has(t, 100_000_00, 0)
	if got := s.life(t, uid); got != "VALIDATED" {
		t.Error(got)
	}
	s.Prove()
	s.until(t, "2026-11-19 08:29")
	s.has(t, 100_000_00, 0)
	s.until(t, "2026-11-19 08:30")
	s.has(t, 99_975_00, 0)
	if got := s.life(t, uid); got != "VALIDATED SETTLED" {
		t.Error(got)
	}
	s.Prove()
	p, err := s.Payments.Show(s.Staff(), uid)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(p.WireType(), p.EntryType, p.Rail, p.Status(), p.MemoPost(), p.Amount(), p.Way(),
		p.OwnSide().UID == s.from.Customer, p.SenderAccount == s.from.UID, p.ReceiverName,
		p.Receives().BankID, p.ExternalReferenceID, s.exception(t, uid) == nil)
	want := fmt.Sprint(payments.IncomingPayment, rails.Debit, rails.ACH, payments.StatusProcessed,
		payments.Posted, "25.00", payments.Out, true, true, "Lakefront Util", theirs, "METER-7", true)
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if back := s.wentBack(t); len(back) > 0 {
		t.Error(back)
	}
	if _, err := s.Payments.Cancel(s.Staff(), uid, changes.RequestOptions{}); !errors.Is(err, payments.ErrOver) {
		t.Error(err)
	}
}

func classed(class string) func(*sandbox.Debit) {
	return func(d *sandbox.Debit) { d.SECCode = class }
}

func (s *sender) sendBack(uid payments.UID, code string) error {
	_, err := s.Payments.Return(s.Staff(), uid, payments.Return{Code: code, Notes: "said so"},
		changes.RequestOptions{})
	return err
}

// A debit that was paid goes back as long as the other bank takes it: until the second banking day opens, and
// for sixty days where a consumer has not agreed, of which the last may be a holiday.
func TestADebitThatWasPaidGoesBackInTime(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	day := settling(19)
	soon, late := s.debit(t, day, classed("CCD")), s.debit(t, day, classed("CCD"))
	first, second, third := s.debit(t, day, classed("PPD")), s.debit(t, day, classed("WEB")),
		s.debit(t, day, classed("TEL"))
	if err := s.sendBack(soon, "R29"); !errors.Is(err, payments.ErrNotProcessed) {
		t.Error(err)
	}
	s.until(t, "2026-11-20 21:59")
	s.has(t, 100_000_00-5*25_00, 0)
	for uid, codes := range map[payments.UID][]string{
		soon: {"", "CUST", "R10", "R07", "R11", "R99"}, first: {"R29", "R05", "AC04"},
	} {
		for _, code := range codes {
			if f, is := fault.Of(s.sendBack(uid, code)); !is || f.Field != "returnCode" {
				t.Errorf("%s: %v", code, f)
			}
		}
	}
	for _, d := range []payments.Return{
		{Code: "R29", Type: "PECR"}, {Code: "R29", Amount: "1"}, {Code: "R29", Reject: "CUST"},
	} {
		_, err := s.Payments.Return(s.Staff(), soon, d, changes.RequestOptions{})
		if f, is := fault.Of(err); !is || f.Problem != fault.Forbidden {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if err := s.sendBack(soon, "R29"); err != nil {
		t.Fatal(err)
	}
	s.has(t, 100_000_00-4*25_00, 0)
	s.Prove()
	if err := s.sendBack(soon, "R29"); !errors.Is(err, payments.ErrNotProcessed) {
		t.Error(err)
	}
	s.until(t, "2026-11-20 22:00")
	for code, uid := range map[string]payments.UID{"R29": late, "R01": first} {
		if err := s.sendBack(uid, code); !errors.Is(err, payments.ErrReturnLate) {
			t.Errorf("%s: %v", code, err)
		}
	}
	if err := s.sendBack(first, "R10"); err != nil {
		t.Fatal(err)
	}
	s.until(t, "2027-01-15 21:59") // the sixtieth day, a Monday, is a holiday
	if err := s.sendBack(second, "R07"); err != nil {
		t.Fatal(err)
	}
	s.until(t, "2027-01-15 22:00")
	if err := s.sendBack(third, "R11"); !errors.Is(err, payments.ErrReturnLate) {
		t.Error(err)
	}
	s.until(t, "2027-01-20 12:00")
	s.has(t, 100_000_00-2*25_00, 0)
	s.Prove()
	var codes []string
	for _, one := range s.wentBack(t) {
		codes = append(codes, one[:3])
	}
	if slices.Sort(codes); !slices.Equal(codes, []string{"R07", "R10", "R29"}) {
		t.Error(codes)
	}
	if got := s.life(t, second); got != "VALIDATED SETTLED RETURNED" {
		t.Error(got)
	}
}

// Two people who give the same debit back at once give its money back once.
func TestADebitGoesBackOnce(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	uid := s.debit(t)
	var done atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch err := s.sendBack(uid, "R29"); {
			case err == nil:
				done.Add(1)
			case !errors.Is(err, payments.ErrNotProcessed):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s.run(t); done.Load() != 1 {
		t.Errorf("%d gave it back", done.Load())
	}
	s.has(t, 100_000_00, 0)
	s.Prove()
}

func TestADebitThatCannotBePaidGoesBackWithTheReason(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct {
		account func(*accounts.Account)
		edit    func(*sandbox.Debit)
		life    string
	}{
		"R01": {func(*accounts.Account) {}, debiting("100000.01"), "VALIDATED RETURNED"},
		"R02": {func(a *accounts.Account) { a.Status = accounts.Closed }, debiting("25"), "RETURNED"},
		"R03": {func(*accounts.Account) {}, func(d *sandbox.Debit) { d.Number = "55501234" }, ""},
		"R16": {func(a *accounts.Account) { a.Status = accounts.Suspended }, debiting("25"), "RETURNED"},
		"R20": {func(a *accounts.Account) { a.EnableACH = false }, debiting("25"), "RETURNED"},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t, c.account)
			uid := s.debit(t, c.edit)
			s.run(t)
			number := coretest.AccountNumber(s.from.UID)
			if c.life == "" {
				number = "55501234"
				if uid != 0 {
					t.Errorf("payment %s", uid)
				}
			} else if got := s.life(t, uid); got != c.life {
				t.Error(got)
			} else if p, err := s.Payments.Show(s.Staff(), uid); err != nil ||
				!strings.HasPrefix(p.Reason, code+": ") {
				t.Errorf("%v %v", p.Reason, err)
			}
			amount := "25.00"
			if code == "R01" {
				amount = "100000.01"
			}
			want := fmt.Sprint(code, " ", amount, " ", theirs, " ", number, " ", ours[:8])
			if back := s.wentBack(t); !slices.Equal(back, []string{want}) {
				t.Errorf("%q, want %q", back, want)
			}
			s.Prove()
			s.run(t)
			if back := s.wentBack(t); len(back) != 1 {
				t.Errorf("it went back %d times", len(back))
			}
		})
	}
}

// achFile is a file of another bank with an entry that debits the account, whose number is trace.
func (s *sender) achFile(t *testing.T, name string, trace int, amounts ...int64) string {
	t.Helper()
	var body bytes.Buffer
	w, err := nacha.NewWriter(&body, nacha.Header{
		Origin: payments.FedACH, OriginName: name, Destination: ours, DestinationName: "US", CreatedAt: s.Now(),
		FirstTrace: trace,
	})
	if err == nil {
		err = w.Batch(nacha.Batch{
			Class: rails.PPD, CompanyID: "9100011223", CompanyName: "Lakefront", Description: "PAYMENT",
			Effective: time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC), Only: rails.Debit, Bank: theirs,
		})
	}
	for _, amount := range amounts {
		if err == nil {
			_, err = w.Entry(nacha.Entry{
				Account: rails.Checking, Direction: rails.Debit, Amount: money.Of(amount, "USD"), Routing: ours,
				Number: coretest.AccountNumber(s.from.UID), Name: "Somebody",
			})
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return body.String()
}

func TestAnEntryCountsOnceInWhateverFileItComes(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	first := s.achFile(t, "FRB", 7, 10_00, 20_00)
	for _, body := range []string{
		first, first, s.achFile(t, "FRB again", 7, 10_00), s.achFile(t, "FRB", 8, 20_00, 30_00),
	} {
		s.arrive(t, rails.ACH, body)
		s.run(t)
	}
	s.has(t, 100_000_00-60_00, 0)
	s.Prove()
}

func TestWorkersAtOnceTakeAndBookEachDebitOnce(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	amounts := make([]int64, 40)
	for i := range amounts {
		amounts[i] = int64(i + 1)
	}
	s.arrive(t, rails.ACH, s.achFile(t, "FRB", 1, amounts...))
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				if _, err := s.Payments.Receive(operator); err != nil {
					t.Error(err)
				}
				_, _ = s.Payments.PostEntries(operator)
			}
		})
	}
	all.Wait()
	s.run(t)
	s.has(t, 100_000_00-820, 0)
	s.Prove()
}

func TestADebitIsHeldUnlessARuleAllowsIt(t *testing.T) {
	t.Parallel()
	none := func(*sandbox.Debit) {}
	for name, c := range map[string]struct {
		rule  func(*positivepay.Rule) // nil for none
		debit func(*sandbox.Debit)
		fails positivepay.Mismatch
	}{
		"no rule": {nil, none, positivepay.NoRule},
		"a rule for wires": {
			func(r *positivepay.Rule) { r.Type = positivepay.Fedwire }, none,
			positivepay.NoRule,
		},
		"another company": {
			func(r *positivepay.Rule) { r.ACHCompanyID = "9100011224" }, none,
			positivepay.CompanyMismatch,
		},
		"any company":   {func(r *positivepay.Rule) { r.ACHCompanyID = "" }, none, ""},
		"another class": {func(r *positivepay.Rule) { r.SECCode = "PPD" }, none, positivepay.ClassMismatch},
		"the class":     {func(r *positivepay.Rule) { r.SECCode = "CCD" }, none, ""},
		"no class":      {func(r *positivepay.Rule) { r.SECCode = "NA" }, none, ""},
		"another individual id": {
			func(r *positivepay.Rule) { r.IndividualID = "METER-8" }, none,
			positivepay.IDMismatch,
		},
		"the individual id": {func(r *positivepay.Rule) { r.IndividualID = "METER-7" }, none, ""},
		"suspended": {
			func(r *positivepay.Rule) { r.State = positivepay.Suspended }, none,
			positivepay.NotActive,
		},
		"deleted": {
			func(r *positivepay.Rule) { r.State = positivepay.Deleted }, none,
			positivepay.NoRule,
		},
		"waits for approval": {
			func(r *positivepay.Rule) { r.State = positivepay.PendingApproval }, none,
			positivepay.NoRule,
		},
		"not yet": {
			func(r *positivepay.Rule) { r.EffectiveDate = r.EffectiveDate.AddDate(0, 0, 1) }, none,
			positivepay.NotActive,
		},
		"its last day": {func(r *positivepay.Rule) {
			day := r.EffectiveDate
			r.ExpiryDate, r.EffectiveDate = &day, day.AddDate(0, 0, -9)
		}, none, ""},
		"no more": {func(r *positivepay.Rule) {
			day := r.EffectiveDate.AddDate(0, 0, -1)
			r.ExpiryDate, r.EffectiveDate = &day, day.AddDate(0, 0, -9)
		}, none, positivepay.NotActive},
		"at most the amount":   {func(*positivepay.Rule) {}, debiting("24.99"), ""},
		"more than the amount": {func(*positivepay.Rule) {}, debiting("25.01"), positivepay.AmountMismatch},
		"the amount":           {func(r *positivepay.Rule) { r.AmountType = positivepay.Exact }, none, ""},
		"less than exact": {
			func(r *positivepay.Rule) { r.AmountType = positivepay.Exact },
			debiting("24.99"), positivepay.AmountMismatch,
		},
		"another account's rule": {func(r *positivepay.Rule) { r.Account = 0 }, none, positivepay.NoRule},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t, positive)
			if c.rule != nil {
				s.rule(func(r *positivepay.Rule) {
					if c.rule(r); r.Account == 0 {
						r.Account = s.Account(s.Customer()).UID
					}
				})
			}
			uid := s.debit(t, c.debit)
			if c.fails == "" {
				s.is(t, uid, positivepay.AutoMatched, "")
				if got := s.life(t, uid); got != "VALIDATED SETTLED" {
					t.Error(got)
				}
			} else {
				s.is(t, uid, positivepay.DecisionPending, c.fails)
				s.has(t, 100_000_00, 0)
				if got := s.life(t, uid); got != "HOLD" {
					t.Error(got)
				}
			}
			s.Prove()
		})
	}
}

func TestARuleAllowsNoMoreThanItsFrequency(t *testing.T) {
	t.Parallel()
	three := int32(3)
	for name, c := range map[string]struct {
		rule func(*positivepay.Rule)
		days []int // after 2026-11-18, a Wednesday, on which debits come
		want string
	}{
		"on going": {func(r *positivepay.Rule) {}, []int{0, 0, 1}, "yes yes yes"},
		"once": {
			func(r *positivepay.Rule) { r.Frequency = positivepay.OneTime },
			[]int{0, 0, 40},
			"yes no no",
		},
		"three times": {
			func(r *positivepay.Rule) { r.NumberOfPayments = &three },
			[]int{0, 0, 0, 1},
			"yes yes yes no",
		},
		"every day": {
			func(r *positivepay.Rule) { r.Frequency = positivepay.Daily },
			[]int{0, 0, 1},
			"yes no yes",
		},
		"every week": {
			func(r *positivepay.Rule) { r.Frequency = positivepay.Weekly },
			[]int{0, 4, 5},
			"yes no yes",
		},
		"every second week": {
			func(r *positivepay.Rule) { r.Frequency = positivepay.BiWeekly },
			[]int{0, 5, 11, 12},
			"yes no no yes",
		},
		"every month": {
			func(r *positivepay.Rule) { r.Frequency = positivepay.Monthly },
			[]int{0, 12, 13},
			"yes no yes",
		},
		"every quarter": {
			func(r *positivepay.Rule) { r.Frequency = positivepay.Quarterly },
			[]int{0, 43, 44},
			"yes no yes",
		},
		"twice a year": {
			func(r *positivepay.Rule) { r.Frequency = positivepay.SemiAnnual },
			[]int{0, 43, 44},
			"yes no yes",
		},
		"every year": {
			func(r *positivepay.Rule) { r.Frequency = positivepay.Annual },
			[]int{0, 43, 44},
			"yes no yes",
		},
		"a refused one is none": {
			func(r *positivepay.Rule) { r.Frequency, r.Minor = positivepay.OneTime, 24_00 },
			[]int{0, 1},
			"NO NO",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t, positive)
			rule := s.rule(c.rule)
			var got []string
			for _, day := range c.days {
				s.Clock.Set(coretest.Start.AddDate(0, 0, day))
				switch e := s.exception(t, s.debit(t)); {
				case e.Status == positivepay.AutoMatched && e.Rule == rule:
					got = append(got, "yes")
				case e.Status == positivepay.DecisionPending && e.Reason == positivepay.FrequencyExceeded:
					got = append(got, "no")
				default:
					got = append(got, "NO")
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestAUsedUpRuleIsExpired(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	uid := s.rule(func(r *positivepay.Rule) { r.Frequency = positivepay.OneTime })
	s.debit(t)
	r, err := s.PositivePay.Find(s.Staff(), uid)
	if err != nil || r.Status() != positivepay.Expired {
		t.Errorf("%v %v", r.Status(), err)
	}
	found, err := s.PositivePay.Page(s.Staff(), positivepay.Search{
		Status: []positivepay.Status{positivepay.Expired},
	}, page.First(5))
	if err != nil || found.Total != 1 {
		t.Errorf("%d %v", found.Total, err)
	}
}

func (s *sender) approve(ctx context.Context, of payments.UID) error {
	_, err := s.Payments.ApproveException(ctx, of, payments.DecisionDraft{}, changes.RequestOptions{})
	return err
}

func (s *sender) reject(ctx context.Context, of payments.UID) error {
	_, err := s.Payments.RejectException(ctx, of, changes.RequestOptions{})
	return err
}

func TestPeopleDecideOnDebitsUntilTheCutOffOfTheNextBankingDay(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	paid, later, sent, ppd, left := s.debit(t), s.debit(t, settling(20)), s.debit(t),
		s.debit(t, func(d *sandbox.Debit) { d.SECCode = "PPD" }), s.debit(t)
	if e := s.exception(t, paid); !e.ExpiresAt.Equal(at(t, "2026-11-19 17:00")) || e.DecidedAt != nil {
		t.Errorf("%+v", e)
	}
	s.until(t, "2026-11-19 16:59")
	for _, do := range []error{
		s.approve(s.Staff(), paid), s.approve(s.Staff(), later), s.reject(s.Staff(), sent),
		s.reject(s.Staff(), ppd),
	} {
		if do != nil {
			t.Error(do)
		}
	}
	for _, again := range []error{
		s.approve(s.Staff(), paid), s.reject(s.Staff(), paid), s.approve(s.Staff(), sent),
	} {
		if !errors.Is(again, positivepay.ErrExceptionDecided) {
			t.Error(again)
		}
	}
	s.Prove()
	s.has(t, 99_975_00, 0)
	s.Clock.Advance(time.Minute)
	if err := s.approve(s.Staff(), left); !errors.Is(err, positivepay.ErrExceptionLate) {
		t.Error(err)
	}
	s.until(t, "2026-11-20 08:30")
	s.run(t)
	s.has(t, 99_950_00, 0)
	s.Prove()
	for _, c := range []struct {
		of     payments.UID
		life   string
		status positivepay.DecisionStatus
	}{
		{paid, "HOLD SETTLED", positivepay.Approved},
		{later, "HOLD VALIDATED SETTLED", positivepay.Approved},
		{sent, "HOLD RETURNED", positivepay.Declined},
		{ppd, "HOLD RETURNED", positivepay.Declined},
		{left, "HOLD RETURNED", positivepay.DefaultDecision},
	} {
		s.is(t, c.of, c.status, positivepay.NoRule)
		if got := s.life(t, c.of); got != c.life {
			t.Errorf("%s, want %s", got, c.life)
		}
	}
	var codes []string
	for _, one := range s.wentBack(t) {
		codes = append(codes, one[:3])
	}
	if slices.Sort(codes); !slices.Equal(codes, []string{"R10", "R29", "R29"}) {
		t.Error(codes)
	}
}

func TestADecisionIsDueBeforeTheReturnWouldBeLate(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	s.until(t, "2026-11-18 23:30") // after the day of a file that settled in the morning
	if e := s.exception(t, s.debit(t)); e.ExpiresAt.After(at(t, "2026-11-19 22:00")) {
		t.Error(e.ExpiresAt)
	}
	s.until(t, "2026-11-20 12:00") // a Friday
	if e := s.exception(t, s.debit(t)); !e.ExpiresAt.Equal(at(t, "2026-11-23 17:00")) {
		t.Error(e.ExpiresAt)
	}
}

func TestAnApprovalOfWhatIsNotThereLeavesTheExceptionWaiting(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	uid := s.debit(t, debiting("100000.01"))
	if err := s.approve(s.Staff(), uid); !errors.Is(err, ledger.ErrUncovered) {
		t.Error(err)
	}
	s.is(t, uid, positivepay.DecisionPending, positivepay.NoRule)
	s.Prove()
	s.play(t, rails.FedNow, "25.00")
	if err := s.approve(s.Staff(), uid); err != nil {
		t.Error(err)
	}
	s.has(t, 24_99, 0)
	s.Prove()
}

func TestManyExceptionsAreDecidedEachOnItsOwn(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	one, dear, other := s.debit(t), s.debit(t, debiting("100000")), s.debit(t)
	credit := s.play(t, rails.FedNow, "10.00")
	if err := s.reject(s.Staff(), other); err != nil {
		t.Fatal(err)
	}
	out, err := s.Payments.DecideExceptions(s.Staff(), payments.ManyDecisions{
		Payments: []payments.UID{dear, other, 77, credit, one, one}, Approve: true,
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range out.Result {
		got = append(got, fmt.Sprint(d.Payment, d.Refused))
	}
	// one comes first: it is older than the dear one, which it leaves too little for
	want := []string{
		fmt.Sprint(dear, true), fmt.Sprint(other, true), "77 true", fmt.Sprint(credit, true),
		fmt.Sprint(one, false), fmt.Sprint(one, false),
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s, want %s: %+v", got, want, out.Result)
	}
	s.has(t, 100_000_00+10_00-25_00, 0)
	s.Prove()
	_, err = s.Payments.DecideExceptions(s.Staff(), payments.ManyDecisions{Payments: make([]payments.UID, 101)},
		changes.RequestOptions{})
	if f, is := fault.Of(err); !is || f.Field != "ids" {
		t.Error(err)
	}
}

func TestOfDecisionsAtOnceOneCounts(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	uid := s.debit(t)
	var all sync.WaitGroup
	var lock sync.Mutex
	done := 0
	for i := range 8 {
		all.Go(func() {
			err := s.approve(s.Staff(), uid)
			if i%2 == 0 {
				err = s.reject(s.Staff(), uid)
			}
			lock.Lock()
			defer lock.Unlock()
			switch {
			case err == nil:
				done++
			case !errors.Is(err, positivepay.ErrExceptionDecided):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if done > 1 {
		t.Errorf("%d decisions", done)
	}
	s.run(t)
	s.Prove()
}

func TestOnlyWhoSeesTheAccountDecides(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	uid := s.debit(t)
	stranger := s.Customer()
	for name, c := range map[string]struct {
		ctx  context.Context
		want error
	}{
		"another customer's": {s.Partner(stranger), positivepay.ErrNoException},
		"without permission": {s.As(access.ManagePositiveRules), access.ErrDenied},
	} {
		if err := s.approve(c.ctx, uid); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		found, err := s.PositivePay.Exceptions(c.ctx, positivepay.ExceptionSearch{}, page.First(5))
		if found.Total != 0 || err != nil && !errors.Is(err, access.ErrDenied) {
			t.Errorf("%s: %d %v", name, found.Total, err)
		}
	}
}

func TestNobodyApprovesADebitAboveItsOwnLimit(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	below, above := s.debit(t, debiting("100.00")), s.debit(t, debiting("100.01"))
	caller, _ := access.Require(s.Staff())
	caller.Limits = []access.ApplicationLimits{{Name: "Payments", Limits: []access.Limit{
		{Name: "Per_Transaction_Payment_Approve_Limits", Minor: 100_00, Currency: "USD"},
	}}}
	bounded := access.With(t.Context(), caller)
	approve := func(of payments.UID) error {
		_, err := s.Payments.ApproveException(bounded, of, payments.DecisionDraft{}, changes.RequestOptions{})
		return err
	}
	if err := approve(above); !errors.Is(err, payments.ErrApproveLimit) {
		t.Errorf("above the limit: %v", err)
	}
	s.is(t, above, positivepay.DecisionPending, positivepay.NoRule)
	if err := approve(below); err != nil {
		t.Error(err)
	}
	if _, err := s.Payments.RejectException(bounded, above, changes.RequestOptions{}); err != nil {
		t.Errorf("rejecting is not bounded: %v", err)
	}
}

func TestADebitThatIsPlayedReachesNoAccountThatTheCallerDoesNotSee(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	other := &sender{s.Bank, s.Account(s.Customer(), coretest.Holding(100_000_00, 0), coretest.Sends), s.to}
	partner := s.DownstreamPartner()
	own := s.Customer(coretest.OwnedBy(partner))
	account := s.Account(own, coretest.Holding(100_00, 0), coretest.Sends)
	for _, number := range []string{coretest.AccountNumber(other.from.UID), coretest.AccountNumber(4711)} {
		draft := sandbox.Debit{
			Account: account.UID, Number: number, Amount: "25.00",
			CompanyID: "9100011223", SECCode: "CCD",
		}
		if _, err := s.Sandbox.PlayDebit(s.Partner(partner), draft, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.through(t, "2026-11-19 12:00")
	other.has(t, 100_000_00, 0)
	if uid := s.newest(t); uid != 0 {
		t.Errorf("payment %s came of it", uid)
	}
	if got := s.wentBack(t); len(got) != 2 || !strings.Contains(got[0], "R0") || got[0][:3] != got[1][:3] {
		t.Errorf("another's account is answered otherwise than none: %q", got)
	}
}
