package payments_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/attention"
	"bankgraph/core/coretest"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/db/dbtest/faults"
)

// batchOf is a batch of another bank, with one entry, whose number is 611590100000001, or more with the
// numbers after it.
type batchOf struct {
	nacha.Entry

	in nacha.Batch

	entries int // how many, alike but for their numbers; 1 if 0
}

// credits is a batch of one credit of 15.00 for the account.
func (s *sender) credits(edits ...func(*batchOf)) batchOf {
	b := batchOf{
		in: nacha.Batch{
			Class: rails.PPD, CompanyID: "9100011223", CompanyName: "Lakefront", Description: "INVOICE",
			Effective: time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC), Only: rails.Credit, Bank: theirs,
		},
		Entry: nacha.Entry{
			Account: rails.Checking, Direction: rails.Credit, Amount: money.Of(15_00, "USD"),
			Routing: ours, Number: coretest.AccountNumber(s.from.UID), Name: "Somebody", ID: "INV-1",
		},
	}
	for _, edit := range edits {
		edit(&b)
	}
	return b
}

// three are such batches of three companies.
func (s *sender) three() (all []batchOf) {
	for _, company := range []string{"9100011223", "9100011224", "9100011225"} {
		all = append(all, s.credits(func(b *batchOf) { b.in.CompanyID = company }))
	}
	return all
}

// joined is a file of another bank. Each of its batches numbers its entries anew.
func (s *sender) joined(t *testing.T, name string, batches ...batchOf) string {
	t.Helper()
	var lines []string
	var hash, credits, debits, entries int64
	for i, b := range batches {
		var body bytes.Buffer
		w, err := nacha.NewWriter(&body, nacha.Header{
			Origin: payments.FedACH, OriginName: name, Destination: ours, DestinationName: "US", CreatedAt: s.Now(),
			FirstTrace: 1,
		})
		if err == nil {
			err = w.Batch(b.in)
		}
		for range max(1, b.entries) {
			if err == nil {
				_, err = w.Entry(b.Entry)
			}
		}
		if err == nil {
			_, err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		for j, line := range strings.Split(strings.TrimSpace(body.String()), "\n") {
			switch line[0] {
			case '1':
				if len(lines) == 0 {
					lines = append(lines, line)
				}
			case '5', '8':
				lines = append(lines, fmt.Sprintf("%s%07d", line[:87], i+1))
			case '6', '7':
				lines = append(lines, line)
			}
			if line[0] == '9' && j > 1 && strings.Trim(line, "9") != "" {
				var h, c, d, n int64
				_, _ = fmt.Sscanf(line[13:55], "%8d%10d%12d%12d", &n, &h, &d, &c)
				entries, hash, debits, credits = entries+n, hash+h, debits+d, credits+c
			}
		}
	}
	blocks := (len(lines) + 10) / 10
	lines = append(lines, fmt.Sprintf("9%06d%06d%08d%010d%012d%012d%39s", len(batches), blocks, entries,
		hash%10_000_000_000, debits, credits, ""))
	return strings.Join(lines, "\n") + "\n"
}

// comes lets files arrive, one after the other, and takes them in.
func (s *sender) comes(t *testing.T, files ...string) {
	t.Helper()
	for _, body := range files {
		s.arrive(t, rails.ACH, body)
		s.run(t)
		s.run(t)
	}
}

// untaken returns what people are told of that was not taken, oldest first, and fails the test unless the
// list of what was refused has it, too.
func (s *sender) untaken(t *testing.T) (all []string) {
	t.Helper()
	found, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Untaken}}, 50)
	if err != nil {
		t.Fatal(err)
	}
	refused := s.refusedCredits(t)
	for _, item := range found.Items {
		_, why, _ := strings.Cut(item.Reason, ": ")
		if !slices.Contains(refused, why) {
			t.Errorf("%q is not among %q", why, refused)
		}
		all = append(all, item.Reason)
	}
	if len(all) != len(refused) {
		t.Errorf("%q, and %q", all, refused)
	}
	return all
}

