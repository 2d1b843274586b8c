package payments_test

import (
	"bytes"
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
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/sandbox"
	"bankgraph/core/virtualaccounts"
)

// paidOver lets a company at another bank credit the account over ACH, and takes it in. It returns the
// payment that came of it; 0 if none did.
func (s *sender) paidOver(t *testing.T, edits ...func(*sandbox.Credit)) payments.UID {
	t.Helper()
	c := sandbox.Credit{
		Account: s.from.UID, Amount: "25.00", Rail: "ACH", SenderBank: theirs, Notes: "Week 47",
		CreditEntry: sandbox.CreditEntry{
			CompanyID: "9100011223", CompanyName: "Lakefront Mills", SECCode: "PPD", IndividualID: "STAFF-7",
		},
	}
	for _, edit := range edits {
		edit(&c)
	}
	if _, err := s.Sandbox.PlayCredit(s.Staff(), c, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	before := s.newest(t)
	s.run(t)
	if uid := s.newest(t); uid != before {
		return uid
	}
	return 0
}

func creditedOn(day int) func(*sandbox.Credit) {
	return func(c *sandbox.Credit) { c.Date = time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC) }
}

func TestACreditOverACHIsBookedWhenItSettles(t *testing.T) {
	t.Parallel()
	for _, class := range []string{"PPD", "CCD", "CTX", "WEB", "CIE", "IAT"} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			uid := s.paidOver(t, creditedOn(19), func(c *sandbox.Credit) { c.SECCode = class })
			s.has(t, 100_000_00, 0)
			if got := s.life(t, uid); got != "VALIDATED" {
				t.Error(got)
			}
			s.Prove()
			if next, err := s.Payments.Next(access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone()),
				s.Now()); err != nil ||
				next == nil || !next.Equal(at(t, "2026-11-19 08:30")) {
				t.Errorf("the clock stops next at %v, %v", next, err)
			}
			s.until(t, "2026-11-19 08:29")
			s.has(t, 100_000_00, 0)
			s.until(t, "2026-11-19 08:30")
			s.has(t, 100_025_00, 0)
			if got := s.life(t, uid); got != "VALIDATED SETTLED" {
				t.Error(got)
			}
			s.Prove()
			p, err := s.Payments.Show(s.Staff(), uid)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(p.WireType(), p.EntryType, p.Rail, p.Status(), p.MemoPost(), p.Amount(), p.Way(),
				p.OwnSide().UID == s.from.Customer, p.ReceiverAccount == s.from.UID, p.SenderName,
				p.SenderNumber() == nil, p.Sends().BankID, p.ExternalReferenceID, p.Fee() == nil,
				p.Date.Format(time.DateOnly))
			want := fmt.Sprint(payments.IncomingPayment, rails.Credit, rails.ACH,
				payments.StatusProcessed, payments.Posted, "25.00",
				payments.In, true, true, "Lakefront Mills", true,
				theirs, "STAFF-7", true, "2026-11-19")
			if got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
			if _, err := s.Payments.Cancel(s.Staff(), uid,
				changes.RequestOptions{}); !errors.Is(err, payments.ErrOver) {
				t.Error(err)
			}
			if _, err := s.Payments.Reverse(s.Staff(), uid, payments.Reversal{},
				changes.RequestOptions{}); !errors.Is(err, payments.ErrNotOutgoing) {
				t.Error(err)
			}
			if back := s.wentBack(t); len(back) > 0 {
				t.Error(back)
			}
		})
	}
}

// entryOf is an entry of another bank for an account here.
type entryOf struct {
	name      string // of the file
	trace     int
	effective string
	sameDay   bool
	kind      nacha.Kind
	direction rails.EntryType
	number    string
	minor     int64
}

