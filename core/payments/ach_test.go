package payments_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/limits"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
)

func economy(o *payments.Order) { o.Speed, o.SECCode = "Economy", "CCD" }
func sameDay(o *payments.Order) { o.Speed, o.SECCode = "Economy Plus", "CCD" }

// at is a time of the week in which tests begin, on a Wednesday at 10:00 in New York.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	when, err := time.ParseInLocation("2006-01-02 15:04", text, coretest.Zone())
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// until moves the clock and lets the bank work.
func (s *sender) until(t *testing.T, text string) {
	t.Helper()
	s.Clock.Advance(at(t, text).Sub(s.Clock.Now()))
	s.run(t)
}

// files reads the files that the bank has made, oldest first.
func (s *sender) files(t *testing.T) (all [][]nacha.Entry, batches []nacha.Batch, heads []nacha.Header) {
	t.Helper()
	var messages []*payments.Message
	if err := s.DB.NewSelect().Model(&messages).
		Where("nm.tenant = ? AND nm.rail = 'ACH' AND nm.direction = 'OUT'", s.Tenant).
		OrderExpr("nm.id").Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		body, err := s.Keys.Open(seal.Value{Sealed: m.Body},
			seal.Place{Tenant: int64(s.Tenant), Column: payments.BodyColumn, Row: int64(m.ID)})
		if err != nil {
			t.Fatal(err)
		}
		var entries []nacha.Entry
		head, _, err := nacha.Read(bytes.NewReader([]byte(body)), func(b nacha.Batch, e nacha.Entry) error {
			if len(entries) == 0 || batches[len(batches)-1].Number != b.Number {
				batches = append(batches, b)
			}
			entries = append(entries, e)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all, heads = append(all, entries), append(heads, head)
	}
	return all, batches, heads
}

func TestAnEntryIsHeldUntilItsWindowThenSentThenSettlesByItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit             func(*payments.Order)
		date             string
		before, after    string // around its settlement
		description, day string
	}{
		"Economy":      {economy, "2026-11-19", "2026-11-19 08:29", "2026-11-19 08:30", "Rent", "261119"},
		"Economy Plus": {sameDay, "2026-11-18", "2026-11-18 16:59", "2026-11-18 17:00", "Rent", "261118"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("250.00", c.edit))
			s.run(t)
			s.has(t, 100_000_00, 250_00)
			s.until(t, "2026-11-18 13:59")
			s.has(t, 100_000_00, 250_00)
			s.Prove()
			s.until(t, "2026-11-18 14:00")
			s.has(t, 99_750_00, 0)
			s.Prove()
			s.until(t, c.before)
			if got := s.life(t, p.UID); got != "QUEUED SENT" {
				t.Error(got)
			}
			s.until(t, c.after)
			if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED" {
				t.Error(got)
			}
			found, err := s.Payments.Show(s.Staff(), p.UID)
			if err != nil || found.Rail != rails.ACH || found.Date.Format(time.DateOnly) != c.date {
				t.Errorf("%+v %v", found, err)
			}
			files, batches, heads := s.files(t)
			if len(files) != 1 || len(files[0]) != 1 || len(batches) != 1 {
				t.Fatalf("%d files %+v", len(files), batches)
			}
			e, b, h := files[0][0], batches[0], heads[0]
			if e.Amount.Minor != 250_00 || e.Routing != "611590103" || e.Account != rails.Checking ||
				e.Number != coretest.ContactNumber(s.to.UID) || e.Trace != "611090000000001" ||
				e.ID != "INV-7" {
				t.Errorf("%+v", e)
			}
			if b.Class != rails.CCD || b.CompanyID != "1234567890" || b.Description != c.description ||
				b.Effective.Format("060102") != c.day || b.SameDay != (name == "Economy Plus") ||
				b.Only != rails.Credit {
				t.Errorf("%+v", b)
			}
			if h.Origin != "611090001" || h.Destination != payments.FedACH || h.Modifier != 'A' {
				t.Errorf("%+v", h)
			}
			s.Prove()
		})
	}
}

