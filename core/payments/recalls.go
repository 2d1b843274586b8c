package payments

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// gaveBack is the reason of a recall that is declined as the money is back already, or on its way.
const gaveBack = "ARDT"

// recall takes in another bank's request for the return of a credit. The bank's people, or the customer,
// answer it. For a credit that never came, or is given back already, the answer is no.
func (in *intake) recall(a *incoming) error {
	var p *Payment
	if k := in.onAbout(a); k != nil && k.Kind == creditKind {
		p = in.by[k.Payment]
	}
	if p != nil && !in.sentBy(p, a) {
		p = nil
	}
	if p != nil {
		a.payment = p.UID
	}
	row := a.message(in.s.keys, in.caller.Tenant, in.now)
	in.messages = append(in.messages, row)
	if p == nil {
		in.reply(row, a.recall.Receiver, declined(a.recall, iso20022.Reason{Code: "NOOR"}))
		return nil
	}
	was := *p
	to, err := askingBack.Take(p.State)
	switch {
	case err == nil:
		in.enter(&was, p, to, actions[to], a.reason())
	case p.State == Returning || p.State == Returned:
		in.reply(row, a.recall.Receiver, declined(a.recall, iso20022.Reason{Code: gaveBack}))
		if in.f.promised != nil { // of one that is on its way
			in.f.promised[p.UID] = true
		}
	}
	return nil // another request waits for its answer, which all of them get
}

// sentBy reports whether the bank that asks for a payment's money is the one that sent it.
func (in *intake) sentBy(p *Payment, a *incoming) bool {
	k := in.onAbout(a)
	return k != nil && k.Payment == p.UID && k.Bank == a.recall.Sender
}

// original identifies a credit in a message about it.
func original(t *iso20022.CreditTransfer) iso20022.Original {
	return iso20022.Original{
		MessageID: t.ID, Type: t.Type(), CreatedAt: t.CreatedAt, InstructionID: t.InstructionID,
		EndToEndID: t.EndToEndID, TransactionID: t.TransactionID, UETR: t.UETR,
	}
}

// giveBack returns the message that pays a credit back, in whole or in part.
func giveBack(
	g iso20022.Group, over rails.Rail, t *iso20022.CreditTransfer, amount money.Amount, why iso20022.Reason,
) *iso20022.Return {
	from, to := t.Creditor, t.Debtor
	from.Name, to.Name = cmp.Or(from.Name, t.CreditorAgent.Name, t.Receiver),
		cmp.Or(to.Name, t.DebtorAgent.Name, t.Sender)
	today := calendar.Today(g.CreatedAt)
	return &iso20022.Return{
		Group: g, Original: original(t), OriginalAmount: t.Amount, OriginalDate: t.SettlementDate, Amount: amount,
		SettlementDate: calendar.Default().Plan(service("", over), g.CreatedAt, today).Settles, Reason: why,
		Sender: t.Receiver, Receiver: t.Sender, Debtor: from, Creditor: to, LocalInstrument: t.LocalInstrument,
	}
}

// declined returns the answer that a recalled credit is not given back.
func declined(r *iso20022.Recall, why iso20022.Reason) func(iso20022.Group) iso20022.Message {
	return answered(r, iso20022.RecallRefused, why)
}

// answered returns the answer to a recall.
func answered(
	r *iso20022.Recall, code iso20022.RecallCode, why iso20022.Reason,
) func(iso20022.Group) iso20022.Message {
	return func(g iso20022.Group) iso20022.Message {
		a := &iso20022.RecallAnswer{
			Group: g, CaseID: r.CaseID, CaseCreator: r.CaseCreator, Code: code, Original: r.Original,
			Sender: r.Receiver, Receiver: r.Sender,
		}
		if code == iso20022.RecallRefused {
			a.Reasons = []iso20022.Reason{why}
		}
		return a
	}
}

// readTx reads the message of a kind that a payment has, to its network or from it: the first credit
// transfer, or the last message of another kind. It is nil if there is none.
func (s *Service) readTx(
	ctx context.Context, tx bun.Tx, p *Payment, kind string, direction Direction,
) (iso20022.Message, error) {
	var found []*Message
	order := "nm.id DESC"
	if kind == creditKind {
		order = "nm.id"
	}
	err := tx.NewSelect().Model(&found).Where("nm.tenant = ?", p.Tenant).Where("nm.payment = ?", p.UID).
		Where("nm.kind = ?", kind).Where("nm.direction = ?", direction).OrderExpr(order).Limit(1).Scan(ctx)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return s.opened(found[0])
}

// opened returns what a message says.
func (s *Service) opened(m *Message) (iso20022.Message, error) {
	body, err := s.keys.Open(seal.Value{Sealed: m.Body}, m.place())
	if err == nil {
		return iso20022.Read(bytes.NewReader([]byte(body)), Profiles[m.Rail])
	}
	return nil, fmt.Errorf("open message %s: %w", m.MessageID, err)
}

