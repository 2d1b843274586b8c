package payments_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/given"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/sandbox"
	"bankgraph/core/screening"
)

func (s *sender) release(t *testing.T, uid payments.UID) {
	t.Helper()
	if _, err := s.Payments.ReleaseScreened(s.Checker(), uid, because); err != nil {
		t.Fatal(err)
	}
}

func (s *sender) rejects(t *testing.T, uid payments.UID) {
	t.Helper()
	if _, err := s.Payments.RejectScreened(s.Checker(), uid, because); err != nil {
		t.Fatal(err)
	}
}

// Letters that no network carries hide no listed name, whatever they look like: people look at what comes in
// them.
func TestACreditInLettersThatNoNetworkCarriesIsLookedAt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		name string
		look bool
	}{
		"as listed":            {"Viktor Drazenko", true},
		"another":              {"Ada Byron", false},
		"another with accents": {"José Łukasz Ærø-Müller", false},
		"o, a of Cyrillic":     {"Vikt\u043er Dr\u0430zenk\u043e", true},
		"i, e of Cyrillic":     {"V\u0456ktor Draz\u0435nko", true},
		"o of Greek":           {"Vikt\u03bfr Drazenk\u03bf", true},
		"V of Cherokee":        {"\u13d9iktor Draz\u0435nko", true},
		"a of phonetics":       {"Viktor Dr\u0251z\u025bnko", true},
		"all in Cyrillic":      {"Виктор Дразенко", true},
		"o as a sign":          {"Vikt\u25cbr Drazenk\u25cb", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			arrives := func(n int, over rails.Rail) payments.UID {
				var body bytes.Buffer
				if err := iso20022.Write(&body, payments.Profiles[over], s.credit(over, n)); err != nil {
					t.Fatal(err)
				}
				s.arrive(t, over, strings.ReplaceAll(body.String(), "Ada Byron", c.name))
				s.run(t)
				return s.newest(t)
			}
			if got := s.life(t, arrives(1, rails.FedNow)); got != "SETTLED" {
				t.Errorf("without a list: %s", got)
			}
			s.lists(t, "Viktor Drazenko")
			for i, over := range requesting {
				uid, want := arrives(i+2, over), "SETTLED"
				if c.look {
					want = "SCREENING"
					s.inScreening(t, uid)
				}
				if got := s.life(t, uid); got != want {
					t.Errorf("%s over %s: %s, want %s", c.name, over, got, want)
				}
			}
			s.Prove()
		})
	}
}

func (s *sender) lived(t *testing.T, uid payments.UID, want string) {
	t.Helper()
	if got := s.life(t, uid); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s.Prove()
}

// What may come from somebody on a list reaches its account when people have released it. An instant network
// hears both.
func TestACreditFromAListedNameWaitsUntilPeopleReleaseIt(t *testing.T) {
	t.Parallel()
	for over, told := range map[rails.Rail][2]string{
		rails.FedNow:  {"pacs.002 ACWP, pacs.002 ACWP", "pacs.002 ACWP, pacs.002 ACWP, pacs.002 ACCC"},
		rails.RTP:     {"pacs.002 ACWP, pacs.002 ACWP", "pacs.002 ACWP, pacs.002 ACWP, pacs.002 ACCC"},
		rails.Fedwire: {"pacs.004 25.00 AM05", "pacs.004 25.00 AM05"}, // another message is another wire
	} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			s.lists(t, "Grace Hopper", "Byron Ada")
			again := s.credit(over, 1)
			again.ID = s.group(over, 2).ID
			s.deliver(t, over, s.credit(over, 1))
			s.deliver(t, over, again)
			uid := s.newest(t)
			r := s.inScreening(t, uid)
			if r.Name != "Ada Byron" || len(r.Matches) != 1 || r.Matches[0].Name != "Byron Ada" ||
				r.Status != screening.Pending {
				t.Errorf("%+v", r)
			}
			if p := s.shows(t, uid); p.MemoPost() != payments.NotPosted ||
				p.Direction != payments.In || p.Reason != "" {
				t.Errorf("%+v", p.Payment)
			}
			s.has(t, 100_000_00, 0)
			s.lived(t, uid, "SCREENING")
			if got := s.sent(t); got != told[0] {
				t.Errorf("told %q, want %q", got, told[0])
			}
			if _, err := s.back(uid, wholly(over)); !errors.Is(err, payments.ErrNotProcessed) {
				t.Errorf("given back by who has not got it: %v", err)
			}
			s.release(t, uid)
			s.run(t)
			s.has(t, 100_025_00, 0)
			s.lived(t, uid, "SCREENING SETTLED")
			if got := s.sent(t); got != told[1] {
				t.Errorf("told %q, want %q", got, told[1])
			}
			if _, err := s.Payments.RejectScreened(s.Checker(), uid,
				because); !errors.Is(err, payments.ErrNotScreened) {
				t.Errorf("decided twice: %v", err)
			}
		})
	}
}

