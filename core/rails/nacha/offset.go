package nacha

import (
	"bankgraph/core/money"
	"bankgraph/core/rails"
)

// offset books the totals of the batch on the originator's own account.
func (w *Writer) offset() error {
	if w.batch.Offset == nil {
		return nil
	}
	w.batch.Only = ""
	total := w.inBatch
	for _, side := range []struct {
		of    rails.EntryType
		cents int64
	}{{rails.Debit, total.credits}, {rails.Credit, total.debits}} {
		for left := side.cents; left > 0; left -= w.batch.most() { // what has no room in one entry takes several
			if _, err := w.Entry(w.batch.Offset.entry(side.of, min(left, w.batch.most()))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *Offset) entry(direction rails.EntryType, cents int64) Entry {
	return Entry{
		Account: o.Account, Direction: direction, Kind: Live, Amount: money.Of(cents, "USD"),
		Routing: o.Routing, Number: o.Number, Name: o.Name, ID: "OFFSET",
	}
}

// most is what an entry of the batch can be, in cents.
func (b *Batch) most() int64 {
	if b.SameDay {
		return MostSameDayCents
	}
	return MostCents
}

// offsets is how many entries book some totals on the originator's account.
func (b *Batch) offsets(of sums) int {
	if b.Offset == nil {
		return 0
	}
	return int((of.credits+b.most()-1)/b.most() + (of.debits+b.most()-1)/b.most())
}

// checkOffset writes no offset, but sees that one can be written.
func (w *Writer) checkOffset(b Batch, h heading) error {
	if b.Offset == nil {
		return nil
	}
	b.Only = ""
	for _, direction := range []rails.EntryType{rails.Debit, rails.Credit} {
		e := b.Offset.entry(direction, 1)
		e.Trace = b.Bank[:8] + "0000001"
		field, reason := e.check(&b)
		if reason == "" {
			if err := checkEntry(h, e.record(&b)); err != nil {
				field, reason = fieldAndReason(err)
			}
		}
		if reason != "" {
			return w.fault("offset", field, reason)
		}
	}
	return nil
}

// room reports whether the totals have room for an entry, and for the offsets of its batch.
func (w *Writer) room(batch sums) bool {
	whole := w.total
	whole.merge(batch)
	offsets := w.batch.offsets(batch)
	if w.batch.Offset != nil {
		whole.credits, whole.debits = whole.credits+batch.debits, whole.debits+batch.credits
	}
	return whole.credits <= mostTotalCents && whole.debits <= mostTotalCents &&
		batch.entries+batch.addenda+offsets <= 999_999 &&
		whole.entries+whole.addenda+offsets <= 99_999_999 && w.next+offsets <= 9_999_999
}
