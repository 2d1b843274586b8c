package core_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/alerts"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/files"
	"bankgraph/core/fx"
	"bankgraph/core/seal"
	"bankgraph/core/verifications"
	"bankgraph/db/dbtest/faults"
)

// job is work that a bank does by itself.
type job func(*core.Core) func(context.Context) (int, error)

var (
	carryOutDue job = func(c *core.Core) func(context.Context) (int,
		error) {
		return c.Payments.CarryOutDue
	}
	sendQueued    job = func(c *core.Core) func(context.Context) (int, error) { return c.Payments.SendQueued }
	sealFiles     job = func(c *core.Core) func(context.Context) (int, error) { return c.Payments.SealFiles }
	handOver      job = func(c *core.Core) func(context.Context) (int, error) { return c.Payments.HandOver }
	receive       job = func(c *core.Core) func(context.Context) (int, error) { return c.Payments.Receive }
	settleEntries job = func(c *core.Core) func(context.Context) (int,
		error) {
		return c.Payments.SettleEntries
	}
	postEntries job = func(c *core.Core) func(context.Context) (int,
		error) {
		return c.Payments.PostEntries
	}
	expireExceptions job = func(c *core.Core) func(context.Context) (int,
		error) {
		return c.Payments.ExpireExceptions
	}
	expireScreenings job = func(c *core.Core) func(context.Context) (int,
		error) {
		return c.Payments.ExpireScreenings
	}
	expireRequests job = func(c *core.Core) func(context.Context) (int,
		error) {
		return c.Payments.ExpireRequests
	}
	runRecurrences job = func(c *core.Core) func(context.Context) (int,
		error) {
		return c.Payments.RunRecurrences
	}
	runWaterfalls    job = func(c *core.Core) func(context.Context) (int, error) { return c.Waterfalls.Work }
	checkFiles       job = func(c *core.Core) func(context.Context) (int, error) { return c.Files.Check }
	payFiles         job = func(c *core.Core) func(context.Context) (int, error) { return c.Files.Pay }
	expireHolds      job = func(c *core.Core) func(context.Context) (int, error) { return c.Holds.Expire }
	expireQuotes     job = func(c *core.Core) func(context.Context) (int, error) { return c.FX.Expire }
	coverTrades      job = func(c *core.Core) func(context.Context) (int, error) { return c.FX.CoverDue }
	fireAlerts       job = func(c *core.Core) func(context.Context) (int, error) { return c.Alerts.Fire }
	endVerifications job = func(c *core.Core) func(context.Context) (int, error) { return c.Verifications.Work }
	spreadEvents     job = func(c *core.Core) func(context.Context) (int, error) { return c.Webhooks.Spread }
)

