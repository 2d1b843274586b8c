package payments

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
)

// Leaving is something of a bank that leaves it for a network unless somebody keeps it back, or a request or
// debit of another bank by which something leaves once people have decided.
type Leaving struct {
	Kind string `bun:"kind"` // in words: payment, return, answer to a recall
	// in its place (LeavingPlaces): of the payment, the message, the approval …
	Number   int64          `bun:"number"`
	Payment  UID            `bun:"payment"` // 0 if none here is known by it
	State    State          `bun:"state"`   // of the payment
	Rail     rails.Rail     `bun:"rail"`
	Minor    int64          `bun:"amount"` // of the payment, or of another bank's entry
	Currency money.Currency `bun:"currency"`
	From     string         `bun:"sender_name"`
	To       string         `bun:"receiver_name"`
	// the day of a payment that has one to come, the id of a message, the number of an entry of another bank
	Reference string    `bun:"reference"`
	Since     time.Time `bun:"since"`
}

// Status returns the payment's status; "" without a payment.
func (l *Leaving) Status() Status {
	if l.Payment == 0 {
		return ""
	}
	return (&Payment{State: l.State}).Status()
}

// Amount returns what is paid or given back.
func (l *Leaving) Amount() money.Amount { return money.Of(l.Minor, l.Currency) }

// LeavingPlace is where things are kept that are to leave a bank.
type LeavingPlace string

// LeavingPlaces lists them all.
var LeavingPlaces = []LeavingPlace{
	"payments", "requests", "approvals", "entries", "returned entries", "reversed entries",
	"prenotes", "messages",
}

// messageWords are how operators read the kinds of messages.
var messageWords = map[string]string{
	kindOf(iso20022.TypeCreditTransfer):     "payment that is written",
	kindOf(iso20022.TypePaymentRequest):     "request for payment",
	kindOf(iso20022.TypeReturn):             "return",
	kindOf(iso20022.TypeRecall):             "recall",
	recallAnswerKind:                        "answer to a recall",
	kindOf(iso20022.TypeInformationRequest): "request for information",
	kindOf(iso20022.TypeInformation):        "answer to a request for information",
	kindOf(iso20022.TypeStatus):             "answer to a payment",
	kindOfFile:                              "file of ACH",
}

// ofPayment selects the columns of a row's payment pay, which may be absent.
const ofPayment = `coalesce(pay.uid, 0) AS payment, coalesce(pay.state, '') AS state,
	coalesce(pay.rail, '') AS rail, coalesce(pay.amount, 0) AS amount, coalesce(pay.currency, '') AS currency,
	coalesce(pay.sender_name, '') AS sender_name, coalesce(pay.receiver_name, '') AS receiver_name`

