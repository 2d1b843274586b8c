package payments_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/ledger"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/sandbox"
)

// A customer with many payments of one day keeps nobody else waiting for theirs, however early its own were
// asked for.
func TestPaymentsOfADayAreCarriedOutInTurns(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	tomorrow := func(made *payments.Payment) {
		made.State, made.Date, made.Minor = payments.Scheduled, ledger.Day(p.Clock.Now().AddDate(0, 0, 1)), 1
	}
	for range 300 {
		p.Payment(p.from, p.to, tomorrow)
	}
	other := p.Payment(p.to, p.from, tomorrow)
	p.Clock.Advance(24 * time.Hour)
	p.due(t, 250)
	if life := p.life(t, other.UID); life != "SCHEDULED SETTLED " {
		t.Errorf("the other customer's payment: %s", life)
	}
	p.due(t, 51)
	p.due(t, 0)
}

// Likewise of those that leave for abroad on a day.
func TestPaymentsAbroadOfADayAreCarriedOutInTurns(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	other := s.Account(s.Customer())
	leaves := func(from, to *accounts.Account) payments.UID {
		return s.Payment(from, to, func(p *payments.Payment) {
			p.State, p.Rail, p.Speed = payments.Scheduled, rails.SWIFT, "SPOT"
			p.SendAt, p.ReceiverAccount, p.ReceiverCustomer = new(s.Now()), 0, 0
		}).UID
	}
	again := func(of payments.UID, from, to int) {
		s.Exec(`INSERT INTO payments SELECT (jsonb_populate_record(p, jsonb_build_object('uid', p.uid + n))).*
			FROM payments AS p, generate_series(?, ?) AS n WHERE p.tenant = ? AND p.uid = ?`, from, to, s.Tenant, of)
	}
	again(leaves(s.from, other), 1000, 1300)
	last := leaves(other, s.from)
	again(last, 5000, 5000)
	s.Exec(`UPDATE payments SET state = 'CANCELLED' WHERE tenant = ? AND uid = ?`, s.Tenant, last)
	due, err := s.Payments.FindDue(access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone()))
	if err != nil || len(due) != 250 || !slices.Contains(due, last+5000) {
		t.Errorf("%d payments are due, and not the other customer's %s; %v", len(due), last+5000, err)
	}
}

// A customer with many series keeps nobody else waiting for theirs, however early its own began.
func TestSeriesOfADayAreRunInTurns(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	made := func(from, to *accounts.Account) payments.RecurrenceUID {
		d := p.draft("0.01")
		d.Sender, d.Receiver, d.Repeat = payments.Party{UID: from.UID}, payments.Party{UID: to.UID}, weekly()
		out, err := p.transfer(p.Staff(), d)
		if err != nil {
			t.Fatal(err)
		}
		return out.Result.Recurrence
	}
	for range 251 {
		made(p.from, p.to)
	}
	other := made(p.to, p.from)
	p.Clock.Advance(7 * 24 * time.Hour)
	operator := access.Operator(t.Context(), p.Tenant, p.Code, coretest.Zone())
	for _, want := range []int{250, 2, 0} {
		if n, err := p.Payments.RunRecurrences(operator); n != want || err != nil {
			t.Errorf("made %d payments, want %d, %v", n, want, err)
		}
		found, err := p.Payments.Page(p.Staff(), payments.Search{Recurrence: other}, page.First(5))
		if err != nil || len(found.Items) != 2 {
			t.Errorf("the other customer's series has %d payments, %v", len(found.Items), err)
		}
	}
}

// A file has room for so many entries, and a day for so many files. Whoever fills them leaves to every other
// company its share of each.
func TestWhoFillsTheFilesLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Payments.FillFilesUpTo(10)
	for range 25 {
		s.send(t, s.order("0.01", economy))
	}
	s.ofAnotherCompany()
	s.send(t, s.order("500.00", economy))
	s.until(t, "2026-11-18 14:00")
	s.through(t, "2026-11-18 18:00")
	files, _, _ := s.files(t)
	var has []int
	for _, entries := range files {
		has = append(has, len(entries))
	}
	if !slices.Equal(has, []int{10, 10, 6}) {
		t.Fatalf("the files have %v entries", has)
	}
	if !slices.ContainsFunc(files[0], func(e nacha.Entry) bool { return e.Amount.Minor == 500_00 }) {
		t.Error("the other company's entry is not in the first file")
	}
	s.Prove()
}

