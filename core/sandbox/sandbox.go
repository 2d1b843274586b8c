// Package sandbox plays the payment networks that sandbox banks are connected to: it answers their messages
// as the networks and the other banks would, with messages that the networks write. What becomes of a payment
// follows from its cents alone (Script), so that a partner can test each outcome. Asked to, it also begins,
// as a customer of another bank that pays or wants its money back, and answers in other ways, late or twice.
package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"sandbox_messages"},
	Reads: map[string]string{
		"ach_entries":      "an entry that another bank answers, for a payment that the caller sees",
		"accounts":         "the account that another bank's customer pays, with its sealed number",
		"banks":            "a bank whose customer asks to be paid, and can be over the network",
		"customers":        "in that statement, too: whether the caller sees whose account it is",
		"network_messages": "the message that is asked back or asked about, for a payment that the caller sees",
		"payment_details":  "whom that entry pays, with the sealed number",
		"payments":         "in that statement, too",
		"tenants":          "in these statements, too: whether the bank is connected to simulated networks",
		"virtual_accounts": "the virtual account that another bank's customer names",
	},
}

// Service plays the networks. It is a payments.Network.
type Service struct {
	db        *db.DB
	keys      *seal.Keys
	customers *customers.Service
	clock     *clock.Service

	pay     *changes.Operation[Credit, Played]
	debit   *changes.Operation[Debit, Played]
	request *changes.Operation[Request, Played]
	recall  *changes.Operation[Recall, Played]
	ask     *changes.Operation[Inquiry, Played]
	answer  *changes.Operation[Answer, Played]
	move    *changes.Operation[Move, clock.Reading]
}

// New makes the service.
func New(d *db.DB, keys *seal.Keys, c *customers.Service, all *changes.Service, at *clock.Service) *Service {
	s := &Service{db: d, keys: keys, customers: c, clock: at}
	s.move = changes.Declare(all, "moveClock", "clock", access.MoveClock, s.moveTx)
	s.pay = changes.Declare(all, "playIncomingCredit", play, access.InitiatePayments, s.payTx)
	s.debit = changes.Declare(all, "playIncomingDebit", play, access.InitiatePayments, s.debitTx)
	s.request = changes.Declare(all, "playIncomingRequest", play, access.InitiatePayments, s.requestTx)
	s.recall = changes.Declare(all, "playRecall", play, access.InitiatePayments, s.recallTx)
	s.answer = changes.Declare(all, "playAnswer", play, access.InitiatePayments, s.playAnswerTx)
	s.ask = changes.Declare(all, "playInformationRequest", play, access.InitiatePayments, s.askTx)
	return s
}

// message is a message that a bank gets, or has got.
type message struct {
	bun.BaseModel `bun:"table:sandbox_messages,alias:sm"`

	Tenant  access.Tenant `bun:"tenant,pk"`
	ID      int64         `bun:"id,pk"`
	Rail    rails.Rail    `bun:"rail"`
	Asked   string        `bun:"asked"`  // the message that it answers, or its own name
	Answer  int32         `bun:"answer"` // 1, 2, 3 … of that message; 0 marks it as handed over
	DueAt   time.Time     `bun:"due_at"`
	Body    []byte        `bun:"body,type:bytea"`
	TakenAt *time.Time    `bun:"taken_at"`
	// Customer is for whom the message was played; 0 of what answers a message of the bank
	Customer int64 `bun:"customer"`
}

// BodyColumn names the column for which the texts of messages are sealed (seal.Place).
const BodyColumn = "sandbox_messages.body"

func (m *message) place() seal.Place {
	return seal.Place{Tenant: int64(m.Tenant), Column: BodyColumn, Row: m.ID}
}

// Send takes a message of a bank and decides what is answered to it. It implements payments.Network. It waits
// for no disk: the bank writes down afterwards that the message was taken, which waits for all that was written
// before, and hands over again what it has not written down.
func (s *Service) Send(
	ctx context.Context, tenant access.Tenant, over rails.Rail, id string, body []byte,
) error {
	now, err := s.worker(ctx, tenant)
	if err != nil {
		return err
	}
	if over == rails.ACH {
		return once(s.takeFile(ctx, tenant, now, id, body))
	}
	read, err := iso20022.Read(bytes.NewReader(body), payments.Profiles[over])
	if err != nil {
		return fmt.Errorf("the sandbox cannot read message %s: %w", id, err)
	}
	played, err := played(over, read, now)
	if err != nil {
		return fmt.Errorf("message %s: %w", id, err)
	}
	return once(s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, "SET LOCAL synchronous_commit = off"); err != nil {
			return err
		}
		return s.answerTx(ctx, tx, now, &message{Tenant: tenant, Rail: over, Asked: id}, played)
	}))
}

// worker tells what time it is for a bank, for work that the bank does by itself.
func (s *Service) worker(ctx context.Context, tenant access.Tenant) (time.Time, error) {
	if _, err := access.Require(ctx, access.ManageTenants); err != nil {
		return time.Time{}, err
	}
	return s.clock.Now(ctx, tenant)
}

