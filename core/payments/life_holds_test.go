package payments_test

import (
	"strings"

	"bankgraph/core/attention"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/seal"
)

// What must hold in a world whatever was done, beside what a proof of the books looks for.

// leftAs are the states of a payment that went out, as the values of a condition.
const leftAs = `('SENT', 'SETTLED', 'RECALLING', 'RETURNED', 'REVERSAL_ACCEPTED', 'REVERSAL_REJECTED',
	'REVERSAL_PARTIALLY_ACCEPTED', 'REJECTED')`

// isACreditOut is the condition that a payment p is a credit that a message of ours carries.
const isACreditOut = `p.tenant = ?0 AND p.direction = 'OUT' AND p.entry_type = 'CREDIT'
	AND p.rail IN ('FEDNOW', 'RTP', 'FEDWIRE', 'SWIFT')`

// isACreditIn is the condition that a message m is a credit of another bank.
const isACreditIn = `m.tenant = ?0 AND m.direction = 'IN' AND m.kind = 'pacs.008'`

// never are rows that must not be there at any time, by what is wrong with them.
var never = map[string]string{
	"has more than one message": `SELECT 'payment ' || payment FROM network_messages WHERE tenant = ?0
		AND direction = 'OUT' AND kind = 'pacs.008' GROUP BY payment HAVING count(*) > 1`,
	"has left without a message, or has one and has not left": `SELECT 'payment ' || uid || ' ' || rail ||
		' ' || state FROM payments AS p WHERE ` + isACreditOut + ` AND (state IN ` + leftAs + `) <> EXISTS (SELECT
		FROM network_messages AS m WHERE m.tenant = ?0 AND m.payment = p.uid AND m.direction = 'OUT'
		AND m.kind IN ('pacs.008', 'pacs.009'))`,
	"is in a file and has not left, or the contrary": `SELECT 'payment ' || uid || ' ' || p.entry_type ||
		' ' || state FROM payments AS p JOIN ach_entries AS e ON e.tenant = ?0 AND e.payment = p.uid
		WHERE p.tenant = ?0 AND p.direction = 'OUT' AND rail = 'ACH' AND state <> 'SENT'
		AND (e.file IS NOT NULL) <> (state IN ` + leftAs + ` AND state <> 'REJECTED')`,
	"is overdrawn, and nothing forced it": `SELECT 'account ' || account || ' ' || ledger || ' held ' || held
		FROM balances WHERE tenant = ?0 AND house IS NULL AND ledger - held < -overdraft AND NOT forced`,
	"holds less than nothing": `SELECT 'account ' || account || ' held ' || held FROM balances
		WHERE tenant = ?0 AND house IS NULL AND held < 0`,
	"went back, and no message says so": `SELECT 'payment ' || uid || ' ' || rail || ' ' || state
		FROM payments AS p WHERE tenant = ?0 AND direction = 'IN' AND entry_type = 'CREDIT'
		AND rail IN ('FEDNOW', 'RTP', 'FEDWIRE') AND state IN ('RETURNED', 'RETURNING')
		AND NOT EXISTS (SELECT FROM network_messages AS m WHERE m.tenant = ?0 AND m.payment = p.uid
		AND m.direction = 'OUT' AND (m.kind = 'pacs.004' OR m.kind = 'pacs.002' AND m.code LIKE 'RJCT%'))`,
	"is an entry that has become nothing": `SELECT 'received ' || id || ' ' || direction || ' ' || amount
		FROM ach_received WHERE tenant = ?0 AND payment IS NULL AND return_code = ''`,
	"is an entry that goes back, or not, unlike its payment": `SELECT 'received ' || r.id || ' ' ||
		return_code || ' ' || state FROM ach_received AS r JOIN payments AS p ON p.tenant = ?0 AND p.uid = r.payment
		WHERE r.tenant = ?0 AND (r.returned_at IS NOT NULL) <> (p.state IN ('RETURNED', 'RETURNING'))`,
	"has become no payment and was not refused": `SELECT 'credit ' || m.id || ' ' || m.rail || ' ' || m.code
		FROM network_messages AS m WHERE ` + isACreditIn + ` AND m.payment IS NULL
		AND m.code !~ '(AC0|AM0|AG01|BE|RR|MS)'`,
	"has become a payment of another amount or network": `SELECT 'credit ' || m.id || ' of ' || m.amount
		FROM network_messages AS m JOIN payments AS p ON p.tenant = ?0 AND p.uid = m.payment
		WHERE ` + isACreditIn + ` AND (m.amount <> p.amount OR m.rail <> p.rail)`,
	"came by several messages": `SELECT 'payment ' || p.uid FROM network_messages AS m
		JOIN payments AS p ON p.tenant = ?0 AND p.uid = m.payment WHERE ` + isACreditIn + ` AND p.direction = 'IN'
		GROUP BY p.uid HAVING count(*) > 1`,
	"is counted by limits, and was not paid, or the contrary": `SELECT coalesce(u.customer, p.customer) || ' ' ||
		coalesce(u.rail, p.rail) || ' of ' || coalesce(u.day, p.day) || ': ' || coalesce(u.sum, 0) || ' of ' ||
		coalesce(p.sum, 0)
		FROM (SELECT customer, rail, entry_type, day, sum(amount) AS sum FROM limit_usage WHERE tenant = ?0
		  AND rail IN ('INSTANT', 'ACH', 'FEDWIRE', 'SWIFT') GROUP BY 1, 2, 3, 4) AS u
		FULL JOIN (SELECT customer, CASE WHEN rail IN ('FEDNOW', 'RTP') THEN 'INSTANT' ELSE rail END AS rail,
		  CASE rail WHEN 'ACH' THEN entry_type ELSE '' END AS entry_type, payment_date AS day,
		  sum(CASE WHEN trade IS NULL THEN amount ELSE sold END) AS sum FROM payments
		  WHERE tenant = ?0 AND direction = 'OUT' AND rail <> 'BOOK'
		  AND NOT (entry_type = 'DEBIT' AND rail <> 'ACH')
		  AND CASE WHEN trade IS NULL THEN currency ELSE sold_currency END = 'USD'
		  AND state NOT IN ('REPAIR', 'REJECTED', 'INVALID', 'CANCELLED', 'EXPIRED') GROUP BY 1, 2, 3, 4) AS p
		ON p.customer = u.customer AND p.rail = u.rail AND p.entry_type = u.entry_type AND p.day = u.day
		WHERE coalesce(u.sum, 0) <> coalesce(p.sum, 0)`,
}

