package payments_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/sandbox"
	"bankgraph/core/seal"
	"bankgraph/db"
)

const (
	ours   = "611090001" // the routing number of coretest's accounts
	theirs = "611590103"
)

// play lets a customer of another bank pay the account, and takes it in.
func (s *sender) play(t *testing.T, over rails.Rail, amount string) payments.UID {
	t.Helper()
	_, err := s.Sandbox.PlayCredit(s.Staff(), sandbox.Credit{
		Account: s.from.UID, Amount: amount, Rail: string(over), SenderName: "Ada Byron", SenderBank: theirs,
		SenderNumber: "5550001234", Reference: "THEIRS-1", Notes: "Invoice 7",
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.run(t)
	return s.newest(t)
}

// newest returns the newest payment that came in; 0 if there is none.
func (s *sender) newest(t *testing.T) payments.UID {
	t.Helper()
	found, err := s.Payments.Page(s.Staff(), payments.Search{Direction: payments.In}, page.First(1))
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Items) == 0 {
		return 0
	}
	return found.Items[0].UID
}

// credit is a credit of another bank to the account.
func (s *sender) credit(
	over rails.Rail, n int, edits ...func(*iso20022.CreditTransfer),
) *iso20022.CreditTransfer {
	m := &iso20022.CreditTransfer{
		Group: s.group(over, n), InstructionID: fmt.Sprint("I", n), TransactionID: fmt.Sprint("T", n),
		EndToEndID: fmt.Sprint("E", n), UETR: fmt.Sprintf("00000000-0000-4000-8000-%012d", n),
		Amount: money.Of(25_00, "USD"), SettlementDate: coretest.Start, AcceptedAt: s.Now(), Sender: theirs,
		Receiver: ours, DebtorAgent: iso20022.Agent{Routing: theirs, Name: "Old Mill Bank"},
		CreditorAgent: iso20022.Agent{Routing: ours},
		Debtor:        iso20022.Party{Name: "Ada Byron", Account: "5550001234"},
		Creditor:      iso20022.Party{Name: "Somebody", Account: coretest.AccountNumber(s.from.UID)},
	}
	for _, edit := range edits {
		edit(m)
	}
	return m
}

func (s *sender) group(over rails.Rail, n int) iso20022.Group {
	profile, from := payments.Profiles[over], theirs
	if over == rails.Fedwire {
		from = from[:8]
	}
	return iso20022.Group{
		ID: profile.MessageID(coretest.Start, from, 900_000+int64(n)), CreatedAt: s.Now(), From: profile.Operator,
		To: ours,
	}
}

// Zeros in front of a number are part of it on every network (check.AccountNumber).
func TestNumbersThatDifferByZerosInFrontLeadToTheirOwnAccounts(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	numbers := map[accounts.UID]string{s.from.UID: coretest.AccountNumber(s.from.UID)}
	for _, zeros := range []string{"0", "00"} {
		number := zeros + numbers[s.from.UID]
		a := s.Account(s.Customer(), coretest.Sends, func(a *accounts.Account) {
			a.Number = s.Keys.Seal(number, seal.Place{
				Tenant: int64(s.Tenant), Column: accounts.NumberColumn,
				Row: int64(a.UID),
			})
		})
		numbers[a.UID] = number
	}
	var last payments.UID
	reached := func(over rails.Rail, of accounts.UID) {
		t.Helper()
		p := s.shows(t, s.newest(t))
		if p.ReceiverAccount != of || p.UID == last {
			t.Errorf("over %s %s leads to account %s by payment %s, want %s", over, numbers[of],
				p.ReceiverAccount, p.UID, of)
		}
		last = p.UID
	}
	n := 0
	for uid, number := range numbers {
		for _, over := range []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire} {
			n++
			s.deliver(t, over, s.credit(over, n, func(m *iso20022.CreditTransfer) { m.Creditor.Account = number }))
			reached(over, uid)
		}
		s.paidOver(t, func(c *sandbox.Credit) { c.Account = uid })
		reached(rails.ACH, uid)
	}
}