// jobs lists the jobs with what they find: asked is done first, then each step before, which may move the
// clock, and then the job is struck.
var jobs = []struct {
	name   string
	asked  func(b *coretest.Bank, of *customers.Customer)
	before []step
	job    job
}{
	{"send a payment", paysInstantly, nil, sendQueued},
	{"hand over its message", paysInstantly, []step{{sendQueued, 0}}, handOver},
	{"receive its answer", paysInstantly, []step{{sendQueued, 0}, {handOver, 0}}, receive},
	{"seal a file of ACH", collects, []step{{nil, 5 * time.Hour}, {sendQueued, 0}}, sealFiles},
	{"settle entries of ACH", collects, []step{
		{nil, 5 * time.Hour}, {sendQueued, 0}, {sealFiles, 0}, {handOver, 0}, {receive, 72 * time.Hour},
	}, settleEntries},
	{
		"carry out a transfer",
		func(b *coretest.Bank, of *customers.Customer) { must(transferFunds(b, of, "10", 2))(b) },
		[]step{{nil, 48 * time.Hour}},
		carryOutDue,
	},
	{
		"carry out a payment",
		func(b *coretest.Bank, of *customers.Customer) { must(sendPayment(b, of, "10", 2))(b) },
		[]step{{nil, 48 * time.Hour}},
		carryOutDue,
	},
	{
		"make a payment of a series",
		func(b *coretest.Bank, of *customers.Customer) { must(repeatTransfer(b, of, 1))(b) },
		[]step{{nil, 24 * time.Hour}, {carryOutDue, 7 * 24 * time.Hour}},
		runRecurrences,
	},
	{
		"run a waterfall",
		func(b *coretest.Bank, of *customers.Customer) { must(runWaterfall(b, of, "10"))(b) }, nil,
		runWaterfalls,
	},
	{"check a file", uploads, nil, checkFiles},
	{"pay a file", uploads, []step{{checkFiles, 0}}, payFiles},
	{
		"expire a hold", func(b *coretest.Bank, of *customers.Customer) { must(placeHold(b, of, "10"))(b) },
		[]step{{nil, 25 * time.Hour}},
		expireHolds,
	},
	{
		"expire a quote", func(b *coretest.Bank, of *customers.Customer) { quoted(b, of) },
		[]step{{nil, time.Hour}},
		expireQuotes,
	},
	{"cover a trade", coversItself, []step{{nil, time.Hour}}, coverTrades},
	{
		"expire a request for payment",
		func(b *coretest.Bank, of *customers.Customer) { must(requestPayment(b, of))(b) },
		[]step{{sendQueued, 400 * 24 * time.Hour}},
		expireRequests,
	},
	{"receive a debit of another bank", isDebited, nil, receive},
	{"post it", isDebited, []step{{receive, 48 * time.Hour}}, postEntries},
	{
		"return one that nobody has decided on",
		func(b *coretest.Bank, of *customers.Customer) { debited(b, of) },
		[]step{{nil, 72 * time.Hour}},
		expireExceptions,
	},
	{
		"return one that compliance has not decided on",
		func(b *coretest.Bank, of *customers.Customer) {
			b.Exec(`INSERT INTO tenant_settings (tenant, screen_all) VALUES (?, true)
				ON CONFLICT (tenant) DO UPDATE SET screen_all = true`, b.Tenant)
			isDebited(b, of)
		},
		[]step{{receive, 72 * time.Hour}},
		expireScreenings,
	},
	{
		"seal a prenote in a file",
		func(b *coretest.Bank, of *customers.Customer) { must(asksForContact(b, of))(b) },
		[]step{{nil, 5 * time.Hour}},
		sealFiles,
	},
	{
		"receive the return of a prenote", func(b *coretest.Bank, of *customers.Customer) {
			contact := b.Contact(of, func(k *contacts.Contact) {
				k.Bank.AccountNumber = b.Keys.Seal("9990000013", seal.Place{
					Tenant: int64(b.Tenant), Column: contacts.NumberColumn, Row: int64(k.UID),
				})
			})
			must(verifies(b, contact, b.Account(of, coretest.Sends), verifications.Prenote))(b)
		}, []step{{nil, 5 * time.Hour}, {sealFiles, 0}, {handOver, 2 * time.Hour}}, receive,
	},
	{
		"end a verification of a contact", func(b *coretest.Bank, of *customers.Customer) {
			b.Verification(b.Contact(of), b.Account(of))
		}, []step{{nil, 15 * 24 * time.Hour}}, endVerifications,
	},
	{"fire a balance alert", crosses, nil, fireAlerts},
	{"make deliveries of an event", func(b *coretest.Bank, of *customers.Customer) {
		webhook(b, of)
		paysInstantly(b, of)
		sealRecord(b)
	}, nil, spreadEvents},
}

// step is work that is done without a fault, and by how much the clock moves after it.
type step struct {
	job   job
	moves time.Duration
}

func must(w write) func(*coretest.Bank) {
	return func(b *coretest.Bank) {
		if _, err := w(b.Staff(), ""); err != nil {
			panic(err)
		}
	}
}

func paysInstantly(b *coretest.Bank, of *customers.Customer) { must(sendPayment(b, of, "10", 0))(b) }

func collects(b *coretest.Bank, of *customers.Customer) { must(requestDebit(b, of, "10", 0))(b) }