// Banks number the entries of each batch anew. So lines of one file are payments of their own, whatever they
// say, and those of another file are unless they say the same in all; a file that comes again counts once,
// in whatever shape.
func TestLinesOfOneFileAreNeverTheSameEntry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		way  rails.EntryType
		sign int64
	}{"credits": {rails.Credit, 1}, "debits": {rails.Debit, -1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			b := s.credits(func(b *batchOf) { b.in.Only, b.Direction = c.way, c.way })
			other := b
			other.ID, other.in.Description = "INV-2", "INVOICE2"
			paid := int64(0)
			pays := func(n int64) {
				t.Helper()
				paid += n * c.sign * 15_00
				s.has(t, 100_000_00+paid, 0)
			}
			first := s.joined(t, "FRB", b, other)
			s.comes(t, first)
			pays(2)
			s.comes(t, first)
			pays(0)
			if told := s.untaken(t); len(told) != 0 {
				t.Errorf("a file that comes again: %q", told)
			}
			s.comes(t, s.joined(t, "FRB AGAIN", b, other))
			pays(0)
			told := s.untaken(t)
			if len(told) != 2 || !strings.Contains(told[0], " line 3: a "+strings.ToLower(string(c.way))+
				", trace "+theirs[:8]+"0000001: the same entry came in line 3 of file "+payments.FedACH+
				"-20261118-") {
				t.Errorf("%q", told)
			}
			// two lines that say the same in all, as their batches have one number, too
			twice := strings.NewReplacer("0000002\n", "0000001\n").Replace(s.joined(t, "FRB 2", other, other))
			s.comes(t, twice)
			pays(2)
			s.comes(t, twice, strings.Replace(twice, "FRB 2", "FRB 3", 1))
			pays(0)
			thrice := strings.NewReplacer("0000002\n", "0000001\n", "0000003\n", "0000001\n").
				Replace(s.joined(t, "FRB 4", other, other, other))
			s.comes(t, thrice)
			pays(1)
			if told := s.untaken(t); len(told) != 6 {
				t.Errorf("%q", told)
			}
			s.Prove()
		})
	}
}

func TestAnEntryOfAnotherFileIsAnotherUnlessItSaysTheSame(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	number := coretest.AccountNumber(s.from.UID)
	twin := "5512" + number[len(number)-4:]
	other := s.Account(s.Customer(), coretest.Holding(0, 0), coretest.Sends, func(a *accounts.Account) {
		a.Number = s.Keys.Seal(twin, seal.Place{
			Tenant: int64(s.Tenant), Column: accounts.NumberColumn, Row: int64(a.UID),
		})
	})
	s.comes(t, s.joined(t, "FRB", s.credits()))
	files := 0
	for _, edit := range []func(*batchOf){
		func(b *batchOf) { b.ID = "INV-2" }, func(b *batchOf) { b.Name = "Somebody Else" },
		func(b *batchOf) { b.in.Description = "PAYROLL" }, func(b *batchOf) { b.in.Class = rails.CCD },
		func(b *batchOf) { b.in.CompanyID = "9100011224" }, func(b *batchOf) { b.Amount.Minor = 15_01 },
		func(b *batchOf) { b.in.Effective = time.Date(2026, 11, 17, 0, 0, 0, 0, time.UTC) },
	} {
		files++
		s.comes(t, s.joined(t, fmt.Sprint("FRB ", files), s.credits(edit)))
	}
	s.comes(t, s.joined(t, "FRB BATCH", s.credits(func(b *batchOf) { b.ID = "INV-3" }), s.credits()))
	s.comes(t, s.joined(t, "FRB TWIN", s.credits(func(b *batchOf) { b.Number = twin })))
	s.comes(t, s.joined(t, "FRB", s.credits()), s.joined(t, "FRB LATE", s.credits()))
	if told := s.untaken(t); len(told) != 1 || strings.Contains(told[0], number) {
		t.Errorf("%q", told)
	}
	s.through(t, "2026-11-18 12:00")
	s.has(t, 100_000_00+15_00+7*15_00+1+2*15_00, 0)
	var credited ledger.Balance
	if err := s.DB.NewSelect().Model(&credited).Where("b.tenant = ? AND b.account = ?", s.Tenant, other.UID).
		Scan(t.Context()); err != nil || credited.Ledger != 15_00 {
		t.Errorf("the other customer has %d, %v", credited.Ledger, err)
	}
	s.Prove()
	if back := s.wentBack(t); len(back) != 0 {
		t.Errorf("%q", back)
	}
}

