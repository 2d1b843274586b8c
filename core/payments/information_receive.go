package payments

import (
	"context"
	"strings"

	"github.com/uptrace/bun"

	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/core/rails/iso20022"
	"bankgraph/db"
)

// clarified is what is read of a payment about which another bank asks.
type clarified struct {
	Payment UID    `bun:"payment"`
	Bank    string `bun:"bank_id"` // on its other side
	Asked   int    `bun:"asked"`   // how often that bank has asked
}

var (
	readingClarified = db.NewQuery[clarified](`SELECT d.payment, d.bank_id, (SELECT count(*)
		FROM information_requests AS r
		WHERE r.tenant = $1 AND r.payment = d.payment AND r.direction = 'IN') AS asked
		FROM payment_details AS d WHERE d.tenant = $1 AND d.payment = ANY($2::bigint[])`)
	readingUnanswered = db.NewQuery[InformationRequest](db.Select[InformationRequest](db.Columns{}, inRequests).
				Where("ir.tenant = $1").Where("ir.direction = 'OUT'").
				Where("ir.message_id = ANY($2::text[])").String())
)

// clarifyTx reads what it takes to take in requests for information, and answers to ours. Their payments are
// locked.
func (in *intake) clarifyTx(ctx context.Context, tx bun.Tx, arrived []*incoming) error {
	var about []UID
	var cases []string
	for _, a := range arrived {
		switch k := in.original(a); {
		case a.says == inquired && k != nil:
			about = append(about, k.Payment)
		case a.says == informed:
			cases = append(cases, a.of)
		}
	}
	if len(about)+len(cases) == 0 {
		return nil
	}
	b := db.TxBatch(tx)
	payments := db.Queue(b, readingClarified, in.caller.Tenant, about)
	requests := db.Queue(b, readingUnanswered, in.caller.Tenant, cases)
	if err := b.Send(ctx); err != nil {
		return err
	}
	for _, c := range payments.Items {
		in.clarified[c.Payment] = c
	}
	for _, r := range requests.Items {
		in.unanswered[place{r.Rail, Out, r.MessageID, ""}] = r
	}
	return nil
}

// inquire takes in a request for information, if it comes from the bank on the payment's other side. One from
// any other bank is kept for people.
func (in *intake) inquire(a *incoming) error {
	p, bank := (*Payment)(nil), ""
	if k := in.original(a); k != nil && instant(a.over) && (k.Kind == creditKind || k.Kind == requestKind) {
		if c := in.clarified[k.Payment]; c != nil && c.Bank == a.inquiry.Sender &&
			c.Asked < MostInformationRequests {
			p, bank = in.by[k.Payment], c.Bank
			c.Asked++
		}
	}
	if p != nil {
		a.payment = p.UID
	}
	row := a.message(in.s.keys, in.caller.Tenant, in.now)
	in.messages = append(in.messages, row)
	if p == nil {
		return nil
	}
	said := InformationDraft{
		Missing: items(a.inquiry.Missing), Incorrect: items(a.inquiry.Incorrect), Party: a.inquiry.Creator,
	}
	r := &InformationRequest{
		Tenant: p.Tenant, ID: row.ID, Payment: p.UID, Rail: p.Rail, Direction: In, Bank: bank,
		MessageID: row.MessageID, Codes: said.codes(), At: in.now, Answered: []byte{},
	}
	var err error
	if r.Asked, err = r.sealed(in.s.keys, AskedColumn, said); err != nil {
		return err
	}
	in.inquiries = append(in.inquiries, r)
	in.record = append(in.record, in.recordInformation("receiveInformationRequest", nil, r, p))
	return nil
}

// inform takes in another bank's answer to a request of ours. The first answer of the bank that was asked
// counts; others are on record, and change nothing.
func (in *intake) inform(a *incoming) error {
	r := in.unanswered[a.about()]
	var p *Payment
	if r != nil {
		p = in.by[r.Payment]
	}
	if p != nil {
		a.payment = p.UID
	}
	row := a.message(in.s.keys, in.caller.Tenant, in.now)
	in.messages = append(in.messages, row)
	if p == nil || r.Answer != 0 || r.Bank != a.information.Sender {
		return nil
	}
	was := *r
	r.Answer, r.AnsweredAt = row.ID, &in.now
	var err error
	if r.Answered, err = r.sealed(in.s.keys, AnsweredColumn, heard(a.information)); err != nil {
		return err
	}
	in.informed = append(in.informed, r)
	in.record = append(in.record, in.recordInformation("receiveInformation", &was, r, p))
	return nil
}

// heard returns the words of an answer: the payer and the payee, where it names them, and what else it says.
func heard(m *iso20022.Information) (lines []string) {
	for _, of := range []struct {
		what  string
		party iso20022.Party
	}{{"Debtor", m.Debtor}, {"Creditor", m.Creditor}} {
		a, words := of.party.Address, []string{}
		for _, word := range []string{
			of.party.Name, a.Line1, a.Line2, a.City, a.State, a.PostalCode, a.CountryCode,
		} {
			if word != "" {
				words = append(words, word)
			}
		}
		if len(words) > 0 {
			lines = append(lines, of.what+": "+strings.Join(words, ", "))
		}
	}
	return append(lines, m.Text...)
}

func (in *intake) recordInformation(
	action string, was, now *InformationRequest, of *Payment,
) events.Recorded {
	done := changes.Change{
		Action: action, Object: InformationObject, UID: messageName(now.MessageID), Customer: int64(of.Customer),
		Version: 1, After: now,
	}
	if was != nil {
		done.Before, done.Version = was, 2
	}
	return done.Recorded(in.caller, "")
}

// clarifiedTx writes what was asked and answered, at the end of the transaction, after the messages.
func (in *intake) clarifiedTx(ctx context.Context) error {
	if err := db.InsertAtCommit(ctx, in.inquiries); err != nil || len(in.informed) == 0 {
		return err
	}
	var ids, answers []int64
	var words [][]byte
	for _, r := range in.informed {
		ids, answers, words = append(ids, int64(r.ID)), append(answers, int64(r.Answer)), append(words, r.Answered)
	}
	return db.ExecAtCommit(ctx, `UPDATE information_requests AS r SET answer = n.answer, answered_at = $2,
		answer_sealed = n.words
		FROM unnest($3::bigint[], $4::bigint[], $5::bytea[]) AS n(id, answer, words)
		WHERE r.tenant = $1 AND r.id = n.id`, in.caller.Tenant, in.now, ids, answers, words)
}
