package payments_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"pgregory.net/rapid"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// varied is a bank whose accounts differ in all that payments are decided by.
type varied struct {
	*coretest.Bank
	accounts []*accounts.Account
	contacts []payments.Receiver
	callers  []context.Context
}

func newVaried(t *testing.T) *varied {
	t.Helper()
	b := coretest.New(t)
	b.Directory()
	for _, name := range []string{"Book Transfer", "Instant", "Economy"} {
		b.Configured("Payments", "Outgoing Payment", name, "Gold")
	}
	b.Exec(`UPDATE fee_catalogue SET price = 45 WHERE tenant = ?`, b.Tenant)
	partner := b.DownstreamPartner()
	stopped := b.Customer(func(c *customers.Customer) {
		c.Type, c.Owner, c.Status = customers.DownstreamPartner, c.UID, customers.Suspended
	})
	plain, limited, charged := b.Customer(), b.Customer(), b.Customer(coretest.OwnedBy(partner))
	dual := b.Customer(func(c *customers.Customer) {
		c.Access.PaymentDualApproval, c.Access.NumberOfApprovers = true, 2
		c.Access.FirstApproverLimit, c.Access.SecondApproverLimit = 100_00, 5_000_00
	})
	b.Limit(limited, "INSTANT_PAYMENT_LIMIT_PER_TRANSACTION", 300_00)
	b.Limit(limited, "INSTANT_PAYMENT_LIMIT_PER_DAY", 500_00)
	b.Limit(limited, "ACH_PAYMENT_LIMIT_PER_WEEK", 400_00)
	b.Limit(limited, "FEDWIRE_PAYMENT_LIMIT_PER_MONTH", 700_00)
	for _, name := range []string{"Book Transfer", "Instant", "Economy"} {
		b.Fee(charged, func(f *fees.Tier) { f.FeeName, f.FeeTier, f.Account = name, "Gold", nil })
	}
	v := &varied{Bank: b}
	in := func(of *customers.Customer, cents int64, edits ...func(*accounts.Account)) {
		all := append([]func(*accounts.Account){coretest.Holding(cents, 0), coretest.Sends}, edits...)
		a := b.Account(of, all...)
		v.accounts = append(v.accounts, a)
		v.contacts = append(v.contacts, payments.Receiver{Contact: b.Contact(of).UID})
	}
	status := func(is accounts.Status) func(*accounts.Account) {
		return func(a *accounts.Account) { a.Status = is }
	}
	in(plain, 3_000_000_00)
	in(plain, 900_00)
	in(limited, 10_000_00)
	in(charged, 500_00)
	in(dual, 20_000_00)
	in(plain, 50_000_00, func(a *accounts.Account) {
		most := int64(250_00)
		a.EnableCallbacks, a.CallbackLimit = true, &most
	})
	in(plain, 1_000_00,
		func(a *accounts.Account) { a.FedNowSend, a.EnableACH, a.EnableWires = false, false, false })
	in(plain, 1_000_00, func(a *accounts.Account) { a.ACHCompanyID, a.RTPSend = "", false })
	in(plain, 1_000_00, func(a *accounts.Account) { a.Currency = "EUR" })
	in(plain, 1_000_00, status(accounts.Suspended))
	in(plain, 1_000_00, status(accounts.Closed))
	in(plain, 0, func(a *accounts.Account) { a.SystemOfRecord = accounts.OtherCore })
	in(b.Customer(func(c *customers.Customer) { c.Status = customers.Suspended }), 1_000_00)
	in(b.Customer(coretest.OwnedBy(stopped)), 1_000_00)
	teller, _ := access.Require(b.Someone("teller"))
	teller.Limits = []access.ApplicationLimits{{Name: "Payments", Limits: []access.Limit{
		{Name: "Per_Transaction_Payment_Limits", Currency: "USD", Minor: 400_00},
		{Name: "Daily_Payment_Limits", Currency: "USD", Minor: 700_00},
	}}}
	v.callers = []context.Context{
		b.Staff(), b.Checker(), b.Partner(partner), access.With(t.Context(), teller),
		b.As(access.InitiatePayments), b.Reader(),
	}
	return v
}

