// Package attention lists what waits for a person: it stands in the list as long as it waits, and nobody has
// to take it off.
package attention

import "time"

// Kind is why something waits for a person.
type Kind string

const (
	Approval  Kind = "APPROVAL"  // a change that a second person decides on
	Exception Kind = "EXCEPTION" // a debit of another bank that no rule of positive pay allows
	Recall    Kind = "RECALL"    // a payment that the bank which sent it asks for
	Dishonour Kind = "DISHONOUR" // a return of the last week over ACH that the other bank does not take
	// a message, or a line of a file, of the last week that could not be taken; or a file with lines that cannot
	// be taken in at present
	Untaken    Kind = "UNTAKEN"
	Unanswered Kind = "UNANSWERED" // a payment, its return or its recall that is not answered in time
	// a payment that did not take its next step when that was due; or a message or a file that no network has
	// taken
	Late      Kind = "LATE"
	Screening Kind = "SCREENING" // a payment whose other side may be on a list
	Repair    Kind = "REPAIR"    // a payment that cannot be carried out as it was asked for
	Failed    Kind = "FAILED"    // a payment that could not be carried out on its day, in the last week
	Sweep     Kind = "SWEEP"     // a sweep whose last run could not make its payment
	Notice    Kind = "NOTICE"    // a notice of change of the last week, until the contact is corrected
	// a trade of the last week whose value date passed, and which no payment used; or one that was not covered
	// when that was due
	Trade     Kind = "TRADE"
	Overdrawn Kind = "OVERDRAWN" // an account that a return took below its overdraft
	Stranded  Kind = "STRANDED"  // money that came back to an account that is closed, or kept elsewhere
	Webhook   Kind = "WEBHOOK"   // a webhook that disabled itself, as nothing arrived
)

// Kinds lists all kinds, the ones that cost most to leave alone first.
var Kinds = []Kind{
	Exception, Recall, Dishonour, Untaken, Unanswered, Late, Screening, Repair, Overdrawn, Stranded,
	Trade, Failed, Notice, Sweep, Approval, Webhook,
}

// Search narrows the list.
type Search struct {
	Kind []Kind // empty for all
}

// Item is one thing that waits for a person.
type Item struct {
	Kind Kind `bun:"kind" json:"kind"`
	// of the approval, the payment, the account, the webhook or the message, by the kind
	UID int64 `bun:"uid" json:"uid"`
	// 0 of a message or a file, which is about no one customer
	Customer int64      `bun:"customer" json:"customer"`
	Since    time.Time  `bun:"since" json:"since"`
	DueAt    *time.Time `bun:"due_at" json:"dueAt"` // when it is decided without a person; nil if never
	Reason   string     `bun:"reason" json:"reason"`
}

// Waiting is how much of a kind waits.
type Waiting struct {
	Kind   Kind      `bun:"kind" json:"kind"`
	Count  int64     `bun:"n" json:"count"` // MostCounted at most
	Oldest time.Time `bun:"oldest" json:"oldest"`
}

// List is what waits, the longest first, and how much of each kind there is.
type List struct {
	Items   []*Item    `json:"items"`
	Waiting []*Waiting `json:"waiting"`
}

const (
	// MostItems bounds a list.
	MostItems = 200
	// MostCounted bounds how many of a kind are counted.
	MostCounted = 1000
)

// How long what is done without people may take until people are told.
const (
	answering = time.Minute      // an instant network, which answers within seconds
	settling  = time.Hour        // Fedwire and SWIFT
	working   = 30 * time.Minute // the bank's own work, and entries that settle by themselves
	failing   = 7 * 24 * time.Hour
)