// An entry that an earlier release took in, which did not keep the number of its batch, is known by the rest.
func TestAnEntryOfAnEarlierReleaseIsKnown(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	unknown := func(b *batchOf) { b.Number = "55501234" }
	s.comes(t, s.joined(t, "FRB", s.credits()))
	s.arrive(t, rails.ACH, s.joined(t, "FRB", s.credits(unknown)))
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if _, err := s.Payments.Receive(operator); err != nil {
		t.Fatal(err)
	}
	s.Exec(`UPDATE ach_received SET batch = NULL WHERE tenant = ?`, s.Tenant)
	s.comes(t, s.joined(t, "FRB 2", s.credits(), s.credits(unknown)))
	s.through(t, "2026-11-18 12:00")
	s.has(t, 100_015_00, 0)
	if back := s.wentBack(t); len(back) != 1 {
		t.Errorf("%q", back)
	}
	if told := s.untaken(t); len(told) != 2 {
		t.Errorf("%q", told)
	}
}

// The promise: after any stop while a file is taken in, what another file says again meanwhile and what is
// read again, each line of the file has moved its money once.
func TestAFileOfWhichAPartWasTakenIsTakenOnceInTheEnd(t *testing.T) {
	t.Parallel()
	const entries = 253 // two transactions
	line := coretest.NewLine(t)
	try := func(k int) (statements []string) {
		b := line.Bank()
		b.Directory()
		c := b.Customer()
		s := &sender{b, b.Account(c, coretest.Holding(100_000_00, 0), coretest.Sends), b.Contact(c)}
		s.Payments.TakeFilesFor(time.Minute) // however slow the machine is: each stop is to come
		many := s.credits(func(b *batchOf) { b.entries = entries - 2 })
		body := func(name string) string {
			two := s.credits()
			return s.joined(t, name, many, two, two)
		}
		operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
		s.arrive(t, rails.ACH, body("FRB"))
		line.Break(k, faults.Fault{Cut: true, Never: true})
		_, err := s.Payments.Receive(operator)
		statements = line.Statements()
		struck := line.Struck()
		line.Break(0, faults.Fault{})
		if k > 0 && (!struck || err == nil) {
			t.Errorf("%d: %v", k, err)
		}
		s.Exec(`UPDATE sandbox_messages SET due_at = due_at + interval '1 hour' WHERE tenant = ?`, s.Tenant)
		s.arrive(t, rails.ACH, body("FRB AGAIN"))
		s.run(t)
		s.through(t, "2026-11-18 12:00")
		s.has(t, 100_000_00+entries*15_00, 0)
		if back := s.wentBack(t); len(back) != 0 {
			t.Errorf("%q", back)
		}
		s.Prove()
		return statements
	}
	for i, statement := range try(0) {
		if faults.Commits(statement) {
			try(i + 1)
		}
	}
}

// One entry with a fault stops nobody else's: it goes back, or is left for people.
func TestAnEntryWithAFaultStopsNobodyElses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to int // of its line
		is       string
		back     string // "" if it is left for people
	}{
		"name":       {54, 76, "", "R17"},
		"letters":    {54, 76, "Jos\xe9", "R17"},
		"number":     {12, 29, "", "R04"},
		"other code": {1, 3, "20", ""},
		"amount":     {29, 39, "00000015x0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			lines := strings.Split(s.joined(t, "FRB", s.three()...), "\n")
			faulty := lines[5]
			lines[5] = faulty[:c.from] + (c.is + strings.Repeat(" ", 94))[:c.to-c.from] + faulty[c.to:]
			body := strings.Join(lines, "\n")
			s.comes(t, body, body)
			s.has(t, 100_000_00+2*15_00, 0)
			told, back := s.untaken(t), s.returns(t)
			if c.back == "" {
				if len(back) != 0 || len(told) != 1 || !strings.Contains(told[0], "line 6") {
					t.Errorf("went back %q, told %q", back, told)
				}
			} else if len(told) != 0 || len(back) != 1 ||
				!strings.HasPrefix(back[0], c.back+" 15.00 "+theirs+" ") {
				t.Errorf("went back %q, told %q", back, told)
			}
			// as another file it goes back no second time
			s.comes(t, strings.Replace(body, "FRB", "NEW", 1))
			s.has(t, 100_000_00+2*15_00, 0)
			if again := s.returns(t); len(again) != len(back) {
				t.Errorf("again went back %q", again)
			}
			s.Prove()
		})
	}
}

