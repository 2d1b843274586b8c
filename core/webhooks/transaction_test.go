package webhooks_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
	"bankgraph/core/virtualaccounts"
	"bankgraph/core/webhooks"
)

const transactionPath = "POST /transaction/webhook"

// about is an edit of a webhook that says what it is told of.
func about(topics ...webhooks.Topic) func(*webhooks.Draft) {
	return func(d *webhooks.Draft) { d.Topics = topics }
}

// virtualCredit lets somebody of another bank pay a virtual account of the customer, and returns the payment
// and the virtual account.
func (h *house) virtualCredit(amount string) (payments.UID, *virtualaccounts.VirtualAccount) {
	h.Helper()
	h.Directory()
	v := h.VirtualAccount(h.Account(h.payer, coretest.Sends), func(v *virtualaccounts.VirtualAccount) {
		v.ExternalAccountReference = "TENANT-7"
	})
	_, err := h.Sandbox.PlayCredit(h.Staff(), sandbox.Credit{
		Account: v.Account, Virtual: coretest.VirtualNumber(v.UID), Amount: amount, Rail: string(rails.FedNow),
		SenderName: "Ada Byron", SenderBank: "611590103", SenderNumber: "5550001234", Reference: "THEIRS-1",
		Notes: "Rent of March",
	}, changes.RequestOptions{})
	h.must(err)
	h.exchange()
	found, err := h.Payments.Page(h.Staff(), payments.Search{Direction: payments.In}, page.First(1))
	h.must(err)
	if len(found.Items) == 0 {
		h.Fatal("nothing came in")
	}
	return found.Items[0].UID, v
}

// A webhook that is told of transactions gets each posting of a virtual account, with its number in full; one
// that is told of payments alone, as all are that say nothing, gets none, and who does not see the account
// neither.
func TestTransactionsOfVirtualAccountsAreToldAsPublished(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.hook(h.stranger, about(webhooks.OfTransactions))
	plain, _ := h.hook(h.payer)
	told, secret := h.hook(h.payer, about(webhooks.OfTransactions))
	both, _ := h.hook(h.partner, about(webhooks.OfTransactions, webhooks.OfPayments))
	uid, v := h.virtualCredit("40.34") // whose return the network refuses
	for paid := range 3 {
		if paid == 1 {
			_, err := h.Payments.Return(h.Staff(), uid, payments.Return{Code: "CUST", Notes: "Not ours"},
				changes.RequestOptions{})
			h.must(err)
		}
		if paid == 2 {
			h.exchange()
			h.exchange()
		}
		got := h.post()
		one := slices.IndexFunc(got, func(p posted) bool { return p.path == transactionPath })
		if one < 0 {
			t.Fatalf("nothing is told of transaction %d: %v", paid, got)
		}
		if paid < 2 {
			name := []string{"transaction_in", "transaction_back"}[paid]
			body := strings.ReplaceAll(got[one].body, coretest.VirtualNumber(v.UID), "80000000000007")
			got[one].body = regexp.MustCompile(`"transactionId":\d+`).
				ReplaceAllString(body, `"transactionId":12`)
			got[one].body = regexp.MustCompile(`"(transactionDateTime|lastUpdatedTime)":"[^"]+"`).
				ReplaceAllString(got[one].body, `"$1":"2026-11-18T12:00:00Z"`)
			h.golden(name, got[one], uid)
		}
	}
	for hook, want := range map[webhooks.UID]string{told: "0 3", both: "3 3", plain: "3 0"} {
		of, on := 0, 0
		for _, d := range h.deliveries(hook) {
			if d.Payment != 0 {
				of++
			}
			if d.Posting != 0 {
				on++
			}
		}
		if got := fmt.Sprintf("%d %d", of, on); got != want {
			t.Errorf("webhook %s was told of %s payments and transactions, want %s", hook, got, want)
		}
	}
	_, err := h.Webhooks.Replay(h.Staff(), told, webhooks.Replay{After: "0.0"}, changes.RequestOptions{})
	h.must(err)
	again := h.post()
	if len(again) != 3 {
		t.Errorf("%d are posted again, of 3", len(again))
	}
	for _, p := range again {
		signedBy(t, p, h.Now(), secret)
	}
	if n := len(h.deliveries(told)); n != 3 {
		t.Errorf("a replay made %d deliveries of 3", n)
	}
}