// waits says what of a kind waits. In the texts $1 is the tenant, $2 the time of the bank's clock before
// which an instant network should have answered, $3 that of the other networks, $4 that of the bank's own
// work, and $5 a week ago: since then failed payments, notices and what was not taken count, and a recall of
// before should have been answered. Each has an index of what waits alone.
var waits = map[Kind]string{
	Exception: `SELECT e.payment AS uid, e.customer, e.created_at AS since, e.expires_at AS due_at, e.reason
		FROM positive_pay_exceptions AS e WHERE e.tenant = $1 AND e.status = 'PENDING'`,
	Recall: `SELECT pay.uid, pay.customer, pay.updated_at AS since, NULL::timestamptz AS due_at, '' AS reason
		FROM payments AS pay WHERE pay.tenant = $1 AND pay.state = 'RECALLED'`,
	Dishonour: `SELECT an.payment AS uid, pay.customer, nm.at AS since, NULL::timestamptz AS due_at,
		pay.reason
		FROM ach_answers AS an JOIN network_messages AS nm ON nm.tenant = an.tenant AND nm.id = an.message
		JOIN payments AS pay ON pay.tenant = an.tenant AND pay.uid = an.payment
		WHERE an.tenant = $1 AND nm.tenant = $1 AND pay.tenant = $1 AND an.code >= 'R61' AND an.code <= 'R70'
		  AND nm.at > $5::timestamptz`,
	Trade: `SELECT ft.uid, ft.customer, (ft.value_date + 1)::timestamp AT TIME ZONE 'America/New_York' AS since,
		NULL::timestamptz AS due_at, CASE ft.status WHEN 'Covered' THEN 'covered in the market'
		ELSE '' END AS reason
		FROM fx_trades AS ft WHERE ft.tenant = $1 AND ft.status <> 'Cancelled'
		  AND ft.value_date >= ($5::timestamptz AT TIME ZONE 'America/New_York')::date
		  AND ft.value_date < (($5::timestamptz + interval '7 days') AT TIME ZONE 'America/New_York')::date
		  AND NOT EXISTS (SELECT FROM payments AS pay WHERE pay.tenant = $1 AND pay.trade = ft.uid
		    AND pay.state NOT IN ('REJECTED', 'INVALID', 'CANCELLED'))
		UNION ALL SELECT ft.uid, ft.customer, ft.cover_at, NULL, 'was to be covered'
		FROM fx_trades AS ft WHERE ft.tenant = $1 AND ft.status = 'Booked' AND ft.cover_at < $4::timestamptz`,
	Untaken: `SELECT nm.id AS uid, 0::bigint AS customer, nm.at AS since, NULL::timestamptz AS due_at,
		nm.message_id || ': ' || nm.code AS reason
		FROM network_messages AS nm WHERE nm.tenant = $1 AND nm.direction = 'IN' AND nm.payment IS NULL
		  AND nm.kind IN ('unreadable', 'entry') AND nm.at > $5::timestamptz
		UNION ALL SELECT nm.id, 0, nm.unfinished_since, NULL,
		nm.message_id || ': lines of this file cannot be taken in at present; the log names them'
		FROM network_messages AS nm WHERE nm.tenant = $1 AND nm.unfinished_since < $4::timestamptz`,
	Unanswered: `SELECT pay.uid, pay.customer, pay.updated_at AS since, NULL::timestamptz AS due_at, '' AS reason
		FROM payments AS pay WHERE pay.tenant = $1 AND pay.state = 'SENT' AND pay.direction = 'OUT'
		  AND pay.entry_type = 'CREDIT'
		  AND pay.settles_at IS NULL AND pay.updated_at < $2::timestamptz
		  AND (pay.rail IN ('FEDNOW', 'RTP') OR pay.updated_at < $3::timestamptz)
		UNION ALL SELECT pay.uid, pay.customer, pay.updated_at, NULL, 'its return' FROM payments AS pay
		WHERE pay.tenant = $1 AND pay.state = 'RETURNING' AND pay.rail <> 'ACH'
		  AND pay.updated_at < $2::timestamptz
		  AND (pay.rail IN ('FEDNOW', 'RTP') OR pay.updated_at < $3::timestamptz)
		UNION ALL SELECT pay.uid, pay.customer, pay.updated_at, NULL, 'its recall' FROM payments AS pay
		WHERE pay.tenant = $1 AND pay.state = 'RECALLING' AND pay.updated_at < $5::timestamptz`,
	Late: `SELECT pay.uid, pay.customer, pay.send_at AS since, NULL::timestamptz AS due_at, '' AS reason
		FROM payments AS pay WHERE pay.tenant = $1 AND pay.state = 'QUEUED' AND pay.send_at < $4::timestamptz
		UNION ALL SELECT pay.uid, pay.customer, pay.settles_at, NULL, '' FROM payments AS pay
		WHERE pay.tenant = $1 AND pay.state = 'SENT' AND pay.settles_at IS NOT NULL
		  AND pay.settles_at < $4::timestamptz
		UNION ALL SELECT pay.uid, pay.customer, pay.settles_at, NULL, '' FROM payments AS pay
		WHERE pay.tenant = $1 AND pay.state = 'VALIDATED' AND pay.settles_at < $4::timestamptz
		UNION ALL SELECT pay.uid, pay.customer, pay.payment_date::timestamp AT TIME ZONE 'America/New_York',
		NULL, ''
		FROM payments AS pay WHERE pay.tenant = $1 AND pay.state = 'SCHEDULED'
		AND (CASE WHEN rail = 'SWIFT' THEN 'ABROAD'
		  WHEN rail = 'BOOK' THEN 'BOOK' WHEN speed = 'Economy' THEN 'ECONOMY' ELSE 'OTHER' END)
		  IN ('ABROAD', 'BOOK', 'ECONOMY', 'OTHER')
		  AND pay.payment_date < ($4::timestamptz AT TIME ZONE 'America/New_York')::date
		UNION ALL SELECT ar.payment, pay.customer, ar.returned_at, NULL, 'its return waits for a file'
		FROM ach_received AS ar JOIN payments AS pay ON pay.tenant = ar.tenant AND pay.uid = ar.payment
		WHERE ar.tenant = $1 AND pay.tenant = $1 AND ar.file IS NULL
		  AND ar.returned_at < $4::timestamptz - interval '12 hours'
		UNION ALL SELECT av.payment, pay.customer, av.asked_at, NULL, 'its reversal waits for a file'
		FROM ach_reversals AS av JOIN payments AS pay ON pay.tenant = av.tenant AND pay.uid = av.payment
		WHERE av.tenant = $1 AND pay.tenant = $1 AND av.file IS NULL AND av.answered_at IS NULL
		  AND av.asked_at < $4::timestamptz - interval '12 hours'
		UNION ALL SELECT coalesce(out.payment, out.id), coalesce(pay.customer, 0), out.at, NULL,
		CASE out.kind WHEN 'nacha' THEN 'the file ' || out.message_id ELSE 'its message ' || out.kind END
		|| ' has not been handed to the network'
		FROM (SELECT nm.id, nm.payment, nm.kind, nm.message_id, nm.at FROM network_messages AS nm
			WHERE nm.tenant = $1
		  AND nm.direction = 'OUT' AND nm.handed_at IS NULL AND nm.at < $4::timestamptz
		  ORDER BY nm.id LIMIT 1000) AS out
		LEFT JOIN payments AS pay ON pay.tenant = $1 AND pay.uid = out.payment`,
	Overdrawn: lastMoved + `b.forced AND b.ledger - b.held < -b.overdraft`,
	Stranded:  lastMoved + `b.stranded`,
	Screening: `SELECT pay.uid, pay.customer, pay.updated_at AS since, scr.expires_at AS due_at, '' AS reason
		FROM payments AS pay LEFT JOIN payment_screenings AS scr ON scr.tenant = pay.tenant
		AND scr.payment = pay.uid
		WHERE pay.tenant = $1 AND pay.state = 'SCREENING'`,
	Repair: `SELECT pay.uid, pay.customer, pay.updated_at AS since, NULL::timestamptz AS due_at, pay.reason
		FROM payments AS pay WHERE pay.tenant = $1 AND pay.state = 'REPAIR'`,
	Failed: `SELECT pay.uid, pay.customer, pay.updated_at AS since, NULL::timestamptz AS due_at, pay.reason
		FROM payments AS pay WHERE pay.tenant = $1 AND pay.state = 'INVALID' AND pay.updated_at > $5::timestamptz`,
	Notice: `SELECT n.payment AS uid, pay.customer, n.at AS since, NULL::timestamptz AS due_at,
		coalesce(st.reason, n.code) AS reason
		FROM ach_notices AS n JOIN payments AS pay ON pay.tenant = n.tenant AND pay.uid = n.payment
		JOIN payment_details AS pd ON pd.tenant = n.tenant AND pd.payment = n.payment
		LEFT JOIN contacts AS k ON k.tenant = n.tenant AND k.uid = pd.contact
		LEFT JOIN payment_steps AS st ON st.tenant = n.tenant AND st.payment = n.payment AND st.number = n.number
		WHERE n.tenant = $1 AND pay.tenant = $1 AND pd.tenant = $1 AND n.at > $5::timestamptz
		  AND k.version IS NOT DISTINCT FROM n.contact_version`,
	Sweep: `SELECT w.account AS uid, a.customer, w.failed_at AS since, NULL::timestamptz AS due_at,
		w.failure AS reason
		FROM sweeps AS w JOIN accounts AS a ON a.tenant = w.tenant AND a.uid = w.account
		WHERE w.tenant = $1 AND a.tenant = $1 AND w.failed_at IS NOT NULL`,
	Approval: `SELECT q.uid, q.customer, q.made_at AS since, NULL::timestamptz AS due_at, q.operation AS reason
		FROM approvals AS q WHERE q.tenant = $1 AND q.status = 'Open'`,
	Webhook: `SELECT w.uid, w.customer, w.updated_at AS since, NULL::timestamptz AS due_at, w.reason
		FROM webhooks AS w WHERE w.tenant = $1 AND w.status = 'Disabled' AND w.reason <> ''`,
}

