package attention_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/attention"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fx"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// waiting is a bank in which one thing of each kind waits, and one that looks alike does not.
func waiting(t *testing.T) (b *coretest.Bank, want []string) {
	t.Helper()
	b = coretest.New(t)
	payer, payee := b.Customer(), b.Customer()
	from := b.Account(payer, coretest.Holding(500_00, 0))
	to := b.Account(payee, coretest.Holding(500_00, 0))
	ago := func(d time.Duration) time.Time { return b.Now().Add(-d) }
	of := func(kind attention.Kind, uid any) { want = append(want, fmt.Sprintf("%s %v", kind, uid)) }
	state := func(s payments.State, rail rails.Rail, more string, at ...any) payments.UID {
		p := b.Payment(from, to)
		way := "receiver_account = NULL, receiver_customer = NULL, "
		switch {
		case s == payments.Recalled, s == payments.Returning:
			way = "direction = 'IN', sender_account = NULL, "
		case strings.Contains(more, "DEBIT"):
			way = "sender_account = NULL, "
		}
		b.Exec(`UPDATE payments SET state = ?, rail = ?, `+way+more+` WHERE tenant = ? AND uid = ?`,
			append(append([]any{s, rail}, at...), b.Tenant, p.UID)...)
		return p.UID
	}

	of(attention.Late, state(payments.Scheduled, rails.Fedwire, "payment_date = ?",
		ago(3*24*time.Hour).Format(time.DateOnly)))
	of(attention.Recall, state(payments.Recalled, rails.FedNow, "updated_at = ?", ago(9*time.Hour)))
	of(attention.Unanswered, state(payments.Sent, rails.Fedwire, "updated_at = ?", ago(8*time.Hour)))
	of(attention.Unanswered, state(payments.Returning, rails.Fedwire, "updated_at = ?",
		ago(7*time.Hour+time.Minute)))
	of(attention.Late, state(payments.Queued, rails.Fedwire, "send_at = ?", ago(7*time.Hour)))
	of(attention.Late, state(payments.Sent, rails.ACH, "settles_at = ?, updated_at = ?", ago(6*time.Hour),
		ago(20*time.Hour)))
	of(attention.Failed, state(payments.Invalid, rails.FedNow, "updated_at = ?, reason = 'No funds'",
		ago(5*time.Hour)))
	of(attention.Repair, state(payments.Repair, rails.FedNow, "updated_at = ?", ago(4*time.Hour)))
	of(attention.Unanswered, state(payments.Sent, rails.RTP, "updated_at = ?", ago(2*time.Minute)))
	of(attention.Unanswered, state(payments.Returning, rails.FedNow, "updated_at = ?", ago(90*time.Second)))

	state(payments.Scheduled, rails.Fedwire, "payment_date = ?", b.Now().Format(time.DateOnly))
	state(payments.Sent, rails.RTP, "updated_at = ?", ago(30*time.Second))     // has time
	state(payments.Sent, rails.Fedwire, "updated_at = ?", ago(30*time.Minute)) // likewise
	state(payments.Returning, rails.Fedwire, "updated_at = ?", ago(30*time.Minute))
	state(payments.Returning, rails.ACH, "updated_at = ?", ago(30*time.Hour))    // nobody answers it
	state(payments.Queued, rails.Fedwire, "send_at = ?", ago(time.Minute))       // likewise
	state(payments.Invalid, rails.FedNow, "updated_at = ?", ago(8*24*time.Hour)) // long ago
	// asks, and may wait
	state(payments.Sent, rails.FedNow, "entry_type = 'DEBIT', updated_at = ?", ago(24*time.Hour))
	state(payments.Settled, rails.FedNow, "updated_at = ?", ago(24*time.Hour))
	return b, want
}

