package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/fees"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/tenants"
	"bankgraph/db"
)

// Workloads h and h1 move a dollar from one account to another, over and over.

// payers are accounts that can pay in dollars and be paid, without a second person. The first one, which
// costs a fee, pays everything in h1.
const payers = `
SELECT a.uid FROM accounts AS a JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
  JOIN tenants AS t ON t.id = a.tenant AND t.code = 'sandbox'
  LEFT JOIN customers AS o ON o.tenant = c.tenant AND o.uid = c.owner
WHERE a.status = 'Active' AND a.type = 'Deposit' AND a.currency = 'USD'
  AND a.system_of_record = 'Internal Core'
  AND a.deleted_at IS NULL AND c.status IN ('Active', 'New') AND NOT c.access_payment_dual_approval
  AND (o.uid IS NULL OR o.status IN ('Active', 'New')) AND EXISTS (
    SELECT FROM balances AS b WHERE b.tenant = a.tenant AND b.account = a.uid)
ORDER BY c.uid % 4 <> 2, a.uid LIMIT 10000`

// samplePayers reads them.
func samplePayers(ctx context.Context, url string) ([]accounts.UID, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, payers)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[accounts.UID])
}

// bookFee is what a payment costs those who hold its tier.
var bookFee = fees.Fee{
	Application: "Payments", Product: "Outgoing Payment",
	FeeName: "Book Transfer", FeeTier: "Gold",
}

// everyFourth gives a tier to a quarter of the customers. Those who have one keep it.
const everyFourth = `
INSERT INTO fee_tiers (tenant, customer, application, product, fee_name, fee_tier)
SELECT c.tenant, c.uid, ?, ?, ?, ? FROM customers AS c WHERE c.tenant = ? AND c.uid % 4 = 2 AND NOT EXISTS (
  SELECT FROM fee_tiers AS f WHERE f.tenant = c.tenant AND f.customer = c.uid
  AND lower(f.fee_name) = lower(?))`

// fund makes payments possible: it sets what they cost, and books money on accounts that could run out of it.
func (b *bank) fund(ctx context.Context, c *core.Core, tenant *tenants.Tenant) error {
	all, err := samplePayers(ctx, b.owner)
	if err != nil {
		return err
	}
	if err := c.Fees.Configure(ctx, bookFee, "0.25", "USD"); err != nil {
		return err
	}
	err = c.DB.InTx(ctx, int64(tenant.ID), func(ctx context.Context, tx db.Tx) error {
		_, err := tx.NewRaw(everyFourth, bookFee.Application, bookFee.Product, bookFee.FeeName,
			bookFee.FeeTier, tenant.ID, bookFee.FeeName).Exec(ctx)
		return err
	})
	const together = 500
	for from := 0; from < len(all) && err == nil; from += together {
		some := all[from:min(from+together, len(all))]
		err = c.DB.InTx(ctx, int64(tenant.ID), func(ctx context.Context, tx db.Tx) error {
			return fundTx(ctx, tx, c, tenant, some, all[0])
		})
	}
	return err
}

func fundTx(
	ctx context.Context, tx db.Tx, c *core.Core, tenant *tenants.Tenant, some []accounts.UID, hot accounts.UID,
) error {
	houses, locked := map[int16]accounts.UID{}, slices.Clone(some)
	for shard := range int16(ledger.Shards) {
		house, err := c.Ledger.HouseTx(ctx, tx, tenant.ID, ledger.HouseOpening, "USD", shard)
		if err == nil {
			_, err = c.Ledger.HouseTx(ctx, tx, tenant.ID, ledger.HouseFees, "USD", shard)
		}
		if err != nil {
			return err
		}
		houses[shard], locked = house, append(locked, house)
	}
	batch := db.TxBatch(tx)
	books := ledger.Lock(batch, tenant.ID, locked, len(some))
	if err := batch.Send(ctx); err != nil {
		return err
	}
	for _, account := range some {
		enough, more := int64(10_000_00), int64(100_000_00)
		if account == hot {
			enough, more = 10_000_000_00, 100_000_000_00
		}
		if books.Of(account).Available().Minor >= enough {
			continue
		}
		journal, err := ledger.NewOpening(time.Now().In(tenant.Location()), account,
			houses[ledger.ShardOf(account)], money.Of(more, "USD"))
		if err == nil {
			err = books.Book(journal)
		}
		if err != nil {
			return err
		}
	}
	return books.WriteTx(ctx)
}