// ofAnotherCompany makes the sender's account that of another customer of ACH.
func (s *sender) ofAnotherCompany() {
	s.from = s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
		coretest.Holding(100_000_00, 0), coretest.Sends,
		func(a *accounts.Account) { a.ACHCompanyID = "9999999999" })
}

// A file's totals have twelve digits, so that a hundred entries of the largest amount fill one. Whoever has
// more of them, which as debits need no money, leaves room for every other company.
func TestWhoFillsTheTotalsLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for range 230 {
		s.collect(t, s.order("99999999.99", economy))
	}
	s.ofAnotherCompany()
	s.collect(t, s.order("10.00", economy))
	s.send(t, s.order("500.00", economy))
	s.until(t, "2026-11-18 14:00")
	s.through(t, "2026-11-18 18:00")
	files, _, _ := s.files(t)
	others, all := 0, 0
	for i, entries := range files {
		for _, e := range entries {
			if all++; i == 0 && (e.Amount.Minor == 500_00 || e.Amount.Minor == 10_00) {
				others++
			}
		}
	}
	if others != 2 || all != 232 || len(files) != 3 {
		t.Errorf("%d of the others' entries are in the first of %d files, with %d entries", others, len(files), all)
	}
	s.Prove()
}

// A customer has one share of a file, however many company numbers it has entries under, and a quarter is for
// what other banks wait for.
func TestManyCompaniesOfACustomerHaveOneShareOfAFile(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	back := s.debit(t, func(d *sandbox.Debit) { d.Amount = "50.00" })
	s.through(t, "2026-11-19 09:00")
	another := s.Customer()
	other := s.Account(another, coretest.Holding(0, 0), coretest.Sends,
		func(a *accounts.Account) { a.ACHCompanyID = "8888888888" })
	customer := s.from.Customer
	for i := range 101 {
		s.from = s.Account(&customers.Customer{Tenant: s.Tenant, UID: customer}, coretest.Holding(0, 0),
			coretest.Sends,
			func(a *accounts.Account) { a.ACHCompanyID = strconv.Itoa(1_000_000_000 + i) })
		for range 2 {
			s.collect(t, s.order("99999999.99", economy))
		}
	}
	s.from, s.to = other, s.Contact(another)
	for range 3 { // more than any one of those companies needs
		s.collect(t, s.order("88888888.88", economy))
	}
	if err := s.sendBack(back, "R29"); err != nil {
		t.Fatal(err)
	}
	s.until(t, "2026-11-19 14:00")
	s.through(t, "2026-11-19 18:00")
	files, _, _ := s.files(t)
	others, returns, all := 0, 0, 0
	for i, entries := range files {
		for _, e := range entries {
			switch all++; {
			case i == 0 && e.Return != nil:
				returns++
			case i == 0 && e.Amount.Minor == 88_888_888_88:
				others++
			}
		}
	}
	if others != 3 || returns != 1 || all != 206 {
		t.Errorf("%d entries of the other customer and %d returns are in the first of %d files, "+
			"with %d entries", others, returns, len(files), all)
	}
	s.Prove()
}

// A customer with the company number of another has its own share of a file, not that of the other: nobody
// waits behind its entries, whatever its name.
func TestWhoHasAnothersCompanyNumberDoesNotTakeItsShare(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Payments.FillFilesUpTo(10)
	s.send(t, s.order("500.00", economy))
	taker := s.Customer(func(c *customers.Customer) { c.LegalName = "AAA Stationers" })
	company := s.from.ACHCompanyID
	s.from, s.to = s.Account(taker, coretest.Holding(100_000_00, 0), coretest.Sends,
		func(a *accounts.Account) { a.ACHCompanyID = company }), s.Contact(taker)
	for range 25 {
		s.send(t, s.order("0.01", economy))
	}
	s.until(t, "2026-11-18 14:00")
	s.through(t, "2026-11-18 18:00")
	files, _, _ := s.files(t)
	if len(files) != 3 ||
		!slices.ContainsFunc(files[0], func(e nacha.Entry) bool { return e.Amount.Minor == 500_00 }) {
		t.Errorf("the entry of who had the number first is not in the first of %d files", len(files))
	}
	s.Prove()
}