func TestAFileHasTheEntriesOfItsWindowInBatches(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	classes := []string{"CCD", "PPD", "CCD", "PPD"}
	for i, class := range classes {
		s.send(t, s.order("10.00", economy, func(o *payments.Order) {
			o.SECCode = rails.SECCode(class)
			if i == 3 {
				o.Notes = "REVERSAL" // which would take payments back
			}
		}))
	}
	s.send(t, s.order("10.00", sameDay))
	s.until(t, "2026-11-18 14:00")
	s.send(t, s.order("11.00", economy))
	s.until(t, "2026-11-18 16:00")
	files, batches, heads := s.files(t)
	if len(files) != 2 || len(files[0]) != 5 || len(files[1]) != 1 {
		t.Fatalf("%d files: %v", len(files), files)
	}
	if heads[0].Modifier != 'A' || heads[1].Modifier != 'B' || files[1][0].Trace != "611090000000006" {
		t.Errorf("%+v %+v", heads, files[1])
	}
	var kinds []string
	for _, b := range batches {
		kinds = append(kinds, string(b.Class)+" "+b.Description+" "+b.Effective.Format("02"))
	}
	if got := strings.Join(kinds,
		", "); got != "CCD Rent 19, CCD Rent 18, PPD PAYMENT 19, PPD Rent 19, CCD Rent 19" {
		t.Error(got)
	}
	s.Prove()
}

func TestWhatComesBackOfEntries(t *testing.T) {
	t.Parallel()
	for amount, c := range map[string]struct {
		when, life, reason string
		has                int64
	}{
		"10.01": {"2026-11-20 08:31", "QUEUED SENT SETTLED RETURNED", "R03: there is no such account", 100_000_00},
		"10.11": {"2026-11-23 08:31", "QUEUED SENT SETTLED RETURNED", "R02: the account is closed", 100_000_00},
		"10.13": {
			"2026-11-18 15:01", "QUEUED SENT RETURNED", // before it settles
			"R17: the entry looks wrong or is suspicious", 100_000_00,
		},
		"10.23": {"2026-11-20 08:40", "QUEUED SENT SETTLED RETURNED", "R03: there is no such account", 100_000_00},
		"10.25": {"2026-11-20 08:31", "QUEUED SENT SENT SETTLED", "", 99_989_75},
		"10.00": {"2026-11-20 08:31", "QUEUED SENT SETTLED", "", 99_990_00},
	} {
		t.Run(amount, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order(amount, economy))
			s.until(t, "2026-11-18 14:00")
			s.until(t, c.when)
			s.run(t)
			if got := s.life(t, p.UID); got != c.life {
				t.Errorf("%s, want %s", got, c.life)
			}
			s.has(t, c.has, 0)
			found, err := s.Payments.Show(s.Staff(), p.UID)
			if err != nil || found.Reason != c.reason {
				t.Errorf("%q, want %q (%v)", found.Reason, c.reason, err)
			}
			b := s.Batch()
			messages := s.Payments.MessagesOf(s.Staff(), b, []payments.UID{p.UID}, 50)
			if err := b.Send(t.Context()); err != nil || messages.Err != nil {
				t.Fatal(err, messages.Err)
			}
			var codes []string
			for _, m := range messages.Of[p.UID] {
				codes = append(codes, strings.TrimSpace(string(m.Direction)+" "+m.Kind+" "+m.Code))
			}
			want := map[string]string{
				"10.01": "OUT nacha, IN nacha R03", "10.11": "OUT nacha, IN nacha R02",
				"10.13": "OUT nacha, IN nacha R17",
				"10.23": "OUT nacha, IN nacha R03, IN nacha R03", "10.25": "OUT nacha, IN nacha C01",
				"10.00": "OUT nacha",
			}[amount]
			if got := strings.Join(codes, ", "); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			s.Prove()
		})
	}
}

func TestAnEntryThatMissedItsFilesSettlesLaterAndStaysHeld(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10.00", sameDay))
	s.until(t, "2026-11-18 16:31") // the workers stood still over all windows of the day
	s.has(t, 100_000_00, 10_00)
	if got := s.life(t, p.UID); got != "QUEUED QUEUED" {
		t.Error(got)
	}
	s.Prove()
	s.until(t, "2026-11-19 10:00")
	s.until(t, "2026-11-19 13:00")
	found, err := s.Payments.Show(s.Staff(), p.UID)
	if err != nil || s.life(t, p.UID) != "QUEUED QUEUED SENT SETTLED" ||
		found.Date.Format(time.DateOnly) != "2026-11-19" {
		t.Errorf("%s on %s (%v)", s.life(t, p.UID), found.Date, err)
	}
	s.Prove()
}

func TestADatedEntryLeavesTheAccountABankingDayBefore(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10.00", economy, func(o *payments.Order) {
		o.Date = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	}))
	if p.Status != payments.StatusFutureDated {
		t.Error(p.Status)
	}
	s.until(t, "2026-11-26 23:59") // Thanksgiving
	s.has(t, 100_000_00, 0)
	s.until(t, "2026-11-27 00:00")
	s.has(t, 100_000_00, 10_00)
	s.until(t, "2026-11-27 10:00")
	s.has(t, 99_990_00, 0)
	s.until(t, "2026-11-30 08:30")
	if got := s.life(t, p.UID); got != "SCHEDULED QUEUED SENT SETTLED" {
		t.Error(got)
	}
	s.Prove()
}