// Transactions name numbers in full: who may not see accounts cannot have them posted.
func TestToBeToldOfTransactionsAsksForTheRightToSeeAccounts(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	for name, may := range map[string][]access.Permission{
		"without": {access.ViewWebhooks, access.ManageWebhooks},
		"with":    {access.ViewWebhooks, access.ManageWebhooks, access.ViewAccounts},
	} {
		as := h.As(may...)
		draft := webhooks.Draft{Topics: []webhooks.Topic{webhooks.OfTransactions}}
		_, changing := h.Webhooks.Change(as, hook, draft, changes.RequestOptions{})
		draft.Name.Given, draft.Name.Value, draft.Target.Given, draft.Target.Value = true, "L", true, h.receiver.URL
		_, _, creating := h.Webhooks.Create(as, h.payer.UID, draft, changes.RequestOptions{})
		for _, err := range []error{changing, creating} {
			if f, is := fault.Of(err); (name == "without") != (is && f.Kind == fault.Denied) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if got := h.find(hook).Topics; !slices.Equal(got, []webhooks.Topic{webhooks.OfTransactions}) {
		t.Errorf("topics %v", got)
	}
}

// Who may not see all that a webhook is told cannot say where that goes, with which secret, or that it goes
// again: not by any of the ways to do so. Anybody who manages webhooks can stop it.
func TestAWebhookIsDirectedOnlyByWhoMaySeeWhatItIsTold(t *testing.T) {
	t.Parallel()
	h := build(t)
	narrow := func() context.Context {
		caller, err := access.Require(h.Partner(h.partner))
		h.must(err)
		caller.Reach = access.OfCustomer
		return access.With(t.Context(), caller)
	}()
	blind := h.As(access.ViewWebhooks, access.ManageWebhooks)
	for name, c := range map[string]struct {
		as    context.Context
		topic webhooks.Topic
		may   bool
	}{
		"transactions, without the right to see accounts": {blind, webhooks.OfTransactions, false},
		"payments, without the right to see accounts":     {blind, webhooks.OfPayments, true},
		"transactions, with it":                           {h.Staff(), webhooks.OfTransactions, true},
		"a partner's, by who sees its own payments alone": {narrow, webhooks.OfPayments, false},
		"a partner's, by who sees all that it is told":    {h.Partner(h.partner), webhooks.OfPayments, true},
	} {
		hook, _ := h.hook(h.partner, about(c.topic))
		_, err := h.Webhooks.Test(h.Staff(), hook, changes.RequestOptions{})
		h.must(err)
		h.post()
		delivery := h.deliveries(hook)[0].UID
		target := given.Of(h.receiver.URL + "/elsewhere")
		for did, direct := range map[string]func() error{
			"pointed elsewhere": func() error {
				_, err := h.Webhooks.Change(c.as, hook, webhooks.Draft{Target: target}, changes.RequestOptions{})
				return err
			},
			"given a secret": func() error {
				_, _, err := h.Webhooks.RotateSecret(c.as, hook, 0, changes.RequestOptions{})
				return err
			},
			"replayed": func() error {
				_, err := h.Webhooks.Replay(c.as, hook, webhooks.Replay{After: "0.0"}, changes.RequestOptions{})
				return err
			},
			"posted again": func() error {
				_, err := h.Webhooks.Resend(c.as, delivery, changes.RequestOptions{})
				return err
			},
		} {
			if err := direct(); c.may != (err == nil) {
				t.Errorf("%s, %s: %v", name, did, err)
			}
		}
		if _, err := h.Webhooks.Disable(c.as, hook, changes.RequestOptions{}); err != nil {
			t.Errorf("%s, disabled: %v", name, err)
		}
		if _, err := h.Webhooks.Enable(c.as, hook, changes.RequestOptions{}); c.may != (err == nil) {
			t.Errorf("%s, enabled: %v", name, err)
		}
		_, err = h.Webhooks.Delete(h.Staff(), hook, changes.RequestOptions{})
		h.must(err)
	}
}

func TestATestOfAWebhookOfTransactionsLooksLikeOne(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer, about(webhooks.OfTransactions))
	_, err := h.Webhooks.Test(h.Staff(), hook, changes.RequestOptions{})
	h.must(err)
	got := h.post()
	if len(got) != 1 || got[0].path != transactionPath ||
		!strings.HasPrefix(got[0].body, `{"data":{"transactionId":0,`) {
		t.Errorf("told %v", got)
	}
}

// What the customer no longer sees when it is posted is not told.
func TestATransactionIsToldOnlyToWhoSeesItThen(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.partner, about(webhooks.OfTransactions))
	h.virtualCredit("30.25")
	h.spread()
	h.Exec(`UPDATE customers SET owner = 0 WHERE tenant = ? AND uid = ?`, h.Tenant, h.payer.UID)
	if got := h.post(); len(got) != 0 {
		t.Errorf("told %v", got)
	}
	if d := h.deliveries(hook); len(d) != 1 || d[0].State != webhooks.Parked {
		t.Errorf("deliveries %+v", d)
	}
}

// A replay that cannot begin where it says names the field that says so.
func TestAReplayFromNowhereNamesItsField(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	for _, from := range []webhooks.Replay{{After: "x"}, {}} {
		_, err := h.Webhooks.Replay(h.Staff(), hook, from, changes.RequestOptions{})
		if f, _ := fault.Of(err); f == nil || f.Field != "after" || f.Subject != "webhook" {
			t.Errorf("%+v: %v", from, err)
		}
	}
}