// lastMoved is the beginning of a text of accounts: each since the last payment was booked on it. That is the
// bank's time of the payment, as journals have the machine's, which stands for what belongs to no payment.
const lastMoved = `SELECT b.account AS uid, a.customer, coalesce(pay.updated_at, j.booked_at) AS since,
	NULL::timestamptz AS due_at, '' AS reason
	FROM balances AS b JOIN accounts AS a ON a.tenant = b.tenant AND a.uid = b.account
	JOIN postings AS p ON p.tenant = b.tenant AND p.account = b.account AND p.version = b.version
	JOIN journals AS j ON j.tenant = p.tenant AND j.id = p.journal
	LEFT JOIN payments AS pay ON pay.tenant = $1 AND pay.uid = j.payment
	WHERE b.tenant = $1 AND a.tenant = $1 AND p.tenant = $1 AND j.tenant = $1 AND `

// owned says how the things of a kind are shared out among those whose they are.
type owned struct {
	// The beginning of a read of what waits and the alias of its table, where an index has what waits by
	// customer and since when, after its day where what no longer counts stays in it. Where it is empty, the
	// text of what waits reads all there is anyway, and customers are told apart in that.
	from, alias, day string
	nobodys          bool // about no one customer
}

// whose says of every kind whose things wait: one customer can fill each that is not nobody's.
var whose = map[Kind]owned{
	Exception: {
		from:  `FROM positive_pay_exceptions AS e WHERE e.tenant = $1 AND e.status = 'PENDING'`,
		alias: "e",
	},
	Screening: {from: `FROM payments AS pay WHERE pay.tenant = $1 AND pay.state = 'SCREENING'`, alias: "pay"},
	Repair:    {from: `FROM payments AS pay WHERE pay.tenant = $1 AND pay.state = 'REPAIR'`, alias: "pay"},
	Failed: {
		from:  `FROM payments AS pay WHERE pay.tenant = $1 AND pay.state = 'INVALID'`,
		alias: "pay", day: dayOf("pay.updated_at"),
	},
	Sweep:      {from: `FROM sweeps AS w WHERE w.tenant = $1 AND w.failed_at IS NOT NULL`, alias: "w"},
	Approval:   {from: `FROM approvals AS q WHERE q.tenant = $1 AND q.status = 'Open'`, alias: "q"},
	Recall:     {},
	Dishonour:  {},
	Unanswered: {},
	Late:       {},
	Overdrawn:  {},
	Stranded:   {},
	Trade:      {},
	Notice:     {},
	Webhook:    {},
	Untaken:    {nobodys: true},
}

// dayOf is the SQL expression for the day of a time, as in indexes.
func dayOf(at string) string { return "((" + at + " AT TIME ZONE 'UTC')::date)" }
