package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/demo"
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
	if _, err := conn.Exec(ctx, "SELECT set_config('bankgraph.tenant', $1::text, false)",
		fmt.Sprint(tenant)); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "ANALYZE payments, postings, journals, bulk_file_lines"); err != nil {
		return err
	}
	query := func(document string) func() error {
		body, _ := json.Marshal(map[string]any{
			"query":     document,
			"variables": map[string]any{"uid": demo.First.String()},
		})
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
			rows, err := conn.Query(ctx, `SELECT to_jsonb(p)::text FROM payments AS p
				WHERE tenant = $1 AND customer = $2
				ORDER BY uid DESC LIMIT 50 OFFSET $3`, tenant, int64(demo.First), 50*(page-1))
			if err == nil {
				_, err = pgx.CollectRows(rows, pgx.RowTo[string])
			}
			var all int64
			if err == nil {
				err = conn.QueryRow(ctx, `SELECT count(*) FROM payments
					WHERE tenant = $1 AND customer = $2`, tenant, int64(demo.First)).Scan(&all)
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
		fmt.Printf("%s: %.2f ms; %s: %.2f ms; ratio %.2f\n", read.name, inMillis(ours), read.beside,
			inMillis(against), ours.Seconds()/against.Seconds())
	}
	return b.proveAfter(ctx)
}

// proveAfter tells how long the books take to be proven.
func (b *bank) proveAfter(ctx context.Context) error {
	c, err := openCore(b.owner, b.keyset, db.Options{})
	if err != nil {
		return err
	}
	defer c.DB.Close()
	var tenant access.Tenant
	var made, postings int64
	err = c.DB.NewRaw(`SELECT id, (SELECT count(*) FROM payments), (SELECT count(*) FROM postings)
		FROM tenants WHERE code = 'sandbox'`).Scan(ctx, &tenant, &made, &postings)
	if err != nil {
		return err
	}
	began := time.Now()
	wrong, err := c.Ledger.Prove(access.Operator(ctx, tenant, "sandbox", b.zone))
	if err != nil {
		return err
	}
	took := time.Since(began)
	fmt.Printf("proof of %d payments and %d postings: %.2f s, %.2f s per million of both; %d violations\n", made,
		postings, took.Seconds(), took.Seconds()*1e6/float64(made+postings), len(wrong))
	return nil
}

// writeAfter tells how long it takes to take the money of all payments that wait for ACH, and then to write
// the files of NACHA that they leave in, and how much memory, and to prove the books then. Nobody else works
// on them.
func (b *bank) writeAfter(ctx context.Context) error {
	c, err := openCore(b.owner, b.keyset, db.Options{})
	if err != nil {
		return err
	}
	defer c.DB.Close()
	tenant, err := c.Tenants.Find(access.Operator(ctx, 0, "", nil), "sandbox")
	if err != nil {
		return err
	}
	operator := access.Operator(ctx, tenant.ID, tenant.Code, b.zone)
	if err := c.Clock.CatchUp(operator); err != nil {
		return err
	}
	for _, step := range []struct {
		what, from string
		do         func(context.Context) (int, error)
	}{
		{"carried out", "SCHEDULED", c.Payments.CarryOutDue},
		{"made entries of ACH", "QUEUED", c.Payments.SendQueued},
		{"written into files of NACHA", "", c.Payments.SealFiles},
	} {
		before, err := forgetPeak()
		if err != nil {
			return err
		}
		all, took, err := b.workOff(operator, c, step.from, step.do)
		if err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		peak, err := peakOf(os.Getpid())
		if err != nil {
			return err
		}
		fmt.Printf("%d payments %s: %.1f s, %.0f a second; peak memory %d MiB, %d MiB before\n",
			all, step.what, took.Seconds(), float64(all)/took.Seconds(), peak>>20, before>>20)
	}
	return b.proveAfter(ctx)
}

// workOff moves the bank's clock on, from one time at which something is due to the next, until no payment
// over ACH is in a state any more. It returns how many payments were worked on, and how long that took.
func (b *bank) workOff(
	operator context.Context, c *core.Core, from string, do func(context.Context) (int, error),
) (all int, took time.Duration, err error) {
	for {
		began := time.Now()
		for n := 1; n > 0; all += n {
			if n, err = do(operator); err != nil {
				return all, took, err
			}
		}
		took += time.Since(began)
		var left int
		if err := c.DB.NewRaw("SELECT count(*) FROM payments WHERE rail = 'ACH' AND state = ?", from).Scan(operator,
			&left); err != nil || left == 0 {
			return all, took, err
		}
		reading, err := c.Clock.Read(operator)
		if err != nil {
			return all, took, err
		}
		next, err := c.Payments.Next(operator, reading.Now)
		if err == nil && next == nil {
			err = fmt.Errorf("%d are left, and nothing is due", left)
		}
		if err == nil {
			err = c.Clock.Set(operator, *next)
		}
		if err != nil {
			return all, took, err
		}
	}
}

// forgetPeak makes the most memory that this process has had what it has now, and returns that, in bytes.
func forgetPeak() (int64, error) {
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200); err != nil {
		return 0, err
	}
	return peakOf(os.Getpid())
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
