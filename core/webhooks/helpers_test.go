package webhooks_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
	"bankgraph/core/webhooks"
	"bankgraph/db"
)

// posted is a request that a receiver got.
type posted struct {
	path string
	http.Header
	body string
}

// receiver is an address that events are posted to.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []posted
	answer func(w http.ResponseWriter, r *http.Request)
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := new(receiver)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		r.got = append(r.got, posted{request.Method + " " + request.URL.Path, request.Header, string(body)})
		answer := r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(w, request)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// says sets how it answers from now on.
func (r *receiver) says(answer func(w http.ResponseWriter, r *http.Request)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// all returns what it got so far, and forgets it.
func (r *receiver) all() []posted {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// house is a bank with two customers of a partner, one of which pays the other, and a customer of the bank's
// own.
type house struct {
	*testing.T
	*coretest.Bank
	operator     context.Context
	partner      *customers.Customer
	payer, payee *customers.Customer
	stranger     *customers.Customer
	receiver     *receiver
}

func build(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, Bank: coretest.New(t), receiver: newReceiver(t)}
	h.operator = access.Operator(t.Context(), h.Tenant, h.Code, coretest.Zone())
	h.partner = h.DownstreamPartner()
	h.payer, h.payee = h.Bank.Customer(coretest.OwnedBy(h.partner)), h.Bank.Customer()
	h.stranger = h.Bank.Customer()
	return h
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// hook creates a webhook that leads to the receiver, and returns its secret.
func (h *house) hook(of *customers.Customer, edits ...func(*webhooks.Draft)) (webhooks.UID, string) {
	h.Helper()
	draft := webhooks.Draft{Name: given.Of("Ledger"), Target: given.Of(h.receiver.URL)}
	for _, edit := range edits {
		edit(&draft)
	}
	done, secret, err := h.Webhooks.Create(h.Staff(), of.UID, draft, changes.RequestOptions{})
	h.must(err)
	return done.Result.UID, secret
}

// transfer pays from one customer to another in the bank's own books, some days from now.
func (h *house) transfer(amount string, days int) payments.UID {
	h.Helper()
	done, err := h.Payments.Transfer(h.Staff(), payments.Draft{
		Sender:   payments.Party{UID: h.Account(h.payer, coretest.Holding(1000_00, 0)).UID},
		Receiver: payments.Party{UID: h.Account(h.payee).UID}, Amount: amount,
		Date: h.Now().Truncate(24*time.Hour).AddDate(0, 0, days), ExternalReferenceID: "INV-7", Notes: "Rent",
	}, changes.RequestOptions{})
	h.must(err)
	return done.Result.UID
}

// send pays a contact at another bank.
func (h *house) send(amount string, speed payments.Speed) payments.UID {
	h.Helper()
	h.Directory()
	class := rails.SECCode("")
	if strings.HasPrefix(string(speed), "Economy") {
		class = rails.CCD
	}
	done, err := h.Payments.Send(h.Staff(), payments.Order{
		SECCode:  class,
		Sender:   payments.Party{UID: h.Account(h.payer, coretest.Holding(10_000_00, 0), coretest.Sends).UID},
		Receiver: payments.Receiver{Contact: h.Contact(h.payer).UID}, Amount: amount, Currency: "USD",
		Speed: string(speed), ExternalReferenceID: "INV-7", Reference: "REF-1",
		Notes: "A long note that does not fit into one of the two fields of the published body",
	}, changes.RequestOptions{})
	h.must(err)
	return done.Result.UID
}

// credited lets somebody of another bank pay the customer, and returns the payment that came in.
func (h *house) credited(amount string) payments.UID {
	h.Helper()
	h.Directory()
	_, err := h.Sandbox.PlayCredit(h.Staff(), sandbox.Credit{
		Account: h.Account(h.payer, coretest.Sends).UID, Amount: amount, Rail: string(rails.FedNow),
		SenderName: "Ada Byron", SenderBank: "611590103", SenderNumber: "5550001234", Reference: "THEIRS-1",
		Notes: "Invoice 7",
	}, changes.RequestOptions{})
	h.must(err)
	h.exchange()
	found, err := h.Payments.Page(h.Staff(), payments.Search{Direction: payments.In}, page.First(1))
	h.must(err)
	if len(found.Items) == 0 {
		h.Fatal("nothing came in")
	}
	return found.Items[0].UID
}

// exchange lets the networks do their part.
func (h *house) exchange() {
	h.Helper()
	for _, work := range []func(context.Context) (int, error){
		h.Payments.SendQueued, h.Payments.SealFiles, h.Payments.HandOver, h.Payments.Receive,
		h.Payments.SettleEntries,
	} {
		_, err := work(h.operator)
		h.must(err)
	}
}

// seal numbers what has happened, of which nobody is told yet.
func (h *house) seal() {
	h.Helper()
	for {
		if n, err := h.Audit.Seal(h.operator); err != nil || n == 0 {
			h.must(err)
			return
		}
	}
}

// spread makes deliveries of all that has happened.
func (h *house) spread() {
	h.Helper()
	h.seal()
	for {
		n, err := h.Webhooks.Spread(h.operator)
		h.must(err)
		if n == 0 {
			return
		}
	}
}

// room is that of a worker who bounds no party.
func room(all, failing int) webhooks.Room {
	return webhooks.Room{All: all, Failing: failing, Each: 1000}
}

// post posts all that is due, in turns, and returns what the receiver got.

func (h *house) post() []posted {
	h.Helper()
	h.spread()
	for {
		due, err := h.Webhooks.Claim(h.operator, room(100, 100))
		h.must(err)
		if len(due) == 0 {
			return h.receiver.all()
		}
		for _, d := range due {
			h.must(h.Webhooks.Post(h.operator, d))
		}
	}
}

// deliveries returns the deliveries of a webhook, newest first.
func (h *house) deliveries(of webhooks.UID) []*webhooks.Delivery {
	h.Helper()
	found, err := coretest.Many(h.Bank, h.Staff(), func(b *db.Batch) *db.Many[webhooks.UID, webhooks.Delivery] {
		return h.Webhooks.OfWebhooks(h.Staff(), b, []webhooks.UID{of}, webhooks.DeliverySearch{},
			db.Columns{}, first)
	})
	h.must(err)
	return found[of]
}

// attempts returns the attempts of a delivery.
func (h *house) attempts(of webhooks.DeliveryUID) []*webhooks.Attempt {
	h.Helper()
	found, err := coretest.Many(h.Bank, h.Staff(), func(b *db.Batch) *db.Many[webhooks.DeliveryUID,
		webhooks.Attempt] {
		return h.Webhooks.AttemptsOf(h.Staff(), b, []webhooks.DeliveryUID{of})
	})
	h.must(err)
	return found[of]
}

// find returns a webhook.
func (h *house) find(uid webhooks.UID) *webhooks.Webhook {
	h.Helper()
	found, err := coretest.Many(h.Bank, h.Staff(), func(b *db.Batch) *db.Many[webhooks.UID, webhooks.Webhook] {
		return h.Webhooks.FindMany(h.Staff(), b, []webhooks.UID{uid}, db.Columns{})
	})
	h.must(err)
	if len(found[uid]) == 0 {
		return nil
	}
	return found[uid][0]
}