// returns returns the codes of the entries that went back, with the banks and numbers of the entries.
func (s *sender) returns(t *testing.T) (all []string) {
	t.Helper()
	files, _, _ := s.files(t)
	for _, entries := range files {
		for _, e := range entries {
			if e.Return != nil {
				all = append(all, fmt.Sprint(e.Return.Code, " ", e.Amount, " ", e.Routing, " ", e.Return.OriginalTrace))
			}
		}
	}
	return all
}

// A fault of a batch is one of its entries.
func TestABatchWithAFaultStopsNobodyElses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to int
		is       string
		back     bool
	}{
		"company": {4, 20, "", true}, "description": {53, 63, "", true}, "day": {69, 75, "", true},
		"letters": {53, 63, "CAF\xe9", true}, "class": {50, 53, "XYZ", false}, "ADV": {50, 53, "ADV", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			lines := strings.Split(s.joined(t, "FRB", s.three()...), "\n")
			faulty := lines[4]
			lines[4] = faulty[:c.from] + (c.is + strings.Repeat(" ", 94))[:c.to-c.from] + faulty[c.to:]
			s.comes(t, strings.Join(lines, "\n"), strings.Join(lines, "\n"))
			s.has(t, 100_000_00+2*15_00, 0)
			told, back := s.untaken(t), s.returns(t)
			if c.back && (len(told) != 0 || len(back) != 1 || back[0][:3] != "R17") ||
				!c.back && (len(told) != 1 || len(back) != 0) {
				t.Errorf("went back %q, told %q", back, told)
			}
			s.Prove()
		})
	}
}

// What came back of payments is taken, too, beside an entry with a fault, and though it says no name.
func TestAReturnBesideAFaultIsTaken(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	uid := s.send(t, s.order("25.00", economy)).UID
	s.through(t, "2026-11-19 12:00")
	s.has(t, 99_975_00, 0)
	var trace string
	if err := s.DB.NewRaw(`SELECT trace FROM ach_entries WHERE tenant = ? AND payment = ?`, s.Tenant, uid).
		Scan(t.Context(), &trace); err != nil || trace == "" {
		t.Fatal(trace, err)
	}
	back := s.credits(func(b *batchOf) {
		b.Amount.Minor = 25_00
		b.Return = &nacha.Return{Code: "R03", OriginalTrace: trace, OriginalBank: theirs[:8]}
	})
	lines := strings.Split(s.joined(t, "FRB", s.credits(), back), "\n")
	for _, i := range []int{2, 5} {
		lines[i] = lines[i][:54] + strings.Repeat(" ", 22) + lines[i][76:]
	}
	s.comes(t, strings.Join(lines, "\n"))
	s.has(t, 100_000_00, 0)
	if got := s.shows(t, uid); !strings.HasPrefix(got.Reason, "R03") {
		t.Errorf("%+v", got)
	}
	s.Prove()
}

// A return that names no entry of ours, or one that another bank has, brought money that nobody gets, and a
// dishonour of no return of ours takes some: people are told once, and nothing is booked.
func TestWhatComesBackOfNothingWaitsForPeople(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(b *batchOf, trace string)
		says string
	}{
		"a return of no entry": {func(b *batchOf, trace string) {
			b.Return = &nacha.Return{Code: "R03", OriginalTrace: trace[:8] + "9999999", OriginalBank: theirs[:8]}
		}, "a return, R03, trace 611090009999999: it is of no entry of ours"},
		"a return by another bank": {func(b *batchOf, trace string) {
			b.in.Bank = "061000052"
			b.Return = &nacha.Return{Code: "R03", OriginalTrace: trace, OriginalBank: theirs[:8]}
		}, "a return, R03, trace 611090000000001: the entry went to another bank"},
		"a return of a debit": {func(b *batchOf, trace string) {
			b.in.Only, b.Direction = rails.Debit, rails.Debit
			b.Return = &nacha.Return{Code: "R03", OriginalTrace: trace, OriginalBank: theirs[:8]}
		}, "a return, R03, trace 611090000000001: it is of a debit, and what it names was a credit"},
		"a dishonour": {func(b *batchOf, trace string) {
			b.Dishonour = &nacha.Dishonour{
				Code: "R68", OriginalTrace: trace, OriginalBank: ours[:8], ReturnTrace: trace[:8] + "9999999",
				ReturnSettled: 324, ReturnCode: "R03",
			}
		}, "a dishonour, R68, trace 611090009999999: it is of no return of ours with a payment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			uid := s.send(t, s.order("25.00", economy)).UID
			s.through(t, "2026-11-19 12:00")
			life := s.life(t, uid)
			file := s.joined(t, "FRB", s.credits(func(b *batchOf) {
				b.Amount.Minor = 25_00
				c.edit(b, s.trace(t))
			}))
			s.comes(t, file, file) // twice is once
			if told := s.untaken(t); len(told) != 1 || !strings.HasSuffix(told[0], c.says) {
				t.Errorf("%q, want %q", told, c.says)
			}
			if got := s.life(t, uid); got != life {
				t.Errorf("%s, was %s", got, life)
			}
			s.has(t, 99_975_00, 0)
			s.Prove()
		})
	}
}