func TestAnEntryCanBeCancelledUntilItsWindow(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	first, second := s.send(t, s.order("10.00", economy)), s.send(t, s.order("20.00", economy))
	if _, err := s.Payments.Cancel(s.Staff(), first.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.until(t, "2026-11-18 14:00")
	if _, err := s.Payments.Cancel(s.Staff(), second.UID,
		changes.RequestOptions{}); !errors.Is(err, payments.ErrOver) {
		t.Error("in a file:", err)
	}
	if files, _, _ := s.files(t); len(files) != 1 || len(files[0]) != 1 || files[0][0].Amount.Minor != 20_00 {
		t.Error(files)
	}
	s.Prove()
}

// Many workers at once put each entry into one file, settle it once and take each return in once.
func TestManyWorkersDoEachEntryOnce(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	const count = 60
	for i := range count {
		amount := "1.00"
		if i%3 == 0 {
			amount = "1.01" // comes back
		}
		s.send(t, s.order(amount, economy))
	}
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	for _, when := range []string{"2026-11-18 14:00", "2026-11-19 08:30", "2026-11-20 08:31"} {
		s.Clock.Advance(at(t, when).Sub(s.Clock.Now()))
		var working sync.WaitGroup
		for range 4 {
			working.Go(func() {
				for range 3 { // one that was beaten by another tries again, as workers do
					_, _ = s.Payments.SendQueued(operator)
					_, _ = s.Payments.SealFiles(operator)
					_, _ = s.Payments.HandOver(operator)
					if _, err := s.Payments.Receive(operator); err != nil {
						t.Error(err)
					}
					_, _ = s.Payments.SettleEntries(operator)
				}
			})
		}
		working.Wait()
		s.run(t)
	}
	files, _, _ := s.files(t)
	traces := map[string]bool{}
	for _, f := range files {
		for _, e := range f {
			traces[e.Trace] = true
		}
	}
	if len(traces) != count {
		t.Errorf("%d entries, want %d", len(traces), count)
	}
	s.has(t, 100_000_00-40_00, 0)
	s.Prove()
}

func TestWhatACHDoesNotTakeIsRefusedAndHoldsNothing(t *testing.T) {
	t.Parallel()
	in := func(s *sender, edits ...func(*accounts.Account)) func(*payments.Order) {
		return func(o *payments.Order) {
			of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
			o.Sender.UID = s.Account(of, append([]func(*accounts.Account){
				coretest.Holding(100_00, 0), coretest.Sends,
			}, edits...)...).UID
		}
	}
	described := func(edit func(*payments.Receiver)) func(*payments.Order) {
		return func(o *payments.Order) {
			o.Receiver = payments.Receiver{
				Number: "4400555", Name: "Acme", Type: "Deposit", SubType: "Checking",
				Bank: payments.ReceiverBank{ID: "611590103"},
			}
			edit(&o.Receiver)
		}
	}
	for name, c := range map[string]struct {
		edit  func(*sender, *payments.Order)
		want  error
		field string
	}{
		"no class": {func(_ *sender, o *payments.Order) { o.SECCode = "" }, nil, "additionalInfo.secCode"},
		"a class of debits alone": {
			func(_ *sender, o *payments.Order) { o.SECCode = "POP" }, nil, "additionalInfo.secCode",
		},
		"a class that the account may not send": {
			func(_ *sender, o *payments.Order) { o.SECCode = "CTX" }, payments.ErrClass, "additionalInfo.secCode",
		},
		"a class on another network": {
			func(_ *sender, o *payments.Order) { o.Speed = "Instant" }, nil, "additionalInfo.secCode",
		},
		"an account without a company": {func(s *sender, o *payments.Order) {
			s.Exec(`UPDATE customers SET ach_company_id = '' WHERE tenant = ?`, s.Tenant)
			in(s, func(a *accounts.Account) { a.ACHCompanyID = "" })(o)
		}, payments.ErrNoCompany, "sender.achCompanyID"},
		"another company": {
			func(_ *sender, o *payments.Order) { o.CompanyID = "9999999999" }, nil,
			"sender.achCompanyID",
		},
		"an account that may not": {func(s *sender, o *payments.Order) {
			in(s, func(a *accounts.Account) { a.EnableACH = false })(o)
		}, payments.ErrRailOff, "speed"},
		"above a million on the same day": {
			func(_ *sender, o *payments.Order) { o.Speed, o.Amount = "Economy Plus", "1000000.01" },
			payments.ErrNetworkLimit, "paymentAmount",
		},
		"a number of 18 characters": {func(_ *sender, o *payments.Order) {
			described(func(r *payments.Receiver) { r.Number = strings.Repeat("7", 18) })(o)
		}, nil, "receiver.accountNumber"},
		"no type of account": {func(_ *sender, o *payments.Order) {
			described(func(r *payments.Receiver) { r.SubType = "" })(o)
		}, nil, "receiver.subAccountType"},
		"a long remittance": {
			func(_ *sender, o *payments.Order) { o.Remittance = strings.Repeat("r", 81) }, nil,
			"additionalInfo.paymentRemittanceNotes",
		},
		"letters that ACH does not carry": {func(_ *sender, o *payments.Order) {
			described(func(r *payments.Receiver) { r.Name = "李小龍" })(o)
		}, nil, "receiver.name"},
		"a Sunday": {func(_ *sender, o *payments.Order) {
			o.Date = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		}, payments.ErrDay, "paymentDate"},
		"today, when only the next day is left": {func(_ *sender, o *payments.Order) {
			o.Date = time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)
		}, payments.ErrDay, "paymentDate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			o := s.order("10", economy)
			c.edit(s, &o)
			_, err := s.Payments.Send(s.Staff(), o, changes.RequestOptions{})
			f, is := fault.Of(err)
			if !is || c.want != nil && !errors.Is(err, c.want) || f.Field != c.field {
				t.Errorf("%v on %q, want %v on %q", err, f.Field, c.want, c.field)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}

// What a payment over ACH may be is decided as the limit check says, by class and direction too.
func TestLimitsOfAClassBindItsEntries(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
	s.Limit(of, "ACH_CCD_CREDIT_TRANSACTION_LIMIT", 50_00)
	s.Limit(of, "ACH_PAYMENT_LIMIT_PER_DAY", 100_00)
	for _, c := range []struct{ class, amount, exceeds string }{
		{"CCD", "50.01", "ACH_CCD_CREDIT_TRANSACTION_LIMIT"},
		{"PPD", "60.00", ""},
		{"CCD", "40.01", "ACH_PAYMENT_LIMIT_PER_DAY"},
		{"CCD", "40.00", ""},
		{"PPD", "0.01", "ACH_PAYMENT_LIMIT_PER_DAY"},
	} {
		checked, err := s.Limits.Check(s.Staff(), of.UID, limits.Asked{
			Rail: rails.ACH, EntryType: rails.Credit, SECCode: rails.SECCode(c.class), Amount: c.amount,
			On: time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC),
		})
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, l := range checked {
			if l.ExceededBy() != nil {
				said = l.Code
			}
		}
		_, err = s.Payments.Send(s.Staff(), s.order(c.amount, economy,
			func(o *payments.Order) { o.SECCode = rails.SECCode(c.class) }), changes.RequestOptions{})
		if f, _ := fault.Of(err); said != c.exceeds || (err != nil) != (c.exceeds != "") ||
			err != nil && (!errors.Is(err, payments.ErrLimit) || f.Detail != c.exceeds) {
			t.Errorf("%+v: the check says %q, the payment %v", c, said, err)
		}
	}
	s.Prove()
}

func TestAFileThatCannotBeReadIsKeptAndDoesNothing(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10.01", economy))
	s.until(t, "2026-11-18 14:00")
	s.Exec(`UPDATE sandbox_messages SET rail = 'ACH' WHERE tenant = ?`, s.Tenant)
	var body []byte
	if err := s.DB.NewSelect().TableExpr("sandbox_messages").ColumnExpr("body").
		Where("tenant = ? AND answer = 1", s.Tenant).Scan(t.Context(), &body); err != nil {
		t.Fatal(err)
	}
	var id int64
	if err := s.DB.NewSelect().TableExpr("sandbox_messages").ColumnExpr("id").
		Where("tenant = ? AND answer = 1", s.Tenant).Scan(t.Context(), &id); err != nil {
		t.Fatal(err)
	}
	place := seal.Place{Tenant: int64(s.Tenant), Column: "sandbox_messages.body", Row: id}
	text, err := s.Keys.Open(seal.Value{Sealed: body}, place)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(text, "000000001001", "000000001099", 1) // of a control total
	if broken == text {
		t.Fatal("nothing was broken")
	}
	s.Exec(`UPDATE sandbox_messages SET body = ? WHERE tenant = ? AND id = ?`,
		s.Keys.Encrypt(broken, place), s.Tenant, id)
	s.until(t, "2026-11-20 08:31")
	if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED" {
		t.Error(got)
	}
	kept, err := s.DB.NewSelect().TableExpr("network_messages").
		Where("tenant = ? AND kind = 'unreadable' AND code <> ''", s.Tenant).Count(t.Context())
	if err != nil || kept != 1 {
		t.Error(kept, err)
	}
}
