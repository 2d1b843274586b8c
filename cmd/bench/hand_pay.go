package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"bankgraph/core/access"
	"bankgraph/core/money"
	"bankgraph/core/seal"
)

// Workloads h and h1. Here each payment is a transaction of its own, of two round trips:
//
//	BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL bankgraph.tenant = …
//	SELECT … FROM idempotency_keys
//	WITH c AS (SELECT … FROM fee_tiers) SELECT … FROM balances … ORDER BY account FOR NO KEY UPDATE
//	SELECT … FROM accounts, customers
//	SELECT clock_timestamp(), nextval('payment_uids'), …
//
// and, once it is decided,
//
//	INSERT INTO payments, payment_steps, journals, postings; UPDATE balances
//	INSERT INTO audit_entries, audit_unsealed, events, idempotency_keys
//	COMMIT
//
// The bank sends the same for many payments at a time. As there, a key is looked up first and written last
// with its answer: copies of a request wait for each other's accounts, and the key's row lets one of them
// commit.
const (
	readTransferKey = `SELECT request, outcome FROM idempotency_keys WHERE tenant = $1 AND client = $2
		AND operation = 'transferFunds' AND key = $3`

	// the first tier of the account that is priced in its currency, with the house account that takes the fee
	selectCharge = `SELECT f.fee_name, f.fee_tier, k.price, h.account
FROM accounts AS a
JOIN fee_tiers AS f ON f.tenant = a.tenant AND f.customer = a.customer AND f.status = 'Active'
  AND (f.account IS NULL OR f.account = a.uid)
JOIN fee_catalogue AS k ON k.tenant = f.tenant AND lower(k.application) = lower(f.application)
  AND lower(k.product) = lower(f.product)
  AND lower(k.fee_name) = lower(f.fee_name) AND lower(k.fee_tier) = lower(f.fee_tier)
  AND k.currency = a.currency
JOIN balances AS h ON h.tenant = a.tenant AND h.house = 'fees' AND h.currency = a.currency
  AND h.shard = a.uid % 8
WHERE a.tenant = $1 AND f.tenant = $1 AND k.tenant = $1 AND h.tenant = $1 AND a.uid = $2
  AND a.deleted_at IS NULL
  AND lower(f.application) = 'payments' AND lower(f.fee_name) = 'book transfer'
ORDER BY f.account NULLS LAST, f.id LIMIT 1`

	lockBalances = `
WITH c AS MATERIALIZED (` + selectCharge + `)
SELECT b.account, b.currency, b.ledger, b.held, b.overdraft, b.forced, b.version, b.booked_at,
  coalesce(c.fee_name, ''), coalesce(c.fee_tier, ''), coalesce(c.price, 0), coalesce(c.account, 0)
FROM balances AS b LEFT JOIN c ON true
WHERE b.tenant = $1 AND b.account = ANY(ARRAY[$2, $3, (SELECT account FROM c)]::bigint[])
ORDER BY b.account FOR NO KEY UPDATE OF b`

	selectParties = `
SELECT a.uid, a.status, a.currency, a.system_of_record, a.customer, c.legal_name, c.status, c.owner,
  coalesce(o.status, ''), c.access_payment_dual_approval OR EXISTS (
    SELECT FROM customers AS b WHERE b.tenant = $1 AND b.relationship_type = 'Self'
    AND b.access_payment_dual_approval)
FROM accounts AS a JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
LEFT JOIN customers AS o ON o.tenant = c.tenant AND o.uid = c.owner AND o.uid <> c.uid
WHERE a.tenant = $1 AND c.tenant = $1 AND a.uid IN ($2, $3) AND a.deleted_at IS NULL`

	takeNumbers = `SELECT clock_timestamp(), nextval('payment_uids'), nextval('journal_ids'),
		nextval('journal_ids'), nextval('audit_ids')`

	insertPayment = `
INSERT INTO payments (tenant, uid, customer, rail, state, amount, currency, payment_date, fee, fee_name,
  fee_tier, external_reference_id, notes, channel, sender_account, sender_name, receiver_account,
  receiver_customer, receiver_name, reason, maker_client, maker_login,
  created_at, updated_at, version)
VALUES ($1, $2, $3, 'BOOK', 'SETTLED', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, '',
  $18, $19, $20, $20, 1)`

	insertStep = `
INSERT INTO payment_steps (tenant, payment, number, state, at, client, login_id, reason)
  VALUES ($1, $2, 1, 'SETTLED', $3, $4, $5, '')`

	insertJournals = `
INSERT INTO journals (tenant, id, kind, value_date, booked_at, description, payment)
SELECT $1, j.id, j.kind, $5, $6, j.description, $7
  FROM unnest($2::bigint[], $3::text[], $4::text[]) AS j(id, kind, description)`

	insertPostings = `
INSERT INTO postings (tenant, account, version, journal, amount, currency, balance_after)
SELECT $1, p.account, p.version, p.journal, p.amount, $7, p.after
FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) AS p(account, version,
  journal, amount, after)`

	moveBalances = `
UPDATE balances AS b SET ledger = n.ledger, version = n.version, booked_at = $5
FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS n(account, ledger, version)
  WHERE b.tenant = $1 AND b.account = n.account`

	insertTransferEntry = `
INSERT INTO audit_entries (tenant, id, client, login_id, entity, action, decision, object, uid, customer,
  before, after, reason, request)
VALUES ($1, $2, $3, $4, $5, 'transferFunds', 'done', 'payment', $6, $7, '{}', $8, '', $9)`

	insertTransferUnsealed = `INSERT INTO audit_unsealed (tenant, entry) VALUES ($1, $2)`

	insertTransferEvent = `
INSERT INTO events (tenant, kind, object, uid, customer, version, entry)
  VALUES ($1, 'transferFunds', 'payment', $2, $3, 1, $4)`

	insertTransferKey = `
INSERT INTO idempotency_keys (tenant, client, operation, key, request, outcome)
  VALUES ($1, $2, 'transferFunds', $3, $4, $5)`
)

