package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
)

// The chain.
//
// Each bank's entries stand in one chain, numbered 1, 2, 3 … in the order in which their transactions
// committed. The hash of entry n is
//
//	SHA-256( hash of entry n-1 | text of entry n )
//
// where the hash before the first entry is 32 zero bytes, and the text is these 17 values one after the
// other, each as LENGTH ":" VALUE ",", LENGTH being the number of bytes of VALUE in decimal (a netstring):
//
//	seq       n
//	tenant    the bank's number
//	id        the entry's number
//	at        when it was written, in UTC, with six decimals of a second: 2026-11-21T09:30:00.123456Z
//	tx        the number of the transaction that wrote it
//	client    the API key or external issuer; operator for the command line
//	login_id  the user; empty where none is known
//	entity    the number of the legal entity; 0 for operators
//	action    decision    object    uid
//	customer  the customer's number; empty where there is none
//	before    after       as JSON, byte for byte as they are stored
//	reason    request     empty where there is none
//
// All text is UTF-8, all numbers are decimal. If a value is changed, or an entry removed, inserted or moved,
// the hash of its place and of all places after it changes.
//
// Every minute the chain's end is signed. A checkpoint is a compact JWS (RFC 7515, ES256, type
// "audit-checkpoint+jws") of the JSON {"tenant":7,"seq":n,"hash":"hex of entry n's hash","at":"…"}. Whoever
// controls the database can rebuild a chain, but cannot sign a checkpoint. Checkpoints are also kept outside
// the database, so none can vanish unnoticed.

// EntryText is an entry as it is hashed and exported: every column as text.
type EntryText struct {
	Tenant   string `bun:"tenant" json:"tenant"`
	ID       int64  `bun:"id" json:"id"`
	At       string `bun:"at" json:"at"`
	Tx       string `bun:"tx" json:"tx"`
	Client   string `bun:"client" json:"client"`
	LoginID  string `bun:"login_id" json:"loginId"`
	Entity   string `bun:"entity" json:"entity"`
	Action   string `bun:"action" json:"action"`
	Decision string `bun:"decision" json:"decision"`
	Object   string `bun:"object" json:"object"`
	UID      string `bun:"uid" json:"uid"`
	Customer string `bun:"customer" json:"customer"`
	Before   string `bun:"before" json:"before"`
	After    string `bun:"after" json:"after"`
	Reason   string `bun:"reason" json:"reason"`
	Request  string `bun:"request" json:"request"`
}

// texts selects the columns of EntryText. PostgreSQL converts every value to text, so that even a forged one
// can be read.
const texts = `e.tenant::text AS tenant, e.id AS id,
	CASE WHEN e.at BETWEEN '0001-01-01Z' AND '9999-12-31Z'
	THEN to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') ELSE e.at::text END AS at,
	e.tx::text AS tx, e.client, e.login_id, e.entity::text AS entity, e.action, e.decision, e.object, e.uid,
	coalesce(e.customer::text, '') AS customer, e.before::text AS before, e.after::text AS after,
	e.reason, e.request`

// chain is a place in a bank's chain, from which further entries are hashed.
type chain struct {
	seq  int64
	hash [sha256.Size]byte
	sum  hash.Hash
	text []byte
}

// add appends an entry.
func (c *chain) add(e *EntryText) {
	if c.sum == nil {
		c.sum = sha256.New()
	}
	c.seq++
	c.text = append(c.text[:0], c.hash[:]...)
	c.number(c.seq)
	c.value(e.Tenant)
	c.number(e.ID)
	c.value(e.At)
	for _, value := range [...]string{
		e.Tx, e.Client, e.LoginID, e.Entity, e.Action, e.Decision, e.Object, e.UID, e.Customer,
		e.Before, e.After, e.Reason, e.Request,
	} {
		c.value(value)
	}
	c.sum.Reset()
	c.sum.Write(c.text)
	c.sum.Sum(c.hash[:0])
}

func (c *chain) number(n int64) { c.value(strconv.FormatInt(n, 10)) }

func (c *chain) value(text string) {
	c.text = strconv.AppendInt(c.text, int64(len(text)), 10)
	c.text = append(append(append(c.text, ':'), text...), ',')
}

// Hash is a hash that is written in hexadecimal digits.
type Hash []byte

func (h Hash) String() string { return hex.EncodeToString(h) }

// MarshalText writes the hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// UnmarshalText reads hexadecimal digits.
func (h *Hash) UnmarshalText(text []byte) (err error) {
	*h, err = hex.AppendDecode(nil, text)
	return err
}
