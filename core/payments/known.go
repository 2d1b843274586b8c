package payments

import (
	"bankgraph/core/rails"
	"bankgraph/db"
)

// place identifies a message: no bank writes two messages of one id to one side of a network. Two banks may
// write one each, as they do over SWIFT.
type place struct {
	over      rails.Rail
	direction Direction
	id        string
	from      string // the bank that sent it; "" of ours, and where that was not kept yet
}

// known is a message that is on record.
type known struct {
	Rail        rails.Rail `bun:"rail"`
	Direction   Direction  `bun:"direction"`
	MessageID   string     `bun:"message_id"`
	Payment     UID        `bun:"payment"`
	Kind        string     `bun:"kind"`
	Code        string     `bun:"code"`
	Transaction string     `bun:"transaction"`
	Minor       int64      `bun:"amount"`
	Last4       string     `bun:"number_last4"`
	Bank        string     `bun:"bank"`
	// of the payment: the bank on its other side, and those that it goes over
	Other         string `bun:"bank_id"`
	Between       string `bun:"intermediary_id"`
	Correspondent string `bun:"correspondent_id"`
	// of a return of ours: the bank that sent the credit, and so gets it back
	Sender string `bun:"sender"`
}

var readingKnown = db.NewQuery[known](knownOf + ` AND nm.message_id = ANY($2::text[])
	UNION ` + knownOf + ` AND nm.transaction = ANY($3::text[])`)

const knownOf = `SELECT nm.rail, nm.direction, nm.message_id, coalesce(nm.payment, 0) AS payment, nm.kind,
	nm.code, nm.transaction, coalesce(nm.amount, 0) AS amount, nm.number_last4, nm.bank,
	coalesce(pd.bank_id, '') AS bank_id, coalesce(pd.intermediary_id, '') AS intermediary_id,
	coalesce(pd.correspondent_id, '') AS correspondent_id,
	CASE WHEN nm.kind = 'pacs.004' AND nm.direction = 'OUT' THEN coalesce((SELECT c.bank FROM network_messages AS c
	  WHERE c.tenant = $1 AND c.payment = nm.payment AND c.kind = 'pacs.008' AND c.direction = 'IN'
	  ORDER BY c.id LIMIT 1), '') ELSE '' END AS sender
	  FROM network_messages AS nm
	LEFT JOIN payment_details AS pd ON pd.tenant = $1 AND pd.payment = nm.payment WHERE nm.tenant = $1`

// about returns the place of the message that a message answers: one of ours, or the credit that is asked
// back.
func (a *incoming) about() place {
	if a.says == recalled {
		return place{a.over, In, a.of, a.from}
	}
	return place{a.over, Out, a.of, ""}
}

// from returns who sent a message to us.
func (k *known) from() string {
	if k.Direction == Out {
		return ""
	}
	return k.Bank
}

// received returns the message that came with an id from a bank; nil if none is on record.
func (in *intake) received(over rails.Rail, id, from string) *known {
	if k := in.onRecord[place{over, In, id, from}]; k != nil {
		return k
	}
	return in.onRecord[place{over, In, id, ""}]
}

// onAbout returns the message at the place a.about(); nil if it is not on record.
func (in *intake) onAbout(a *incoming) *known {
	if at := a.about(); at.direction == In {
		return in.received(at.over, at.id, at.from)
	}
	return in.onRecord[a.about()]
}

// original returns the message that a message is about; nil if it is not on record. Another bank may ask
// about what it has received, and about what it has sent.
func (in *intake) original(a *incoming) *known {
	if k := in.onAbout(a); k != nil || a.says != inquired {
		return k
	}
	return in.received(a.over, a.of, a.from)
}

// mayAnswer reports whether the sender of an answer may give it: the network, or a bank that our message went
// to. The answer of anybody else is kept, and changes nothing.
func (a *incoming) mayAnswer(k *known) bool {
	if a.from == "" || a.from == Profiles[a.over].Operator {
		return true
	}
	is := func(bank string) bool { // of a BIC only the bank counts, not the branch
		if a.over == rails.SWIFT {
			return bank != "" && bank[:min(8, len(bank))] == a.from[:min(8, len(a.from))]
		}
		return bank == a.from
	}
	if k.Kind == returnKind {
		return is(k.Sender)
	}
	return is(k.Other) || is(k.Between) || is(k.Correspondent)
}