// goingBack returns those payments that came in and are on their way back.
func goingBack(all []*Payment) (back []UID) {
	for _, p := range all {
		if p.Incoming() && p.State == Returning {
			back = append(back, p.UID)
		}
	}
	return back
}

// promisedTx returns which payments are on their way back of which the other bank, as it asked for them, was
// told that they come, or have come.
func promisedTx(ctx context.Context, tx bun.Tx, all []*Payment) (promised map[UID]bool, err error) {
	back := goingBack(all)
	if len(back) == 0 {
		return nil, nil
	}
	var before []*Step
	err = tx.NewSelect().Model(&before).DistinctOn("ps.payment").Column("payment", "state").
		Where("ps.tenant = ?", all[0].Tenant).Where("ps.payment IN (?)", bun.List(back)).
		Where("ps.state <> ?", Returning).OrderExpr("ps.payment, ps.number DESC").Scan(ctx)
	if err != nil {
		return nil, err
	}
	promised = map[UID]bool{}
	for _, step := range before {
		promised[step.Payment] = step.State == Recalled
	}
	var told []UID // since the return was written, that the money has come back (ARDT)
	err = tx.NewRaw(`SELECT nm.payment FROM network_messages AS nm WHERE nm.tenant = ?0 AND nm.payment IN (?1)
		AND nm.kind = ?2 AND nm.direction = 'IN' AND nm.id > (SELECT max(r.id) FROM network_messages AS r
		  WHERE r.tenant = ?0 AND r.payment = nm.payment AND r.kind = ?3 AND r.direction = 'OUT')`,
		all[0].Tenant, bun.List(back), recallKind, returnKind).Scan(ctx, &told)
	for _, uid := range told {
		promised[uid] = true
	}
	return promised, err
}

// mostRecalls bounds the requests for the money of a credit, and the answers to them, that are looked at: the
// last ones. Another bank decides how many there are.
const mostRecalls = 100

// recallsTx reads the recalls by which another bank asks for a payment's money and that have no answer yet,
// in the order in which they came. One case may be asked for again after its answer.
func (s *Service) recallsTx(ctx context.Context, tx bun.Tx, p *Payment) (open []*iso20022.Recall, err error) {
	answers := map[string]int{} // by case; all cases are of the bank that sent the payment
	for _, k := range []struct {
		kind      string
		direction Direction
	}{{recallAnswerKind, Out}, {recallKind, In}} { // the last ones first
		var found []*Message
		err := tx.NewSelect().Model(&found).Where("nm.tenant = ?", p.Tenant).Where("nm.payment = ?", p.UID).
			Where("nm.kind = ?", k.kind).Where("nm.direction = ?", k.direction).OrderExpr("nm.id DESC").
			Limit(mostRecalls).Scan(ctx)
		if err != nil {
			return nil, err
		}
		recalls := map[string][]*iso20022.Recall{}
		var cases []string
		for _, row := range slices.Backward(found) {
			m, err := s.opened(row)
			if err != nil {
				return nil, err
			}
			switch m := m.(type) {
			case *iso20022.RecallAnswer:
				answers[m.CaseID]++
			case *iso20022.Recall:
				cases, recalls[m.CaseID] = append(cases, m.CaseID), append(recalls[m.CaseID], m)
			}
		}
		for _, of := range cases {
			if answers[of]--; answers[of] < 0 {
				open = append(open, recalls[of][0])
			}
			recalls[of] = recalls[of][1:]
		}
	}
	return open, nil
}

// creditTx reads the credit transfer of a payment as it was sent, or came.
func (s *Service) creditTx(ctx context.Context, tx bun.Tx, p *Payment) (*iso20022.CreditTransfer, error) {
	m, err := s.readTx(ctx, tx, p, creditKind, p.Direction)
	if err != nil {
		return nil, err
	}
	t, is := m.(*iso20022.CreditTransfer)
	if !is {
		return nil, fmt.Errorf("payment %s has no message", p.UID)
	}
	return t, nil
}

// tellTx writes messages about a payment into the outbox, each from a routing number of ours.
func (s *Service) tellTx(
	ctx context.Context, tx bun.Tx, p *Payment, from string, now time.Time,
	compose ...func(iso20022.Group) iso20022.Message,
) error {
	rows, err := s.composeTx(ctx, tx, p, from, now, compose...)
	if err != nil {
		return err
	}
	return db.InsertAtCommit(ctx, rows)
}

// composeTx makes messages about a payment for the outbox, each from a routing number of ours.
func (s *Service) composeTx(
	ctx context.Context, tx bun.Tx, p *Payment, from string, now time.Time,
	compose ...func(iso20022.Group) iso20022.Message,
) (rows []*Message, err error) {
	b := db.TxBatch(tx)
	ids := db.Queue(b, takingMessageIDs, len(compose))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	for i, make := range compose {
		id := ids.Items[i].ID
		row, err := s.write(&Message{Tenant: p.Tenant, ID: id, Rail: p.Rail, Payment: p.UID, At: now},
			make(group(p.Rail, from, id, now)))
		if err != nil {
			return nil, fmt.Errorf("payment %s: %w", p.UID, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}