// amounts are at and around the bounds of the accounts, the limits and the networks.
var amounts = []string{
	"0.01", "10", "99.99", "100", "100.01", "250", "250.01", "299.99", "300", "300.01", "400", "400.01",
	"499.55", "499.56", "500", "500.01", "700.01", "900", "900.01", "999.99", "1000", "1000.01", "5000",
	"5000.01", "500000", "500000.01", "1000000", "1000000.01", "1000000.02", "2999999", "99999999999.99",
	"999999999999999.99", "0", "-1", "", "1.001", "ten",
}

func (v *varied) drawAmount(r *rapid.T) string { return rapid.SampledFrom(amounts).Draw(r, "amount") }

func (v *varied) drawAccount(r *rapid.T, name string) payments.Party {
	if rapid.IntRange(0, 40).Draw(r, name+" exists") == 40 {
		return payments.Party{UID: 4711}
	}
	// the first ones twice as often
	n := min(rapid.IntRange(0, len(v.accounts)-1).Draw(r, name), rapid.IntRange(0, len(v.accounts)-1).
		Draw(r, name+" or"))
	if rapid.Bool().Draw(r, name+" by number") {
		return payments.Party{Number: coretest.AccountNumber(v.accounts[n].UID)}
	}
	return payments.Party{UID: v.accounts[n].UID}
}

func (v *varied) drawDay(r *rapid.T) time.Time {
	days := rapid.SampledFrom([]int{1000, 1000, 1000, 0, 1, 2, 3, 5, 8, 30, -1, 400}).Draw(r, "in days")
	if days == 1000 {
		return time.Time{}
	}
	return ledger.Day(v.Clock.Now().In(coretest.Zone())).AddDate(0, 0, days)
}

func (v *varied) drawOrder(r *rapid.T) payments.Order {
	o := payments.Order{
		Sender: v.drawAccount(r, "sender"), Amount: v.drawAmount(r), Currency: "USD", Date: v.drawDay(r),
		Speed: rapid.SampledFrom([]string{
			"Instant", "Express", "Economy", "Economy Plus",
		}).Draw(r, "speed"),
		ExternalReferenceID: "INV-7", Notes: "Rent",
	}
	if strings.HasPrefix(o.Speed, "Economy") {
		o.SECCode = rapid.SampledFrom([]rails.SECCode{"PPD", "PPD", "CCD", "CTX", ""}).Draw(r, "class")
	}
	if o.Speed == "Instant" {
		o.LocalInstrument = rapid.SampledFrom([]string{"", "", "FDNA", "STANDARD", "COVS"}).
			Draw(r, "local instrument")
		o.RemittanceMethod = rapid.SampledFrom([]string{"", "", "", "EMAL", "URID"}).
			Draw(r, "remittance method")
		o.Remittance = rapid.SampledFrom([]string{"", "R-4711"}).Draw(r, "remittance")
	}
	if rapid.Bool().Draw(r, "to a contact") {
		o.Receiver = rapid.SampledFrom(v.contacts).Draw(r, "contact")
	} else {
		o.Receiver = payments.Receiver{
			Number: "440055551", Type: "Deposit", SubType: "Checking", Name: "Ada Byron",
			Bank: payments.ReceiverBank{ID: rapid.SampledFrom([]string{
				"611590103", "611590103", "021000021", "011000015", "999999992",
			}).Draw(r, "bank")},
		}
		o.Receiver.Address.Line1, o.Receiver.Address.City, o.Receiver.Address.CountryCode =
			"1 Lake Rd", "Erie", "US"
	}
	switch rapid.IntRange(0, 20).Draw(r, "wrong") {
	case 0:
		o.ExternalReferenceID = ""
	case 1:
		o.Currency = "EUR"
	case 2:
		o.Receiver.Name, o.Receiver.Contact = "", 0
	case 3:
		o.CompanyID = "77"
	case 4:
		o.Notes = "\u4f60\u597d"
	case 5:
		o.Sender.Currency = "EUR"
	}
	return o
}

func (v *varied) drawTransfer(r *rapid.T) payments.Draft {
	return payments.Draft{
		Sender: v.drawAccount(r, "sender"), Receiver: v.drawAccount(r, "receiver"), Amount: v.drawAmount(r),
		Date: v.drawDay(r), ExternalReferenceID: "INV-7",
	}
}

// tried is a request that can be previewed and carried out.
type tried struct {
	preview func(context.Context) (*payments.Preview, error)
	send    func(context.Context) (changes.Outcome[payments.Saved], error)
	more    func(amount string) tried
}