// The return of a credit does not take what a debit has collected, and the other bank's word about a return
// of ours is about that return.
func TestWhatComesBackTheOtherWayWaitsForPeople(t *testing.T) {
	t.Parallel()
	credit := func(b *batchOf, trace string) {
		b.Return = &nacha.Return{Code: "R01", OriginalTrace: trace, OriginalBank: theirs[:8]}
	}
	t.Run("a debit of ours", func(t *testing.T) {
		t.Parallel()
		s := newDebtor(t)
		uid := s.collect(t, s.order("25.00", economy)).UID
		s.through(t, "2026-11-19 12:00")
		s.has(t, 100_025_00, 0)
		s.comes(t, s.joined(t, "FRB", s.credits(func(b *batchOf) {
			b.Amount.Minor = 25_00
			credit(b, s.trace(t))
		})))
		if told := s.untaken(t); len(told) != 1 ||
			!strings.HasSuffix(told[0], "it is of a credit, and what it names was a debit") {
			t.Errorf("%q", told)
		}
		s.has(t, 100_025_00, 0)
		s.comes(t, s.joined(t, "FRB 2", s.credits(func(b *batchOf) {
			b.Amount.Minor, b.in.Only, b.Direction = 25_00, rails.Debit, rails.Debit
			credit(b, s.trace(t))
		})))
		s.has(t, 100_000_00, 0)
		if got := s.shows(t, uid); got.State != payments.Returned {
			t.Error(got.State)
		}
		s.Prove()
	})
	t.Run("a reversal of ours", func(t *testing.T) {
		t.Parallel()
		s := newDebtor(t)
		uid := s.send(t, s.order("25.00", economy)).UID
		s.through(t, "2026-11-19 12:00")
		if _, err := s.reverse(uid, payments.Reversal{}); err != nil {
			t.Fatal(err)
		}
		s.run(t)
		s.Clock.Advance(2 * time.Minute)
		s.run(t)
		var trace string
		if err := s.DB.NewRaw(`SELECT trace FROM ach_reversals WHERE tenant = ?`, s.Tenant).
			Scan(t.Context(), &trace); err != nil || trace == "" {
			t.Fatal(trace, err)
		}
		life := s.life(t, uid)
		s.comes(t, s.joined(t, "FRB", s.credits(func(b *batchOf) {
			b.Amount.Minor = 25_00
			credit(b, trace)
		})))
		if told := s.untaken(t); len(told) != 1 || s.life(t, uid) != life {
			t.Errorf("%q, %s", told, s.life(t, uid))
		}
		s.Prove()
	})
}