// leavingFrom selects the rows of each place, of the bank ?0. What has moved on from one place to the next is
// in the next alone: a payment that is sent, in its entry or message; an entry that is in a file, in that
// message.
var leavingFrom = map[LeavingPlace]string{
	"payments": `SELECT CASE WHEN pay.state = 'REPAIR' THEN 'payment to repair'
		ELSE 'payment' END AS kind, pay.uid AS number, ` + ofPayment + `,
		pay.payment_date::text AS reference, pay.created_at AS since
		FROM payments AS pay WHERE pay.tenant = ?0 AND pay.direction = 'OUT' AND pay.rail <> 'BOOK'
		AND pay.state IN ('REPAIR', 'PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED', 'SCREENING', 'QUEUED')`,
	"requests": `SELECT CASE WHEN pay.rail = 'ACH' THEN 'debit to decide' WHEN pay.state = 'HOLD'
		THEN 'request to decide'
		ELSE 'request to pay' END AS kind, pay.uid AS number, ` + ofPayment + `,
		pay.payment_date::text AS reference, pay.created_at AS since
		FROM payments AS pay WHERE pay.tenant = ?0 AND pay.direction = 'IN' AND pay.entry_type = 'DEBIT'
		AND (pay.state = 'HOLD' OR pay.state = 'VALIDATED' AND pay.rail <> 'ACH')`,
	"approvals": `SELECT CASE p.operation WHEN 'returnPayment' THEN 'return to approve'
		ELSE 'reversal to approve' END AS kind,
		p.uid AS number, ` + ofPayment + `, 'approval ' || p.uid AS reference, p.made_at AS since
		FROM approvals AS p JOIN payments AS pay ON pay.tenant = ?0
		AND pay.uid = CASE WHEN p.operation IN ('returnPayment', 'reversePayment') THEN p.object_uid::bigint END
		WHERE p.tenant = ?0 AND p.status = 'Open' AND p.operation IN ('returnPayment', 'reversePayment')`,
	"entries": `SELECT 'entry of ACH' AS kind, ae.payment AS number, ` + ofPayment + `,
		coalesce(ae.settles_on::text, '') AS reference, ae.taken_at AS since
		FROM ach_entries AS ae JOIN payments AS pay ON pay.tenant = ?0 AND pay.uid = ae.payment
		WHERE ae.tenant = ?0 AND ae.taken_at IS NOT NULL AND ae.file IS NULL`,
	"returned entries": `SELECT 'return of ACH' AS kind, ar.id AS number, coalesce(pay.uid, 0) AS payment,
		coalesce(pay.state, '') AS state, 'ACH' AS rail, ar.amount, 'USD' AS currency,
		coalesce(pay.sender_name, ar.company_name) AS sender_name,
		  coalesce(pay.receiver_name, ar.name) AS receiver_name,
		'trace ' || ar.trace || ', ' || ar.return_code
		  || CASE WHEN ar.payment IS NULL THEN ', number ' || ar.id
		  ELSE '' END AS reference, ar.returned_at AS since
		FROM ach_received AS ar LEFT JOIN payments AS pay ON pay.tenant = ?0 AND pay.uid = ar.payment
		WHERE ar.tenant = ?0 AND ar.returned_at IS NOT NULL AND ar.file IS NULL`,
	"reversed entries": `SELECT 'reversal of ACH' AS kind, re.payment AS number, ` + ofPayment + `,
		'' AS reference, re.asked_at AS since
		FROM ach_reversals AS re JOIN payments AS pay ON pay.tenant = ?0 AND pay.uid = re.payment
		WHERE re.tenant = ?0 AND re.file IS NULL AND re.answered_at IS NULL`,
	"prenotes": `SELECT 'prenote' AS kind, pn.id AS number, 0 AS payment, '' AS state, 'ACH' AS rail,
		0 AS amount, 'USD' AS currency, pn.company_name AS sender_name, pn.name AS receiver_name, pn.reference,
		  pn.send_at AS since
		FROM ach_prenotes AS pn WHERE pn.tenant = ?0 AND pn.file IS NULL AND NOT pn.withdrawn`,
	"messages": `SELECT nm.kind, nm.id AS number, coalesce(pay.uid, 0) AS payment,
		coalesce(pay.state, '') AS state, nm.rail, coalesce(pay.amount, nm.amount, 0) AS amount,
		coalesce(pay.currency, nm.currency) AS currency, coalesce(pay.sender_name, '') AS sender_name,
		  coalesce(pay.receiver_name, '') AS receiver_name,
		nm.message_id || CASE WHEN nm.payment IS NULL AND nm.kind = 'pacs.004' THEN ', number ' || nm.id ELSE '' END
		  AS reference, nm.at AS since
		FROM network_messages AS nm LEFT JOIN payments AS pay ON pay.tenant = ?0 AND pay.uid = nm.payment
		WHERE nm.tenant = ?0 AND nm.direction = 'OUT' AND nm.handed_at IS NULL`,
}

// mostListed is how many things ToLeave returns.
const mostListed = 500

// ToLeave returns what of one place is to leave the caller's bank for a network if nobody keeps it back, by
// the numbers behind after. It is for operators.
func (s *Service) ToLeave(ctx context.Context, from LeavingPlace, after int64) (some []*Leaving, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	err = s.db.NewRaw(`SELECT l.* FROM (`+leavingFrom[from]+
		`) AS l WHERE l.number > ?1 ORDER BY l.number LIMIT ?2`,
		caller.Tenant, after, mostListed).Scan(ctx, &some)
	if err != nil {
		return nil, fmt.Errorf("list the %s that are to leave bank %d: %w", from, caller.Tenant, err)
	}
	for _, l := range some {
		l.Kind = cmp.Or(messageWords[l.Kind], l.Kind)
	}
	return some, nil
}

// LeavingCount is how many things of one kind are to leave a bank.
type LeavingCount struct {
	Kind string `bun:"kind"`
	N    int64  `bun:"n"`
}

// CountToLeave counts what ToLeave lists, by kind. It is for operators.
func (s *Service) CountToLeave(ctx context.Context) (all []LeavingCount, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	for _, from := range LeavingPlaces {
		var some []LeavingCount
		err := s.db.NewRaw(`SELECT l.kind, count(*) AS n FROM (`+leavingFrom[from]+
			`) AS l GROUP BY l.kind ORDER BY l.kind`,
			caller.Tenant).Scan(ctx, &some)
		if err != nil {
			return nil, fmt.Errorf("count the %s that are to leave bank %d: %w", from, caller.Tenant, err)
		}
		for _, c := range some {
			all = append(all, LeavingCount{cmp.Or(messageWords[c.Kind], c.Kind), c.N})
		}
	}
	return all, nil
}