func TestACreditThatComplianceRejectsGoesBack(t *testing.T) {
	t.Parallel()
	for over, told := range map[rails.Rail]string{
		rails.FedNow: "pacs.002 ACWP, pacs.004 25.00 MS03", rails.RTP: "pacs.002 ACWP, pacs.004 25.00 MS03",
		rails.Fedwire: "pacs.004 25.00 MS03",
	} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			s.lists(t, "Ada Byron")
			s.deliver(t, over, s.credit(over, 1))
			uid := s.newest(t)
			s.rejects(t, uid)
			s.lived(t, uid, "SCREENING RETURNING")
			s.run(t)
			s.run(t)
			s.lived(t, uid, "SCREENING RETURNING RETURNED")
			s.has(t, 100_000_00, 0)
			if got := s.sent(t); got != told {
				t.Errorf("told %q, want %q", got, told)
			}
			p := s.shows(t, uid)
			if p.Returned() == nil || p.Returned().String() != "25.00" ||
				p.Reason != "MS03: stopped by the bank" {
				t.Errorf("%+v", p.Payment)
			}
		})
	}
}

// A network may refuse what compliance sends back. The money does not come to the account by that.
func TestAReturnOfComplianceThatItsNetworkRefusesIsDecidedAgain(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada Byron")
	uid := s.play(t, rails.FedNow, "40.34")
	s.rejects(t, uid)
	s.run(t)
	s.run(t)
	s.lived(t, uid, "SCREENING RETURNING SCREENING")
	s.has(t, 100_000_00, 0)
	if r := s.inScreening(t, uid); r.Status != screening.Pending || r.DecidedBy() != "" || r.Reason != "" {
		t.Errorf("%+v", r)
	}
	s.release(t, uid)
	s.has(t, 100_040_34, 0)
	s.lived(t, uid, "SCREENING RETURNING SCREENING SETTLED")
	if p := s.shows(t, uid); p.Returned() != nil {
		t.Errorf("%+v", p.Payment)
	}
}

// Whatever became of the account meanwhile, nothing is lost: what cannot be credited can go back.
func TestACreditIsReleasedOnlyToAnAccountThatTakesIt(t *testing.T) {
	t.Parallel()
	for code, statement := range map[string]string{
		"AC04": `UPDATE accounts SET status = 'Closed' WHERE tenant = ?`,
		"AC06": `UPDATE accounts SET status = 'Suspended' WHERE tenant = ?`,
		"AG01": `UPDATE accounts SET enable_fednow = false, fednow_send = false WHERE tenant = ?`,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			s.lists(t, "Ada Byron")
			uid := s.play(t, rails.FedNow, "25")
			s.Exec(statement, s.Tenant)
			_, err := s.Payments.ReleaseScreened(s.Checker(), uid, because)
			if !errors.Is(err, payments.ErrNotCreditable) || !strings.Contains(err.Error(), code) {
				t.Error(err)
			}
			s.inScreening(t, uid)
			s.rejects(t, uid)
			s.lived(t, uid, "SCREENING RETURNING")
		})
	}
}