// The customer keeps what a debit has collected once the time for its return has passed: people refuse it, or
// agree with the customer. What brings money back is never too late.
func TestAReturnThatComesTooLateWaitsForPeople(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		way           rails.EntryType
		code          string
		class         rails.SECCode
		made, arrives string
		late          bool
	}{ // the entry settles on Thursday, 2026-11-19
		"in time":                {rails.Debit, "R01", "CCD", "2026-11-23 08:00", "2026-11-23 09:00", false},
		"a day late":             {rails.Debit, "R01", "CCD", "2026-11-24 08:00", "2026-11-24 09:00", true},
		"in a file that waited":  {rails.Debit, "R01", "CCD", "2026-11-23 08:00", "2026-12-10 09:00", false},
		"fifteen months":         {rails.Debit, "R01", "CCD", "2028-02-21 08:00", "2028-02-21 09:00", true},
		"not agreed to":          {rails.Debit, "R10", "PPD", "2027-01-19 08:00", "2027-01-19 09:00", false},
		"not agreed to, late":    {rails.Debit, "R10", "PPD", "2027-01-20 08:00", "2027-01-20 09:00", true},
		"between companies":      {rails.Debit, "R29", "CCD", "2026-12-10 08:00", "2026-12-10 09:00", true},
		"as this bank asked":     {rails.Debit, "R06", "CCD", "2027-06-10 08:00", "2027-06-10 09:00", false},
		"a credit, never so":     {rails.Credit, "R03", "CCD", "2028-02-21 08:00", "2028-02-21 09:00", false},
		"a credit, nearly never": {rails.Credit, "R23", "CCD", "2026-12-10 08:00", "2026-12-10 09:00", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			order := s.order("25.00", economy, func(o *payments.Order) { o.SECCode = c.class })
			pays, before := s.send, int64(99_975_00)
			if c.way == rails.Debit {
				pays, before = s.collect, 100_025_00
			}
			uid := pays(t, order).UID
			s.through(t, "2026-11-19 12:00")
			s.has(t, before, 0)
			trace := s.trace(t)
			s.Clock.Set(at(t, c.made))
			file := s.joined(t, "FRB", s.credits(func(b *batchOf) {
				b.Amount.Minor, b.in.Only, b.Direction, b.in.Class = 25_00, c.way, c.way, c.class
				b.Return = &nacha.Return{Code: c.code, OriginalTrace: trace, OriginalBank: theirs[:8]}
			}))
			s.Clock.Set(at(t, c.arrives))
			s.comes(t, file, file)
			told, state := s.untaken(t), s.shows(t, uid).State
			if c.late {
				if len(told) != 1 || !strings.Contains(told[0], ": it came too late: its time was until ") ||
					state != payments.Settled {
					t.Errorf("%q, %s", told, state)
				}
				s.has(t, before, 0)
			} else {
				if len(told) != 0 || state != payments.Returned {
					t.Errorf("%q, %s", told, state)
				}
				s.has(t, 100_000_00, 0)
			}
			s.Prove()
		})
	}
}

// What cannot be read at all waits for people, for a week.
func TestWhatCannotBeReadWaitsForPeople(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	s.arrive(t, rails.FedNow, "<hello/>")
	s.arrive(t, rails.ACH, s.joined(t, "FRB", s.credits())[:400])
	s.run(t)
	if told := s.untaken(t); len(told) != 2 {
		t.Errorf("%q", told)
	}
	s.has(t, 100_000_00, 0)
	other := coretest.New(t)
	if found, err := other.Attention.List(other.Staff(), attention.Search{}, 10); err != nil ||
		len(found.Items) != 0 {
		t.Errorf("another bank: %+v %v", found, err)
	}
	s.Clock.Advance(8 * 24 * time.Hour)
	found, err := s.Attention.List(s.Staff(), attention.Search{}, 10)
	if err != nil || len(found.Items) != 0 || len(s.refusedCredits(t)) != 2 {
		t.Errorf("a week later: %+v %v", found, err)
	}
}

// Hyphens and spaces part a number for people. They lead to the account that has it without them, and the
// return of such an entry repeats the number as it came.
func TestANumberInPartsLeadsToItsAccount(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	number := coretest.AccountNumber(s.from.UID)
	for i, written := range []string{
		number[:3] + "-" + number[3:], number[:3] + " " + number[3:], "   " + number,
	} {
		for way, amount := range map[rails.EntryType]int64{rails.Credit: 15_00, rails.Debit: 5_00} {
			s.comes(t, s.joined(t, fmt.Sprint("FRB ", i, way), s.credits(func(b *batchOf) {
				b.Number, b.in.Only, b.Direction, b.Amount.Minor = written, way, way, amount
			})))
		}
	}
	s.has(t, 100_000_00+3*10_00, 0)
	s.comes(t, s.joined(t, "FRB NOBODY", s.credits(func(b *batchOf) { b.Number = "555-01234" })))
	if back := s.wentBack(t); !slices.Equal(back, []string{"R03 15.00 " + theirs + " 555-01234 " + ours[:8]}) {
		t.Errorf("%q", back)
	}
	s.Prove()
}

