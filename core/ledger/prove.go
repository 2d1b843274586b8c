package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
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
		SELECT tenant, 'journal ' || journal AS subject, 'sums to ' || sum(amount) || ' ' || currency AS what
		FROM postings WHERE tenant = ?0 GROUP BY tenant, journal, currency HAVING sum(amount) <> 0
		UNION ALL
		SELECT tenant, 'journal ' || id, 'has no postings' FROM journals AS j
		WHERE j.tenant = ?0 AND NOT EXISTS (SELECT FROM postings AS p WHERE p.tenant = ?0 AND p.journal = j.id)`},
	{"I2", "over a whole bank each currency sums to zero", `
		SELECT tenant, currency AS subject, 'balances sum to ' || sum(ledger) AS what
		FROM balances WHERE tenant = ?0 GROUP BY tenant, currency HAVING sum(ledger) <> 0`},
	{
		"I3", "an account's postings are numbered without a gap, each goes on from the one before, and the balance is that of the last", `
		SELECT tenant, 'account ' || account AS subject, 'posting ' || version || ' leaves ' || balance_after ||
		  ', as number ' || place || ' after ' || before || ' and with ' || amount AS what
		FROM (SELECT *, row_number() OVER each AS place, lag(balance_after, 1, 0::bigint) OVER each AS before
		      FROM postings WHERE tenant = ?0 WINDOW each AS (PARTITION BY tenant, account ORDER BY version)) AS p
		WHERE version <> place OR before::numeric + amount <> balance_after
		UNION ALL
		SELECT b.tenant, 'account ' || b.account, 'has ' || b.ledger || ' at version ' || b.version ||
		  ', its last posting ' || coalesce(p.balance_after, 0) || ' at ' || coalesce(p.version, 0)
		FROM balances AS b LEFT JOIN LATERAL (
		  SELECT version, balance_after FROM postings WHERE tenant = ?0 AND account = b.account ORDER BY version DESC LIMIT 1
		) AS p ON true
		WHERE b.tenant = ?0 AND (b.ledger, b.version) <> (coalesce(p.balance_after, 0), coalesce(p.version, 0))`,
	},
	{"I4", "what an account holds is the sum of its open holds", `
		SELECT b.tenant, 'account ' || b.account AS subject, 'holds ' || b.held || ', its open holds are ' || coalesce(h.sum, 0) AS what
		FROM balances AS b LEFT JOIN (
		  SELECT account, sum(amount) FROM holds WHERE tenant = ?0 AND state = 'OPEN' GROUP BY account) AS h ON h.account = b.account
		WHERE b.tenant = ?0 AND b.held <> coalesce(h.sum, 0)`},
	{
		"I5", "what is available can be told: every account kept here is in the books, and the books have no other",
		`
		SELECT a.tenant, 'account ' || a.uid AS subject, 'is kept here and not in the books' AS what
		FROM accounts AS a LEFT JOIN balances AS b ON b.tenant = a.tenant AND b.account = a.uid
		WHERE a.tenant = ?0 AND a.system_of_record = 'Internal Core' AND (b.account IS NULL OR b.house <> '')
		UNION ALL
		SELECT b.tenant, 'account ' || b.account, 'is in the books and nobody''s'
		FROM balances AS b LEFT JOIN accounts AS a ON a.tenant = b.tenant AND a.uid = b.account
		WHERE b.tenant = ?0 AND b.house = '' AND a.uid IS NULL`,
	},
	{"I6", "what is available is not below the overdraft, unless a return forced it", `
		SELECT tenant, 'account ' || account AS subject, 'has ' || ledger || ', ' || held || ' held, overdraft ' || overdraft AS what
		FROM balances WHERE tenant = ?0 AND house = '' AND NOT forced AND ledger::numeric - held < 0 - overdraft::numeric`},
	{"I8", "a posting has its account's currency", `
		SELECT p.tenant, 'account ' || p.account AS subject, 'posting ' || p.version || ' is in ' || p.currency || ', the books are in ' || b.currency AS what
		FROM postings AS p JOIN balances AS b ON b.tenant = p.tenant AND b.account = p.account WHERE p.tenant = ?0 AND p.currency <> b.currency
		UNION ALL
		SELECT b.tenant, 'account ' || b.account, 'is in ' || a.currency || ', the books are in ' || b.currency
		FROM balances AS b JOIN accounts AS a ON a.tenant = b.tenant AND a.uid = b.account WHERE b.tenant = ?0 AND a.currency <> b.currency`},
	{"I10", "along an account's postings the booking time never decreases", `
		SELECT tenant, 'account ' || account AS subject, 'posting ' || version || ' was booked before the one ahead of it' AS what
		FROM (SELECT p.tenant, p.account, p.version, j.booked_at,
		        lag(j.booked_at) OVER (PARTITION BY p.tenant, p.account ORDER BY p.version) AS before
		      FROM postings AS p JOIN journals AS j ON j.tenant = p.tenant AND j.id = p.journal
		      WHERE p.tenant = ?0 AND EXISTS (SELECT FROM balances AS b WHERE b.tenant = ?0 AND b.account = p.account AND b.version > 1)) AS p
		WHERE booked_at < before`},
}

// most is how many rows of a bank are named for each invariant.
const most = 100

// ProveToo adds what else must hold of the money, for domains that come after the ledger. It is called when
// the bank is built.
func (s *Service) ProveToo(more ...Invariant) { s.others = append(s.others, more...) }

// Invariants lists what the books must satisfy, with what other domains added.
func (s *Service) Invariants() []Invariant { return slices.Concat(invariants, s.others) }

// Prove checks the books of the caller's bank in one snapshot, and returns what is wrong; empty if nothing
// is. It takes seconds for millions of postings, and locks nothing.
func (s *Service) Prove(ctx context.Context) (all []Violation, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	var found []InvariantProof
	err = s.db.Report(ctx, longestProof, func(ctx context.Context, tx bun.Tx) (err error) {
		found, err = s.proveTx(ctx, tx, caller.Tenant)
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

// proveTx checks one bank.
func (s *Service) proveTx(ctx context.Context, tx bun.IDB, tenant access.Tenant) ([]InvariantProof, error) {
	var all []InvariantProof
	for _, invariant := range s.Invariants() {
		var rows []breaking
		// MATERIALIZED: all of it is read, so the plan must not be one that is quick to begin.
		err := tx.NewRaw("WITH v AS MATERIALIZED ("+invariant.Query+
			") SELECT v.*, (SELECT count(*) FROM v) AS of FROM v LIMIT ?1", tenant, most).Scan(ctx, &rows)
		if err != nil {
			return nil, fmt.Errorf("prove that %s (%s): %w", invariant.Says, invariant.Name, err)
		}
		proof := InvariantProof{Name: invariant.Name, Says: invariant.Says, Violations: []Violation{}}
		for _, row := range rows {
			proof.Count, row.Invariant = row.Of, invariant.Name
			proof.Violations = append(proof.Violations, row.Violation)
		}
		all = append(all, proof)
	}
	return all, nil
}
