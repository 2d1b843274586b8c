package payments_test

import (
	"context"
	"fmt"
	"testing"

	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// Whoever searches by an amount may not know in which currency a payment is: 30 is 30.00 dollars and 30 yen.
func TestAnAmountIsFoundInWhateverCurrencyItIs(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var uids []payments.UID
	for _, in := range []string{"30.00", "29.99"} {
		out, err := p.transfer(p.Staff(), p.draft(in))
		if err != nil {
			t.Fatal(err)
		}
		uids = append(uids, out.Result.UID)
	}
	yen := func(a *accounts.Account) { a.Currency = "JPY" }
	d := p.draft("30")
	d.Sender.UID = p.Account(p.Customer(), yen, coretest.Holding(100, 0)).UID
	d.Receiver.UID = p.Account(p.Customer(), yen).UID
	out, err := p.transfer(p.Staff(), d)
	if err != nil {
		t.Fatal(err)
	}
	uids = append(uids, out.Result.UID)
	for name, c := range map[string]struct {
		by   payments.Search
		want []payments.UID
	}{
		"exactly":     {payments.Search{Decimal: "30.0"}, []payments.UID{uids[2], uids[0]}},
		"from":        {payments.Search{LeastDecimal: "29.995"}, []payments.UID{uids[2], uids[0]}},
		"to":          {payments.Search{MostDecimal: "29.995"}, []payments.UID{uids[1]}},
		"in currency": {payments.Search{Decimal: "30", Currency: "JPY"}, []payments.UID{uids[2]}},
	} {
		p.finds(t, name, c.by, c.want...)
	}
}

// finds fails the test unless a search finds these payments.
func (p *pair) finds(t *testing.T, name string, by payments.Search, want ...payments.UID) {
	t.Helper()
	found, err := p.Payments.Page(p.Staff(), by, window)
	if err != nil || found.Total != int64(len(want)) || len(found.Items) != len(want) {
		t.Errorf("%s: %+v %v", name, found, err)
		return
	}
	for i, uid := range want {
		if found.Items[i].UID != uid {
			t.Errorf("%s: payment %s is number %d", name, found.Items[i].UID, i)
		}
	}
}

func TestTheMostRecentIsTheNewestThatIsFoundAndSeen(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var uids []payments.UID
	for range 2 {
		out, err := p.transfer(p.Staff(), p.draft("1"))
		if err != nil {
			t.Fatal(err)
		}
		uids = append(uids, out.Result.UID)
	}
	back := payments.Draft{
		Sender: payments.Party{UID: p.to.UID}, Receiver: payments.Party{UID: p.from.UID}, Amount: "1",
	}
	newest, err := p.transfer(p.Staff(), back)
	if err != nil {
		t.Fatal(err)
	}
	p.finds(t, "of all", payments.Search{MostRecent: true}, newest.Result.UID)
	p.finds(t, "of what is found", payments.Search{MostRecent: true, Customer: p.from.Customer}, uids[1])
	p.finds(t, "of nothing", payments.Search{MostRecent: true, None: true})
	partner := p.DownstreamPartner()
	mine := p.Account(p.Customer(coretest.OwnedBy(partner)), coretest.Holding(100_00, 0))
	own, err := p.transfer(p.Staff(), payments.Draft{
		Sender: payments.Party{UID: mine.UID}, Receiver: payments.Party{UID: p.to.UID}, Amount: "1",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.transfer(p.Staff(), back); err != nil {
		t.Fatal(err)
	}
	found, err := p.Payments.Page(p.Partner(partner), payments.Search{MostRecent: true}, window)
	if err != nil || found.Total != 1 || found.Items[0].UID != own.Result.UID {
		t.Errorf("a partner's newest: %+v %v", found, err)
	}
}

func TestWhatNoPaymentCanMeetFindsNothing(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	if _, err := p.transfer(p.Staff(), p.draft("1")); err != nil {
		t.Fatal(err)
	}
	p.finds(t, "nothing", payments.Search{None: true, Customer: p.from.Customer})
}

func TestAnAmountToSearchForIsANumber(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1", "-1.5", "0.0001"} {
		if got, err := payments.ParseDecimal("minAmount", text); err != nil || got != text {
			t.Errorf("%s: %s %v", text, got, err)
		}
	}
	for _, text := range []string{"x", "1e3", "1.00001", "1234567890123456"} {
		if _, err := payments.ParseDecimal("minAmount", text); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// Of the other side of a payment its names and accounts are seen, and nothing of its customer's record.
func TestWhoIsPaidReadsNothingOfThePayersRecord(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner, other := b.DownstreamPartner(), b.DownstreamPartner()
	p := &pair{
		b, b.Account(b.Customer(coretest.OwnedBy(partner)), coretest.Holding(100_00, 0)),
		b.Account(b.Customer(coretest.OwnedBy(other))),
	}
	made := b.Payment(p.from, p.to, func(pay *payments.Payment) {
		pay.FeeMinor, pay.FeeName, pay.FeeTier, pay.Reason = 25, "Book Transfer", "Gold", "late"
	})
	payer, err := p.Payments.Show(p.Partner(partner), made.UID)
	if err != nil || payer.Payer.Type == "" || payer.Payer.Line1 == "" || payer.CreatedBy() != "partner" ||
		payer.Payee != (payments.Holder{AccountCountry: "United States"}) || payer.Bank.UID != b.Self.UID ||
		payer.Bank.Name == "" {
		t.Errorf("who pays reads %+v %v", payer, err)
	}
	payee, err := p.Payments.Show(p.Partner(other), made.UID)
	if err != nil || payee.Payee.Line1 == "" ||
		payee.Payer != (payments.Holder{AccountCountry: "United States"}) || payee.CreatedBy() != "" ||
		payee.SenderName == "" || payee.Sender.Masked() == "" {
		t.Errorf("who is paid reads %+v %v", payee, err)
	}
}

// What a payment costs who pays, from where it was asked for and why it failed is the payer's alone, however
// the payment is read.
func TestWhoIsPaidReadsNothingThatIsThePayersAlone(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner, other := b.DownstreamPartner(), b.DownstreamPartner()
	p := &pair{
		b, b.Account(b.Customer(coretest.OwnedBy(partner))), b.Account(b.Customer(coretest.OwnedBy(other))),
	}
	made := b.Payment(p.from, p.to, func(pay *payments.Payment) {
		pay.FeeMinor, pay.FeeName, pay.FeeTier, pay.Reason = 25, "Book Transfer", "Gold", "late"
	})
	for who, ctx := range map[string]context.Context{
		"the bank": p.Staff(), "who pays": p.Partner(partner), "who is paid": p.Partner(other),
	} {
		shown, err := p.Payments.Show(ctx, made.UID)
		if err != nil {
			t.Fatal(who, err)
		}
		found, _, err := p.Payments.Find(ctx, made.UID)
		if err != nil {
			t.Fatal(who, err)
		}
		q := p.DB.Batch()
		listed := p.Payments.List(ctx, q, payments.Search{}, db.Columns{}, window)
		of := p.Payments.OfAccounts(ctx, q, []accounts.UID{p.from.UID, p.to.UID}, payments.Search{},
			db.Columns{}, window)
		if err := q.Send(ctx); err != nil {
			t.Fatal(who, err)
		}
		read := []*payments.Payment{&shown.Payment, found, listed.Items[0]}
		for _, rows := range of.Of {
			read = append(read, rows...)
		}
		for i, pay := range read {
			says := fmt.Sprintf("%d|%s|%s|%s|%s", pay.FeeMinor, pay.FeeName, pay.FeeTier, pay.Channel, pay.Reason)
			want := "25|Book Transfer|Gold|API|late"
			if who == "who is paid" {
				want = "0||||"
			}
			if says != want {
				t.Errorf("%s, read %d: %q, want %q", who, i, says, want)
			}
		}
	}
}
