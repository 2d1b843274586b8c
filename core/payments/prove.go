package payments

import "bankgraph/core/ledger"

// Invariants are what payments must satisfy at every commit, beside the books (core/README.md, invariants).
var Invariants = []ledger.Invariant{
	{
		Name: "I11", Says: "a payment's steps are numbered without a gap, and the last one is its present state", Query: `
		SELECT p.tenant, 'payment ' || p.uid AS subject, 'is ' || p.state || ' at version ' || p.version || ', its ' || count(s.number) ||
		  ' steps end with ' || coalesce(max(s.number), 0) AS what
		FROM payments AS p LEFT JOIN payment_steps AS s ON s.tenant = ?0 AND s.payment = p.uid
		WHERE p.tenant = ?0 GROUP BY p.tenant, p.uid, p.state, p.version
		HAVING count(s.number) <> p.version OR max(s.number) <> p.version
		  OR count(*) FILTER (WHERE s.number = p.version AND s.state = p.state) <> 1`,
	},
	{
		Name: "I12", Says: "a payment's state fixes where its money is: nowhere yet, held, in clearing, settled, or back", Query: `
		WITH moved AS (
		  SELECT j.payment, b.house, d.account, sum(d.amount) AS sum
		  FROM journals AS j JOIN postings AS d ON d.tenant = ?0 AND d.journal = j.id
		  JOIN balances AS b ON b.tenant = ?0 AND b.account = d.account
		  WHERE j.tenant = ?0 AND j.kind IN ('payment', 'settlement', 'return') GROUP BY j.payment, b.house, d.account
		), place AS (
		  SELECT p.uid, p.state, p.rail, p.amount, p.fee,
		    coalesce((SELECT sum(sum) FROM moved AS m WHERE m.payment = p.uid AND m.account = p.sender_account), 0) AS payer,
		    coalesce((SELECT sum(sum) FROM moved AS m WHERE m.payment = p.uid AND m.account = p.receiver_account), 0) AS payee,
		    coalesce((SELECT sum(sum) FROM moved AS m WHERE m.payment = p.uid AND m.house = 'clearing ' || p.rail), 0) AS clearing,
		    coalesce((SELECT sum(sum) FROM moved AS m WHERE m.payment = p.uid AND m.house = 'settled ' || p.rail), 0) AS settled,
		    coalesce((SELECT sum(amount) FROM holds AS h WHERE h.tenant = ?0 AND h.payment = p.uid AND h.state = 'OPEN'), 0) AS held
		  FROM payments AS p WHERE p.tenant = ?0
		)
		SELECT ?0::bigint AS tenant, 'payment ' || uid AS subject, 'is ' || state || ' on ' || rail || ', of ' || amount || '; who pays has ' ||
		  payer || ', who is paid ' || payee || ', clearing ' || clearing || ', settled ' || settled || ', held ' || held AS what
		FROM place WHERE NOT CASE
		  WHEN state = 'QUEUED' THEN payer = 0 AND payee = 0 AND clearing = 0 AND settled = 0 AND held = amount + fee
		  WHEN held <> 0 THEN false
		  WHEN state = 'SENT' THEN payer = -amount AND payee = 0 AND clearing = amount AND settled = 0
		  WHEN state = 'SETTLED' AND rail = 'BOOK' THEN payer = -amount AND payee = amount
		  WHEN state = 'SETTLED' THEN payer = -amount AND payee = 0 AND clearing = 0 AND settled = amount
		  WHEN state = 'RETURNED' THEN payer > -amount AND payer <= 0 AND clearing = 0 AND settled = -payer
		  ELSE payer = 0 AND payee = 0 AND clearing = 0 AND settled = 0 END
		UNION ALL
		SELECT j.tenant, 'journal ' || j.id, 'is of payment ' || coalesce(j.payment::text, 'nothing') || ', which is not there'
		FROM journals AS j LEFT JOIN payments AS p ON p.tenant = ?0 AND p.uid = j.payment
		WHERE j.tenant = ?0 AND j.kind NOT IN ('opening') AND p.uid IS NULL`,
	},
	{
		Name: "I9", Says: "a network's clearing account is the sum of the payments that are on their way over it", Query: `
		SELECT ?0::bigint AS tenant, coalesce(b.house, p.house) || ' ' || coalesce(b.currency, p.currency) AS subject,
		  'is ' || coalesce(b.sum, 0) || ', on their way are ' || coalesce(p.sum, 0) AS what
		FROM (SELECT house, currency, sum(ledger) FROM balances WHERE tenant = ?0 AND starts_with(house, 'clearing ')
		      GROUP BY house, currency) AS b
		FULL JOIN (SELECT 'clearing ' || rail AS house, currency, sum(amount) FROM payments WHERE tenant = ?0 AND state = 'SENT'
		      GROUP BY rail, currency) AS p ON p.house = b.house AND p.currency = b.currency
		WHERE coalesce(b.sum, 0) <> coalesce(p.sum, 0)`,
	},
	{
		Name: "I18", Says: "the fee that was booked is that of the payment", Query: `
		SELECT p.tenant, 'payment ' || p.uid AS subject, 'costs ' || p.fee || ', booked ' || coalesce(-sum(q.amount), 0) AS what
		FROM payments AS p LEFT JOIN (
		  SELECT j.payment, d.account, d.amount FROM journals AS j JOIN postings AS d ON d.tenant = ?0 AND d.journal = j.id
		  WHERE j.tenant = ?0 AND j.kind = 'fee') AS q ON q.payment = p.uid AND q.account = p.sender_account
		WHERE p.tenant = ?0 GROUP BY p.tenant, p.uid, p.fee, p.state
		HAVING coalesce(-sum(q.amount), 0) <> CASE WHEN p.state IN ('SENT', 'SETTLED', 'RETURNED') THEN p.fee ELSE 0 END
		  OR p.fee > 0 AND p.state NOT IN ('QUEUED', 'SENT', 'SETTLED', 'RETURNED')`,
	},
}