// deliver puts messages of a network where the bank receives them, and lets it work.
func (s *sender) deliver(t *testing.T, over rails.Rail, all ...iso20022.Message) {
	t.Helper()
	for _, m := range all {
		var body bytes.Buffer
		if err := iso20022.Write(&body, payments.Profiles[over], m); err != nil {
			t.Fatal(err)
		}
		s.arrive(t, over, body.String())
	}
	s.run(t)
}

// Whoever takes in what another worker takes in at the same time looks again, and says nothing of it.
func TestWorkersAtOnceTakeEachCreditOfANetworkOnce(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	for round := range 6 {
		for _, over := range []string{"FEDNOW", "RTP", "FEDWIRE"} {
			c := sandbox.Credit{Account: s.from.UID, Amount: "10.00", Rail: over}
			if _, err := s.Sandbox.PlayCredit(s.Staff(), c, changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := s.Payments.Receive(operator); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		s.has(t, int64(100_000_00+(round+1)*30_00), 0)
	}
	s.Prove()
}

// uetr returns the id by which every bank on the way knows a payment.
func (s *sender) uetr(t *testing.T, uid payments.UID) (id string) {
	t.Helper()
	if err := s.DB.NewRaw(`SELECT uetr FROM payment_details WHERE tenant = ? AND payment = ?`, s.Tenant, uid).
		Scan(t.Context(), &id); err != nil {
		t.Fatal(err)
	}
	return id
}

func (s *sender) arrive(t *testing.T, over rails.Rail, body string) {
	t.Helper()
	err := s.DB.InTx(t.Context(), int64(s.Tenant), func(ctx context.Context, tx bun.Tx) error {
		var id int64
		if err := tx.NewRaw(`SELECT nextval('sandbox_messages_ids')`).Scan(ctx, &id); err != nil {
			return err
		}
		sealed := s.Keys.Encrypt(body, seal.Place{Tenant: int64(s.Tenant), Column: sandbox.BodyColumn, Row: id})
		_, err := tx.NewRaw(`INSERT INTO sandbox_messages (tenant, id, rail, asked, answer, due_at, body)
			VALUES (?, ?, ?, ?, 1, ?, ?)`, s.Tenant, id, over, fmt.Sprint("test ", id), s.Now(), sealed).
			Exec(ctx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sent returns what the bank has told a network: kind and code of each message of ours, from the first on.
func (s *sender) sent(t *testing.T) string {
	t.Helper()
	var all []*payments.Message
	if err := s.DB.NewSelect().Model(&all).Where("nm.tenant = ?", s.Tenant).
		Where("nm.direction = ?", payments.Out).
		OrderExpr("nm.id").Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range all {
		body, err := s.Keys.Open(seal.Value{Sealed: m.Body},
			seal.Place{Tenant: int64(s.Tenant), Column: payments.BodyColumn, Row: int64(m.ID)})
		if err != nil {
			t.Fatal(err)
		}
		read, err := iso20022.Read(strings.NewReader(body), payments.Profiles[m.Rail])
		if err != nil {
			t.Fatal(err)
		}
		text := m.Kind
		switch read := read.(type) {
		case *iso20022.Status:
			text += " " + string(read.Code)
			for _, r := range read.Reasons {
				text += " " + r.Code
			}
		case *iso20022.PaymentAnswer:
			text += " " + string(read.Code)
			for _, r := range read.Reasons {
				text += " " + r.Code
			}
		case *iso20022.Return:
			text += " " + read.Amount.String() + " " + read.Reason.Code
		case *iso20022.Recall:
			text += " " + read.Reason.Code
		case *iso20022.RecallAnswer:
			text += " " + string(read.Code)
			for _, r := range read.Reasons {
				text += " " + r.Code
			}
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// refusedCredits returns code and account of each credit that was not booked, newest first.
func (s *sender) refusedCredits(t *testing.T) (all []string) {
	t.Helper()
	b := s.DB.Batch()
	rows, count := s.Payments.Refused(s.Staff(), b, page.First(50)), s.Payments.CountRefused(s.Staff(), b, 0)
	if err := b.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := count.One(); err != nil || int(n.N) != len(rows.Items) || rows.Err != nil {
		t.Error(n, err, rows.Err, len(rows.Items))
	}
	for _, m := range rows.Items {
		all = append(all, m.Code)
	}
	return all
}

func TestACreditOfAnotherBankIsBookedAndAnswered(t *testing.T) {
	t.Parallel()
	for over, told := range map[rails.Rail]string{
		rails.FedNow: "pacs.002 ACTC", rails.RTP: "pacs.002 ACTC", rails.Fedwire: "",
	} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid := s.play(t, over, "250.00")
			s.has(t, 100_250_00, 0)
			if got := s.sent(t); got != told {
				t.Errorf("told %q, want %q", got, told)
			}
			p, err := s.Payments.Show(s.Staff(), uid)
			if err != nil || p.Direction != payments.In || p.Rail != over ||
				p.Status() != payments.StatusProcessed ||
				p.SenderName != "Ada Byron" || p.SenderAccount != 0 || p.Sender.Masked() == "" ||
				p.Sender.Last4 != "1234" ||
				p.Sender.BankID != theirs || p.ReceiverAccount != s.from.UID ||
				p.Customer != s.from.Customer ||
				p.Receiver.BankID != ours || p.ExternalReferenceID != "THEIRS-1" || p.Notes != "Invoice 7" ||
				p.WireType() != payments.IncomingPayment || p.Own() != s.from.UID ||
				p.MemoPost() != payments.Posted {
				t.Errorf("%+v %v", p, err)
			}
			if life := s.life(t, uid); life != "SETTLED" {
				t.Error(life)
			}
			s.Prove()
		})
	}
}

// Whatever keeps a credit from being booked, its network hears the reason, no money moves, and the bank's
// people see it. A wire has moved already, so it goes back.
func TestACreditThatCannotBeBookedIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	set := func(text string) func(*testing.T, *sender) {
		return func(_ *testing.T, s *sender) { s.Exec(text, s.Tenant) }
	}
	for name, c := range map[string]struct {
		before func(*testing.T, *sender)
		edit   func(*iso20022.CreditTransfer)
		code   string
	}{
		"an unknown account": {
			edit: func(m *iso20022.CreditTransfer) { m.Creditor.Account = "000999888777" }, code: "AC03",
		},
		"no account at all": {edit: func(m *iso20022.CreditTransfer) { m.Creditor.Account = "" }, code: "AC03"},
		"an account of another bank": {
			edit: func(m *iso20022.CreditTransfer) { m.CreditorAgent.Routing = "021000021" }, code: "AC03",
		},
		"a closed account": {
			before: set(`UPDATE accounts SET status = 'Closed' WHERE tenant = ?`),
			code:   "AC04",
		},
		"a suspended account": {
			before: set(`UPDATE accounts SET status = 'Suspended' WHERE tenant = ?`),
			code:   "AC06",
		},
		"a suspended customer": {
			before: set(`UPDATE customers SET status = 'Suspended' WHERE tenant = ? AND relationship_type <> 'Self'`),
			code:   "AC06",
		},
		"an account that takes none": {
			before: set(`UPDATE accounts SET enable_fednow = false, fednow_send = false, enable_wires = false,
				enable_domestic_wires = false WHERE tenant = ?`), code: "AG01",
		},
		"an amount above the network's": {
			edit: func(m *iso20022.CreditTransfer) { m.Amount.Minor = 10_000_000_000_00 }, code: "AM02",
		},
	} {
		for over, told := range map[rails.Rail]string{
			rails.FedNow: "pacs.002 RJCT " + c.code, rails.Fedwire: "pacs.004 25.00 " + c.code,
		} {
			t.Run(name+" "+string(over), func(t *testing.T) {
				t.Parallel()
				s := newSender(t)
				if c.before != nil {
					c.before(t, s)
				}
				m := s.credit(over, 1)
				if c.edit != nil {
					c.edit(m)
				}
				s.deliver(t, over, m)
				s.has(t, 100_000_00, 0)
				if got := s.sent(t); got != strings.Replace(told, "25.00", m.Amount.String(), 1) {
					t.Errorf("told %q, want %q", got, told)
				}
				if uid := s.newest(t); uid != 0 {
					t.Error("a payment was made", uid)
				}
				if got := s.refusedCredits(t); len(got) != 1 || got[0] != "RJCT "+c.code {
					t.Error(got)
				}
				s.Prove()
			})
		}
	}
}

func TestACreditInAnotherCurrencyThanTheAccountsIsRefused(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	euro := s.Account(s.Customer(), coretest.Sends, func(a *accounts.Account) { a.Currency = "EUR" })
	s.deliver(t, rails.FedNow, s.credit(rails.FedNow, 1, func(m *iso20022.CreditTransfer) {
		m.Creditor.Account = coretest.AccountNumber(euro.UID)
	}))
	if got := s.sent(t); got != "pacs.002 RJCT AM03" {
		t.Error(got)
	}
	s.Prove()
}

// A credit counts once, in however many messages it comes, and is answered as it was. Another one under its
// name is refused.
func TestACreditThatComesAgainCountsOnce(t *testing.T) {
	t.Parallel()
	for _, together := range []bool{true, false} {
		t.Run(fmt.Sprint(together), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			again := s.credit(rails.FedNow, 1)
			again.ID = s.group(rails.FedNow, 2).ID
			other := s.credit(rails.FedNow, 1, func(m *iso20022.CreditTransfer) { m.Amount.Minor = 1_000_00 })
			other.ID = s.group(rails.FedNow, 3).ID
			unknown := s.credit(rails.FedNow, 4,
				func(m *iso20022.CreditTransfer) { m.Creditor.Account = "000999888777" })
			unknownAgain := *unknown
			unknownAgain.ID = s.group(rails.FedNow, 5).ID
			all := []iso20022.Message{
				s.credit(rails.FedNow, 1), s.credit(rails.FedNow, 1), again, other,
				unknown, &unknownAgain,
			}
			if together {
				s.deliver(t, rails.FedNow, all...)
			} else {
				for _, m := range all {
					s.deliver(t, rails.FedNow, m)
				}
			}
			s.has(t, 100_025_00, 0)
			want := "pacs.002 ACTC, pacs.002 ACTC, pacs.002 RJCT AM05, pacs.002 RJCT AC03, pacs.002 RJCT AC03"
			if got := s.sent(t); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
			s.Prove()
		})
	}
}

// A credit for another account is another one, though both numbers end alike and its bank calls the credits, or
// their messages, the same.
func TestACreditForAnotherAccountWhoseNumberEndsAlikeIsRefused(t *testing.T) {
	t.Parallel()
	for _, over := range requesting {
		for _, together := range []bool{true, false} {
			t.Run(fmt.Sprint(over, together), func(t *testing.T) {
				t.Parallel()
				s := newSender(t)
				mine := coretest.AccountNumber(s.from.UID)
				credit := func(message int, number string) *iso20022.CreditTransfer {
					return s.credit(over, 1, func(m *iso20022.CreditTransfer) {
						m.ID, m.Creditor.Account = s.group(over, message).ID, number
					})
				}
				one, another := "5512345"+mine[len(mine)-4:], "5598765"+mine[len(mine)-4:]
				all := []iso20022.Message{
					credit(1, mine), credit(2, one), credit(1, one), credit(1, another), // each is another one
					credit(1, mine), credit(2, one), credit(1, one), credit(1, another), // and counts once
				}
				if together {
					s.deliver(t, over, all...)
				} else {
					for _, m := range all {
						s.deliver(t, over, m)
					}
				}
				s.has(t, 100_025_00, 0)
				want := "pacs.002 ACTC, pacs.002 RJCT AM05, pacs.002 RJCT AM05, pacs.002 RJCT AM05"
				if over == rails.Fedwire {
					want = "pacs.004 25.00 AM05, pacs.004 25.00 AM05, pacs.004 25.00 AM05"
				}
				if got := s.sent(t); got != want {
					t.Errorf("told %q, want %q", got, want)
				}
				if got := len(s.refusedCredits(t)); got != 3 {
					t.Errorf("people see %d refused credits, want 3", got)
				}
				s.Prove()
			})
		}
	}
}

// Each message of Fedwire brings its money: what comes a second time in another message goes back, whether
// the first one was booked or went back itself. Only what may be a copy by its header counts once.
func TestAWireThatComesAgainInAnotherMessageGoesBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		account string
		copy    bool
		holds   int64
		want    string
	}{
		"booked":       {"", false, 100_025_00, "pacs.004 25.00 AM05"},
		"booked, copy": {"", true, 100_025_00, ""},
		"refused":      {"000999888777", false, 100_000_00, "pacs.004 25.00 AC03, pacs.004 25.00 AM05"},
		"refused, copy": {
			"000999888777", true, 100_000_00, "pacs.004 25.00 AC03",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			wire := func(message int, copies bool) {
				s.deliver(t, rails.Fedwire, s.credit(rails.Fedwire, 1, func(m *iso20022.CreditTransfer) {
					m.ID, m.Duplicate = s.group(rails.Fedwire, message).ID, copies
					m.Creditor.Account = cmp.Or(c.account, m.Creditor.Account)
				}))
			}
			wire(1, false)
			wire(1, false)
			wire(2, c.copy)
			s.has(t, c.holds, 0)
			if got := s.sent(t); got != c.want {
				t.Errorf("sent %q, want %q", got, c.want)
			}
			s.Prove()
		})
	}
}

// What another bank may write and what nobody can read do no harm, and stop nothing behind them.
func TestHostileMessagesChangeNothing(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	var body bytes.Buffer
	if err := iso20022.Write(&body, iso20022.FedNow, s.credit(rails.FedNow, 1)); err != nil {
		t.Fatal(err)
	}
	good := body.String()
	for _, bad := range []string{
		"<", strings.Replace(good, "25.00", "0.00", 1), strings.Replace(good, "25.00", "-5.00", 1),
		strings.Replace(good, `Ccy="USD"`, `Ccy="EUR"`, 1), strings.Replace(good, "25.00", "25.001", 1),
		strings.Replace(good, "25.00", strings.Repeat("9", 40), 1),
		strings.ReplaceAll(good, ours, "000000000"),
	} {
		s.arrive(t, rails.FedNow, bad)
	}
	of := iso20022.Original{
		MessageID: iso20022.FedNow.MessageID(coretest.Start, ours, 4711), Type: iso20022.TypeCreditTransfer,
		CreatedAt: s.Now(), EndToEndID: "E", TransactionID: "T", UETR: "00000000-0000-4000-8000-000000004711",
	}
	s.deliver(t, rails.FedNow,
		&iso20022.Status{
			Group: s.group(rails.FedNow, 20), Original: of, Code: iso20022.Settled, Sender: theirs, Receiver: ours,
		},
		&iso20022.Return{
			Group: s.group(rails.FedNow, 21), Original: of, Amount: money.Of(25_00, "USD"),
			SettlementDate: coretest.Start, Reason: iso20022.Reason{Code: "AC04"}, Sender: theirs, Receiver: ours,
			Debtor: iso20022.Party{Name: "A"}, Creditor: iso20022.Party{Name: "B"},
		},
		&iso20022.RecallAnswer{
			Group: s.group(rails.FedNow, 22), CaseID: "C", Code: iso20022.RecallRefused, Original: of,
			Reasons: []iso20022.Reason{{Code: "CUST"}}, Sender: theirs, Receiver: ours,
		},
		&iso20022.Recall{
			Group: s.group(rails.FedNow, 23), CaseID: "C", Original: of, OriginalAmount: money.Of(25_00, "USD"),
			OriginalDate: coretest.Start, Reason: iso20022.Reason{Code: "DUPL"}, Sender: theirs, Receiver: ours,
		},
	)
	if got := s.sent(t); got != "pacs.002 RJCT AC03, camt.029 RJCR NOOR" && got != "camt.029 RJCR NOOR" {
		t.Error(got)
	}
	if got := s.refusedCredits(t); len(got) < 7 {
		t.Error("people see", got)
	}
	s.has(t, 100_000_00, 0)
	s.deliver(t, rails.FedNow, s.credit(rails.FedNow, 30,
		func(m *iso20022.CreditTransfer) { m.Debtor.Account = "" }))
	s.has(t, 100_025_00, 0)
	s.Prove()
}

// Who is credited sees the payment, and nobody else outside the bank; only the bank sees what was refused.
func TestWhoIsCreditedSeesThePayment(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	b.Directory()
	partner, other := b.DownstreamPartner(), b.DownstreamPartner()
	c := b.Customer(coretest.OwnedBy(partner))
	s := &sender{b, b.Account(c, coretest.Holding(100_00, 0), coretest.Sends), b.Contact(c)}
	uid := s.play(t, rails.FedNow, "7.50")
	for name, who := range map[string]struct {
		partner *customers.Customer
		sees    int
	}{"its partner": {partner, 1}, "another partner": {other, 0}} {
		ctx := s.Partner(who.partner)
		found, err := s.Payments.Page(ctx, payments.Search{Direction: payments.In}, page.First(9))
		if err != nil || len(found.Items) != who.sees || found.Total != int64(who.sees) {
			t.Error(name, found, err)
		}
		batch := s.DB.Batch()
		listed := s.Payments.OfAccounts(ctx, batch, []accounts.UID{s.from.UID}, payments.Search{},
			db.Columns{}, page.First(9))
		details := s.Payments.DetailsOf(ctx, batch, []payments.UID{uid})
		messages := s.Payments.MessagesOf(ctx, batch, []payments.UID{uid}, 50)
		refused := s.Payments.Refused(ctx, batch, page.First(9))
		if err := batch.Send(ctx); err != nil {
			t.Error(name, err)
		}
		if refused.Err == nil {
			t.Error(name, "reads what was refused")
		}
		if len(listed.Of[s.from.UID]) != who.sees || len(details.Of[uid]) != who.sees ||
			len(messages.Of[uid]) != 2*who.sees {
			t.Error(name, listed, details, messages)
		}
	}
	for by, n := range map[string]payments.Search{
		"sender's number":   {SenderNumber: "5550001234"},
		"receiver's number": {ReceiverNumber: coretest.AccountNumber(s.from.UID)}, "customer": {Customer: c.UID},
		"receiver": {ReceiverAccount: s.from.UID}, "account": {Account: s.from.UID},
		"sender's name": {SenderName: "ada"}, "entry type": {EntryTypes: []rails.EntryType{rails.Credit}},
	} {
		for _, ctx := range []context.Context{s.Staff(), s.Partner(partner)} {
			if found, err := s.Payments.Page(ctx, n, page.First(9)); err != nil || len(found.Items) != 1 {
				t.Error(by, found.Items, err)
			}
		}
	}
	for by, n := range map[string]payments.Search{
		"sender's as receiver's": {ReceiverNumber: "5550001234"}, "direction": {Direction: payments.Out},
		"debits": {EntryTypes: []rails.EntryType{rails.Debit}},
	} {
		if found, err := s.Payments.Page(s.Staff(), n, page.First(9)); err != nil || len(found.Items) != 0 {
			t.Error(by, found.Items, err)
		}
	}
}
