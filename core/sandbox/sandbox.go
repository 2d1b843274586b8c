// Package sandbox plays the payment networks that sandbox banks are connected to: it answers their messages as the
// networks and the other banks would, with messages that the networks write. What becomes of a payment follows
// from its cents alone (Script), so that a partner can test each outcome.
package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables (core/README.md, Tables).
var Tables = db.Tables{Own: []string{"sandbox_messages"}}

// Service plays the networks. It is a payments.Network.
type Service struct {
	db   *db.DB
	keys *seal.Keys
	now  func() time.Time
}

// New makes the service.
func New(d *db.DB, keys *seal.Keys, now func() time.Time) *Service {
	return &Service{db: d, keys: keys, now: now}
}

// message is an answer that a bank gets, or has got.
type message struct {
	bun.BaseModel `bun:"table:sandbox_messages,alias:sm"`

	Tenant  access.Tenant `bun:"tenant,pk"`
	ID      int64         `bun:"id,pk"`
	Rail    rails.Rail    `bun:"rail"`
	Asked   string        `bun:"asked"`  // the message that it answers
	Answer  int32         `bun:"answer"` // 1, 2, 3 … of that message; 0 marks one that is never answered
	DueAt   time.Time     `bun:"due_at"`
	Body    []byte        `bun:"body,type:bytea"`
	TakenAt *time.Time    `bun:"taken_at"`
}

// BodyColumn names the column for which the texts of messages are sealed (seal.Place).
const BodyColumn = "sandbox_messages.body"

func (m *message) place() seal.Place {
	return seal.Place{Tenant: int64(m.Tenant), Column: BodyColumn, Row: m.ID}
}

// Send takes a message of a bank and decides what is answered to it. It implements payments.Network.
func (s *Service) Send(ctx context.Context, tenant access.Tenant, over rails.Rail, id string, body []byte) error {
	if _, err := access.Require(ctx, access.ManageTenants); err != nil {
		return err
	}
	if over == rails.ACH {
		return once(s.takeFile(ctx, tenant, id, body))
	}
	read, err := iso20022.Read(bytes.NewReader(body), payments.Profiles[over])
	if err != nil {
		return fmt.Errorf("the sandbox cannot read message %s: %w", id, err)
	}
	transfer, is := read.(*iso20022.CreditTransfer)
	if !is {
		return fmt.Errorf("the sandbox plays no answer to message %s, a %s", id, read.Type())
	}
	return once(s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		return s.answerTx(ctx, tx, &message{Tenant: tenant, Rail: over, Asked: id}, transfer)
	}))
}

// once passes over what says that a message was handed over before.
func once(err error) error {
	if _, again := db.UniqueViolation(err); again {
		return nil
	}
	return err
}

// answerTx writes the answers to a transfer. like is what they have in common.
func (s *Service) answerTx(ctx context.Context, tx bun.Tx, like *message, to *iso20022.CreditTransfer) error {
	now := s.now()
	played := Script(to.Amount.Minor)
	var ids []int64
	if err := tx.NewRaw(`SELECT nextval('sandbox_messages_ids') FROM generate_series(1, ?)`, len(played)+1).
		Scan(ctx, &ids); err != nil {
		return err
	}
	mark := *like
	mark.ID, mark.DueAt, mark.TakenAt, mark.Body = ids[0], now, &now, []byte{}
	rows := []*message{&mark}
	for i, act := range played {
		row := *like
		row.ID, row.Answer, row.DueAt = ids[i+1], int32(i+1), now.Add(act.After)
		name := row.ID
		if act.Again {
			name = ids[1]
		}
		var body bytes.Buffer
		if err := iso20022.Write(&body, payments.Profiles[like.Rail], act.message(like.Rail, to, name, row.DueAt)); err != nil {
			return fmt.Errorf("answer message %s: %w", like.Asked, err)
		}
		row.Body = s.keys.Seal(body.String(), row.place()).Sealed
		rows = append(rows, &row)
	}
	return db.InsertAtCommit(ctx, rows)
}

// Receive returns the answers that are due. It implements payments.Network.
func (s *Service) Receive(ctx context.Context, tenant access.Tenant, most int64) ([]payments.Arrived, error) {
	if _, err := access.Require(ctx, access.ManageTenants); err != nil {
		return nil, err
	}
	var due []*message
	err := s.db.NewSelect().Model(&due).Where("sm.tenant = ?", tenant).Where("sm.taken_at IS NULL").
		Where("sm.due_at <= ?", s.now()).OrderExpr("sm.due_at, sm.id").Limit(most).Scan(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]payments.Arrived, 0, len(due))
	files := 0
	for _, m := range due {
		if m.Rail == rails.ACH {
			if files++; files > 1 {
				continue // they are large
			}
		}
		body, err := s.keys.Open(seal.Value{Sealed: m.Body}, m.place())
		if err != nil {
			return nil, fmt.Errorf("open message %d of the sandbox: %w", m.ID, err)
		}
		all = append(all, payments.Arrived{ID: m.ID, Over: m.Rail, Body: []byte(body)})
	}
	return all, nil
}

// Done marks answers as taken. It implements payments.Network.
func (s *Service) Done(ctx context.Context, tenant access.Tenant, ids []int64) error {
	if _, err := access.Require(ctx, access.ManageTenants); err != nil {
		return err
	}
	return s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewUpdate().Model((*message)(nil)).Set("taken_at = ?", s.now()).Where("sm.tenant = ?", tenant).
			Where("sm.id IN (?)", bun.List(ids)).Where("sm.taken_at IS NULL").Exec(ctx)
		return err
	})
}
