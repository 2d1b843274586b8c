package virtualaccounts

import (
	"context"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/db"
)

// PostingID is the number of a posting; partners know it as transactionId.
type PostingID int64

// VirtualPosting is the part of a posting on the master account that belongs to a virtual account. It never
// changes.
type VirtualPosting struct {
	bun.BaseModel `bun:"table:virtual_postings,alias:vp" json:"-"`

	Tenant         access.Tenant `bun:"tenant,pk" json:"-"`
	ID             PostingID     `bun:"id,pk,nullzero" json:"-"`
	VirtualAccount UID           `bun:"virtual_account" json:"-"`
	Customer       customers.UID `bun:"customer" json:"-"`
	Account        accounts.UID  `bun:"account" json:"-"` // the master account
	Payment        int64         `bun:"payment" json:"-"`
	// the step of the payment that made it; 0 if unknown
	Step int32 `bun:"step,nullzero" json:"-"`
	// which has a posting of the same amount on the master account
	Journal  int64          `bun:"journal" json:"-"`
	Minor    int64          `bun:"amount" json:"-"` // above 0 for what comes in
	FeeMinor int64          `bun:"fee" json:"-"`
	Currency money.Currency `bun:"currency" json:"-"`
	At       time.Time      `bun:"at" json:"-"`     // when the journal was booked
	Client   string         `bun:"client" json:"-"` // who made it
	LoginID  string         `bun:"login_id" json:"-"`
	Reach    access.Reach   `bun:"reach" json:"-"` // of who made it
}

// Amount returns how the posting changes the balance.
func (p *VirtualPosting) Amount() money.Amount { return money.Of(p.Minor, p.Currency) }

// Fee returns the fee of the posting.
func (p *VirtualPosting) Fee() money.Amount { return money.Of(p.FeeMinor, p.Currency) }

// Creditable is what payments need to know of a virtual account that a credit names.
type Creditable struct {
	UID     UID          `bun:"uid"`
	Account accounts.UID `bun:"account"`
	Status  Status       `bun:"status"`
	Hash    []byte       `bun:"number_hash"`
}

var (
	findingNumbers = db.NewQuery[Creditable](`SELECT uid, account, status, number_hash FROM virtual_accounts
		WHERE tenant = $1 AND number_hash = ANY($2::bytea[])`)
	readingStatus = db.NewQuery[Creditable](`SELECT uid, account, status, number_hash FROM virtual_accounts
		WHERE tenant = $1 AND uid = ANY($2::bigint[])`)
)

// Numbered reads the virtual accounts whose numbers have these hashes. It is for payments, and requires no
// permission of a caller.
func Numbered(b *db.Batch, tenant access.Tenant, hashes [][]byte) *db.Rows[Creditable] {
	return db.Queue(b, findingNumbers, tenant, hashes)
}

// BankNumber is the number of a virtual account, and its bank.
type BankNumber struct {
	Hash []byte `bun:"number_hash"`
	Bank string `bun:"bank_id"` // of the master account: a routing number, or a BIC
}

var findingBanks = db.NewQuery[BankNumber](`SELECT v.number_hash, a.bank_id FROM virtual_accounts AS v
	JOIN accounts AS a ON a.tenant = v.tenant AND a.uid = v.account
	WHERE v.tenant = $1 AND a.tenant = $1 AND v.number_hash = ANY($2::bytea[])`)

// BankNumbers reads which virtual accounts, whatever their status, have numbers with these hashes. It is for
// payments, as Numbered is.
func BankNumbers(b *db.Batch, tenant access.Tenant, hashes [][]byte) *db.Rows[BankNumber] {
	return db.Queue(b, findingBanks, tenant, hashes)
}

// Again reads virtual accounts a second time, after their master accounts were locked in the books: virtual
// accounts are closed under the same lock.
func Again(b *db.Batch, tenant access.Tenant, uids []UID) *db.Rows[Creditable] {
	return db.Queue(b, readingStatus, tenant, uids)
}

// PostTx writes postings at the end of the transaction that books their journals, and moves the balances. The
// master accounts must be locked in the books.
func PostTx(ctx context.Context, tenant access.Tenant, all []*VirtualPosting) error {
	if len(all) == 0 {
		return nil
	}
	uids, amounts := make([]int64, len(all)), make([]int64, len(all))
	for i, p := range all {
		uids[i], amounts[i] = int64(p.VirtualAccount), p.Minor
	}
	if err := db.InsertAtCommit(ctx, all); err != nil {
		return err
	}
	return db.ExecAtCommit(ctx, `UPDATE virtual_accounts AS va SET balance = va.balance + n.amount
		FROM (SELECT uid, sum(amount)::bigint AS amount FROM unnest($2::bigint[], $3::bigint[]) AS n(uid, amount)
		  GROUP BY uid) AS n
		WHERE va.tenant = $1 AND va.uid = n.uid`, tenant, uids, amounts)
}

func (id PostingID) String() string { return strconv.FormatInt(int64(id), 10) }