// fits compares what left and what came with the books.
func (w *world) fits() {
	w.none(never)
	w.filesFit()
	w.creditsFit()
	w.returnsFit()
}

// none fails the test if there are such rows.
func (w *world) none(wrong map[string]string) {
	w.t.Helper()
	for what, query := range wrong {
		for _, row := range asked[string](w, query, w.Clock.Now()) {
			w.t.Errorf("%s %s", row, what)
		}
	}
}

// filesFit compares the entries in files of ours with what the books say left over ACH.
func (w *world) filesFit() {
	type line struct {
		Trace, What, Way string
		Amount           int64
	}
	rows := asked[line](w, `SELECT e.trace, 'entry of ' || e.payment AS what, e.entry_type AS way, p.amount
		FROM ach_entries AS e JOIN payments AS p ON p.tenant = ?0 AND p.uid = e.payment
		WHERE e.tenant = ?0 AND e.file IS NOT NULL
		UNION ALL SELECT return_trace, 'return of ' || coalesce(payment, 0), 'RETURN', amount
		FROM ach_received WHERE tenant = ?0 AND file IS NOT NULL
		UNION ALL SELECT r.trace, 'reversal of ' || r.payment, 'DEBIT', p.amount
		FROM ach_reversals AS r JOIN payments AS p ON p.tenant = ?0 AND p.uid = r.payment
		WHERE r.tenant = ?0 AND r.file IS NOT NULL`)
	sent := map[string]line{}
	for _, r := range rows {
		if other, twice := sent[r.Trace]; twice {
			w.t.Errorf("%s and %s have one trace number, %s", r.What, other.What, r.Trace)
		}
		sent[r.Trace] = r
	}
	all, _, _ := w.files(w.t)
	for _, entries := range all {
		for _, e := range entries {
			r, known := sent[e.Trace]
			way := string(e.Direction)
			if e.Return != nil {
				way = "RETURN"
			}
			if !known || r.Amount != e.Amount.Minor || r.Way != way {
				w.t.Errorf("an entry of %s %s, %s: the books have %+v, or had it twice", e.Amount, way, e.Trace, r)
			}
			delete(sent, e.Trace)
		}
	}
	for _, r := range sent {
		w.t.Errorf("%s is in no file", r.What)
	}
}

// read reads the messages of these kinds, oldest first.
func (w *world) read(kinds string) (messages []*payments.Message, read []iso20022.Message) {
	for _, m := range asked[payments.Message](w, `SELECT id, rail, direction, message_id, payment, code, body
		FROM network_messages WHERE tenant = ?0 AND payment IS NOT NULL AND `+kinds+` ORDER BY id`) {
		body, err := w.Keys.Open(seal.Value{Sealed: m.Body},
			seal.Place{Tenant: int64(w.Tenant), Column: payments.BodyColumn, Row: int64(m.ID)})
		if err != nil {
			w.t.Fatal(err)
		}
		is, err := iso20022.Read(strings.NewReader(body), payments.Profiles[m.Rail])
		if err != nil {
			w.t.Fatal(err)
		}
		messages, read = append(messages, &m), append(read, is)
	}
	return messages, read
}