// The money is of the account that had the number when the credit came, whoever has it when people decide.
func TestACreditIsReleasedToTheAccountThatItCameFor(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada Byron")
	uid := s.play(t, rails.FedNow, "25")
	number, other := coretest.AccountNumber(s.from.UID), s.Account(s.Customer())
	for _, d := range []struct {
		of     *accounts.Account
		number string
	}{{s.from, "7100000001"}, {other, number}} {
		_, err := s.Accounts.Change(s.Staff(), d.of.Customer, d.of.UID, accounts.Draft{Number: given.Of(d.number)},
			changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.release(t, uid)
	s.lived(t, uid, "SCREENING SETTLED")
	s.has(t, 100_025_00, 0)
}

func TestACreditThatIsAskedBackWhileComplianceLooksAtIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decide     func(*sender, *testing.T, payments.UID)
		life, told string
	}{
		"is released": {(*sender).release, "SCREENING RECALLED", "pacs.002 ACWP, pacs.002 ACCC"},
		"is rejected": {
			(*sender).rejects, "SCREENING RETURNING RETURNED",
			"pacs.002 ACWP, camt.029 IPAY, pacs.004 25.00 MS03",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			s.lists(t, "Ada Byron")
			uid := s.play(t, rails.RTP, "25")
			s.asksBack(t, uid)
			s.lived(t, uid, "SCREENING")
			c.decide(s, t, uid)
			s.run(t)
			s.run(t)
			s.lived(t, uid, c.life)
			if got := s.sent(t); got != c.told {
				t.Errorf("told %q, want %q", got, c.told)
			}
		})
	}
}

// A request for payment is paid when the money is there.
func TestARequestIsCompletedByACreditThatPeopleRelease(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.collect(t, s.order("250.00", asking))
	s.run(t)
	s.lists(t, s.to.Name)
	s.Clock.Advance(2 * time.Second)
	s.run(t)
	came := s.came(t)
	if len(came) != 1 || came[0].State != payments.Screening {
		t.Fatal(came)
	}
	s.lived(t, p.UID, "QUEUED SENT")
	s.release(t, came[0].UID)
	s.lived(t, p.UID, "QUEUED SENT SETTLED")
	s.has(t, 100_250_00, 0)
	if r := s.requestOf(t, p.UID); r.Credit != came[0].UID {
		t.Errorf("%+v", r)
	}
}

// An entry of ACH that compliance looks at settles after it was released, be it late, or goes back.
func TestEntriesOfListedCompaniesWaitBeforeAnythingMoves(t *testing.T) {
	t.Parallel()
	for direction, c := range map[rails.EntryType]struct {
		comes func(*testing.T, *sender) payments.UID
		has   int64
	}{
		rails.Credit: {
			func(t *testing.T, s *sender) payments.UID {
				t.Helper()
				return s.paidOver(t,
					creditedOn(19))
			}, 100_025_00,
		},
		rails.Debit: {
			func(t *testing.T, s *sender) payments.UID { t.Helper(); return s.debit(t, settling(19)) },
			99_975_00,
		},
	} {
		for _, until := range []string{"2026-11-18 12:00", "2026-11-20 12:00"} {
			t.Run(fmt.Sprint(direction, " released ", until), func(t *testing.T) {
				t.Parallel()
				s := newDebtor(t)
				s.lists(t, "Lakefront Mills", "Lakefront Util")
				uid := c.comes(t, s)
				s.inScreening(t, uid)
				s.until(t, until)
				s.has(t, 100_000_00, 0)
				s.release(t, uid)
				s.lived(t, uid, "SCREENING VALIDATED")
				s.until(t, "2026-11-20 12:01")
				s.run(t)
				s.has(t, c.has, 0)
				s.lived(t, uid, "SCREENING VALIDATED SETTLED")
				if back := s.wentBack(t); len(back) > 0 {
					t.Error(back)
				}
			})
		}
		t.Run(fmt.Sprint(direction, " rejected"), func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			s.lists(t, "Lakefront Mills", "Lakefront Util")
			uid := c.comes(t, s)
			s.rejects(t, uid)
			s.until(t, "2026-11-20 12:00")
			s.has(t, 100_000_00, 0)
			s.lived(t, uid, "SCREENING RETURNED")
			if p := s.shows(t, uid); p.Reason != "R16: stopped by the bank" || p.Returned() == nil {
				t.Errorf("%+v", p.Payment)
			}
			if back := s.wentBack(t); len(back) != 1 || !strings.HasPrefix(back[0], "R16 25.00") {
				t.Error(back)
			}
		})
	}
}