func (v *varied) draw(r *rapid.T) tried {
	if rapid.IntRange(0, 3).Draw(r, "transfer") == 0 {
		return v.transferring(v.drawTransfer(r))
	}
	return v.sending(v.drawOrder(r))
}

func (v *varied) transferring(d payments.Draft) tried {
	return tried{
		func(ctx context.Context) (*payments.Preview, error) { return v.Payments.PreviewTransfer(ctx, d) },
		func(ctx context.Context) (changes.Outcome[payments.Saved], error) {
			return v.Payments.Transfer(ctx, d, changes.RequestOptions{})
		},
		func(amount string) tried { d := d; d.Amount = amount; return v.transferring(d) },
	}
}

func (v *varied) sending(o payments.Order) tried {
	return tried{
		func(ctx context.Context) (*payments.Preview, error) { return v.Payments.PreviewSend(ctx, o) },
		func(ctx context.Context) (changes.Outcome[payments.Saved], error) {
			return v.Payments.Send(ctx, o, changes.RequestOptions{})
		},
		func(amount string) tried { o := o; o.Amount = amount; return v.sending(o) },
	}
}

// words are the faults of an error as callers read them.
func words(err error) (all []fault.Kept) {
	var several fault.Faults
	if errors.As(err, &several) {
		for _, f := range several {
			all = append(all, f.Keep())
		}
		return all
	}
	if f, is := fault.Of(err); is {
		all = append(all, f.Keep())
	}
	return all
}

// balance is what is available on an account.
func (v *varied) balance(t *rapid.T, of accounts.UID) int64 {
	var b ledger.Balance
	if err := v.DB.NewSelect().Model(&b).Where("b.tenant = ? AND b.account = ?", v.Tenant, of).
		Scan(context.Background()); err != nil {
		t.Fatal(err)
	}
	return b.Available().Minor
}

// A preview says what the same request would do a moment later: with the same faults, over the same network,
// at the same price, on the same day, and waiting for as many people.
func TestAPreviewSaysWhatExecutionDoes(t *testing.T) {
	t.Parallel()
	v := newVaried(t)
	seen := map[string]int{}
	hours := []time.Duration{
		0, 0, 2 * time.Hour, 5 * time.Hour, 8 * time.Hour, 12 * time.Hour,
		60 * time.Hour, 191 * time.Hour,
	}
	rapid.Check(t, func(r *rapid.T) {
		v.Clock.Set(coretest.Start.Add(rapid.SampledFrom(hours).Draw(r, "after")))
		caller := rapid.SampledFrom([]int{0, 0, 1, 2, 3, 4, 5}).Draw(r, "caller")
		asked, who := v.draw(r), v.callers[caller]
		said, denied := asked.preview(who)
		if denied != nil {
			if _, err := asked.send(who); !errors.Is(denied, access.ErrDenied) ||
				!errors.Is(err, access.ErrDenied) {
				r.Fatalf("preview: %v; execution: %v", denied, err)
			}
			return
		}
		if most := said.Most; most != nil && rapid.Bool().Draw(r, "of the most") {
			asked = asked.more(most.String())
			if said, denied = asked.preview(who); denied != nil || len(said.Faults) > 0 ||
				len(said.Warnings) > 0 {
				r.Fatalf("%s is the most, and: %v %v %v", most, denied, said.Faults, said.Warnings)
			}
			above, err := asked.more(money.Of(most.Minor+1, most.Currency).String()).preview(who)
			if err != nil || len(above.Faults)+len(above.Warnings) == 0 {
				r.Fatalf("%s is the most, and more passes: %v", most, err)
			}
		}
		done, err := asked.send(who)
		if got, want := words(fault.Faults(said.Faults)), words(err); !reflect.DeepEqual(got, want) {
			r.Fatalf("preview: %+v; execution: %+v (%v)", got, want, err)
		}
		if err != nil {
			seen[said.Faults[0].Field+" "+said.Faults[0].Message]++
			if said.State != "" {
				r.Fatalf("%s, and is refused", said.State)
			}
			return
		}
		v.compare(r, said, done)
		seen[string(said.Rail())+" "+string(said.State)]++
	})
	v.Prove()
	if !testing.Short() && len(seen) < 15 { // -short tries too few to meet them all
		t.Errorf("only %d kinds of outcomes: %v", len(seen), seen)
	}
}

