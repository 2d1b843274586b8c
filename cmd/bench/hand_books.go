package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/core/access"
	"bankgraph/core/money"
)

// transfer is a payment of workloads h and h1, with what decides on it.
type transfer struct {
	Reference string      `json:"externalReferenceId"`
	Amount    json.Number `json:"paymentAmount"`
	Date      string      `json:"paymentDate"`
	Notes     string      `json:"paymentNotes"`
	Channel   string      `json:"channel"`
	Sender    bookSide    `json:"senderAccount"`
	Receiver  bookSide    `json:"receiverAccount"`

	on, now  time.Time
	uid      int64
	entry    int64    // its number in the record
	journals [2]int64 // the payment's and the fee's
	bookedAt time.Time
	amount   money.Amount
	fee      bookCharge
	balances map[int64]*bookBalance
	parties  map[int64]*bookParty
	postings []bookPosting
}

// bookSide names an account.
type bookSide struct {
	UID      int64  `json:"accountUID,string"`
	Currency string `json:"currency"`
}

type bookCharge struct {
	name, tier   string
	price, house int64
}

type bookBalance struct {
	account                          int64
	currency                         string
	ledger, held, overdraft, version int64
	forced                           bool
	bookedAt                         *time.Time
}

// bookParty is an account with what matters of its customer.
type bookParty struct {
	account, customer, owner                                      int64
	status, currency, system, name, customerStatus, partnerStatus string
	dual                                                          bool
}

type bookPosting struct{ account, version, journal, amount, after int64 }

// check validates the form of a request.
func (t *transfer) check(today time.Time) (err error) {
	if t.on, err = time.Parse("01-02-2006", t.Date); err != nil {
		return err
	}
	t.Channel = cmp.Or(t.Channel, "API")
	switch {
	case t.Reference == "", len(t.Reference) > 200, len(t.Notes) > 250, len(t.Channel) > 50:
		return fmt.Errorf("%w: a text is missing or too long", errRefused)
	case t.Sender.UID == 0, t.Receiver.UID == 0, t.Sender.UID == t.Receiver.UID:
		return fmt.Errorf("%w: two accounts are required", errRefused)
	case !t.on.Equal(today):
		return fmt.Errorf("%w: payments of other days are no part of this comparison", errRefused)
	}
	return nil
}

// book decides on the payment, and moves its money on the accounts in memory.
func (t *transfer) book() (err error) {
	from, to := t.parties[t.Sender.UID], t.parties[t.Receiver.UID]
	if from == nil || to == nil {
		return errAbsent
	}
	if from.currency != to.currency || !from.fits(t.Sender) || !to.fits(t.Receiver) {
		return fmt.Errorf("%w: the accounts cannot pay and be paid", errRefused)
	}
	if from.dual {
		return fmt.Errorf("%w: approval by a second person is no part of this comparison", errRefused)
	}
	if t.amount, err = money.Parse(t.Amount.String(), money.Currency(from.currency)); err != nil ||
		t.amount.Minor <= 0 {
		return fmt.Errorf("%w: not an amount", errRefused)
	}
	for _, b := range t.balances {
		if b.bookedAt != nil && b.bookedAt.After(t.bookedAt) {
			t.bookedAt = *b.bookedAt
		}
	}
	payer := t.balances[from.account]
	if payer == nil || t.balances[to.account] == nil {
		return errAbsent
	}
	t.postings = nil
	t.post(from.account, t.journals[0], -t.amount.Minor)
	t.post(to.account, t.journals[0], t.amount.Minor)
	if t.fee.price > 0 {
		t.post(from.account, t.journals[1], -t.fee.price)
		t.post(t.fee.house, t.journals[1], t.fee.price)
	}
	if !payer.forced && payer.ledger-payer.held < -payer.overdraft {
		return fmt.Errorf("%w: the account has insufficient funds", errRefused)
	}
	return nil
}

// fits reports whether an account may take part in a payment that describes it so.
func (p *bookParty) fits(said bookSide) bool {
	business := func(status string) bool { return status == "Active" || status == "New" }
	return p.status == "Active" && p.system == "Internal Core" && business(p.customerStatus) &&
		(p.partnerStatus == "" || business(p.partnerStatus)) && (said.Currency == "" || said.Currency == p.currency)
}

func (t *transfer) post(account, journal, amount int64) {
	b := t.balances[account]
	b.ledger, b.version = b.ledger+amount, b.version+1
	t.postings = append(t.postings, bookPosting{account, b.version, journal, amount, b.ledger})
}

// writeBooks queues what the books learn of the payment.
func (t *transfer) writeBooks(batch *pgx.Batch, tenant access.Tenant) {
	kinds, texts := []string{"payment", "fee"}, []string{"Book transfer", "Fee: Book Transfer"}
	n := len(t.postings) / 2
	batch.Queue(insertJournals, tenant, t.journals[:n], kinds[:n], texts[:n], t.on, t.bookedAt, t.uid)
	var columns [5][]int64
	for _, p := range t.postings {
		for i, value := range []int64{p.account, p.version, p.journal, p.amount, p.after} {
			columns[i] = append(columns[i], value)
		}
	}
	batch.Queue(insertPostings, tenant, columns[0], columns[1], columns[2], columns[3], columns[4],
		t.amount.Currency)
	moved := slices.Sorted(maps.Keys(t.balances))
	var ledgers, versions []int64
	for _, account := range moved {
		ledgers, versions = append(ledgers, t.balances[account].ledger),
			append(versions, t.balances[account].version)
	}
	batch.Queue(moveBalances, tenant, moved, ledgers, versions, t.bookedAt)
}
