package payments

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/rails"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Network is what a bank is connected to: the payment networks, or what plays them.
type Network interface {
	// Send hands a message over. The same message may be handed over again, and counts once.
	Send(ctx context.Context, tenant access.Tenant, over rails.Rail, id string, body []byte) error
	// Receive returns the oldest messages that have arrived for a bank, until they are Done.
	Receive(ctx context.Context, tenant access.Tenant, most int64) ([]Arrived, error)
	Done(ctx context.Context, tenant access.Tenant, ids []int64) error
}

// Arrived is a message from a network.
type Arrived struct {
	ID   int64 // for Done
	Over rails.Rail
	Body []byte
}

// Direction says whether a message goes to a network or comes from it.
type Direction string

const (
	Out Direction = "OUT"
	In  Direction = "IN"
)

// Message is a message of a payment, to or from its network. Its text is sealed and not shown: it has the account
// numbers.
type Message struct {
	bun.BaseModel `bun:"table:network_messages,alias:nm" json:"-"`

	Tenant    access.Tenant `bun:"tenant,pk" json:"-"`
	ID        MessageID     `bun:"id,pk,nullzero" json:"-"`
	Rail      rails.Rail    `bun:"rail" json:"rail"`
	Direction Direction     `bun:"direction" json:"direction"`
	Kind      string        `bun:"kind" json:"kind"` // pacs.008, pacs.002 …
	MessageID string        `bun:"message_id" json:"messageId"`
	Payment   UID           `bun:"payment,nullzero" json:"-"`
	// of an answer: the network's word, and its reason if it has one, as in RJCT AC03
	Code     string     `bun:"code" json:"code"`
	Body     []byte     `bun:"body,type:bytea" json:"-"`
	At       time.Time  `bun:"at" json:"at"`
	HandedAt *time.Time `bun:"handed_at" json:"handedAt"` // when the network took it; nil for one that has come
}

// withoutBody are the columns of messages that are shown.
var withoutBody = db.ColumnsOf[Message]("ID", "Rail", "Direction", "Kind", "MessageID", "Payment", "Code", "At", "HandedAt")

var messaging db.QueryCache[Message]

// MessagesOf reads the messages of each payment without their texts, in their order, for callers who see who pays.
func (s *Service) MessagesOf(ctx context.Context, b *db.Batch, of []UID) *db.Many[UID, Message] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, Message](err)
	}
	return s.messagesOf(b, caller, of)
}

func (s *Service) messagesOf(b *db.Batch, reader access.Caller, of []UID) *db.Many[UID, Message] {
	text := messaging.Get(reader.Reach, func() string {
		return db.Select[Message](withoutBody, nil).
			Join("JOIN payments AS pay ON pay.tenant = nm.tenant AND pay.uid = nm.payment").Where("nm.tenant = $1").
			Where("pay.tenant = $1").Where(reader.Reach.Scope("pay.customer")).Where("nm.payment = ANY($3)").
			OrderExpr("nm.payment, nm.id").String()
	})
	return db.QueueMany(b, text, func(m *Message) UID { return m.Payment }, reader.Tenant, reader.ScopeCustomer(), of)
}

// MessageID is a message's number.
type MessageID int64

// place is where the text of a message is sealed.
func (m *Message) place() seal.Place {
	return seal.Place{Tenant: int64(m.Tenant), Column: BodyColumn, Row: int64(m.ID)}
}

// BodyColumn names the column for which the texts of messages are sealed (seal.Place).
const BodyColumn = "network_messages.body"
