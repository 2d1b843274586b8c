package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
)

// How many subscribers sit idle, on as many sockets, to be weighed: as many as one caller may have.
const (
	idleSockets   = 6
	idleOnASocket = 40
)

// betweenPayments is how long a payment is waited for by the next one.
const betweenPayments = 10 * time.Millisecond

// tellChanges makes payments one after the other, and tells how long after the answer to each a subscriber
// and a webhook of the customer have heard of it. Before, it weighs idle subscribers.
func tellChanges(ctx context.Context, o options, b *bank) error {
	program, err := build(ctx, b.work)
	if err != nil {
		return err
	}
	server, err := serve(program, b.work, append(b.settings(), "BANKGRAPH_RATE=0", "BANKGRAPH_TENANT_RATE=0",
		"BANKGRAPH_WEBHOOKS_LOOPBACK=true")...)
	if err != nil {
		return err
	}
	defer server.stop()
	if err := b.weighSubscribers(ctx, server); err != nil {
		return fmt.Errorf("idle subscribers: %w", err)
	}
	all, err := samplePayers(ctx, b.owner)
	if err != nil {
		return err
	}
	payer, err := b.customerOf(ctx, all[0])
	if err != nil {
		return err
	}
	var heard, posted arrivals
	sink, err := posted.listen()
	if err != nil {
		return err
	}
	defer sink.Close()
	if err := b.hook(ctx, server.address, payer, "http://"+sink.Addr().String()); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	socket, err := b.subscribe(ctx, server.address, 1,
		fmt.Sprintf(`subscription { paymentChanged(customer: %q) { payment { uid } } }`, payer.String()))
	if err != nil {
		return err
	}
	defer func() { _ = socket.CloseNow() }()
	listening, stop := context.WithCancel(ctx)
	defer stop()
	go heard.read(listening, socket)
	time.Sleep(time.Second) // until it listens
	answered, err := b.payOneByOne(ctx, server.address, o.changes, transfers(all, all[0]))
	if err != nil {
		return err
	}
	fmt.Printf("%d payments, one by one:\n", o.changes)
	return errors.Join(heard.report("a subscriber", answered), posted.report("a webhook", answered))
}

// customerOf returns whose account it is.
func (b *bank) customerOf(ctx context.Context, account accounts.UID) (of customers.UID, err error) {
	conn, err := pgx.Connect(ctx, b.owner)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	return of, conn.QueryRow(ctx, "SELECT customer FROM accounts WHERE uid = $1", int64(account)).Scan(&of)
}

// weighSubscribers tells by how much the program's memory grows for each subscriber to whom nothing happens.
func (b *bank) weighSubscribers(ctx context.Context, server *child) error {
	watchAll(ctx, server.address, map[string]string{"": b.token}, time.Second) // to warm up
	before := memoryOf(server, "VmRSS:")
	var sockets []*websocket.Conn
	defer func() {
		for _, socket := range sockets {
			_ = socket.CloseNow()
		}
	}()
	for range idleSockets {
		socket, err := b.subscribe(ctx, server.address, idleOnASocket,
			`subscription { paymentChanged(payment: 1) { action payment { uid status amount } } }`)
		if err != nil {
			return err
		}
		sockets = append(sockets, socket)
	}
	time.Sleep(2 * time.Second)
	after := memoryOf(server, "VmRSS:")
	const many = idleSockets * idleOnASocket
	fmt.Printf("%d idle subscribers on %d WebSockets: memory %d → %d MiB, %.0f KiB each\n", many,
		idleSockets, before, after, float64(after-before)*1024/many)
	return nil
}

// subscribe opens a WebSocket and begins so many subscriptions on it.
func (b *bank) subscribe(
	ctx context.Context, address string, times int, document string,
) (*websocket.Conn, error) {
	socket, _, err := websocket.Dial(ctx, "ws://"+address+"/graphql", //nolint:bodyclose // the package does
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		return nil, err
	}
	say := func(message map[string]any) {
		text, failed := json.Marshal(message)
		err = errors.Join(err, failed, socket.Write(ctx, websocket.MessageText, text))
	}
	say(map[string]any{
		"type": "connection_init", "payload": map[string]any{"Authorization": "Bearer " + b.writer},
	})
	if _, said, failed := socket.Read(ctx); failed != nil || string(said) != `{"type":"connection_ack"}` {
		return nil, errors.Join(err, fmt.Errorf("the socket is answered %s (%w)", said, failed))
	}
	for n := range times {
		say(map[string]any{"type": "subscribe", "id": fmt.Sprint(n), "payload": map[string]any{"query": document}})
	}
	return socket, err
}