// file is the file of another bank with an entry that credits the account, unless it says otherwise.
func (s *sender) file(t *testing.T, e entryOf) string {
	t.Helper()
	day, err := time.Parse(time.DateOnly, e.effective)
	if err != nil {
		t.Fatal(err)
	}
	if e.direction == "" {
		e.direction = rails.Credit
	}
	if e.number == "" {
		e.number = coretest.AccountNumber(s.from.UID)
	}
	var body bytes.Buffer
	w, err := nacha.NewWriter(&body, nacha.Header{
		Origin: payments.FedACH, OriginName: "FRB" + e.name, Destination: ours, DestinationName: "US",
		CreatedAt:  s.Now(),
		FirstTrace: e.trace,
	})
	if err == nil {
		err = w.Batch(nacha.Batch{
			Class: rails.PPD, CompanyID: "9100011223", CompanyName: "Lakefront", Description: "PAYROLL",
			Effective: day, SameDay: e.sameDay, Only: e.direction, Bank: theirs,
		})
	}
	if err == nil {
		_, err = w.Entry(nacha.Entry{
			Account: rails.Checking, Direction: e.direction, Kind: e.kind, Amount: money.Of(e.minor, "USD"),
			Routing: ours, Number: e.number, Name: "Somebody",
		})
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return body.String()
}

func TestACreditOfTheSameDayIsBookedAtItsWindowAndOneOfAPastDayAtOnce(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	s.until(t, "2026-11-18 12:00")
	s.arrive(t, rails.ACH, s.file(t, entryOf{trace: 1, effective: "2026-11-18", sameDay: true, minor: 10_00}))
	s.arrive(t, rails.ACH, s.file(t, entryOf{trace: 2, effective: "2026-11-16", minor: 5_00}))
	s.run(t)
	s.run(t)
	s.has(t, 100_005_00, 0)
	s.Prove()
	s.through(t, "2026-11-18 12:59")
	s.has(t, 100_005_00, 0)
	s.through(t, "2026-11-18 18:00")
	s.has(t, 100_015_00, 0)
	s.Prove()
}

// A bank that sends a file again a day later, with entries of a day that had passed already, is not credited
// twice.
func TestACreditCountsOnceInWhateverFileItComes(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	e := entryOf{trace: 7, effective: "2026-11-17", minor: 10_00}
	first := s.file(t, e)
	e.name = " again"
	other := e
	other.direction, other.trace = rails.Debit, 8
	for _, body := range []string{first, first, s.file(t, e), s.file(t, other)} {
		s.arrive(t, rails.ACH, body)
		s.run(t)
	}
	s.until(t, "2026-11-20 12:00")
	e.name, other.name = " late", " late"
	for _, body := range []string{s.file(t, e), s.file(t, other)} {
		s.arrive(t, rails.ACH, body)
		s.run(t)
	}
	s.has(t, 100_000_00+10_00-10_00, 0)
	e.effective, e.minor = "2026-11-18", 3_00 // the numbers of a bank begin anew
	s.arrive(t, rails.ACH, s.file(t, e))
	s.run(t)
	s.has(t, 100_003_00, 0)
	s.Prove()
}

func TestWorkersAtOnceTakeAndBookEachCreditOnce(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	for i := range 8 {
		s.arrive(t, rails.ACH, s.file(t, entryOf{trace: i + 1, effective: "2026-11-18", minor: int64(i + 1)}))
	}
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 8 {
				if _, err := s.Payments.Receive(operator); err != nil {
					t.Error(err)
				}
				_, _ = s.Payments.PostEntries(operator)
			}
		})
	}
	all.Wait()
	for range 8 {
		s.run(t)
	}
	s.has(t, 100_000_00+36, 0)
	s.Prove()
}

