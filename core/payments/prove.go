package payments

import (
	"fmt"
	"slices"
	"strings"

	"bankgraph/core/ledger"
)

// Invariants are what payments must satisfy at every commit, beside the books (core/README.md, invariants).
var Invariants = []ledger.Invariant{
	{
		Name: "I11",
		Says: "a payment's steps are numbered without a gap, each can follow the one before, " +
			"and the last is its present state",
		Query: `
		SELECT ?0::bigint AS tenant, 'payment ' || coalesce(s.payment, p.uid) AS subject, concat_ws('; ',
		  'became ' || s.state || ' at step ' || s.number || ', the ' || place || '. of its steps, and was ' || was,
		  'is ' || p.state || ' at version ' || p.version) AS what
		FROM (
		  SELECT payment, number, state, row_number() OVER each AS place, lag(state, 1, '') OVER each AS was,
		    CASE WHEN lead(payment) OVER each IS NULL THEN payment END AS last_of
		  FROM payment_steps WHERE tenant = ?0 WINDOW each AS (PARTITION BY payment ORDER BY number)
		) AS s FULL JOIN (SELECT uid, state, version FROM payments WHERE tenant = ?0) AS p ON p.uid = s.last_of
		WHERE s.number <> place OR was || ' ' || s.state NOT IN (` + pairs() + `) OR s.payment IS NULL
		  OR last_of IS NOT NULL AND (s.state, s.number) IS DISTINCT FROM (p.state, p.version)`,
	},
	{
		Name: "I12",
		Says: "a payment's state fixes where its money is: nowhere yet, held on the account that pays it, in " +
			"clearing, settled, or back", Query: `
		WITH moved AS (
		  SELECT q.uid,
		    sum(d.amount) FILTER (WHERE b.house = 'fx position' AND d.currency = q.currency) AS bought,
		    sum(d.amount) FILTER (WHERE b.house = 'fx position' AND d.currency = q.sold_currency) AS sold,
		    sum(d.amount) FILTER (WHERE d.account = q.sender_account) AS payer,
		    sum(d.amount) FILTER (WHERE d.account = q.receiver_account) AS payee,
		    sum(d.amount) FILTER (WHERE b.house = 'clearing ' || q.rail) AS clearing,
		    sum(d.amount) FILTER (WHERE b.house = 'settled ' || q.rail) AS settled,
		    count(*) FILTER (WHERE b.house = '' AND d.account IS DISTINCT FROM q.sender_account
		      AND d.account IS DISTINCT FROM q.receiver_account) AS others
		  FROM payments AS q JOIN journals AS j ON j.tenant = ?0 AND j.payment = q.uid
		  JOIN postings AS d ON d.tenant = ?0 AND d.journal = j.id
		  JOIN balances AS b ON b.tenant = ?0 AND b.account = d.account
		  WHERE q.tenant = ?0 AND j.kind IN ('payment', 'settlement', 'return') GROUP BY q.uid
		), place AS (
		  -- each joined once: looked up for each payment they would take the square of the payments' number
		  SELECT p.uid, h.payment, h.holder, p.state, p.rail, p.direction, p.entry_type, p.amount, p.returned,
		    p.fee, p.trade,
		    CASE WHEN p.trade IS NULL THEN p.amount ELSE p.sold END AS pays,
		    CASE WHEN p.trade IS NULL THEN p.returned ELSE p.sold_returned END AS gets_back,
		    coalesce(m.bought, 0) AS bought, coalesce(m.sold, 0) AS sold, coalesce(m.payer, 0) AS payer,
		    coalesce(m.payee, 0) AS payee, coalesce(m.clearing, 0) AS clearing, coalesce(m.settled, 0) AS settled,
		    coalesce(m.others, 0) AS others, coalesce(h.held, 0) AS held,
		    h.holder IS DISTINCT FROM p.sender_account AS elsewhere
		  FROM (SELECT * FROM payments WHERE tenant = ?0) AS p FULL JOIN ( -- of a payment there is one at most
		    SELECT payment, account AS holder, amount AS held FROM holds
		    WHERE tenant = ?0 AND state = 'OPEN' AND payment IS NOT NULL
		  ) AS h ON h.payment = p.uid LEFT JOIN moved AS m ON m.uid = p.uid
		)
		SELECT ?0::bigint AS tenant, 'payment ' || coalesce(uid, payment) AS subject, CASE WHEN uid IS NULL
		  THEN 'holds ' || held || ' on account ' || holder || ', and is not there' ELSE
		  'is ' || state || ' ' || direction || ' ' || entry_type || ' on ' || rail || ', of ' ||
		  amount || ', ' || returned || ' given back; who pays has ' || payer || ', who is paid ' || payee ||
		  ', clearing ' || clearing ||
		  ', settled ' || settled || ', held ' || held || CASE WHEN elsewhere AND held <> 0
		  THEN ' on another account' ELSE '' END || ', exchanged ' || sold || ' for ' || bought ||
		  CASE WHEN others > 0 THEN ', on accounts of others are ' || others || ' postings' ELSE '' END END AS what
		FROM place WHERE uid IS NULL OR others > 0 OR held <> 0 AND elsewhere
		  OR trade IS NOT NULL AND (sold <> -payer OR bought <> -clearing - settled) OR NOT CASE
		  WHEN direction = 'OUT' AND entry_type = 'DEBIT' THEN payer = 0 AND clearing = 0 AND held = 0 AND CASE
		    WHEN rail = 'ACH' AND state = 'SETTLED' THEN payee = amount AND settled = -amount AND returned = 0
		    ELSE payee = 0 AND settled = 0 AND returned = CASE state WHEN 'RETURNED' THEN amount ELSE 0 END END
		  WHEN direction = 'IN' AND entry_type = 'DEBIT' AND rail <> 'ACH' THEN payer = 0 AND payee = 0
		  AND clearing = 0 AND settled = 0
		    AND held = 0 AND returned = 0
		  WHEN direction = 'IN' AND entry_type = 'DEBIT' THEN payee = 0 AND clearing = 0 AND held = 0 AND CASE
		    WHEN state = 'SETTLED' THEN payer = -amount AND settled = amount AND returned = 0
		    ELSE payer = 0 AND settled = 0 AND returned = CASE state WHEN 'RETURNED' THEN amount ELSE 0 END END
		  WHEN direction = 'IN' AND (state = 'VALIDATED' OR state = 'SCREENING' AND rail = 'ACH') THEN rail = 'ACH'
		  AND payer = 0
		    AND payee = 0 AND clearing = 0 AND settled = 0 AND held = 0 AND returned = 0
		  WHEN direction = 'IN' AND state = 'SCREENING' THEN payer = 0 AND payee = 0 AND clearing = amount
		  AND settled = -amount
		    AND held = 0 AND returned = 0
		  WHEN direction = 'IN' THEN payer = 0 AND payee = amount - returned AND held = 0 AND CASE
		    WHEN state IN ('SETTLED', 'RECALLED') THEN returned = 0 AND clearing = 0 AND settled = -amount
		    WHEN state = 'RETURNING' THEN returned > 0 AND clearing = returned AND settled = -amount
		    WHEN state = 'RETURNED' THEN returned > 0 AND clearing = 0 AND settled = returned - amount
		    ELSE false END
		  WHEN state IN ('SCREENING', 'QUEUED') THEN payer = 0 AND payee = 0 AND clearing = 0 AND settled = 0
		  AND held = pays + fee AND returned = 0
		  WHEN held <> 0 OR clearing <> CASE state WHEN 'SENT' THEN amount ELSE 0 END THEN false
		  WHEN returned <> 0 AND state NOT IN ('RETURNED', 'REVERSAL_ACCEPTED',
		  	'REVERSAL_PARTIALLY_ACCEPTED') THEN false
		  WHEN rail = 'BOOK' AND state IN ('SETTLED', 'REVERSAL_ACCEPTED') THEN payer = returned - amount
		  AND payee = amount - returned
		    AND returned = CASE state WHEN 'SETTLED' THEN 0 ELSE amount END
		  WHEN state = 'SENT' THEN payer = -pays AND payee = 0 AND settled = 0
		  WHEN state IN ('SETTLED', 'RECALLING', 'REVERSAL_REJECTED') THEN payer = -pays AND payee = 0
		  AND settled = amount
		  WHEN state IN ('RETURNED', 'REVERSAL_ACCEPTED', 'REVERSAL_PARTIALLY_ACCEPTED') THEN payer = gets_back -
		  pays AND payee = 0
		    AND settled = amount - returned AND (returned > 0 OR amount = 0)
		    AND (returned = amount) >= (state = 'REVERSAL_ACCEPTED')
		    AND (returned < amount) >= (state = 'REVERSAL_PARTIALLY_ACCEPTED')
		  ELSE payer = 0 AND payee = 0 AND settled = 0 END
		UNION ALL
		SELECT j.tenant, 'journal ' || j.id, 'is of payment ' || coalesce(j.payment::text,
		  'nothing') || ', which is not there'
		FROM journals AS j LEFT JOIN payments AS p ON p.tenant = ?0 AND p.uid = j.payment
		WHERE j.tenant = ?0 AND j.kind NOT IN ('opening') AND p.uid IS NULL`,
	},
	{
		Name: "I9",
		Says: "a network's clearing account is the sum of the payments that are on their way over " +
			"it, or came and wait for compliance", Query: `
		SELECT ?0::bigint AS tenant, coalesce(b.house, p.house) || ' ' || coalesce(b.currency,
		  p.currency) AS subject, 'is ' || coalesce(b.sum, 0) || ', on their way are ' || coalesce(p.sum, 0) AS what
		FROM (SELECT house, currency, sum(ledger) FROM balances
		  WHERE tenant = ?0 AND starts_with(house, 'clearing ')
		      GROUP BY house, currency) AS b
		FULL JOIN (SELECT 'clearing ' || rail AS house, currency, sum(CASE state WHEN 'RETURNING' THEN returned
		  ELSE amount END)
		      FROM payments WHERE tenant = ?0 AND (state = 'SENT' AND entry_type = 'CREDIT' OR state = 'RETURNING'
		        OR state = 'SCREENING' AND direction = 'IN' AND rail <> 'ACH') GROUP BY rail, currency) AS p
		        ON p.house = b.house AND p.currency = b.currency
		WHERE coalesce(b.sum, 0) <> coalesce(p.sum, 0)`,
	},
	{
		Name: "I18", Says: "the fee that was booked is that of the payment, from its owner to the bank", Query: `
		SELECT p.tenant, 'payment ' || p.uid AS subject,
		  'costs ' || p.fee || ', booked ' || coalesce(-q.sum, 0) ||
		  coalesce(' on account ' || q.account, '') AS what
		FROM payments AS p LEFT JOIN (
		  SELECT j.payment, d.account, sum(d.amount) FROM journals AS j
		  JOIN postings AS d ON d.tenant = ?0 AND d.journal = j.id
		  WHERE j.tenant = ?0 AND j.kind = 'fee'
		    AND d.account NOT IN (SELECT account FROM balances WHERE tenant = ?0 AND house = 'fees')
		  GROUP BY j.payment, d.account
		) AS q ON q.payment = p.uid
		WHERE p.tenant = ?0 AND (
		  q.account <> coalesce(p.sender_account, p.receiver_account)
		  OR coalesce(-q.sum, 0) <> CASE WHEN p.state NOT IN ('SCREENING', 'QUEUED') THEN p.fee ELSE 0 END
		  OR p.fee > 0 AND p.state IN ('PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED', 'REPAIR', 'REJECTED',
		  	'INVALID', 'CANCELLED')
		  OR p.fee > 0 AND p.direction = 'IN')`,
	},
}

// pairs lists each state and one that can come after it, as texts in SQL.
func pairs() string {
	var rows []string
	for was, all := range nextStates {
		for _, state := range all {
			rows = append(rows, fmt.Sprintf("'%s %s'", was, state))
		}
	}
	slices.Sort(rows)
	return strings.Join(rows, ", ")
}