// transfers picks who pays and who is paid; from is 0 where anybody pays.
func transfers(all []accounts.UID, from accounts.UID) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		payer := from
		if payer == 0 {
			payer = all[r.IntN(len(all))]
		}
		for {
			if payee := all[r.IntN(len(all))]; payee != payer {
				return fmt.Sprintf(`"senderAccount":{"accountUID":"%s","currency":"USD"},`+
					`"receiverAccount":{"accountUID":"%s"}`,
					payer, payee)
			}
		}
	}
}

// transfer asks for a payment. Its reference is its key, too.
func (b *bank) transfer(row string) []byte {
	key := fmt.Sprintf("bench-%d", born.Add(1))
	return b.post("/v3/payments/booktransfer",
		fmt.Sprintf(`{"externalReferenceId":"%s","paymentAmount":1.00,"paymentDate":"%s",`+
			`"paymentNotes":"Rent","channel":"Portal",%s}`,
			key, day(access.Caller{Zone: b.zone}).Format("01-02-2006"), row), "Idempotency-Key: "+key+"\r\n")
}

// paid is what a payment leaves behind, without what is different for every payment. What must be true of the
// rest is told as true.
var paid = &written{
	name: regexp.MustCompile(`"paymentUID": *"([0-9]+)"`),
	rows: `
SELECT jsonb_build_object(
  'payment', to_jsonb(p) - '{uid,external_reference_id,created_at,updated_at}'::text[]
    || jsonb_build_object('new', p.created_at = p.updated_at),
  'steps', (SELECT jsonb_agg(to_jsonb(s) - '{payment,at}'::text[] || jsonb_build_object('at once',
  	s.at = p.created_at) ORDER BY s.number)
    FROM payment_steps AS s WHERE s.tenant = p.tenant AND s.payment = p.uid),
  'journals', (SELECT jsonb_agg(to_jsonb(j) - '{id,booked_at,payment}'::text[] ||
  	jsonb_build_object('postings', (
      SELECT jsonb_agg(to_jsonb(q) - '{journal,version,balance_after}'::text[] || jsonb_build_object(
          'follows', q.balance_after - q.amount = coalesce(before.balance_after, 0), 'told',
          b.booked_at >= j.booked_at)
        ORDER BY q.account)
      FROM postings AS q JOIN balances AS b ON b.tenant = q.tenant AND b.account = q.account
      LEFT JOIN postings AS before ON before.tenant = q.tenant AND before.account = q.account
      AND before.version = q.version - 1
      WHERE q.tenant = j.tenant AND q.journal = j.id)) ORDER BY j.id)
    FROM journals AS j WHERE j.tenant = p.tenant AND j.payment = p.uid),
  'entries', (SELECT jsonb_agg(to_jsonb(e) - '{id,at,tx,uid,after,request}'::text[] || jsonb_build_object(
      'after', e.after::jsonb - '{uid,externalReferenceId}'::text[], 'request', length(e.request),
      'to seal', EXISTS (SELECT FROM audit_unsealed AS u WHERE u.tenant = e.tenant AND u.entry = e.id)
        OR EXISTS (SELECT FROM audit_seals AS u WHERE u.tenant = e.tenant AND u.entry = e.id),
      'events', (SELECT jsonb_agg(to_jsonb(v) - '{id,at,tx,entry,uid}'::text[]) FROM events AS v
        WHERE v.tenant = e.tenant AND v.object = e.object AND v.uid = e.uid AND v.entry = e.id)))
    FROM audit_entries AS e WHERE e.tenant = p.tenant AND e.object = 'payment' AND e.uid = p.uid::text),
  'keys', (SELECT jsonb_agg(to_jsonb(k) - '{key,request,outcome,created_at}'::text[] || jsonb_build_object(
      'request', length(k.request), 'its', k.outcome::jsonb #> '{result,uid}' = to_jsonb(p.uid),
      'outcome', k.outcome::jsonb #- '{result,uid}' #- '{result,externalReferenceId}'))
    FROM idempotency_keys AS k WHERE k.tenant = p.tenant AND k.operation = 'transferFunds'
    AND k.key = p.external_reference_id)
)::text FROM payments AS p WHERE p.uid = $1::text::bigint`,
}
