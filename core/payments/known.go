package payments

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/uptrace/bun"

	"bankgraph/core/ident"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/seal"
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
	ID          MessageID  `bun:"id"`
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
	UETR        string     `bun:"uetr"` // of the payment
	// of the payment: the bank on its other side, and those that it goes over
	Other         string `bun:"bank_id"`
	Between       string `bun:"intermediary_id"`
	Correspondent string `bun:"correspondent_id"`
	// of a return of ours: the bank that sent the credit, and so gets it back
	Sender string `bun:"sender"`
	// of a return or a recall of ours: another one of the payment followed, as the network refused this one
	Followed bool `bun:"followed"`

	said *incoming // what it says, where that is needed to tell it from another one; nil if it is not known
}

var readingKnown = db.NewQuery[known](knownOf + ` AND nm.message_id = ANY($2::text[])
	UNION ` + knownOf + ` AND nm.transaction = ANY($3::text[])`)

const knownOf = `SELECT nm.id, nm.rail, nm.direction, nm.message_id,
	coalesce(nm.payment, 0) AS payment, nm.kind,
	nm.code, nm.transaction, coalesce(nm.amount, 0) AS amount, nm.number_last4, nm.bank,
	coalesce(pd.uetr, '') AS uetr,
	coalesce(pd.bank_id, '') AS bank_id, coalesce(pd.intermediary_id, '') AS intermediary_id,
	coalesce(pd.correspondent_id, '') AS correspondent_id,
	CASE WHEN nm.kind = 'pacs.004' AND nm.direction = 'OUT'
	THEN coalesce((SELECT c.bank FROM network_messages AS c
	  WHERE c.tenant = $1 AND c.payment = nm.payment AND c.kind = 'pacs.008' AND c.direction = 'IN'
	  ORDER BY c.id LIMIT 1), '') ELSE '' END AS sender,
	nm.kind IN ('pacs.004', 'camt.056') AND nm.direction = 'OUT' AND EXISTS (SELECT FROM network_messages AS f
	  WHERE f.tenant = $1 AND f.payment = nm.payment AND f.kind = nm.kind AND f.direction = 'OUT'
	  AND f.id > nm.id) AS followed
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

// named returns the message at the place a.about(); nil if it is not on record.
func (in *intake) named(a *incoming) *known {
	if at := a.about(); at.direction == In {
		return in.received(at.over, at.id, at.from)
	}
	return in.onRecord[a.about()]
}

// onAbout returns the message that a message names; nil if it is not on record, or is not of the payment that
// the message names too.
func (in *intake) onAbout(a *incoming) *known {
	if k := in.named(a); k != nil && a.means(k) {
		return k
	}
	return nil
}

// answered returns the message that an answer is about, or else why nothing comes of the answer.
func (in *intake) answered(a *incoming) (k *known, why string) {
	switch k := in.named(a); {
	case k == nil:
		return nil, "it answers no message of ours"
	case !a.means(k):
		return nil, "it answers message " + k.MessageID + ", and names another payment"
	case !a.mayAnswer(k):
		return nil, "it answers message " + k.MessageID + ", which went to another bank"
	default:
		return k, ""
	}
}

// asked returns the message of ours that an answer is to: of the answer to a recall, which names the payment
// k, the recall that opened its case. It is k where that is not known.
func (in *intake) asked(a *incoming, k *known) *known {
	of := in.onRecord[place{a.over, Out, a.asked, ""}]
	if of != nil && of.Kind == recallKind && of.Payment == k.Payment {
		return of
	}
	return k
}

// known returns a message as it will be on record.
func (in *intake) known(a *incoming) *known {
	row := a.shown()
	k := &known{
		said: a, Rail: a.over, Direction: In, MessageID: a.id, Kind: a.kind, Transaction: a.transaction(),
		Minor: row.Minor,
		Last4: row.Last4, Bank: row.Bank, UETR: a.uetr(),
	}
	if of, _ := in.answered(a); of != nil {
		k.Payment = of.Payment
	}
	return k
}

// same reports whether a message is the one that is on record under its id, and not another one for which its
// bank used the id again: of another kind, of another payment, or about another one.
func (in *intake) same(a *incoming, k *known) bool {
	switch now := in.known(a); {
	case a.kind != k.Kind:
		return false
	case a.transfer != nil, a.request != nil:
		// a transaction is kept of the first message only
		return now.equals(k) && (now.Transaction == k.Transaction || k.Transaction == "")
	case k.said != nil && a.gist() != k.said.gist():
		return false
	case a.recall != nil, a.inquiry != nil, a.information != nil:
		return true
	default: // what was of nothing may be of a payment by now, as after a restore
		return now.Payment == k.Payment
	}
}

// gist is what tells a message from others of its kind: what it is about, and what it says of that.
func (a *incoming) gist() string {
	of, cases := a.ids, a.asked
	switch {
	case a.recall != nil:
		cases = a.recall.CaseID
	case a.inquiry != nil:
		cases = a.inquiry.CaseID
	}
	row, amount := a.shown(), a.amount.String()
	return fmt.Sprintf("%q", []string{
		a.transaction(), a.of, of.UETR, of.InstructionID, of.EndToEndID, of.TransactionID, cases, a.code,
		amount, string(a.amount.Currency), strconv.FormatInt(row.Minor, 10), string(row.Currency), row.Last4,
	})
}

// saidTx reads what messages said that are on record under the ids of those that have arrived, began the same
// payments, or are asked about.
func (in *intake) saidTx(ctx context.Context, tx bun.Tx, arrived []*incoming) error {
	of := map[MessageID]*known{}
	for _, a := range arrived {
		for _, id := range append(in.anewBefore(a), a.id, in.anew(a)) {
			if k := in.received(a.over, id, a.from); k != nil && k.Kind == a.kind {
				of[k.ID] = k
			}
		}
		if a.says == recalled || a.says == inquired {
			if k := in.received(a.over, a.of, a.from); k != nil {
				of[k.ID] = k
			}
		}
		for _, over := range append(asking, a.over) {
			if k := in.firsts[place{over, In, a.transaction(), ""}]; k != nil {
				of[k.ID] = k
			}
		}
	}
	if len(of) == 0 {
		return nil
	}
	var found []*Message
	if err := tx.NewSelect().Model(&found).Where("nm.tenant = ?", in.caller.Tenant).
		Where("nm.id IN (?)", bun.List(slices.Sorted(maps.Keys(of)))).Scan(ctx); err != nil {
		return err
	}
	for _, m := range found {
		body, err := in.s.keys.Open(seal.Value{Sealed: m.Body}, m.place())
		if err != nil {
			return fmt.Errorf("open message %s: %w", m.MessageID, err)
		}
		if said := read(Arrived{Over: m.Rail, Body: []byte(body)}); said.kind == m.Kind {
			of[m.ID].said = said
		}
	}
	return nil
}

// equals reports whether two messages that begin payments name the same amount and account. Only the whole
// number tells accounts apart.
func (k *known) equals(other *known) bool {
	if k.Minor != other.Minor || k.Last4 != other.Last4 {
		return false
	}
	return k.said == nil || other.said == nil ||
		ident.Same(k.said.accountNumber(), other.said.accountNumber())
}

// anew returns the id under which a message is kept whose own id is that of another one. Who has no keys
// learns nothing of the account number by it.
func (in *intake) anew(a *incoming) string {
	sum := in.s.keys.Secret(fmt.Sprintf("message/%d", in.caller.Tenant), a.gist()+a.accountNumber())
	return fmt.Sprintf("%s, %s %x", a.id, a.kind, sum[:8])
}

// anewBefore returns what anew did until it told messages to two accounts apart, and until it told two about
// one thing apart: some are on record so.
func (in *intake) anewBefore(a *incoming) []string {
	sum := sha256.Sum256([]byte(a.gist()))
	return []string{
		fmt.Sprintf("%s, %s %x", a.id, a.kind, sum[:8]),
		fmt.Sprintf("%s, %s %s", a.id, a.kind, cmp.Or(a.transaction(), a.of)),
	}
}

// original returns the message that a message is about; nil if it is not on record. Another bank may ask
// about what it has received, and about what it has sent.
func (in *intake) original(a *incoming) *known {
	if k := in.onAbout(a); k != nil || a.says != inquired {
		return k
	}
	if k := in.received(a.over, a.of, a.from); k != nil && a.means(k) {
		return k
	}
	return nil
}

// means reports whether the payment that a message names beside the message k is that of k. What identifies a
// payment everywhere is its UETR; where that is missing, the instruction id that the message of ours had, or
// all the ids that the other bank gave its own.
func (a *incoming) means(k *known) bool {
	own, given := k.named(), a.ids
	switch {
	case given.UETR != "" && k.UETR != "":
		return given.UETR == k.UETR
	case k.Direction == Out && given.InstructionID != "" && (k.Kind == creditKind || k.Kind == requestKind):
		return given.InstructionID == k.Payment.String()
	case k.Direction == Out:
		return true
	}
	return alike(given.InstructionID, own.InstructionID) && alike(given.EndToEndID, own.EndToEndID) &&
		alike(given.TransactionID, own.TransactionID)
}

// alike reports whether two ids can be one: they are the same, or one of them is not given.
func alike(a, b string) bool { return a == "" || b == "" || a == b }

// named returns the ids that a bank gave its credit, or its request for one; none of other messages.
func (k *known) named() (ids iso20022.Original) {
	if k.said == nil {
		return ids
	}
	switch t, r := k.said.transfer, k.said.request; {
	case t != nil:
		ids = original(t)
	case r != nil:
		ids = originalOf(r)
	}
	return ids
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
