package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/db"
)

// Violation is a row of the books that breaks an invariant.
type Violation struct {
	Invariant string        `bun:"-" json:"invariant"`
	Tenant    access.Tenant `bun:"tenant" json:"tenant"`
	// the account, journal or currency that is wrong
	Subject string `bun:"subject" json:"subject"`
	What    string `bun:"what" json:"what"`
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: bank %d: %s: %s", v.Invariant, v.Tenant, v.Subject, v.What)
}

// Invariant is what must hold at every commit (core/README.md, invariants), with a query for the rows of one
// bank (?0) that break it. Sums are numeric, so that a check does not overflow on the row that it should
// find.
type Invariant struct{ Name, Says, Query string }

// invariants lists what the books must satisfy.
var invariants = []Invariant{
	{"I1", "the postings of a journal sum to zero in each currency", `
		SELECT ?0::bigint AS tenant, 'journal ' || coalesce(p.journal, j.id) AS subject,
		  coalesce('sums to ' || p.sum || ' ' || p.currency, 'has no postings') AS what
		FROM (SELECT id FROM journals WHERE tenant = ?0) AS j FULL JOIN (
		  SELECT journal, currency, sum(amount) FROM postings WHERE tenant = ?0
		  GROUP BY journal, currency) AS p
		  ON p.journal = j.id
		WHERE j.id IS NULL OR p.sum IS DISTINCT FROM 0`},
	{"I2", "over a whole bank each currency sums to zero", `
		SELECT tenant, currency AS subject, 'balances sum to ' || sum(ledger) AS what
		FROM balances WHERE tenant = ?0 GROUP BY tenant, currency HAVING sum(ledger) <> 0`},
	{
		"I3",
		"an account's postings are numbered without a gap, each goes on from the one before, " +
			"and the balance is that of the last", `
		SELECT ?0::bigint AS tenant, 'account ' || coalesce(p.account, b.account) AS subject, concat_ws('; ',
		  'posting ' || p.version || ' leaves ' || balance_after || ', as number ' || place || ' after ' || before
		  || ' and with ' || amount, 'the balance is ' || b.ledger || ' at version ' || b.version) AS what
		FROM (
		  SELECT *, row_number() OVER each AS place, lag(balance_after, 1, 0::bigint) OVER each AS before,
		    CASE WHEN lead(account) OVER each IS NULL THEN account END AS last_of
		  FROM postings WHERE tenant = ?0 WINDOW each AS (PARTITION BY tenant, account ORDER BY version)
		) AS p FULL JOIN (SELECT account, ledger, version FROM balances WHERE tenant = ?0) AS b
		  ON b.account = p.last_of
		-- of what is small enough the sum as an integer, which is quicker than numeric
		WHERE p.version <> place OR CASE WHEN greatest(abs(before / 2), abs(amount / 2)) < (1::bigint << 61)
		    THEN before + amount <> balance_after ELSE before::numeric + amount <> balance_after END
		  OR p.account IS NULL AND (b.ledger, b.version) <> (0, 0)
		  OR last_of IS NOT NULL AND (b.ledger, b.version) IS DISTINCT FROM (p.balance_after, p.version)`,
	},
	{"I4", "what an account holds is the sum of its open holds", `
		SELECT b.tenant, 'account ' || b.account AS subject,
		  'holds ' || b.held || ', its open holds are ' || coalesce(h.sum, 0) AS what
		FROM balances AS b LEFT JOIN (
		  SELECT account, sum(amount) FROM holds WHERE tenant = ?0 AND state = 'OPEN' GROUP BY account) AS h
		  ON h.account = b.account
		WHERE b.tenant = ?0 AND b.held <> coalesce(h.sum, 0)`},
	{"I5", "every account kept here is in the books, in its currency, and the books have no other", `
		SELECT ?0::bigint AS tenant, 'account ' || coalesce(a.uid, b.account) AS subject, CASE
		  WHEN a.uid IS NULL THEN 'is in the books and nobody''s' WHEN b.account IS NULL
		  OR b.house <> '' THEN 'is kept here and not in the books'
		  ELSE 'is in ' || a.currency || ', the books are in ' || b.currency END AS what
		FROM (SELECT uid, currency, system_of_record = 'Internal Core' AS kept FROM accounts WHERE tenant = ?0) AS a
		FULL JOIN (SELECT account, currency, house, version FROM balances WHERE tenant = ?0) AS b
		ON b.account = a.uid
		WHERE a.uid IS NULL AND b.house = '' OR kept AND (b.account IS NULL OR b.house <> '')
		OR (kept OR b.version > 0) AND a.currency <> b.currency`},
	{"I6", "what is available is not below the overdraft, unless a return forced it", `
		SELECT tenant, 'account ' || account AS subject,
		  'has ' || ledger || ', ' || held || ' held, overdraft ' || overdraft AS what
		FROM balances WHERE tenant = ?0 AND house = '' AND NOT forced
		AND ledger::numeric - held < 0 - overdraft::numeric`},
	{"I8", "a posting has its account's currency", `
		SELECT p.tenant, 'account ' || p.account AS subject,
		  'posting ' || p.version || ' is in ' || p.currency || ', the books are in ' || b.currency AS what
		FROM postings AS p JOIN balances AS b ON b.tenant = p.tenant AND b.account = p.account
		WHERE p.tenant = ?0 AND p.currency <> b.currency`},
	{"I10", "along an account's postings the booking time never decreases", `
		SELECT tenant, 'account ' || account AS subject,
		  'posting ' || version || ' was booked before the one ahead of it' AS what
		FROM (SELECT p.tenant, p.account, p.version, j.booked_at,
		        lag(j.booked_at) OVER (PARTITION BY p.tenant, p.account ORDER BY p.version) AS before
		      FROM postings AS p JOIN journals AS j ON j.tenant = p.tenant AND j.id = p.journal
		      WHERE p.tenant = ?0 AND EXISTS (SELECT FROM balances AS b
		      	WHERE b.tenant = ?0 AND b.account = p.account AND b.version > 1)) AS p
		WHERE booked_at < before`},
}