// A return over ACH that does not fit what it names, in its amount or because that came back already, has
// moved money at the Fed and moves none here: people are told of each.
func TestReturnsOverACHThatDoNotFitWaitForPeople(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		collects, reversal bool
		returns            []int64
		told, back         int // how many people are told of; what the account has beside what it had before
	}{
		"a credit, by more":            {returns: []int64{300_00}, told: 1},
		"a credit, twice":              {returns: []int64{250_00, 250_00}, told: 1, back: 250_00},
		"a credit, its rest by more":   {returns: []int64{100_00, 200_00}, told: 1, back: 100_00},
		"a credit, in two parts":       {returns: []int64{100_00, 150_00}, back: 250_00},
		"a debit, by less":             {collects: true, returns: []int64{200_00}, told: 1},
		"a debit, by nothing":          {collects: true, returns: []int64{0}, told: 1},
		"a debit, twice":               {collects: true, returns: []int64{250_00, 250_00}, told: 1, back: -250_00},
		"what takes a credit back":     {reversal: true, returns: []int64{200_00}, told: 1},
		"what takes it back, twice":    {reversal: true, returns: []int64{250_00, 250_00}, told: 1, back: -250_00},
		"what takes it back, as it is": {reversal: true, returns: []int64{250_00}, back: -250_00},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			var uid payments.UID
			way, code, table := rails.Credit, "R03", "ach_entries"
			switch {
			case c.reversal:
				way, code, table = rails.Debit, "R01", "ach_reversals"
				uid = s.paidByACH(t, "250.00")
				if err := s.takeBack(uid); err != nil {
					t.Fatal(err)
				}
				s.through(t, "2026-11-20 09:00")
			case c.collects:
				way, code = rails.Debit, "R01"
				uid = s.collect(t, s.order("250.00", economy)).UID
				s.until(t, "2026-11-18 14:00")
				s.through(t, "2026-11-19 09:00")
			default:
				uid = s.send(t, s.order("250.00", economy)).UID
				s.until(t, "2026-11-18 14:00")
				s.through(t, "2026-11-19 09:00")
			}
			var trace string
			if err := s.DB.NewRaw(`SELECT trace FROM `+table+` WHERE tenant = ? AND payment = ?`, s.Tenant, uid).
				Scan(t.Context(), &trace); err != nil {
				t.Fatal(err)
			}
			before := s.ledger(t)
			for i, minor := range c.returns {
				s.Clock.Advance(time.Minute)
				file := s.joined(t, fmt.Sprint("F", i), s.credits(func(b *batchOf) {
					b.in.Only, b.Direction, b.Amount.Minor = way, way, minor
					b.Return = &nacha.Return{Code: code, OriginalTrace: trace, OriginalBank: theirs[:8]}
				}))
				s.comes(t, file, file)
			}
			if got := s.ledger(t) - before; got != int64(c.back) {
				t.Errorf("the account has %d more, want %d", got, c.back)
			}
			if told := s.untaken(t); len(told) != c.told {
				t.Errorf("people are told: %q", told)
			}
			s.Prove()
		})
	}
}

// ledger returns what the account has.
func (s *sender) ledger(t *testing.T) (minor int64) {
	t.Helper()
	if err := s.DB.NewRaw(`SELECT ledger FROM balances WHERE tenant = ? AND account = ?`, s.Tenant, s.from.UID).
		Scan(t.Context(), &minor); err != nil {
		t.Fatal(err)
	}
	return minor
}

// A wire that nobody here takes goes back by itself. If Fedwire does not take it back, its money is here, and
// people are told.
func TestTheRefusedReturnOfAWireThatWasNotTakenIsTold(t *testing.T) {
	t.Parallel()
	for amount, told := range map[int64]int{5_000_34: 1, 5_000_00: 0} { // the sandbox refuses the return of .34
		t.Run(fmt.Sprint(amount), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			s.deliver(t, rails.Fedwire, s.credit(rails.Fedwire, 1, func(m *iso20022.CreditTransfer) {
				m.Creditor.Account, m.Amount.Minor = "99999999", amount
			}))
			for range 3 {
				s.Clock.Advance(time.Minute)
				s.run(t)
			}
			found, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Untaken}}, 5)
			if err != nil {
				t.Fatal(err)
			}
			if all := found.Items; len(all) != told ||
				told > 0 && !strings.Contains(all[0].Reason, "whose money is here") {
				t.Errorf("people are told: %+v", all)
			}
		})
	}
}