// once ignores the error that says that a message was handed over before.
func once(err error) error {
	if _, again := db.UniqueViolation(err); again {
		return nil
	}
	return err
}

// reply is a message that a bank gets, some time after its own.
type reply struct {
	after time.Duration
	again bool // it is the first reply once more, with the same id
	write writing
}

// writing writes a message of another bank, or of the network, with this number.
type writing func(over rails.Rail, number int64, at time.Time) iso20022.Message

// answerTx writes the replies to a message. like is what they have in common.
func (s *Service) answerTx(
	ctx context.Context, tx bun.Tx, now time.Time, like *message, played []reply,
) error {
	var ids []int64
	if err := tx.NewRaw(`SELECT nextval('sandbox_messages_ids') FROM generate_series(1, ?)`, len(played)+1).
		Scan(ctx, &ids); err != nil {
		return err
	}
	mark := *like
	mark.ID, mark.DueAt, mark.TakenAt, mark.Body = ids[0], now, &now, []byte{}
	rows := []*message{&mark}
	for i, reply := range played {
		row := *like
		row.ID, row.Answer, row.DueAt = ids[i+1], int32(i+1), now.Add(reply.after)
		name := row.ID
		if reply.again {
			name = ids[1]
		}
		if err := s.write(&row, reply.write(like.Rail, name, row.DueAt)); err != nil {
			return fmt.Errorf("answer message %s: %w", like.Asked, err)
		}
		rows = append(rows, &row)
	}
	return db.InsertAtCommit(ctx, rows)
}

// write seals a message as its network writes it.
func (s *Service) write(row *message, m iso20022.Message) error {
	payments.Addressed(row.Rail, m)
	var body bytes.Buffer
	if err := iso20022.Write(&body, payments.Profiles[row.Rail], m); err != nil {
		return err
	}
	row.Body = s.keys.Encrypt(body.String(), row.place())
	return nil
}

// nextToArrive finds the messages that arrive next: four answers to messages of the bank and the oldest
// message that each customer has had played, then the next ones of each, and so on. So who plays a hundred
// thousand messages keeps nobody else waiting.
var nextToArrive = db.NewQuery[message](db.Select[message](db.Columns{}, nil).
	Where("sm.tenant = $1").String() + `
	AND sm.id IN (WITH RECURSIVE whose AS (
	  SELECT (SELECT customer FROM sandbox_messages WHERE tenant = $1 AND taken_at IS NULL
	    ORDER BY customer LIMIT 1) AS customer
	  UNION ALL
	  SELECT (SELECT customer FROM sandbox_messages WHERE tenant = $1 AND taken_at IS NULL
	    AND customer > whose.customer ORDER BY customer LIMIT 1)
	  FROM whose WHERE customer IS NOT NULL
	)
	SELECT next.id FROM whose CROSS JOIN LATERAL (
	  SELECT m.id, m.due_at, row_number() OVER (ORDER BY m.due_at, m.id)
	    / CASE whose.customer WHEN 0 THEN 4 ELSE 1 END AS turn FROM (
	    SELECT id, due_at FROM sandbox_messages WHERE tenant = $1 AND taken_at IS NULL
	      AND customer = whose.customer AND due_at <= $2 AND id <> ALL ($4::bigint[])
	      ORDER BY due_at, id LIMIT $3) AS m) AS next
	ORDER BY next.turn, next.due_at, next.id LIMIT $3)
	ORDER BY sm.due_at, sm.id`)

// mostFiles bounds the files of ACH that arrive at a time, of which each customer has one.
const mostFiles = 8

// Receive returns the messages that are due, in turns, but none of some. It implements payments.Network.
func (s *Service) Receive(
	ctx context.Context, tenant access.Tenant, most int64, but []int64,
) ([]payments.Arrived, error) {
	now, err := s.worker(ctx, tenant)
	if err != nil {
		return nil, err
	}
	due, err := db.ReadPrimary(ctx, s.db, nextToArrive, tenant, now, most, but)
	if err != nil {
		return nil, err
	}
	all := make([]payments.Arrived, 0, len(due))
	files := map[int64]bool{}
	for _, m := range due {
		if m.Rail == rails.ACH {
			if files[m.Customer] || len(files) == mostFiles {
				continue // they may be large
			}
			files[m.Customer] = true
		}
		body, err := s.keys.Open(seal.Value{Sealed: m.Body}, m.place())
		if err != nil {
			return nil, fmt.Errorf("open message %d of the sandbox: %w", m.ID, err)
		}
		all = append(all, payments.Arrived{ID: m.ID, Over: m.Rail, Body: []byte(body)})
	}
	return all, nil
}

// MarkTaken marks answers as taken. It implements payments.Network.
func (s *Service) MarkTaken(ctx context.Context, tenant access.Tenant, ids []int64) error {
	now, err := s.worker(ctx, tenant)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewUpdate().Model((*message)(nil)).Set("taken_at = ?", now).Where("sm.tenant = ?", tenant).
			Where("sm.id IN (?)", bun.List(ids)).Where("sm.taken_at IS NULL").Exec(ctx)
		return err
	})
}