// hook has the payments of a customer posted to an address.
func (b *bank) hook(ctx context.Context, address string, of customers.UID, target string) error {
	body, err := json.Marshal(map[string]any{
		"query": `mutation($w: CreateWebhookInput!) { createWebhook(input: $w) { approval { uid } } }`,
		"variables": map[string]any{"w": map[string]any{
			"customer": of.String(), "name": "Bench", "target": target,
			"idempotencyKey": fmt.Sprint("bench-", time.Now().UnixNano()),
		}},
	})
	if err != nil {
		return err
	}
	var said struct {
		Errors []struct{ Message string }
		Data   struct {
			CreateWebhook *struct{ Approval *struct{ UID string } }
		}
	}
	err = post(ctx, "http://"+address+"/graphql", "application/json", b.writer, string(body), &said)
	if made := said.Data.CreateWebhook; err == nil && (made == nil || made.Approval != nil) {
		err = fmt.Errorf("it is answered %+v", said)
	}
	return err
}

// payOneByOne makes payments, and returns when each was answered.
func (b *bank) payOneByOne(
	ctx context.Context, address string, many int, draw func(*rand.Rand) string,
) (map[string]time.Time, error) {
	answered := map[string]time.Time{}
	dice := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // it is not a secret whom it pays
	for range many {
		key := fmt.Sprintf("told-%d", time.Now().UnixNano())
		body := fmt.Sprintf(`{"externalReferenceId":"%s","paymentAmount":1.00,"paymentDate":"%s",`+
			`"paymentNotes":"Rent","channel":"Portal",%s}`, key, time.Now().In(b.zone).
			Format("01-02-2006"), draw(dice))
		var made json.RawMessage
		if err := post(ctx, "http://"+address+"/v3/payments/booktransfer", "application/json", b.writer, body,
			&made); err != nil {
			return nil, err
		}
		at, named := time.Now(), paid.name.FindSubmatch(made)
		if named == nil {
			return nil, fmt.Errorf("the answer names no payment: %s", made)
		}
		answered[string(named[1])] = at
		time.Sleep(betweenPayments)
	}
	return answered, nil
}

// arrivals are when payments were first heard of.
type arrivals struct {
	mu  sync.Mutex
	all map[string]time.Time
}

func (a *arrivals) add(payment string) {
	at := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[string]time.Time{}
	}
	if _, known := a.all[payment]; !known {
		a.all[payment] = at
	}
}

// read hears of payments over a WebSocket.
func (a *arrivals) read(ctx context.Context, socket *websocket.Conn) {
	for {
		_, text, err := socket.Read(ctx)
		if err != nil {
			return
		}
		var said struct {
			Payload struct {
				Data struct {
					PaymentChanged struct{ Payment struct{ UID string } }
				}
			}
		}
		if json.Unmarshal(text, &said) == nil {
			a.add(said.Payload.Data.PaymentChanged.Payment.UID)
		}
	}
}

// listen hears of payments as a webhook does.
func (a *arrivals) listen() (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		_ = http.Serve(l,
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // on loopback
				text, err := io.ReadAll(r.Body)
				var said struct {
					PaymentID json.Number `json:"paymentId"`
				}
				if err == nil && json.Unmarshal(text, &said) == nil {
					a.add(said.PaymentID.String())
				}
				w.WriteHeader(http.StatusNoContent)
			}))
	}()
	return l, nil
}

// longestTelling is how long the last payments may take to be heard of.
const longestTelling = 30 * time.Second

// report tells how long after its answer each payment was heard of.
func (a *arrivals) report(who string, answered map[string]time.Time) error {
	var r round
	end := time.Now().Add(longestTelling)
	for ; len(r.latencies) < len(answered); time.Sleep(50 * time.Millisecond) {
		r.latencies = r.latencies[:0]
		a.mu.Lock()
		for payment, at := range answered {
			if heard, is := a.all[payment]; is {
				r.latencies = append(r.latencies, max(0, heard.Sub(at)))
			}
		}
		a.mu.Unlock()
		if time.Now().After(end) {
			return fmt.Errorf("%s has heard of %d of %d payments", who, len(r.latencies), len(answered))
		}
	}
	slices.Sort(r.latencies)
	fmt.Printf("  answered to heard by %s: p50 %.1f ms, p99 %.1f ms\n", who, r.percentile(0.5),
		r.percentile(0.99))
	return nil
}
