package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/demo"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// asked is how many times each read is asked for.
const asked = 200

// readAfter tells what reads cost in a bank with so many payments: the median of each, beside that of a
// statement written by hand, or of the same read without payments.
func (b *bank) readAfter(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, b.owner)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var tenant int64
	if err := conn.QueryRow(ctx, "SELECT id FROM tenants WHERE code = 'sandbox'").Scan(&tenant); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "SELECT set_config('bankgraph.tenant', $1::text, false)", fmt.Sprint(tenant)); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "ANALYZE payments, postings, journals, bulk_file_lines"); err != nil {
		return err
	}
	query := func(document string) func() error {
		body, _ := json.Marshal(map[string]any{"query": document, "variables": map[string]any{"uid": demo.First.String()}})
		return func() error {
			var answer struct {
				Errors []struct{ Message string }
			}
			err := post(ctx, "http://"+address+"/graphql", "application/json", b.token, string(body), &answer)
			if err == nil && len(answer.Errors) > 0 {
				err = fmt.Errorf("the answer says: %s", answer.Errors[0].Message)
			}
			return err
		}
	}
	search := func(page int) func() error {
		return func() error {
			var answer any
			return post(ctx, "http://"+address+"/v3/payments/search", "application/json", b.token,
				fmt.Sprintf(`{"customerUID": %q, "page": %d, "limit": 50}`, demo.First, page), &answer)
		}
	}
	byHand := func(page int) func() error {
		return func() error {
			rows, err := conn.Query(ctx, `SELECT to_jsonb(p)::text FROM payments AS p WHERE tenant = $1 AND customer = $2
				ORDER BY uid DESC LIMIT 50 OFFSET $3`, tenant, int64(demo.First), 50*(page-1))
			if err == nil {
				_, err = pgx.CollectRows(rows, pgx.RowTo[string])
			}
			var all int64
			if err == nil {
				err = conn.QueryRow(ctx, `SELECT count(*) FROM payments WHERE tenant = $1 AND customer = $2`, tenant,
					int64(demo.First)).Scan(&all)
			}
			return err
		}
	}
	whole := strings.Replace(customer360, "limits(rail", `payments(first: 10) {
      nodes { uid rail status amount currency createdAt externalReferenceId senderName receiverName }
    }
    limits(rail`, 1)
	for _, read := range []struct {
		name, beside  string
		ours, against func() error
	}{
		{"customer 360 with its last 10 payments", "without them", query(whole), query(customer360)},
		{"REST, search of a customer's payments, page 1", "by hand", search(1), byHand(1)},
		{"REST, the same, page 100", "by hand", search(100), byHand(100)},
		{
			"balances of 100 accounts a day ago", "balances now",
			query(`{ customers(first: 20) { nodes { accounts(first: 5) { nodes { balanceAt(bookedAt: "` +
				time.Now().AddDate(0, 0, -1).UTC().Format(time.RFC3339) + `") { ledger } } } } } }`),
			query(`{ customers(first: 20) { nodes { accounts(first: 5) { nodes { balances { ledger } } } } } }`),
		},
	} {
		ours, err := medianOf(read.ours)
		if err != nil {
			return fmt.Errorf("%s: %w", read.name, err)
		}
		against, err := medianOf(read.against)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", read.name, read.beside, err)
		}
		fmt.Printf("%s: %.2f ms; %s: %.2f ms; ratio %.2f\n", read.name, inMillis(ours), read.beside, inMillis(against),
			ours.Seconds()/against.Seconds())
	}
	return b.proveAfter(ctx, conn)
}

// proveAfter tells how long the books take to be proven.
func (b *bank) proveAfter(ctx context.Context, conn *pgx.Conn) error {
	var tenant, made, postings int64
	err := conn.QueryRow(ctx, `SELECT id, (SELECT count(*) FROM payments), (SELECT count(*) FROM postings)
		FROM tenants WHERE code = 'sandbox'`).Scan(&tenant, &made, &postings)
	if err != nil {
		return err
	}
	pools, err := db.Open(b.owner, db.Options{})
	if err != nil {
		return err
	}
	defer pools.Close()
	c := core.New(core.Options{DB: pools, Keys: seal.New(), PublicURL: publicURL})
	began := time.Now()
	wrong, err := c.Ledger.Prove(access.Operator(ctx, access.Tenant(tenant), "sandbox", b.zone))
	if err != nil {
		return err
	}
	took := time.Since(began)
	fmt.Printf("proof of %d payments and %d postings: %.2f s, %.2f s per million of both; %d violations\n", made, postings,
		took.Seconds(), took.Seconds()*1e6/float64(made+postings), len(wrong))
	return nil
}

func inMillis(d time.Duration) float64 { return d.Seconds() * 1000 }

// medianOf asks many times in a row.
func medianOf(ask func() error) (time.Duration, error) {
	var all []time.Duration
	for range asked {
		began := time.Now()
		if err := ask(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
