package virtualaccounts

import "bankgraph/core/ledger"

// Invariants are what virtual accounts must satisfy at every commit, beside the books (core/README.md,
// invariants).
var Invariants = []ledger.Invariant{
	{
		Name: "I24", Says: "the balance of a virtual account is the sum of its postings", Query: `
		SELECT va.tenant, 'virtual account ' || va.uid AS subject,
		  'has ' || va.balance || ', its postings sum to ' ||
		  coalesce(sum(vp.amount), 0) AS what
		FROM virtual_accounts AS va LEFT JOIN virtual_postings AS vp ON vp.tenant = ?0
		  AND vp.virtual_account = va.uid
		WHERE va.tenant = ?0 GROUP BY va.tenant, va.uid, va.balance
			  HAVING va.balance <> coalesce(sum(vp.amount), 0)`,
	},
	{
		Name: "I25",
		Says: "each posting of a virtual account is backed by one of its amount on the master account", Query: `
		SELECT vp.tenant, 'virtual posting ' || vp.id AS subject,
		  'is of ' || vp.amount || ' ' || vp.currency || ', journal ' ||
		  vp.journal || ' has ' || coalesce(sum(d.amount), 0) || ' on account ' || vp.account AS what
		FROM virtual_postings AS vp JOIN virtual_accounts AS va ON va.tenant = ?0 AND va.uid = vp.virtual_account
		LEFT JOIN postings AS d ON d.tenant = ?0 AND d.journal = vp.journal AND d.account = vp.account
		  AND d.currency = vp.currency
		WHERE vp.tenant = ?0 GROUP BY vp.tenant, vp.id, vp.amount, vp.currency, vp.journal, vp.account, va.account,
		  va.currency
		HAVING vp.amount <> coalesce(sum(d.amount), 0) OR va.account <> vp.account OR va.currency <> vp.currency
		UNION ALL
		SELECT p.tenant, 'payment ' || p.uid, 'of virtual account ' || p.virtual_account || ' is ' || p.state ||
		  ' and has left ' ||
		  (p.amount - p.returned) || ' there, its postings sum to ' || coalesce(sum(vp.amount), 0)
		FROM payments AS p LEFT JOIN virtual_postings AS vp ON vp.tenant = ?0 AND vp.payment = p.uid
		  AND vp.virtual_account = p.virtual_account
		WHERE p.tenant = ?0 AND p.virtual_account IS NOT NULL
		GROUP BY p.tenant, p.uid, p.virtual_account, p.state,
		  p.amount, p.returned
		HAVING CASE WHEN p.state IN ('VALIDATED', 'SCREENING') THEN 0 ELSE p.amount - p.returned END <>
		  coalesce(sum(vp.amount), 0)`,
	},
}