func TestWhatWaitsForPeopleIsListedLongestFirst(t *testing.T) {
	t.Parallel()
	b, want := waiting(t)
	found, err := b.Attention.List(b.Staff(), attention.Search{}, attention.MostItems)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range found.Items {
		got = append(got, fmt.Sprintf("%s %d", one.Kind, one.UID))
		if one.Kind == attention.Failed && one.Reason != "No funds" {
			t.Errorf("%+v", one)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	counts := map[attention.Kind]int64{}
	for _, w := range found.Waiting {
		counts[w.Kind] = w.Count
	}
	if len(counts) != 5 || counts[attention.Repair] != 1 || counts[attention.Late] != 3 ||
		counts[attention.Unanswered] != 4 || counts[attention.Recall] != 1 {
		t.Errorf("%v", counts)
	}
	few, err := b.Attention.List(b.Staff(), attention.Search{Kind: []attention.Kind{attention.Late}}, 1)
	if err != nil || len(few.Items) != 1 || few.Items[0].Kind != attention.Late || few.Waiting[0].Count != 3 {
		t.Errorf("%+v %v", few, err)
	}
}

// One customer's many failures hide neither the failures of others nor what else waits, however much later
// that began to wait.
func TestNobodysManyFailuresHideWhatElseWaits(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	many := b.Account(b.Customer(), coretest.Holding(500_00, 0))
	other := b.Account(b.Customer(), coretest.Holding(500_00, 0))
	fails := func(of *payments.Payment, state payments.State, ago time.Duration) {
		b.Exec(`UPDATE payments SET state = ?, updated_at = ? WHERE tenant = ? AND uid = ?`, state,
			b.Now().Add(-ago),
			b.Tenant, of.UID)
	}
	first := b.Payment(many, other)
	fails(first, payments.Invalid, 3*time.Hour)
	b.Exec(`INSERT INTO payments SELECT (jsonb_populate_record(p, jsonb_build_object('uid', p.uid + n))).*
		FROM payments AS p, generate_series(1000, 1800) AS n WHERE p.tenant = ? AND p.uid = ?`, b.Tenant, first.UID)
	failed, repair := b.Payment(other, many), b.Payment(other, many)
	fails(failed, payments.Invalid, 2*time.Hour)
	fails(repair, payments.Repair, time.Hour)
	found, err := b.Attention.List(b.Staff(), attention.Search{}, 10)
	if err != nil || len(found.Items) != 10 {
		t.Fatal(found, err)
	}
	last := found.Items[8:]
	if found.Items[0].UID != int64(first.UID) || last[0].UID != int64(failed.UID) ||
		last[1].UID != int64(repair.UID) {
		t.Errorf("%+v %+v %+v", found.Items[0], last[0], last[1])
	}
}

// However many older things of a kind one customer has, the others' are listed, on whichever day they began
// to wait.
func TestNobodysThousandsOfThingsHideThoseOfOthers(t *testing.T) {
	t.Parallel()
	for state, kind := range map[payments.State]attention.Kind{
		payments.Invalid: attention.Failed, payments.Repair: attention.Repair,
		payments.Screening: attention.Screening,
	} {
		b := coretest.New(t)
		many := b.Account(b.Customer(), coretest.Holding(500_00, 0))
		waits := func(of *accounts.Account, ago time.Duration) payments.UID {
			p := b.Payment(of, many)
			b.Exec(`UPDATE payments SET state = ?, updated_at = ? WHERE tenant = ? AND uid = ?`, state,
				b.Now().Add(-ago), b.Tenant, p.UID)
			return p.UID
		}
		first := waits(many, 50*time.Hour)
		b.Exec(`INSERT INTO payments SELECT (jsonb_populate_record(p, jsonb_build_object('uid', p.uid + n))).*
			FROM payments AS p, generate_series(1000, 2100) AS n WHERE p.tenant = ? AND p.uid = ?`, b.Tenant, first)
		want := []int64{int64(first)}
		for i := range 4 {
			other := b.Account(b.Customer(), coretest.Holding(500_00, 0))
			want = append(want, int64(waits(other, time.Duration(40-10*i)*time.Hour)))
		}
		found, err := b.Attention.List(b.Staff(), attention.Search{Kind: []attention.Kind{kind}}, 5)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, one := range found.Items {
			got = append(got, one.UID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
		all, err := b.Attention.List(b.Staff(), attention.Search{}, attention.MostItems)
		if err != nil || len(all.Items) != attention.MostItems {
			t.Errorf("%s: %d things are listed, %v", kind, len(all.Items), err)
		}
	}
}

// Each kind says how its things are shared out; that says that it is about nobody, or the customers share it.
func TestEveryKindSaysWhoseItsThingsAre(t *testing.T) {
	t.Parallel()
	for _, kind := range attention.Kinds {
		if !attention.Shared(kind) {
			t.Errorf("%s: one customer's things of this kind may hide those of others", kind)
		}
	}
}

// listedBeside fails the test unless a thing of one customer is listed of a kind beside another one's 1,100.
func listedBeside(t *testing.T, b *coretest.Bank, kind attention.Kind, uid int64) {
	t.Helper()
	found, err := b.Attention.List(b.Staff(), attention.Search{Kind: []attention.Kind{kind}},
		attention.MostItems)
	if err != nil || len(found.Items) != attention.MostItems {
		t.Fatalf("%s: %+v %v", kind, found, err)
	}
	if !slices.ContainsFunc(found.Items, func(one *attention.Item) bool { return one.UID == uid }) {
		t.Errorf("%s: none of %d things is the other customer's", kind, len(found.Items))
	}
}

func TestNobodysThousandsOfPaymentsHideWhatAnotherWaitsFor(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	many := b.Account(b.Customer(), coretest.Holding(500_00, 0))
	other := b.Account(b.Customer(), coretest.Holding(500_00, 0))
	for kind, set := range map[attention.Kind]string{
		attention.Recall: "state = 'RECALLED', rail = 'FEDNOW', direction = 'IN', sender_account = NULL",
		attention.Unanswered: "state = 'SENT', rail = 'RTP', receiver_account = NULL, " +
			"receiver_customer = NULL",
		attention.Late: "state = 'QUEUED', rail = 'FEDWIRE', receiver_account = NULL, " +
			"receiver_customer = NULL, send_at = updated_at",
	} {
		waits := func(of *accounts.Account, ago time.Duration) int64 {
			p := b.Payment(of, many)
			b.Exec(`UPDATE payments SET updated_at = ? WHERE tenant = ? AND uid = ?`, b.Now().Add(-ago), b.Tenant,
				p.UID)
			b.Exec(`UPDATE payments SET `+set+` WHERE tenant = ? AND uid = ?`, b.Tenant, p.UID)
			return int64(p.UID)
		}
		first := waits(many, 50*time.Hour)
		b.Exec(`INSERT INTO payments SELECT (jsonb_populate_record(p, jsonb_build_object('uid',
			nextval('payment_uids')))).*
			FROM payments AS p, generate_series(1, 1100) AS n WHERE p.tenant = ? AND p.uid = ?`, b.Tenant, first)
		listedBeside(t, b, kind, waits(other, 40*time.Hour))
	}
}

func TestNobodysThousandsOfTradesHideThoseOfOthers(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	trade := func() int64 {
		q, err := b.FX.Quote(b.Staff(), fx.Draft{
			IDType: "CustomerUID", UID: b.Customer().UID, Sell: "USD", Buy: "EUR", Funding: "1", Product: "SPOT",
			Tenor: "SPOT",
		}, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := b.FX.Accept(b.Staff(), q.Result.UID, fx.Acceptance{}, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return int64(a.Result.UID)
	}
	first := trade()
	b.Exec(`INSERT INTO fx_quotes
		SELECT (jsonb_populate_record(q, jsonb_build_object('uid', md5(n::text)::uuid))).*
		FROM fx_quotes AS q, generate_series(1, 1100) AS n WHERE q.tenant = ?`, b.Tenant)
	b.Exec(`INSERT INTO fx_trades
		SELECT (jsonb_populate_record(ft, jsonb_build_object('uid', nextval('trade_uids'),
		'quote', md5(n::text)::uuid))).* FROM fx_trades AS ft, generate_series(1, 1100) AS n
		WHERE ft.tenant = ? AND ft.uid = ?`, b.Tenant, first)
	last := trade()
	b.Clock.Advance(4 * 24 * time.Hour)
	listedBeside(t, b, attention.Trade, last)
}

func TestAnApprovalWaitsUntilItIsDecided(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	c := b.Customer(func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	from, to := b.Account(c, coretest.Holding(500_00, 0)), b.Account(c, coretest.Holding(0, 0))
	made, err := b.Payments.Transfer(b.Staff(), payments.Draft{
		Sender: payments.Party{UID: from.UID}, Receiver: payments.Party{UID: to.UID}, Amount: "5",
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	listed := func() []*attention.Item {
		found, err := b.Attention.List(b.Staff(), attention.Search{}, 50)
		if err != nil {
			t.Fatal(err)
		}
		return found.Items
	}
	got := listed()
	if len(got) != 1 || got[0].Kind != attention.Approval || got[0].Customer != int64(c.UID) ||
		got[0].Reason != "transferFunds" {
		t.Fatalf("%+v of %+v", got, made)
	}
	b.Exec(`INSERT INTO approvals (tenant, uid, customer, operation, object, object_uid, creation, before, after,
		status, maker_client, made_at, decides, maker_reach, draft, version)
		SELECT tenant, uid + 1, customer, 'createWebhook', 'webhook', '1', true, '{}', '{}', status, maker_client,
		  made_at, decides,
		maker_reach, draft, version FROM approvals WHERE tenant = ? AND uid = ?`, b.Tenant, got[0].UID)
	for _, one := range []struct {
		sees []access.Permission
		want int64
	}{
		{[]access.Permission{access.ViewPayments}, 1}, // of what the caller sees
		{[]access.Permission{access.ViewPayments, access.ViewWebhooks}, 2},
		{[]access.Permission{access.ViewPayments, access.ViewCustomers}, 2},
	} {
		found, err := b.Attention.List(b.As(one.sees...), attention.Search{}, 50)
		if err != nil || int64(len(found.Items)) != one.want || found.Waiting[0].Count != one.want {
			t.Errorf("%v: %+v %v", one.sees, found, err)
		}
	}
	b.Exec(`DELETE FROM approvals WHERE tenant = ? AND object = 'webhook'`, b.Tenant)
	if _, err := b.Changes.Approve(b.Checker(), changes.UID(got[0].UID), changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := listed(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestAnAccountWaitsThatAReturnTookTooLow(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	c := b.Customer()
	low, covered := b.Account(c, coretest.Holding(5_00, 0)), b.Account(c, coretest.Holding(5_00, 0))
	_, err := b.Payments.Transfer(b.Staff(), payments.Draft{
		Sender: payments.Party{UID: low.UID}, Receiver: payments.Party{UID: covered.UID}, Amount: "5",
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.Exec(`UPDATE balances SET forced = true, ledger = -1 WHERE tenant = ? AND account = ?`, b.Tenant, low.UID)
	b.Exec(`UPDATE balances SET forced = true WHERE tenant = ? AND account = ?`, b.Tenant, covered.UID)
	found, err := b.Attention.List(b.Staff(), attention.Search{}, 50)
	if err != nil || len(found.Items) != 1 || found.Items[0].Kind != attention.Overdrawn ||
		found.Items[0].UID != int64(low.UID) ||
		b.Now().Sub(found.Items[0].Since).Abs() > time.Hour { // by the bank's clock
		t.Errorf("%+v %v", found, err)
	}
}

func TestOnlyTheBankSeesWhatWaits(t *testing.T) {
	t.Parallel()
	b, _ := waiting(t)
	other := coretest.New(t)
	if found, err := other.Attention.List(other.Staff(), attention.Search{}, 50); err != nil ||
		len(found.Items) != 0 {
		t.Errorf("another bank: %+v %v", found, err)
	}
	partner := b.DownstreamPartner()
	if _, err := b.Attention.List(b.Partner(partner), attention.Search{},
		50); !errors.Is(err, access.ErrDenied) {
		t.Errorf("a partner: %v", err)
	}
	for _, first := range []int{0, -1, attention.MostItems + 1} {
		_, err := b.Attention.List(b.Staff(), attention.Search{}, first)
		if wrong, is := fault.Of(err); !is || wrong.Field != "first" {
			t.Errorf("%d: %v", first, err)
		}
	}
}

// However many customers have something that began to wait an hour ago, what has waited longest is in the
// list.
func TestWhatWaitsLongestIsListedWhoseverItIs(t *testing.T) {
	t.Parallel()
	for kind, state := range map[attention.Kind]payments.State{
		attention.Repair: payments.Repair, attention.Screening: payments.Screening,
	} {
		b := coretest.New(t)
		of := b.Account(b.Customer(), coretest.Holding(500_00, 0))
		p := b.Payment(of, of)
		b.Exec(`UPDATE payments SET state = ?, updated_at = ? WHERE tenant = ? AND uid = ?`, state,
			b.Now().Add(-time.Hour), b.Tenant, p.UID)
		b.Exec(`INSERT INTO customers
			SELECT (jsonb_populate_record(c, jsonb_build_object('uid', c.uid + n, 'short_name',
			'many ' || n, 'customer_id', '', 'lei', '', 'owner', 0))).*
			FROM customers AS c, generate_series(1, 5000) AS n
			WHERE (n = 5000 OR n <= 1000) AND c.tenant = ? AND c.uid = ?`, b.Tenant, p.Customer)
		b.Exec(`INSERT INTO payments
			SELECT (jsonb_populate_record(p, jsonb_build_object('uid', p.uid + n, 'customer',
			p.customer + n))).* FROM payments AS p, generate_series(1, 1000) AS n
			WHERE p.tenant = ? AND p.uid = ?`, b.Tenant, p.UID)
		b.Exec(`INSERT INTO payments
			SELECT (jsonb_populate_record(p, jsonb_build_object('uid', p.uid + n, 'customer',
			p.customer + n, 'updated_at', '2020-01-01T00:00:00Z'))).*
			FROM payments AS p, generate_series(5000, 5000) AS n
			WHERE p.tenant = ? AND p.uid = ?`, b.Tenant, p.UID)
		found, err := b.Attention.List(b.Staff(), attention.Search{Kind: []attention.Kind{kind}},
			attention.MostItems)
		if err != nil {
			t.Fatal(err)
		}
		listed := false
		for _, one := range found.Items {
			listed = listed || one.UID == int64(p.UID)+5000
		}
		if !listed {
			t.Errorf("%s: of %d listed, none is the one that has waited for six years; the first since "+
				"%s; oldest %v", kind, len(found.Items),
				found.Items[0].Since, found.Waiting[0])
		}
	}
}
