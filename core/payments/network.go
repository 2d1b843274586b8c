package payments

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Network is what a bank is connected to: the payment networks, or a simulation of them.
type Network interface {
	// Send hands a message over. The same message may be handed over again, and counts once.
	Send(ctx context.Context, tenant access.Tenant, over rails.Rail, id string, body []byte) error
	// Receive returns the oldest messages that have arrived for a bank and are not taken, but none with these
	// ids.
	Receive(ctx context.Context, tenant access.Tenant, most int64, but []int64) ([]Arrived, error)
	// MarkTaken says that messages were taken in: they are not received again.
	MarkTaken(ctx context.Context, tenant access.Tenant, ids []int64) error
}

// Arrived is a message from a network.
type Arrived struct {
	ID   int64 // for MarkTaken
	Over rails.Rail
	Body []byte
}

// unfinished keeps the files of each bank of which a line could not be taken in, so that later files are read
// before they are read again.
type unfinished struct {
	mu    sync.Mutex
	files map[access.Tenant][]int64
}

// of returns the files that are not to be read now.
func (u *unfinished) of(tenant access.Tenant) []int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]int64{}, u.files[tenant]...) // not NULL
}

// leave keeps them for the next call. Where no other file has come, or many are kept, all are read again.
func (u *unfinished) leave(tenant access.Tenant, files []int64, others bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.files == nil {
		u.files = map[access.Tenant][]int64{}
	}
	if u.files[tenant] = files; !others || len(files) > atATime {
		delete(u.files, tenant)
	}
}

// thing names what a message is about: messages about one payment are taken in their order.
func (a Arrived) thing() changes.Thing {
	m := read(a)
	if uetr := cmp.Or(m.uetr(), m.ids.UETR); uetr != "" {
		return changes.Thing{Of: uetr}
	}
	return changes.Numbered(a.ID)
}

// Direction says whether a message goes to a network or comes from it.
type Direction string

const (
	Out Direction = "OUT"
	In  Direction = "IN"
)

// Message is a message to a network or from it, mostly of a payment. Its text is sealed and not shown: it has
// the account numbers.
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

	// of a credit that has come: its amount, the routing number of the bank that sent it, and the account it
	// names
	Minor    int64          `bun:"amount,nullzero" json:"-"`
	Currency money.Currency `bun:"currency" json:"-"`
	Bank     string         `bun:"bank" json:"-"`
	Last4    string         `bun:"number_last4" json:"-"`
	// the id by which that bank knows the credit; "" for another message about it
	Transaction string `bun:"transaction" json:"-"`
}

// Amount returns the amount of a credit that has come; nil for other messages.
func (m *Message) Amount() *money.Amount {
	if m.Minor == 0 {
		return nil
	}
	amount := money.Of(m.Minor, m.Currency)
	return &amount
}

// Number returns the account that a credit names, masked.
func (m *Message) Number() *seal.Value { return seal.Value{Last4: m.Last4}.Shown() }

// Reason returns what the message's code means, in plain words; "" for a code without such words.
func (m *Message) Reason() string {
	for _, word := range strings.Fields(m.Code) {
		if meaning := meanings[word]; meaning != "" {
			return meaning
		}
	}
	return ""
}

// withoutBody are the columns of messages that are shown.
var withoutBody = db.ColumnsOf[Message]("ID", "Rail", "Direction", "Kind", "MessageID", "Payment",
	"Code", "At", "HandedAt", "Minor", "Currency", "Bank", "Last4")

// inMessages are the SQL expressions of the columns of messages that may be NULL.
var inMessages = map[string]string{"payment": "coalesce(nm.payment, 0)", "amount": "coalesce(nm.amount, 0)"}

var messaging db.QueryCache[Message]

// MessagesOf reads the last messages of each payment, MostOfPayment at most, without their texts, in their
// order, for callers who see the payer.
func (s *Service) MessagesOf(ctx context.Context, b *db.Batch, of []UID, last int) *db.Many[UID, Message] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, Message](err)
	}
	return s.messagesOf(b, caller, of, min(last, MostOfPayment))
}

func (s *Service) messagesOf(
	b *db.Batch, reader access.Caller, of []UID, last int,
) *db.Many[UID, Message] {
	text := messaging.Get(reader.Reach, func() string {
		return lastOf(messagesAbout(reader.Reach, "nm", "nm.id", nil)+
			" UNION ALL "+messagesAbout(reader.Reach, "ae", "ae.payment",
			map[string]string{"payment": "ae.payment", "code": "''"},
			"JOIN ach_entries AS ae ON ae.tenant = nm.tenant AND ae.file = nm.id")+
			" UNION ALL "+messagesAbout(reader.Reach, "aa", "aa.message",
			map[string]string{
				"payment": "aa.payment", "code": "aa.code",
			}, "JOIN ach_answers AS aa ON aa.tenant = nm.tenant AND aa.message = nm.id"), "id")
	})
	return db.QueueMany(b, text, func(m *Message) UID { return m.Payment }, reader.Tenant,
		reader.ScopeCustomer(), of, last)
}

// messagesAbout returns the part of MessagesOf whose payment p.payment a table names, the last first by a
// column of it that an index of its payments has next. Files of ACH are about many payments.
func messagesAbout(
	reach access.Reach, table, order string, from map[string]string, through ...string,
) string {
	all := maps.Clone(inMessages)
	maps.Copy(all, from)
	q := db.Select[Message](withoutBody, all)
	for _, join := range through {
		q = q.Join(join)
	}
	return "(" + q.Join("JOIN payments AS pay ON pay.tenant = nm.tenant AND pay.uid = "+table+".payment").
		Where("nm.tenant = $1").Where("pay.tenant = $1").Where(table+".tenant = $1").
		Where(reach.Scope("pay.customer")).Where(table+".payment = p.payment").
		OrderExpr(order+" DESC").String() + " LIMIT nullif($4::bigint, 0))"
}

// MessageID is a message's number.
type MessageID int64

// place returns where the text of a message is sealed.
func (m *Message) place() seal.Place {
	return seal.Place{Tenant: int64(m.Tenant), Column: BodyColumn, Row: int64(m.ID)}
}

// BodyColumn names the column for which the texts of messages are sealed (seal.Place).
const BodyColumn = "network_messages.body"