// compare compares a preview with the payment that was made.
func (v *varied) compare(r *rapid.T, said *payments.Preview, done changes.Outcome[payments.Saved]) {
	p, _, err := v.Payments.Find(v.Staff(), done.Result.UID)
	if err != nil {
		r.Fatal(err)
	}
	type known struct {
		state            payments.State
		rail             rails.Rail
		amount, date     string
		sender, receiver string
		fee              int64
	}
	is := known{
		p.State, p.Rail, p.Amount().String(), p.Date.Format(time.DateOnly), p.SenderName,
		p.ReceiverName, p.FeeMinor,
	}
	was := known{
		said.State, said.Rail(), said.Amount().String(), said.Date().Format(time.DateOnly), said.SenderName(),
		said.ReceiverName(), said.Payment.FeeMinor,
	}
	if is != was {
		r.Fatalf("preview: %+v; execution: %+v", was, is)
	}
	if p.SendAt != nil && (said.SendAt == nil || !p.SendAt.Equal(*said.SendAt)) {
		r.Fatalf("preview: %v; sent %v", said.SendAt, p.SendAt)
	}
	atOnce := p.State == payments.Queued || p.State == payments.Settled
	if charge := said.Charge; atOnce && (charge == nil) != (p.FeeMinor == 0) || atOnce && charge != nil &&
		charge.Minor != p.FeeMinor {
		r.Fatalf("preview: %v; it costs %d", charge, p.FeeMinor)
	}
	if said.After != nil && atOnce && said.After.Minor != v.balance(r, p.SenderAccount) {
		r.Fatalf("preview: %s is left; %d is", said.After, v.balance(r, p.SenderAccount))
	}
	if (done.Approval != 0) != (said.Approvers > 0) {
		r.Fatalf("preview: %d approvers; approval %d", said.Approvers, done.Approval)
	}
	if done.Approval != 0 {
		var a changes.Approval
		if err := v.DB.NewSelect().Model(&a).Where("p.tenant = ?", v.Tenant).
			Where("p.uid = ?", done.Approval).
			Scan(context.Background()); err != nil || a.Approvers != said.Approvers ||
			(a.Decides == access.OfBank) != said.ByBank {
			r.Fatalf("preview: %d, by the bank %v; execution: %d, by %s (%v)", said.Approvers, said.ByBank,
				a.Approvers, a.Decides, err)
		}
	}
}