// What fills all files that there are by a window leaves some for each later one.
func TestWhoFillsTheFilesLeavesSomeForLaterWindows(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Payments.FillFilesUpTo(1)
	for range 60 {
		s.send(t, s.order("0.01", economy))
	}
	seal := func(n int) (files [][]nacha.Entry) {
		t.Helper()
		for range n {
			s.run(t)
		}
		files, _, _ = s.files(t)
		return files
	}
	s.until(t, "2026-11-18 14:00")
	if early := len(seal(30)); early != 27 { // of 36, nine are kept for the three windows to come
		t.Errorf("%d files at the first window", early)
	}
	s.ofAnotherCompany()
	s.send(t, s.order("500.00", economy))
	s.until(t, "2026-11-18 16:00")
	files := seal(8)
	if n := len(files); n != 30 || !slices.ContainsFunc(files[27], func(e nacha.Entry) bool {
		return e.Amount.Minor == 500_00
	}) {
		t.Errorf("%d files at the second window, and who came later is not in the first of it", n)
	}
	s.until(t, "2026-11-18 22:30")
	if n := len(seal(14)); n != 36 {
		t.Errorf("%d files on the day", n)
	}
	s.Prove()
}

// An entry whose money was taken and which no file took on its day is planned anew: no file names a day that
// has passed, and nothing settles before the day that its file names.
func TestAnEntryThatFindsNoFileOnItsDayIsPlannedAnew(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p, q := s.send(t, s.order("250.00", sameDay)), s.send(t, s.order("20.00", economy))
	s.Exec(`INSERT INTO ach_origins (tenant, origin, day, files, trace) VALUES (?, ?, '2026-11-18', 36, 1)`,
		s.Tenant, ours) // the day has none left
	s.through(t, "2026-11-18 23:00")
	for _, of := range []payments.Saved{p, q} {
		if got := s.life(t, of.UID); got != "QUEUED SENT" && got != "QUEUED SENT SENT" {
			t.Errorf("payment %s before its file: %s", of.UID, got)
		}
	}
	s.through(t, "2026-11-19 00:05")
	files, batches, _ := s.files(t)
	if len(files) != 1 || len(batches) != 2 {
		t.Fatalf("%d files, %d batches", len(files), len(batches))
	}
	days := map[bool]string{}
	for _, b := range batches {
		days[b.SameDay] = b.Effective.Format(time.DateOnly)
	}
	if days[true] != "2026-11-19" || days[false] != "2026-11-20" {
		t.Errorf("the file is of %v", days)
	}
	for uid, day := range map[payments.UID]string{p.UID: "2026-11-19", q.UID: "2026-11-20"} {
		shown := s.shows(t, uid)
		if got := shown.Date.Format(time.DateOnly); got != day || shown.State != payments.Sent {
			t.Errorf("payment %s is %s, of %s", uid, shown.State, got)
		}
		if why := s.reasons(t, uid); !strings.Contains(why, "no file left in time") {
			t.Errorf("payment %s: %s", uid, why)
		}
	}
	s.through(t, "2026-11-20 09:00")
	if got := s.life(t, p.UID) + ", " +
		s.life(t, q.UID); got != "QUEUED SENT SENT SETTLED, QUEUED SENT SENT SETTLED" {
		t.Error(got)
	}
	s.Prove()
}

// reasons are those of a payment's steps.
func (s *sender) reasons(t *testing.T, uid payments.UID) string {
	t.Helper()
	_, steps, err := s.Payments.Find(s.Staff(), uid)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, step := range steps {
		all = append(all, step.Reason)
	}
	return strings.Join(all, "; ")
}