// The money of a debit that nobody decides on would be lost once its return comes too late.
func TestADebitOnWhichComplianceDoesNotDecideGoesBackInTime(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	s.lists(t, "Lakefront Mills", "Lakefront Util")
	debit, credit := s.debit(t, settling(19)), s.paidOver(t, creditedOn(19))
	last := at(t, "2026-11-20 22:00")
	if r := s.inScreening(t, debit); r.ExpiresAt == nil || !r.ExpiresAt.Equal(last) {
		t.Errorf("%+v", r)
	}
	if r := s.inScreening(t, credit); r.ExpiresAt != nil { // what it brought may have to be kept
		t.Errorf("%+v", r)
	}
	next, err := s.Core.Screening.Next(access.Operator(t.Context(), s.Tenant, s.Code, nil), s.Now())
	if err != nil || next == nil || !next.Equal(last) {
		t.Error(next, err)
	}
	s.until(t, "2026-11-20 21:59")
	s.lived(t, debit, "SCREENING")
	s.until(t, "2026-11-20 22:00")
	s.lived(t, debit, "SCREENING RETURNED")
	s.lived(t, credit, "SCREENING")
	s.until(t, "2026-11-20 22:02")
	if back := s.wentBack(t); len(back) != 1 || !strings.HasPrefix(back[0], "R16 25.00") {
		t.Error(back)
	}
	if _, err := s.Payments.ReleaseScreened(s.Checker(), debit, because); !errors.Is(err,
		payments.ErrNotScreened) {
		t.Error(err)
	}
	var status screening.Status
	if err := s.DB.NewRaw(`SELECT status FROM payment_screenings WHERE tenant = ? AND payment = ?`,
		s.Tenant, debit).
		Scan(t.Context(), &status); err != nil || status != screening.Rejected {
		t.Error(status, err)
	}
	s.has(t, 100_000_00, 0)
}

func TestADebitThatPeopleReleasePassesPositivePay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		allowed bool
		life    string
		status  positivepay.DecisionStatus
		reason  positivepay.Mismatch
	}{
		"and is allowed":     {true, "SCREENING VALIDATED", positivepay.AutoMatched, ""},
		"and is not allowed": {false, "SCREENING HOLD", positivepay.DecisionPending, positivepay.NoRule},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t, positive)
			if c.allowed {
				s.rule()
			}
			s.lists(t, "Lakefront Util")
			uid := s.debit(t, settling(19))
			if e := s.exception(t, uid); e != nil {
				t.Errorf("decided before compliance: %+v", e)
			}
			s.release(t, uid)
			s.lived(t, uid, c.life)
			s.is(t, uid, c.status, c.reason)
		})
	}
}

// Strangers do not use up what a customer may have wait.
func TestWhatComesInDoesNotCountAmongWhatACustomerHasWait(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada Byron")
	uid := s.play(t, rails.FedNow, "1")
	s.Exec(`INSERT INTO payments SELECT (jsonb_populate_record(p, jsonb_build_object('uid', p.uid - n))).*
		FROM payments AS p, generate_series(1001000, 1001600) AS n WHERE p.tenant = ? AND p.uid = ?`, s.Tenant, uid)
	s.send(t, s.order("1.00", paidTo("Ada Byron")))
	s.inScreening(t, s.play(t, rails.FedNow, "2"))
}

