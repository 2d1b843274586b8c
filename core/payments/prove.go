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
		Name: "I12", Says: "a payment's money has moved once if it is settled, from who pays to who is paid, and not at all otherwise", Query: `
		SELECT p.tenant, 'payment ' || p.uid AS subject, 'is ' || p.state || ', of ' || p.amount || ', and moved ' || count(q.amount) ||
		  ' times' AS what
		FROM payments AS p LEFT JOIN (
		  SELECT j.payment, d.account AS sender, c.account AS receiver, c.amount FROM journals AS j
		  LEFT JOIN postings AS d ON d.tenant = ?0 AND d.journal = j.id AND d.amount < 0
		  LEFT JOIN postings AS c ON c.tenant = ?0 AND c.journal = j.id AND c.amount > 0
		  WHERE j.tenant = ?0 AND j.kind = 'payment') AS q ON q.payment = p.uid
		WHERE p.tenant = ?0 GROUP BY p.tenant, p.uid, p.state, p.amount
		HAVING count(*) FILTER (WHERE q.sender = p.sender_account AND q.receiver = p.receiver_account AND q.amount = p.amount)
		    <> CASE p.state WHEN 'SETTLED' THEN 1 ELSE 0 END
		  OR count(q.payment) <> CASE p.state WHEN 'SETTLED' THEN 1 ELSE 0 END
		UNION ALL
		SELECT j.tenant, 'journal ' || j.id, 'is of payment ' || coalesce(j.payment::text, 'nothing') || ', which is not there'
		FROM journals AS j LEFT JOIN payments AS p ON p.tenant = ?0 AND p.uid = j.payment
		WHERE j.tenant = ?0 AND j.kind IN ('payment', 'fee') AND p.uid IS NULL`,
	},
	{
		Name: "I18", Says: "the fee that was booked is that of the payment", Query: `
		SELECT p.tenant, 'payment ' || p.uid AS subject, 'costs ' || p.fee || ', booked ' || coalesce(-sum(q.amount), 0) AS what
		FROM payments AS p LEFT JOIN (
		  SELECT j.payment, d.account, d.amount FROM journals AS j JOIN postings AS d ON d.tenant = ?0 AND d.journal = j.id AND d.amount < 0
		  WHERE j.tenant = ?0 AND j.kind = 'fee') AS q ON q.payment = p.uid
		WHERE p.tenant = ?0 GROUP BY p.tenant, p.uid, p.fee, p.state, p.sender_account
		HAVING p.fee <> coalesce(-sum(q.amount) FILTER (WHERE q.account = p.sender_account), 0)
		  OR count(q.payment) > 1 OR p.fee > 0 AND p.state <> 'SETTLED'`,
	},
}