// What waits for later days is not read in search of what is due, so that a million payments of next year
// cost nobody anything.
func TestWhatIsDueIsFoundByItsDay(t *testing.T) {
	t.Parallel()
	bank := coretest.Alone(t) // plans follow what is in the tables
	for table, c := range map[string]struct {
		text, values string
		dates        []string
	}{
		"payments":    {payments.NextDue, ", now(), 0", []string{"payment_date", "send_at"}},
		"recurrences": {payments.NextRuns, "", []string{"next_date"}},
	} {
		var lines []string
		err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
			_, set := tx.NewRaw("SET LOCAL plan_cache_mode = force_generic_plan").Exec(ctx)
			_, prepared := tx.NewRaw("PREPARE due (bigint) AS " + c.text).Exec(ctx)
			if err := errors.Join(set, prepared); err != nil {
				return err
			}
			err := tx.NewRaw("EXPLAIN EXECUTE due (1, '{}', '{}', '{}', '{}', 250"+c.values+")").
				Scan(ctx, &lines)
			_, ended := tx.NewRaw("DEALLOCATE due").Exec(ctx)
			return errors.Join(err, ended)
		})
		plan := strings.Join(lines, "\n")
		found := regexp.MustCompile(`on `+table+`.*\n *Index Cond: .*\n`).FindAllString(plan, -1)
		if err != nil || len(found) == 0 || len(found) != strings.Count(plan, "on "+table) {
			t.Errorf("%s are read without an index, %v:\n%s", table, err, plan)
		}
		if strings.Contains(plan, "Aggregate") {
			t.Errorf("all %s of a customer or day are read:\n%s", table, plan)
		}
		for _, scan := range found {
			if !slices.ContainsFunc(c.dates, func(date string) bool { return strings.Contains(scan, date) }) {
				t.Errorf("%s of all days are read:\n%s\n%s", table, scan, plan)
			}
		}
	}
}

// Where many customers have payments to send, so few of each are read that the next ones are found in no
// time: 2,500 in all, on the average of the walk with its end.
func TestOfManyWhoSendFewPaymentsOfEachAreRead(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	to := s.Account(s.Customer())
	for range 62 {
		made := s.Payment(s.Account(s.Customer()), to, func(p *payments.Payment) {
			p.State, p.SendAt = payments.Queued, new(s.Now())
		})
		s.Exec(`INSERT INTO payments
			SELECT (jsonb_populate_record(p, jsonb_build_object('uid', p.uid + 1000 * n))).*
			FROM payments AS p, generate_series(1, 50) AS n WHERE p.tenant = ? AND p.uid = ?`, s.Tenant, made.UID)
	}
	var lines []string
	err := s.DB.InTx(t.Context(), int64(s.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, set := tx.NewRaw("SET LOCAL plan_cache_mode = force_generic_plan").Exec(ctx)
		_, prepared := tx.NewRaw("PREPARE send (bigint, text[], timestamptz, bigint) AS " + payments.NextToSend).
			Exec(ctx)
		if err := errors.Join(set, prepared); err != nil {
			return err
		}
		err := tx.NewRaw(fmt.Sprintf("EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) EXECUTE send (%d, "+
			"'{Active}', '2030-01-01', 0)",
			s.Tenant)).Scan(ctx, &lines)
		_, ended := tx.NewRaw("DEALLOCATE send").Exec(ctx)
		return errors.Join(err, ended)
	})
	plan := strings.Join(lines, "\n")
	if read := regexp.MustCompile(`on payments pay \(actual rows=\d+`).FindString(plan); err != nil ||
		!strings.HasSuffix(read, "rows=39") || !strings.Contains(lines[0], "rows=250") {
		t.Errorf("%s, %v:\n%s", read, err, plan)
	}
}

// However many customers have payments in line, now or for later, each has its turn.
func TestEachOfManyWhoSendHasItsTurn(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	made := s.Payment(s.from, s.Account(s.Customer()), func(p *payments.Payment) {
		p.State, p.SendAt = payments.Queued, new(s.Now())
	})
	s.Exec(`INSERT INTO customers
		SELECT (jsonb_populate_record(c, jsonb_build_object('uid', c.uid + n, 'short_name',
		'many ' || n, 'customer_id', '', 'lei', '', 'owner', 0))).*
		FROM customers AS c, generate_series(1000, 1599) AS n
		WHERE c.tenant = ? AND c.uid = ?`, s.Tenant, made.Customer)
	s.Exec(`INSERT INTO payments
		SELECT (jsonb_populate_record(p, jsonb_build_object('uid', p.uid + n, 'customer',
		p.customer + n, 'send_at', p.send_at + CASE WHEN n < 1300 THEN interval '1 day' ELSE interval '0' END))).*
		FROM payments AS p, generate_series(1000, 1599) AS n WHERE p.tenant = ? AND p.uid = ?`, s.Tenant, made.UID)
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	found := map[payments.UID]int{}
	for range 6 {
		uids, err := s.Payments.FindToSend(operator)
		if err != nil || len(uids) == 0 || len(uids) > 250 {
			t.Fatalf("%d are found: %v", len(uids), err)
		}
		for _, uid := range uids {
			found[uid]++
		}
	}
	if len(found) != 301 {
		t.Errorf("%d of 301 payments have had their turn", len(found))
	}
	for uid, times := range found {
		if times < 1 || times > 3 {
			t.Errorf("payment %s has had %d turns", uid, times)
		}
	}
	s.Exec(`UPDATE payments SET send_at = send_at + interval '2 days' WHERE tenant = ?`, s.Tenant)
	if uids, err := s.Payments.FindToSend(operator); err != nil || len(uids) != 0 {
		t.Errorf("%v of later days are found: %v", uids, err)
	}
}