func TestACreditThatCannotBeBookedGoesBackWithTheReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code    string
		account func(*accounts.Account)
	}{
		"closed":    {"R02", func(a *accounts.Account) { a.Status = accounts.Closed }},
		"suspended": {"R16", func(a *accounts.Account) { a.Status = accounts.Suspended }},
		"ach off":   {"R20", func(a *accounts.Account) { a.EnableACH = false }},
		"euro":      {"R20", func(a *accounts.Account) { a.Currency = "EUR" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t, c.account)
			uid := s.paidOver(t)
			s.run(t)
			if got := s.life(t, uid); got != "RETURNED" {
				t.Error(got)
			}
			if p, err := s.Payments.Show(s.Staff(), uid); err != nil ||
				!strings.HasPrefix(p.Reason, c.code+": ") {
				t.Errorf("%v %v", p.Reason, err)
			}
			want := fmt.Sprint(c.code, " 25.00 ", theirs, " ", coretest.AccountNumber(s.from.UID), " ", ours[:8])
			if back := s.wentBack(t); !slices.Equal(back, []string{want}) {
				t.Errorf("%q, want %q", back, want)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}

// What is found when the entry comes is looked for once more when it settles.
func TestACreditToWhatIsClosedBeforeItSettlesGoesBack(t *testing.T) {
	t.Parallel()
	for code, statement := range map[string]string{
		"R02": `UPDATE accounts SET status = 'Closed' WHERE tenant = ? AND uid = ?`,
		"R16": `UPDATE accounts SET status = 'Suspended' WHERE tenant = ? AND uid = ?`,
		"R20": `UPDATE accounts SET enable_ach = false WHERE tenant = ? AND uid = ?`,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			uid := s.paidOver(t, creditedOn(19))
			s.Exec(statement, s.Tenant, s.from.UID)
			s.until(t, "2026-11-19 09:00")
			s.run(t)
			if got := s.life(t, uid); got != "VALIDATED RETURNED" {
				t.Error(got)
			}
			if back := s.wentBack(t); len(back) != 1 || back[0][:3] != code {
				t.Error(back)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}

func TestAnEntryForNobodyGoesBackAndAPrenoteToSomebodyIsOnRecord(t *testing.T) {
	t.Parallel()
	for _, direction := range []rails.EntryType{rails.Credit, rails.Debit} {
		t.Run(string(direction), func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			known := entryOf{trace: 1, effective: "2026-11-18", kind: nacha.Prenote, direction: direction}
			unknown := known
			unknown.trace, unknown.number = 2, "55501234"
			live := unknown
			live.trace, live.kind, live.minor = 3, nacha.Live, 7_00
			for _, e := range []entryOf{known, unknown, live, unknown} {
				s.arrive(t, rails.ACH, s.file(t, e))
				s.run(t)
			}
			s.run(t)
			if uid := s.newest(t); uid != 0 {
				t.Errorf("payment %s came of it", uid)
			}
			want := []string{
				fmt.Sprint("R03 0.00 ", theirs, " 55501234 ", ours[:8]),
				fmt.Sprint("R03 7.00 ", theirs, " 55501234 ", ours[:8]),
			}
			if back := s.wentBack(t); !slices.Equal(slices.Sorted(slices.Values(back)), want) {
				t.Errorf("%q, want %q", back, want)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}

func virtually(v *virtualaccounts.VirtualAccount) func(*sandbox.Credit) {
	return func(c *sandbox.Credit) { c.Virtual = coretest.VirtualNumber(v.UID) }
}

func TestACreditOverACHToAVirtualNumberIsToldWhenItSettlesAndWhenItGoesBack(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	v := s.VirtualAccount(s.from)
	uid := s.paidOver(t, creditedOn(19), virtually(v))
	if got := s.moved(t, v); len(got) != 0 {
		t.Error(got)
	}
	s.Prove()
	s.until(t, "2026-11-19 09:00")
	s.has(t, 100_025_00, 0)
	if got := s.moved(t, v); !slices.Equal(got, []string{"25.00 ACH STAFF-7"}) {
		t.Error(got)
	}
	s.Prove()
	p, err := s.Payments.Show(s.Staff(), uid)
	if err != nil || p.Virtual != v.UID || p.Ultimate.Name != v.Name {
		t.Errorf("%+v %v", p.Ultimate, err)
	}
	if err := s.sendBack(uid, "R23"); err != nil {
		t.Fatal(err)
	}
	s.has(t, 100_000_00, 0)
	if got := s.part(t, v).BalanceMinor; got != 0 {
		t.Error(got)
	}
	s.Prove()
}

// While people look at a credit, nothing of it is on the virtual account.
func TestTheBooksHoldWhileACreditToAVirtualAccountIsScreened(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	s.lists(t, "Lakefront Mills")
	uid := s.paidOver(t, virtually(s.VirtualAccount(s.from)))
	if got := s.life(t, uid); got != "SCREENING" {
		t.Fatal(got)
	}
	s.Prove()
}

func TestACreditOverACHToAVirtualAccountThatIsNotActiveGoesBack(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	suspended := s.VirtualAccount(s.from,
		func(v *virtualaccounts.VirtualAccount) { v.Status = virtualaccounts.Suspended })
	over := s.VirtualAccount(s.from,
		func(v *virtualaccounts.VirtualAccount) { v.Status = virtualaccounts.Closed })
	later := s.VirtualAccount(s.from)
	s.paidOver(t, virtually(suspended))
	s.paidOver(t, virtually(over))
	s.paidOver(t, creditedOn(19), virtually(later))
	if _, err := s.VirtualAccounts.Close(s.Staff(), later.Customer, later.UID,
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.until(t, "2026-11-19 09:00")
	s.run(t)
	var codes []string
	for _, one := range s.wentBack(t) {
		codes = append(codes, one[:3])
	}
	if slices.Sort(codes); !slices.Equal(codes, []string{"R02", "R02", "R16"}) {
		t.Error(codes)
	}
	s.has(t, 100_000_00, 0)
	s.Prove()
}

func TestACreditOverACHIsGivenBackInTime(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	first, late, refused := s.paidOver(t, creditedOn(19)), s.paidOver(t, creditedOn(19)),
		s.paidOver(t, creditedOn(19))
	if err := s.sendBack(first, "R23"); !errors.Is(err, payments.ErrNotProcessed) {
		t.Error(err)
	}
	s.until(t, "2026-11-20 21:59")
	for _, code := range []string{"", "CUST", "R01", "R10", "R29", "R99"} {
		if f, is := fault.Of(s.sendBack(first, code)); !is || f.Field != "returnCode" {
			t.Errorf("%s: %v", code, f)
		}
	}
	for _, d := range []payments.Return{
		{Code: "R23", Type: "PECR"}, {Code: "R23", Amount: "1"}, {Code: "R23", Reject: "CUST"},
	} {
		_, err := s.Payments.Return(s.Staff(), first, d, changes.RequestOptions{})
		if f, is := fault.Of(err); !is || f.Problem != fault.Forbidden {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if err := s.sendBack(first, "R20"); err != nil {
		t.Fatal(err)
	}
	s.has(t, 100_050_00, 0)
	s.Prove()
	if got := s.life(t, first); got != "VALIDATED SETTLED RETURNED" {
		t.Error(got)
	}
	if err := s.sendBack(first, "R20"); !errors.Is(err, payments.ErrNotProcessed) {
		t.Error(err)
	}
	s.until(t, "2026-11-20 22:00")
	if err := s.sendBack(late, "R20"); !errors.Is(err, payments.ErrReturnLate) {
		t.Error(err)
	}
	s.until(t, "2026-12-01 12:00") // who is credited may refuse it; the two days begin with that
	if err := s.sendBack(refused, "R23"); err != nil {
		t.Error(err)
	}
	s.run(t)
	s.has(t, 100_025_00, 0)
	var codes []string
	for _, one := range s.wentBack(t) {
		codes = append(codes, one[:3])
	}
	if slices.Sort(codes); !slices.Equal(codes, []string{"R20", "R23"}) {
		t.Error(codes)
	}
	s.Prove()
}

func TestACreditOverACHIsGivenBackOnceAndOnlyIfItsMoneyIsThere(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	uid := s.paidOver(t)
	s.debit(t, debiting("100000.01"))
	if err := s.sendBack(uid, "R23"); !errors.Is(err, ledger.ErrUncovered) {
		t.Error(err)
	}
	s.has(t, 24_99, 0)
	s.Prove()
	s.paidOver(t)
	var done atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch err := s.sendBack(uid, "R23"); {
			case err == nil:
				done.Add(1)
			case !errors.Is(err, payments.ErrNotProcessed):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s.run(t); done.Load() != 1 || len(s.wentBack(t)) != 1 {
		t.Errorf("%d gave it back: %q", done.Load(), s.wentBack(t))
	}
	s.has(t, 24_99, 0)
	s.Prove()
}

func TestTheReturnOfACreditOverACHWaitsForASecondPersonWhereItsCustomerAsks(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	b.Directory()
	c := b.Customer(func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	s := &sender{b, b.Account(c, coretest.Holding(100_000_00, 0), coretest.Sends), b.Contact(c)}
	uid := s.paidOver(t)
	s.has(t, 100_025_00, 0)
	out, err := s.Payments.Return(s.Staff(), uid, payments.Return{Code: "R23"}, changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	s.has(t, 100_025_00, 0)
	s.run(t)
	if back := s.wentBack(t); len(back) != 0 {
		t.Error(back)
	}
	people := func(n int) {
		s.Exec(`UPDATE customers SET access_number_of_approvers = ? WHERE tenant = ? AND uid = ?`, n,
			s.Tenant, c.UID)
	}
	people(2)
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); !errors.Is(err, changes.ErrStale) {
		t.Errorf("one approves what takes two by now: %v", err)
	}
	people(1)
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.has(t, 100_000_00, 0)
	s.run(t)
	if back := s.wentBack(t); len(back) != 1 || back[0][:3] != "R23" {
		t.Error(back)
	}
	s.Prove()
}

func TestACreditOverACHIsFoundByWhoIsCredited(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	b.Directory()
	partner, stranger := b.DownstreamPartner(), b.DownstreamPartner()
	c := b.Customer(coretest.OwnedBy(partner))
	s := &sender{b, b.Account(c, coretest.Holding(100_000_00, 0), coretest.Sends), b.Contact(c)}
	uid := s.paidOver(t, creditedOn(19))
	for name, by := range map[string]payments.Search{
		"what came in":     {Direction: payments.In},
		"over ACH":         {Rails: []rails.Rail{rails.ACH}},
		"its reference":    {ExternalReferenceID: "STAFF-7"},
		"a part of a name": {SenderName: "lakefront"},
		"who is credited":  {ReceiverNumber: coretest.AccountNumber(s.from.UID)},
		"its notes":        {Notes: "payroll"},
		"whose it is":      {Customer: c.UID},
	} {
		found, err := s.Payments.Page(s.Partner(partner), by, page.First(2))
		if err != nil || len(found.Items) != 1 || found.Items[0].UID != uid {
			t.Errorf("%s: %v %v", name, found.Items, err)
		}
		found, err = s.Payments.Page(s.Partner(stranger), by, page.First(2))
		if err != nil || len(found.Items) != 0 {
			t.Errorf("%s finds it for another partner: %v %v", name, found.Items, err)
		}
	}
}

func TestAPlayOverACHSaysWhatACHCarriesAndOthersDoNot(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	play := func(edit func(*sandbox.Credit)) error {
		c := sandbox.Credit{Account: s.from.UID, Amount: "25.00", Rail: "ACH"}
		edit(&c)
		_, err := s.Sandbox.PlayCredit(s.Staff(), c, changes.RequestOptions{})
		return err
	}
	day := time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)
	for field, edit := range map[string]func(*sandbox.Credit){
		"secCode":             func(c *sandbox.Credit) { c.SECCode = "TEL" },
		"companyName":         func(c *sandbox.Credit) { c.CompanyName = "A name that is long" },
		"transactionIdNumber": func(c *sandbox.Credit) { c.IndividualID = "1234567890123456" },
		"description":         func(c *sandbox.Credit) { c.CreditEntry.Description = "ELEVENCHARS" },
		"paymentNotes":        func(c *sandbox.Credit) { c.Notes = strings.Repeat("x", 81) },
		"paymentDate":         func(c *sandbox.Credit) { c.CreditEntry.Date = day.AddDate(0, 0, -2) },
		"achCompanyID":        func(c *sandbox.Credit) { c.Rail, c.CompanyID = "FEDNOW", "9100011223" },
		"paymentDate ":        func(c *sandbox.Credit) { c.Rail, c.CreditEntry.Date = "RTP", day },
	} {
		if f, is := fault.Of(play(edit)); !is || f.Field != strings.TrimSpace(field) {
			t.Errorf("%s: %v", field, f)
		}
	}
	// what other networks say stands for what ACH says in other words
	if err := play(func(c *sandbox.Credit) {
		c.SenderName, c.Reference = "A company with a long name", "A reference that is long"
	}); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	p, err := s.Payments.Show(s.Staff(), s.newest(t))
	if err != nil || p.SenderName != "A company with a" || p.ExternalReferenceID != "A reference tha" ||
		p.Notes != "PAYROLL" {
		t.Errorf("%q %q %q %v", p.SenderName, p.ExternalReferenceID, p.Notes, err)
	}
}
