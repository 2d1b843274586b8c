package payments

import (
	"context"

	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/ledger"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
)

// Reversal is what a request says about taking back a payment that went out (rest/CONTRACT.md, returns and
// reversals).
type Reversal struct {
	Code  string `json:"reversalCode,omitempty"`
	Notes string `json:"reversalNotes,omitempty"`
	Party string `json:"initiatingParty,omitempty"` // who asks for it; "" for API
}

// ReversalCodes lists the reasons for which a payment may be taken back.
var ReversalCodes = []string{"AC03", "AGNT", "AM09", "CUST", "CUTA", "DUPL", "FRAD", "NARR", "TECH", "UPAY"}

// Reverse asks the payee's bank for the money, which that bank may give back in whole, in part, or not at
// all. A credit over ACH is taken back by an entry of ACH, which that bank may send back. A book transfer is
// undone at once, by a caller who may act for both sides; if the settings of the payee ask for dual approval,
// a second person agrees first.
func (s *Service) Reverse(
	ctx context.Context, uid UID, draft Reversal, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.reverse.Require(ctx, uid.String())
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.reverse.Do(ctx, caller, changes.Target{UID: uid.String()}, draft, options)
}

func (d *Reversal) check() error {
	c := check.Of("payment")
	d.Code = check.OneOf(c, "reversalCode", d.Code, ReversalCodes...)
	c.AtMost("reversalNotes", d.Notes, longestNote)
	asASCII(c, "reversalNotes", d.Notes)
	c.AtMost("initiatingParty", d.Party, 50)
	if d.Notes == "" {
		d.Notes = customerInitiated
	}
	return c.Err()
}

// reverseTx asks for the money of a payment, or undoes a book transfer.
func (s *Service) reverseTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, d Reversal,
) (Saved, error) {
	p, err := s.lockTx(ctx, tx, at)
	if err == nil {
		err = tx.CheckVersion(p.Version)
	}
	if err != nil {
		return Saved{}, err
	}
	switch {
	case p.Incoming():
		return Saved{}, ErrNotOutgoing
	case p.Rail == rails.Book:
		return s.undoTx(ctx, tx, p, d)
	case p.Collects():
		return Saved{}, ErrNoReversal.With(string(p.Rail))
	case p.Enrols():
		return Saved{}, ErrNoReversal.Saying("an enrolment has moved no money").With(string(p.Rail))
	case p.Rail == rails.SWIFT: // at the rate of its trade, which the market may have overtaken
		return Saved{}, ErrNoReversal.Saying("a payment over SWIFT is not reversed").With(string(p.Rail))
	case p.Rail == rails.ACH:
		return s.reverseEntryTx(ctx, tx, p)
	}
	c := check.Of("payment")
	if c.Required("reversalCode", d.Code); c.Err() != nil {
		return Saved{}, c.Err()
	}
	was := *p
	to, err := recalling.Take(p.State)
	if err == nil {
		err = tx.RequireNoOpenApproval(ctx, p.UID)
	}
	if err != nil {
		return Saved{}, overOf(p, err)
	}
	t, err := s.creditTx(ctx, tx.Tx, p)
	if err != nil {
		return Saved{}, err
	}
	why := iso20022.Reason{Code: d.Code, Text: noteLines(d.Notes)}
	err = s.tellTx(ctx, tx.Tx, p, t.Sender, tx.Now, func(g iso20022.Group) iso20022.Message {
		return &iso20022.Recall{
			Group: g, CaseID: g.ID, Original: original(t), OriginalAmount: t.Amount, OriginalDate: t.SettlementDate,
			Reason: why, Sender: t.Sender, Receiver: t.Receiver,
		}
	})
	if err == nil {
		err = s.enterTx(ctx, tx, &was, p, to, because(d.Code, d.Notes))
	}
	return saved(p), err
}

// undoTx books the money of a book transfer back to the payer. The fee stays paid.
func (s *Service) undoTx(ctx context.Context, tx *changes.Tx, p *Payment, d Reversal) (Saved, error) {
	was := *p
	to, err := undoing.Take(p.State)
	if err != nil {
		return Saved{}, overOf(p, err)
	}
	f, err := s.lockOwnTx(ctx, tx.Tx, p)
	if err != nil {
		return Saved{}, err
	}
	paid := f.parties[p.ReceiverAccount]
	if paid == nil || !tx.Caller.Sees(int64(paid.Customer), int64(paid.Owner)) {
		return Saved{}, ErrAccount.On("receiverAccount")
	}
	if err := f.movable(p); err != nil {
		return Saved{}, err
	}
	p.ReturnedMinor = p.Minor
	err = f.book(p, ledger.Return, p.today(tx.Caller, tx.Now), "Book transfer reversed", p.ReceiverAccount,
		p.SenderAccount, p.Minor)
	if err != nil {
		return Saved{}, err
	}
	reason := d.Notes
	if d.Code != "" {
		reason = because(d.Code, d.Notes)
	}
	return s.agreedTx(ctx, tx, &was, p, to, reason, f, p.Amount(), func() error { return nil })
}