// Whoever lists the few payments that were returned does not read the many that were not.
func TestPaymentsInAnUncommonStateAreFoundByIt(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	other := s.Account(s.Customer())
	made := s.Payment(s.from, other)
	s.Exec(`INSERT INTO payments SELECT (jsonb_populate_record(p, jsonb_build_object('uid', p.uid + n))).*
		FROM payments AS p, generate_series(1, 2000) AS n WHERE p.tenant = ? AND p.uid = ?`, s.Tenant, made.UID)
	returned := s.Payment(s.from, other, func(p *payments.Payment) {
		p.UID, p.State, p.ReturnedMinor = made.UID+5000, payments.Returned, p.Minor
	})
	found, err := s.Payments.Page(s.Staff(), payments.Search{States: []payments.State{payments.Returned}},
		page.First(5))
	if err != nil || found.Total != 1 || found.Items[0].UID != returned.UID {
		t.Errorf("%+v %v", found, err)
	}
	var plan []string
	if err := s.DB.NewRaw(`EXPLAIN SELECT count(*) FROM payments AS pay WHERE pay.tenant = ?
		AND pay.state = ANY('{RETURNED}'::text[]) AND `+payments.Uncommon, s.Tenant).
		Scan(t.Context(), &plan); err != nil || !strings.Contains(strings.Join(plan, " "), "payments_by_state") {
		t.Errorf("%v %v", plan, err)
	}
	for _, c := range []struct {
		states []payments.State
		want   bool
	}{
		{[]payments.State{payments.Returned, payments.Rejected}, true},
		{[]payments.State{payments.Returned, payments.Settled}, false},
		{nil, false},
	} {
		conditions := s.Payments.Narrows(payments.Search{States: c.states})
		if got := slices.Contains(conditions, payments.Uncommon); got != c.want {
			t.Errorf("%v: %v", c.states, conditions)
		}
	}
}

// Who has other banks pay many times keeps nobody else waiting: neither for what comes in for others, nor for
// what others pay.
func TestWhatOtherBanksSendComesInTurns(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	play := func(to accounts.UID) {
		t.Helper()
		_, err := s.Sandbox.PlayCredit(s.Staff(), sandbox.Credit{
			Account: to, Amount: "1", Rail: "RTP", SenderName: "Ada Byron", SenderBank: theirs,
			SenderNumber: "5550001234",
		}, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	many := s.Account(s.Customer(), coretest.Holding(0, 0), coretest.Sends)
	for range 300 {
		play(many.UID)
	}
	play(s.from.UID)
	paid := s.send(t, s.order("25.00"))
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if n, err := s.Payments.Receive(operator); err != nil || n != 250 {
		t.Fatal(n, err)
	}
	came := payments.Search{Direction: payments.In, Customer: s.from.Customer}
	if found, err := s.Payments.Page(s.Staff(), came, page.First(1)); err != nil || len(found.Items) != 1 {
		t.Error("the other customer's credit has not come in", err)
	}
	_, sent := s.Payments.SendQueued(operator)
	_, handed := s.Payments.HandOver(operator)
	if err := errors.Join(sent, handed); err != nil {
		t.Fatal(err)
	}
	var waits int
	if err := s.DB.NewSelect().Table("network_messages").ColumnExpr("count(*)").Where("tenant = ?", s.Tenant).
		Where("payment = ?", paid.UID).Where("handed_at IS NULL").Scan(t.Context(), &waits); err != nil ||
		waits > 0 {
		t.Error("the other customer's payment waits behind answers", err)
	}
}