// uploads brings a file with two lines, of which one can be paid.
func uploads(b *coretest.Bank, of *customers.Customer) {
	b.Directory()
	line := ",12.50,Instant," + coretest.AccountNumber(b.Account(of, coretest.Holding(1000_00, 0),
		coretest.Sends).UID) +
		",Ada Byron,440055551,611590103\n"
	_, err := b.Files.Upload(b.Staff(), files.Upload{
		Customer: of.UID, Type: files.CSV, Open: files.OpenText("payments.csv", strings.NewReader(
			"externalReferenceId,paymentAmount,speed,senderAccountNumber,receiverName,"+
				"receiverAccountNumber,receiverBankId\nINV-7"+
				line+"INV-8"+strings.ReplaceAll(line, "12.50", "0"))),
	}, with(""))
	if err != nil {
		panic(err)
	}
}

func coversItself(b *coretest.Bank, of *customers.Customer) {
	_, err := b.FX.Accept(b.Staff(), quoted(b, of),
		fx.Acceptance{AutoCover: true, Delay: new(int32(30))}, with(""))
	if err != nil {
		panic(err)
	}
}

// crosses leaves two alerts for the balance of an account, which has 1,000.00: one fires, and one is armed.
func crosses(b *coretest.Bank, of *customers.Customer) {
	account := b.Account(of)
	b.BalanceAlert(account, func(a *alerts.Alert) { a.Minor = 1_000_01 })
	b.BalanceAlert(account, func(a *alerts.Alert) { a.Armed = false })
}

func isDebited(b *coretest.Bank, of *customers.Customer) {
	must(playIncomingDebit(b, b.Account(of, coretest.Holding(1000_00, 0), coretest.Sends).UID))(b)
}

// sealRecord lets the events of a bank be told.
func sealRecord(b *coretest.Bank) {
	if _, err := b.Audit.Seal(access.Operator(context.Background(), b.Tenant, b.Code,
		coretest.Zone())); err != nil {
		panic(err)
	}
}

// The promise (core/README.md, P3) for what a bank does by itself: after any fault at any statement of a job
// the next call goes on where it stood, and what there was to do is done once.
func TestAFaultAtAnyStatementOfAJobDoesNoHarm(t *testing.T) {
	t.Parallel()
	for _, one := range jobs {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			line, w := coretest.NewLine(t), newWitness(t)
			// run does the job with a fault at its k-th statement, and then until it has done all that it
			// should
			run := func(k int, f faults.Fault, want map[string]int) (statements []string, effect map[string]int) {
				t.Helper()
				b := line.Bank()
				operator := access.Operator(t.Context(), b.Tenant, b.Code, coretest.Zone())
				one.asked(b, b.Customer())
				for _, before := range one.before {
					if before.job != nil {
						if _, err := before.job(b.Core)(operator); err != nil {
							t.Fatal(err)
						}
					}
					b.Clock.Advance(before.moves)
				}
				seen := w.look(b.Tenant)
				again := func() map[string]int {
					// which would take some seconds
					b.Exec(`UPDATE bulk_files SET leased_until = NULL WHERE tenant = ?`, b.Tenant)
					if _, err := one.job(b.Core)(operator); err != nil {
						t.Errorf("%s at %d: again: %v", f, k, err)
					}
					return w.look(b.Tenant).since(seen)
				}
				line.Break(k, f)
				n, err := one.job(b.Core)(operator)
				statements = line.Statements()
				struck := line.Struck()
				line.Break(0, faults.Fault{})
				switch {
				case k == 0 && (n == 0 || err != nil):
					t.Fatalf("it has done %d: %v", n, err)
				case k > 0 && !struck:
					return nil, nil
				}
				// what a lost connection has locked the server lets go when it notices
				for began := time.Now(); k > 0 && !reflect.DeepEqual(again(), want) &&
					time.Since(began) < 10*time.Second; {
					time.Sleep(20 * time.Millisecond)
				}
				effect = again()
				w.prove(one.name, b.Tenant)
				return statements, effect
			}
			statements, want := run(0, faults.Fault{}, nil)
			if len(want) == 0 {
				t.Fatal("it changes nothing")
			}
			for k, statement := range statements {
				for _, f := range wrongsAt(one.name, k+1, statement) {
					if _, got := run(k+1, f, want); got != nil && !reflect.DeepEqual(got, want) {
						t.Errorf("%s at %d, %.60s: in the end it has changed %v, want %v", f, k+1, statement, got, want)
					}
				}
			}
		})
	}
}