var errRefused = errors.New("the payment is refused")

// bookTransfer is workloads h and h1.
func (h hand) bookTransfer(w http.ResponseWriter, r *http.Request) {
	caller, err := access.Require(r.Context(), access.InitiatePayments)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	t := &transfer{now: time.Now()}
	if err = cmp.Or(err, json.Unmarshal(body, t)); err == nil {
		err = t.check(day(caller))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id := make([]byte, 12)
	_, _ = rand.Read(id)
	caller.Request = hex.EncodeToString(id)
	once := onceKey{caller: caller, key: r.Header.Get("Idempotency-Key")}
	if once.key != "" {
		once.request = h.keys.Secret(fmt.Sprintf("idempotency/%d", caller.Tenant), string(body))
	}
	saved, err := h.pay(r.Context(), t, once)
	switch {
	case err == nil:
		answerREST(w, saved.shown(), nil)
	case errors.Is(err, errReused), errors.Is(err, errAbsent), errors.Is(err, errRefused):
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		fail(w, err)
	}
}

// savedPayment is the answer as a key keeps it.
type savedPayment struct {
	UID       int64  `json:"uid"`
	Status    string `json:"status"`
	Reference string `json:"externalReferenceId"`
}

type shownPayment struct {
	UID       int64  `json:"paymentUID,string"`
	Status    string `json:"paymentStatus"`
	Reference string `json:"externalReferenceId"`
}

func (s savedPayment) shown() shownPayment { return shownPayment(s) }

// keptPayment is the row of a key.
type keptPayment struct {
	Result savedPayment `json:"result"`
	Mark   keptMark     `json:"mark"`
}

type keptMark struct {
	Replayed bool
	Approval int64
	Version  int32
}

// pay runs the transaction. A copy of the request that was quicker has written the key: its answer is read.
func (h hand) pay(ctx context.Context, t *transfer, once onceKey) (saved savedPayment, err error) {
	conn, err := h.pool.Acquire(ctx)
	if err != nil {
		return saved, err
	}
	defer conn.Release()
	kept, err := t.read(ctx, conn, once)
	if err == nil && kept != nil {
		_, err = conn.Exec(ctx, "ROLLBACK")
		return kept.Result, err
	}
	if err == nil {
		err = t.book()
	}
	if err == nil {
		saved = savedPayment{t.uid, "PROCESSED", t.Reference}
		err = t.write(ctx, conn, saved, once)
	}
	if err == nil {
		return saved, nil
	}
	if _, undone := conn.Exec(ctx, "ROLLBACK"); undone != nil {
		return saved, errors.Join(err, undone)
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.ConstraintName == "idempotency_keys_pkey" {
		if kept, err = t.read(ctx, conn, once); err == nil && kept != nil {
			saved = kept.Result
		}
		_, undone := conn.Exec(ctx, "ROLLBACK")
		err = errors.Join(err, undone)
	}
	return saved, err
}

// read begins the transaction, looks for the key, locks the accounts and reads what decides, in one round
// trip. It returns the answer that is kept for the key.
func (t *transfer) read(
	ctx context.Context, conn *pgxpool.Conn, once onceKey,
) (kept *keptPayment, err error) {
	tenant, from, to := once.caller.Tenant, t.Sender.UID, t.Receiver.UID
	t.balances, t.parties, t.fee = map[int64]*bookBalance{}, map[int64]*bookParty{}, bookCharge{}
	var request, outcome []byte
	var batch pgx.Batch
	batch.Queue(beginWrite)
	batch.Queue(actFor, strconv.FormatInt(int64(tenant), 10))
	if once.key != "" {
		batch.Queue(readTransferKey, tenant, once.caller.Party(), once.key).QueryRow(func(row pgx.Row) error {
			return optional(row.Scan(&request, &outcome))
		})
	}
	batch.Queue(lockBalances, tenant, from, to).Query(func(rows pgx.Rows) error {
		b := new(bookBalance)
		_, err := pgx.ForEachRow(rows, []any{
			&b.account, &b.currency, &b.ledger, &b.held, &b.overdraft, &b.forced, &b.version, &b.bookedAt,
			&t.fee.name, &t.fee.tier, &t.fee.price, &t.fee.house,
		}, func() error {
			one := *b
			t.balances[b.account] = &one
			return nil
		})
		return err
	})
	batch.Queue(selectParties, tenant, from, to).Query(func(rows pgx.Rows) error {
		p := new(bookParty)
		_, err := pgx.ForEachRow(rows, []any{
			&p.account, &p.status, &p.currency, &p.system, &p.customer, &p.name, &p.customerStatus,
			&p.owner, &p.partnerStatus, &p.dual,
		}, func() error {
			one := *p
			t.parties[p.account] = &one
			return nil
		})
		return err
	})
	batch.Queue(takeNumbers).QueryRow(func(row pgx.Row) error {
		return row.Scan(&t.bookedAt, &t.uid, &t.journals[0], &t.journals[1], &t.entry)
	})
	if err := conn.SendBatch(ctx, &batch).Close(); err != nil || outcome == nil {
		return nil, err
	}
	if !seal.SameSecret(request, once.request) {
		return nil, errReused
	}
	kept = new(keptPayment)
	return kept, json.Unmarshal(outcome, kept)
}

// optional takes the absence of a row for an answer.
func optional(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// write writes all rows of a payment and commits, in one round trip.
func (t *transfer) write(ctx context.Context, conn *pgxpool.Conn, saved savedPayment, once onceKey) error {
	caller, uid := once.caller, strconv.FormatInt(t.uid, 10)
	from, to := t.parties[t.Sender.UID], t.parties[t.Receiver.UID]
	text, err := json.Marshal(t.recorded())
	if err != nil {
		return err
	}
	var batch pgx.Batch
	batch.Queue(insertPayment, caller.Tenant, t.uid, from.customer, t.amount.Minor, from.currency, t.on,
		t.fee.price, t.fee.name, t.fee.tier, t.Reference, t.Notes, t.Channel, from.account,
		from.name, to.account, to.customer, to.name, caller.Client, caller.LoginID, t.now)
	batch.Queue(insertStep, caller.Tenant, t.uid, t.now, caller.Client, caller.LoginID)
	t.writeBooks(&batch, caller.Tenant)
	batch.Queue(insertTransferEntry, caller.Tenant, t.entry, caller.Client, caller.LoginID, caller.Entity,
		uid, from.customer, text, caller.Request)
	batch.Queue(insertTransferUnsealed, caller.Tenant, t.entry)
	batch.Queue(insertTransferEvent, caller.Tenant, uid, from.customer, t.entry)
	if once.key != "" {
		outcome, err := json.Marshal(keptPayment{saved, keptMark{Version: 1}})
		if err != nil {
			return err
		}
		batch.Queue(insertTransferKey, caller.Tenant, caller.Party(), once.key, once.request, outcome)
	}
	batch.Queue("COMMIT")
	return conn.SendBatch(ctx, &batch).Close()
}

// recorded is the payment as the record shows it.
func (t *transfer) recorded() map[string]any {
	from, to := t.parties[t.Sender.UID], t.parties[t.Receiver.UID]
	after := map[string]any{
		"uid": t.uid, "version": 1, "customer": from.customer, "rail": "BOOK", "status": "PROCESSED",
		"amount": t.amount.String(), "currency": from.currency, "paymentDate": t.on.Format(time.DateOnly),
		"senderAccount": from.account, "direction": "OUT", "entryType": "CREDIT", "senderName": from.name,
		"receiverAccount": to.account, "receiverCustomer": to.customer, "receiverName": to.name,
	}
	for name, value := range map[string]string{
		"externalReferenceId": t.Reference, "notes": t.Notes, "channel": t.Channel,
		"feeName": t.fee.name, "feeTier": t.fee.tier,
	} {
		if value != "" {
			after[name] = value
		}
	}
	if t.fee.price != 0 {
		after["fee"] = money.Of(t.fee.price, t.amount.Currency).String()
	}
	return after
}