// creditsFit compares what our messages say of credits, recalls and requests with the payments.
func (w *world) creditsFit() {
	messages, all := w.read(`direction = 'OUT' AND kind IN ('pacs.008', 'camt.056', 'pain.013')`)
	for i, m := range messages {
		p, err := w.Payments.Show(w.Staff(), m.Payment)
		if err != nil {
			w.t.Fatal(err)
		}
		var said money.Amount
		switch r := all[i].(type) {
		case *iso20022.CreditTransfer:
			said = r.Amount
			sealed := asked[[]byte](w, `SELECT number_sealed FROM payment_details
				WHERE tenant = ?0 AND payment = ?1`, p.UID)
			to, err := w.Keys.Open(seal.Value{Sealed: pick(w, sealed...)},
				seal.Place{Tenant: int64(w.Tenant), Column: payments.NumberColumn, Row: int64(p.UID)})
			if err != nil || to != r.Creditor.Account && to != r.Creditor.IBAN {
				w.t.Errorf("payment %s is to %s, and its message to %s %s (%v)", p.UID, to,
					r.Creditor.Account, r.Creditor.IBAN, err)
			}
		case *iso20022.Recall:
			said = r.OriginalAmount
		case *iso20022.PaymentRequest:
			said = r.Amount
		}
		if said != p.Amount() {
			w.t.Errorf("payment %s is of %s, and its %s of %s %s", p.UID, p.Amount(), all[i].Type(), said,
				said.Currency)
		}
	}
}

// returnsFit compares what came back over networks, but for what people were told of, and what was given
// back, with what the payments say of it.
func (w *world) returnsFit() {
	told := map[string]bool{}
	for _, id := range asked[string](w, `SELECT message_id FROM network_messages WHERE tenant = ?0
		AND kind = 'entry'`) {
		of, _, _ := strings.Cut(id, " #")
		told[of] = true
	}
	back := map[payments.UID]int64{}
	messages, all := w.read(`kind = 'pacs.004'`)
	for i, m := range messages {
		switch minor := all[i].(*iso20022.Return).Amount.Minor; {
		case m.Direction == payments.Out:
			back[m.Payment] = minor // an earlier one was refused
		case !told[m.MessageID]:
			back[m.Payment] += minor
		}
	}
	for uid, minor := range back {
		p, err := w.Payments.Show(w.Staff(), uid)
		if err != nil {
			w.t.Fatal(err)
		}
		gone := p.State == payments.Returned || p.State == payments.Returning
		if p.ReturnedMinor != minor && (!p.Incoming() || gone) {
			w.t.Errorf("payment %s of %s is %s: %d came back or went back, %d in the books", uid, p.Amount(),
				w.life(w.t, uid), minor, p.ReturnedMinor)
		}
	}
}

// unfinished are what must be over when all that goes by the clock is.
var unfinished = map[string]string{
	"is not over": `SELECT 'file ' || uid || ' ' || status FROM bulk_files WHERE tenant = ?0
		AND status NOT IN ('FAILED', 'REJECTED', 'CANCELLED', 'PARTIALLY_PROCESSED', 'PROCESSED',
		'PENDING_APPROVAL', 'PARTIALLY_APPROVED')
		UNION ALL SELECT 'waterfall ' || uid || ' ' || status FROM waterfalls WHERE tenant = ?0
		AND status NOT IN ('PROCESSED', 'STOPPED', 'PENDING_APPROVAL')
		UNION ALL SELECT 'hold ' || uid FROM account_holds WHERE tenant = ?0 AND status = 'Active'
		AND expires_at < ?1
		UNION ALL SELECT 'exception of ' || payment FROM positive_pay_exceptions WHERE tenant = ?0
		AND status = 'PENDING' AND expires_at < ?1
		UNION ALL SELECT 'trade ' || uid FROM fx_trades WHERE tenant = ?0 AND status = 'Booked' AND cover_at < ?1
		UNION ALL SELECT 'verification ' || uid FROM contact_verifications WHERE tenant = ?0 AND due_at < ?1
		UNION ALL SELECT 'series ' || uid FROM recurrences WHERE tenant = ?0 AND status = 'Active'
		AND next_date < ?1::date - 6`,
}

// isOver demands that every payment is final, waits for its day or for somebody's approval, or is shown to
// people.
func (w *world) isOver() {
	w.none(unfinished)
	list, err := w.Attention.List(w.Staff(), attention.Search{}, 200)
	if err != nil {
		w.t.Fatal(err)
	}
	shown := map[int64]bool{}
	for _, item := range list.Items {
		shown[item.UID] = true
	}
	for _, p := range asked[payments.Payment](w, `SELECT uid, state FROM payments AS p WHERE tenant = ?0
		AND updated_at < ?1::timestamptz - interval '8 days' AND state NOT IN ('SETTLED', 'RETURNED',
		'REVERSAL_ACCEPTED', 'REVERSAL_PARTIALLY_ACCEPTED', 'REVERSAL_REJECTED', 'REJECTED', 'EXPIRED', 'INVALID',
		'CANCELLED') AND NOT (state = 'SCHEDULED' AND payment_date >= ?1::date)
		AND NOT (state = 'SENT' AND entry_type = 'DEBIT' AND rail <> 'ACH') -- which may be paid late
		AND NOT EXISTS (SELECT FROM approvals AS a WHERE a.tenant = ?0 AND a.object = 'payment'
		AND a.object_uid = p.uid::text AND a.status = 'Open')`, w.Clock.Now()) {
		if !shown[int64(p.UID)] {
			w.t.Errorf("payment %s is %s, and nobody is told: %s", p.UID, p.State, w.life(w.t, p.UID))
		}
	}
}