func TestWherePeopleLookAtAllTheyLookAtWhatComesIn(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Exec(`INSERT INTO tenant_settings (tenant, people_decide, screen_all) VALUES (?, true, true)`, s.Tenant)
	uid := s.play(t, rails.Fedwire, "3")
	s.inScreening(t, uid)
	s.inScreening(t, s.paidOver(t, func(c *sandbox.Credit) { c.CompanyName = "Nobody Special" }))
	if _, err := s.Payments.ReleaseScreened(s.Staff(), uid, because); !errors.Is(err, changes.ErrPerson) {
		t.Errorf("a program decides: %v", err)
	}
}

// Whoever was told that the money comes is owed it, also where compliance said so and then releases the
// credit, as its network did not take the return.
func TestAReleasedCreditWhoseReturnWasPromisedIsOwed(t *testing.T) {
	t.Parallel()
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			s.lists(t, "Ada Byron")
			uid := s.play(t, over, "250.34") // whose return the sandbox refuses
			s.asksBack(t, uid)
			s.rejects(t, uid)
			for range 3 {
				s.Clock.Advance(10 * time.Second)
				s.run(t)
			}
			s.release(t, uid)
			s.run(t)
			s.lived(t, uid, "SCREENING RETURNING SCREENING RECALLED")
			if _, err := s.back(uid, payments.Return{Type: "RJCR", Reject: "CUST"}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A bank that was told that the money has come back is owed it, too: once its network refuses what compliance
// sends back, and people release the credit, somebody answers.
func TestAReleasedCreditWhoseBankWasToldThatItCameBackIsOwed(t *testing.T) {
	t.Parallel()
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire} {
		for name, promised := range map[string]bool{"asked then": false, "promised before": true} {
			t.Run(string(over)+" "+name, func(t *testing.T) {
				t.Parallel()
				s := newSender(t)
				s.lists(t, "Ada Byron")
				// whose return the sandbox refuses
				c := s.credit(over, 1, func(c *iso20022.CreditTransfer) { c.Amount = money.Of(25_34, "USD") })
				s.deliver(t, over, c)
				uid, told, life := s.newest(t), "camt.029 RJCR ARDT", "SCREENING RETURNING SCREENING RECALLED"
				if promised {
					s.deliver(t, over, s.recalls(over, 30, "CASE-1", c))
					s.rejects(t, uid)
					s.hears(t)
					life = "SCREENING RETURNING " + life
				}
				s.rejects(t, uid)
				s.deliver(t, over, s.recalls(over, 31, "CASE-2", c))
				if got := s.sent(t); !strings.HasSuffix(got, told) || strings.Contains(got, "IPAY") != promised {
					t.Fatalf("sent %q", got)
				}
				s.hears(t)
				s.release(t, uid)
				s.hears(t)
				s.lived(t, uid, life)
				if _, err := s.back(uid, payments.Return{Type: "RJCR", Reject: "CUST"}); err != nil {
					t.Error(err)
				}
				s.Prove()
			})
		}
	}
}

// A bank that asks for money which is on its way back hears that it came back. If its network does not take
// the return, people see that it still waits.
func TestARecallDuringARefusedReturnWaitsForPeople(t *testing.T) {
	t.Parallel()
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid := s.play(t, over, "250.34") // whose return the sandbox refuses
			s.run(t)
			if _, err := s.back(uid, wholly(over)); err != nil {
				t.Fatal(err)
			}
			s.asksBack(t, uid)
			for range 4 {
				s.Clock.Advance(10 * time.Second)
				s.run(t)
			}
			s.lived(t, uid, "SETTLED RETURNING RECALLED")
			s.has(t, 100_250_34, 0)
			if _, err := s.back(uid, payments.Return{Type: "RJCR", Reject: "CUST"}); err != nil {
				t.Error(err)
			}
		})
	}
}