// most is how many rows of a bank are named for each invariant.
const most = 100

// ProveToo adds what else must hold of the money, for domains that come after the ledger. It is called when
// the bank is built.
func (s *Service) ProveToo(more ...Invariant) { s.others = append(s.others, more...) }

// Invariants lists what the books must satisfy, with what other domains added.
func (s *Service) Invariants() []Invariant { return slices.Concat(invariants, s.others) }

// atATime is how many invariants somebody who waits for the proof at the command line has checked at a time.
const atATime = 4

// Prove checks the books of the caller's bank in one snapshot, and returns what is wrong; empty if nothing
// is. It takes seconds for millions of postings, and locks nothing.
func (s *Service) Prove(ctx context.Context) (all []Violation, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	var found []InvariantProof
	err = s.db.Report(ctx, longestProof, atATime, func(ctx context.Context, r *db.Report) (err error) {
		found, err = s.prove(ctx, r, caller.Tenant)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bank %d: %w", caller.Tenant, err)
	}
	for _, one := range found {
		all = append(all, one.Violations...)
	}
	return all, nil
}

// breaking is a row that breaks an invariant, with how many there are.
type breaking struct {
	Violation `bun:",extend"`

	Of int64 `bun:"of"`
}

// prove checks one bank.
func (s *Service) prove(ctx context.Context, r *db.Report, tenant access.Tenant) ([]InvariantProof, error) {
	invariants := s.Invariants()
	all := make([]InvariantProof, len(invariants))
	return all, r.Each(ctx, len(all), func(ctx context.Context, tx bun.Tx, i int) (err error) {
		i = len(all) - 1 - i // what other domains added takes longest, so it is begun first
		all[i], err = invariants[i].proveTx(ctx, tx, tenant)
		return err
	})
}

func (i Invariant) proveTx(ctx context.Context, tx bun.Tx, tenant access.Tenant) (InvariantProof, error) {
	var rows []breaking
	// MATERIALIZED: all of it is read, so the plan must not be one that is quick to begin.
	err := tx.NewRaw("WITH v AS MATERIALIZED ("+i.Query+
		") SELECT v.*, (SELECT count(*) FROM v) AS of FROM v LIMIT ?1", tenant, most).Scan(ctx, &rows)
	if err != nil {
		return InvariantProof{}, fmt.Errorf("prove that %s (%s): %w", i.Says, i.Name, err)
	}
	proof := InvariantProof{Name: i.Name, Says: i.Says, Violations: []Violation{}}
	for _, row := range rows {
		proof.Count, row.Invariant = row.Of, i.Name
		proof.Violations = append(proof.Violations, row.Violation)
	}
	return proof, nil
}
