package model

import (
	"strconv"
	"time"

	"bankgraph/core/attention"
	"bankgraph/core/customers"
	"bankgraph/graph/scalar"
)

// Attention is what waits for a person.
type Attention struct {
	Items   []*AttentionItem
	Waiting []*AttentionCount
}

// AttentionItem is one thing that waits.
type AttentionItem struct {
	Kind     attention.Kind
	Subject  *string // a global id; nil of a message, which is no node
	Customer *customers.UID
	Since    time.Time
	DueAt    *time.Time
	Reason   string
}

// AttentionCount is how much of a kind waits.
type AttentionCount struct {
	Kind   attention.Kind
	Count  int32
	Oldest time.Time
}

// AttentionOf shows what waits.
func AttentionOf(l *attention.List) *Attention {
	shown := &Attention{Items: []*AttentionItem{}, Waiting: []*AttentionCount{}}
	for _, one := range l.Items {
		item := &AttentionItem{Kind: one.Kind, Since: one.Since, DueAt: one.DueAt, Reason: one.Reason}
		if one.Customer != 0 { // else a message or a file, which are no nodes
			subject, customer := subjectPrefix(one.Kind)+strconv.FormatInt(one.UID, 10), customers.UID(one.Customer)
			item.Subject, item.Customer = &subject, &customer
		}
		shown.Items = append(shown.Items, item)
	}
	for _, w := range l.Waiting {
		shown.Waiting = append(shown.Waiting,
			&AttentionCount{w.Kind, int32(w.Count), w.Oldest}) //nolint:gosec // MostCounted at most
	}
	return shown
}

// subjectPrefix is that of the global id of what waits.
func subjectPrefix(kind attention.Kind) string {
	switch kind {
	case attention.Approval:
		return scalar.ApprovalPrefix
	case attention.Overdrawn, attention.Stranded, attention.Sweep:
		return scalar.AccountPrefix
	case attention.Trade:
		return scalar.TradePrefix
	case attention.Webhook:
		return scalar.WebhookPrefix
	default:
		return scalar.PaymentPrefix
	}
}