// A preview neither writes a row of any table nor waits for a lock.
func TestAPreviewWritesNothingAndWaitsForNobody(t *testing.T) {
	t.Parallel()
	v := newVaried(t)
	before := v.contents(t)
	err := v.DB.InTx(t.Context(), int64(v.Tenant), func(ctx context.Context, tx bun.Tx) error {
		for _, table := range []string{"balances", "accounts", "customers", "limits"} {
			if _, err := tx.NewRaw("SELECT 1 FROM "+table+" WHERE tenant = ? FOR UPDATE", v.Tenant).
				Exec(ctx); err != nil {
				return err
			}
		}
		passed := 0
		rapid.Check(t, func(r *rapid.T) {
			if said, err := v.draw(r).preview(v.Staff()); err != nil {
				r.Fatal(err)
			} else if said.State != "" {
				passed++
			}
		})
		if passed == 0 {
			t.Error("all are refused")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if after := v.contents(t); after != before {
		t.Errorf("something was written: %s\n%s", before, after)
	}
}

// contents sums up all rows of the bank, by table.
func (v *varied) contents(t *testing.T) string {
	t.Helper()
	var tables []string
	err := v.DB.NewRaw(`SELECT table_name FROM information_schema.columns WHERE column_name = 'tenant'
		AND table_schema = current_schema() ORDER BY table_name`).Scan(t.Context(), &tables)
	if err != nil || len(tables) < 40 {
		t.Fatal(tables, err)
	}
	all := ""
	for _, table := range tables {
		var sum string
		err := v.DB.NewRaw("SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' "+
			"ORDER BY t::text)), '') FROM "+
			table+" AS t WHERE tenant = ?", v.Tenant).Scan(t.Context(), &sum)
		if err != nil {
			t.Fatal(table, err)
		}
		all += fmt.Sprintln(table, sum)
	}
	return all
}

// Who may not see accounts is told by no number what is available on one, nor who may not see customers what
// their limits leave.
func TestAPreviewTellsNumbersToThoseWhoMaySeeThem(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	b.Directory()
	c := b.Customer()
	from := b.Account(c, coretest.Holding(7_654_32, 21_00), coretest.Sends)
	to := payments.Party{UID: b.Account(c).UID}
	b.Limit(c, "INSTANT_PAYMENT_LIMIT_PER_DAY", 500_00)
	order := payments.Order{
		Sender: payments.Party{UID: from.UID}, Receiver: payments.Receiver{Contact: b.Contact(c).UID},
		Amount: "0.01", Currency: "USD", Speed: "Instant", ExternalReferenceID: "INV-7",
	}
	const pays, over = access.InitiatePayments, "Instant payment limit per day would be exceeded"
	for _, tt := range []struct {
		may                 []access.Permission
		moved, sent, refuse string
	}{
		{[]access.Permission{pays}, "<nil> <nil>", "<nil> <nil>", over},
		{
			[]access.Permission{pays, access.ViewAccounts}, "7633.32 7633.32", "<nil> 7633.32", over,
		},
		{
			[]access.Permission{pays, access.ViewCustomers},
			"<nil> <nil>", "<nil> <nil>",
			over + " by 100.01 USD: 500.00 is left",
		},
		{
			[]access.Permission{pays, access.ViewAccounts, access.ViewCustomers},
			"7633.32 7633.32", "500.00 7633.32",
			over + " by 100.01 USD: 500.00 is left",
		},
	} {
		who, more := b.As(tt.may...), order
		more.Amount = "600.01"
		moved, err1 := b.Payments.PreviewTransfer(who, payments.Draft{
			Sender: order.Sender, Receiver: to, Amount: "0.01", ExternalReferenceID: "INV-7",
		})
		sent, err2 := b.Payments.PreviewSend(who, order)
		above, err3 := b.Payments.PreviewSend(who, more)
		_, refused := b.Payments.Send(who, more, changes.RequestOptions{})
		if err := errors.Join(err1, err2, err3); err != nil || refused == nil {
			t.Fatal(err, refused)
		}
		for _, c := range [][2]string{
			{fmt.Sprint(moved.Most, " ", moved.Available), tt.moved},
			{fmt.Sprint(sent.Most, " ", sent.Available), tt.sent},
			{fmt.Sprint(words(fault.Faults(above.Faults))), fmt.Sprint(words(refused))},
		} {
			if got, want := c[0], c[1]; got != want {
				t.Errorf("%s: %s, want %s", tt.may, got, want)
			}
		}
		if got := refused.Error(); !strings.HasSuffix(got, tt.refuse) {
			t.Errorf("%s: %s", tt.may, got)
		}
	}
}

// The most is told wherever the amount alone is in the way, whatever it is that bounds it.
func TestAPreviewTellsTheMostOfWhatIsRefusedForItsAmount(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
	s.from = s.Account(of, coretest.Holding(2_000_000_00, 0), coretest.Sends)
	clerk := bounded(t, s.Bank, "clerk", access.Limit{Name: "Per_Transaction_Payment_Limits", Minor: 12_34})
	to := payments.Party{UID: s.Account(s.Customer()).UID}
	for _, c := range []struct {
		who                context.Context
		amount, sent, paid string
	}{
		{s.Staff(), "1.00", "1000000.00", "2000000.00"},
		{s.Staff(), "2000000.01", "1000000.00", "2000000.00"},
		{clerk, "1.00", "12.34", "12.34"},
		{clerk, "12.35", "12.34", "12.34"},
	} {
		sent, err1 := s.Payments.PreviewSend(c.who, s.order(c.amount))
		paid, err2 := s.Payments.PreviewTransfer(c.who, payments.Draft{
			Sender: payments.Party{UID: s.from.UID}, Receiver: to, Amount: c.amount, ExternalReferenceID: "INV-7",
		})
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(sent.Most, " ", paid.Most); got != c.sent+" "+c.paid {
			t.Errorf("%s: %s, want %s %s (%v)", c.amount, got, c.sent, c.paid, sent.Faults)
		}
	}
	other := s.order("1.00")
	other.Date = on(2026, time.November, 17) // which has passed
	if v, err := s.Payments.PreviewSend(s.Staff(), other); err != nil || v.Most != nil || len(v.Faults) == 0 {
		t.Errorf("%+v (%v)", v, err)
	}
}
