package positivepay

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/db"
)

// Screened is a debit of another bank, as rules are asked about it.
type Screened struct {
	Payment      int64 // its number
	Customer     customers.UID
	Account      accounts.UID
	Type         Type
	CompanyID    string
	Name         string // of who debits
	BankID       string
	BankName     string
	Class        string
	IndividualID string
	Amount       money.Amount
	DebitDate    time.Time // on which it settles; midnight UTC
	// of a request for payment: the hashes of the account that it is to be paid to (NumberColumn)
	Numbers [][]byte
	// no rule is asked: people decide
	Unruled bool
	// who would have to approve the payment of a request, as things stand: how many people, and whether the
	// bank's
	Approvers int32
	ByBank    bool
}

// Mismatch is the first test of positive pay that a debit fails (rest/CONTRACT.md, exceptions).
type Mismatch string

// The mismatches, in the order of the tests.
const (
	NoRule            Mismatch = "no rule"
	CompanyMismatch   Mismatch = "company id mismatch"
	BankMismatch      Mismatch = "beneficiary bank mismatch"    // of requests
	AccountMismatch   Mismatch = "beneficiary account mismatch" // of requests
	ClassMismatch     Mismatch = "SEC code mismatch"
	IDMismatch        Mismatch = "individual id mismatch"
	NotActive         Mismatch = "rule not active"
	NotApproved       Mismatch = "rule not approved as payments are" // of requests
	AmountMismatch    Mismatch = "amount mismatch"
	FrequencyExceeded Mismatch = "frequency exceeded"
)

// NotApplicable is what a rule gives as its entry class if it means any.
const NotApplicable = "NA"

// test returns how many tests a debit passes on a day, and the first that it fails; "" if it fails none.
func (r *Rule) test(d *Screened, day time.Time) (passed int, fails Mismatch) {
	tests := []struct {
		passes bool
		fails  Mismatch
	}{
		{r.Account == d.Account && r.Type == d.Type && r.Currency == d.Amount.Currency, NoRule},
		{d.Type != ACH || r.ACHCompanyID == "" || r.ACHCompanyID == d.CompanyID, CompanyMismatch},
		{d.Type == ACH || r.BeneficiaryBankID == "" || r.BeneficiaryBankID == d.BankID, BankMismatch},
		{d.Type == ACH || r.allowsPayee(d.Numbers), AccountMismatch},
		{d.Type != ACH || r.SECCode == AllClasses || r.SECCode == NotApplicable ||
			ident.Same(r.SECCode, d.Class), ClassMismatch},
		{d.Type != ACH || r.IndividualID == "" || ident.Same(r.IndividualID, d.IndividualID), IDMismatch},
		{r.statedOn(day) == Active && (d.Type == ACH || r.statedOn(d.DebitDate) == Active), NotActive},
		{d.Type == ACH || r.ApprovedAs(d.Approvers, d.ByBank), NotApproved},
		{d.Amount.Minor == r.Minor || r.AmountType == Maximum && d.Amount.Minor < r.Minor, AmountMismatch},
		{!r.UsedUp() && !r.usedIn(day), FrequencyExceeded},
	}
	for i, test := range tests {
		if !test.passes {
			return i, test.fails
		}
	}
	return len(tests), ""
}

// allowsPayee reports whether the rule allows any account to be paid, or the account that has one of the
// hashes.
func (r *Rule) allowsPayee(numbers [][]byte) bool {
	return len(r.BeneficiaryNumber.Hash) == 0 ||
		slices.ContainsFunc(numbers, func(hash []byte) bool { return bytes.Equal(hash, r.BeneficiaryNumber.Hash) })
}

// UsedUp reports whether the rule has allowed all debits that it may.
func (r *Rule) UsedUp() bool {
	return r.Frequency == OneTime && r.Used > 0 || r.NumberOfPayments != nil && r.Used >= *r.NumberOfPayments
}

// usedUp is UsedUp in SQL.
const usedUp = "(pp.frequency = 'ONE_TIME' AND pp.used > 0 OR pp.used >= coalesce(pp.number_of_payments, " +
	"2147483647))"

// usedIn reports whether the rule has already allowed a debit in the period of a day.
func (r *Rule) usedIn(day time.Time) bool {
	if r.LastUsed == nil || r.Frequency == OnGoing || r.Frequency == OneTime {
		return false
	}
	return r.period(*r.LastUsed) == r.period(day)
}

// period returns the number of the period of a day. The rule allows one debit in each period: a day, a week
// from Monday, every second week counted from that of its first day, or a month, quarter, half or year of the
// calendar.
func (r *Rule) period(day time.Time) int {
	week := func(day time.Time) int { return (int(day.Unix()/(24*60*60)) + 3) / 7 } // 1970 began on a Thursday
	month := 12*day.Year() + int(day.Month()) - 1
	switch r.Frequency {
	case Daily:
		return int(day.Unix() / (24 * 60 * 60))
	case Weekly:
		return week(day)
	case BiWeekly:
		return (week(day) - week(r.EffectiveDate)) / 2
	case Monthly:
		return month
	case Quarterly:
		return month / 3
	case SemiAnnual:
		return month / 6
	case Annual:
		return month / 12
	}
	return 0
}

// screen asks rules about a debit on a day, and returns the oldest one that allows it, which is used then;
// used keeps it as it was. If none does, it returns the mismatch of the rule that came nearest.
func screen(rules []*Rule, d *Screened, day time.Time, used map[*Rule]Rule) (*Rule, Mismatch) {
	most, fails := 0, NoRule
	for _, r := range rules {
		passed, why := r.test(d, day)
		if why == "" {
			if _, again := used[r]; !again {
				used[r] = *r
			}
			r.Used++
			r.LastUsed = &day
			return r, ""
		}
		if passed > most {
			most, fails = passed, why
		}
	}
	return nil, fails
}

type exceptionUID struct {
	UID ExceptionUID `bun:"uid"`
}

var takingExceptions = db.NewQuery[exceptionUID](
	`SELECT nextval('positive_pay_exception_uids') AS uid FROM generate_series(1, $1::bigint)`)

// accountsAtATime is how many accounts' rules, of which each has up to mostOfAccount, are read together.
const accountsAtATime = 20

// ScreenTx asks the rules of their accounts about debits that came at a time, in their order, and returns the
// outcome of each: a rule allows it, and its use is counted, or it waits for people, until the time that
// until returns.
func ScreenTx(
	ctx context.Context, tx bun.Tx, by access.Caller, now time.Time, debits []*Screened,
	until func(*Screened) time.Time,
) ([]*Exception, error) {
	if len(debits) == 0 {
		return nil, nil
	}
	b := db.TxBatch(tx)
	ids := db.Queue(b, takingExceptions, len(debits))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	all := make([]*Exception, len(debits))
	of := map[accounts.UID][]int{} // the places of its debits
	for i, d := range debits {
		all[i] = newException(ids.Items[i].UID, by.Tenant, d, now)
		if all[i].ExpiresAt = until(d); d.Unruled {
			all[i].Reason = NoRule
			continue
		}
		of[d.Account] = append(of[d.Account], i)
	}
	used := map[*Rule]Rule{}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(of)), accountsAtATime) {
		asked, err := askTx(ctx, tx, by.Tenant, some, func(rules map[accounts.UID][]*Rule) map[*Rule]Rule {
			asked := map[*Rule]Rule{}
			for _, account := range some {
				for _, i := range of[account] {
					all[i].ask(rules[account], debits[i], DayOf(now, by.Location()), now, asked)
				}
			}
			return asked
		})
		if err != nil {
			return nil, err
		}
		maps.Copy(used, asked)
	}
	return all, countTx(ctx, by.Tenant, used)
}

// ask writes into an exception what rules say of its debit. It keeps in used, as they were, those that it
// uses.
func (e *Exception) ask(rules []*Rule, d *Screened, day, now time.Time, used map[*Rule]Rule) {
	rule, why := screen(rules, d, day, used)
	e.Reason, e.Rule, e.Status, e.DecidedAt = why, 0, DecisionPending, nil
	if rule != nil {
		e.Rule, e.Status, e.DecidedAt = rule.UID, AutoMatched, &now
	}
}

// askTx asks the rules of accounts, and locks those that are used, which ask returns as they were. If one of
// them was changed or used by somebody else meanwhile, all are asked again. The many that are not used are
// not locked, as that writes each of them.
func askTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, of []accounts.UID,
	ask func(map[accounts.UID][]*Rule) map[*Rule]Rule,
) (used map[*Rule]Rule, err error) {
	locked := map[UID]bool{}
	for {
		var rules []*Rule
		if err := tx.NewSelect().Model(&rules).Where("pp.tenant = ?", tenant).
			Where("pp.account IN (?)", bun.List(of)).Where("pp.state IN (?, ?)", Active, Suspended).
			OrderExpr("pp.uid").Scan(ctx); err != nil {
			return nil, err
		}
		each := map[accounts.UID][]*Rule{}
		for _, r := range rules {
			each[r.Account] = append(each[r.Account], r)
		}
		used = ask(each)
		changed, err := lockUsedTx(ctx, tx, tenant, used, locked)
		if err != nil || !changed {
			return used, err
		}
	}
}

// lockUsedTx locks rules that are not locked yet. It reports whether one is no longer as it was.
func lockUsedTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, used map[*Rule]Rule, locked map[UID]bool,
) (changed bool, err error) {
	was := map[UID]Rule{}
	for r, before := range used {
		if !locked[r.UID] {
			was[r.UID], locked[r.UID] = before, true
		}
	}
	if len(was) == 0 {
		return false, nil
	}
	var are []*Rule
	if err := tx.NewSelect().Model(&are).Where("pp.tenant = ?", tenant).
		Where("pp.uid IN (?)", bun.List(slices.Collect(maps.Keys(was)))).
		OrderExpr("pp.uid").For("NO KEY UPDATE").Scan(ctx); err != nil {
		return false, err
	}
	for _, r := range are {
		before := was[r.UID]
		same := r.Version == before.Version && r.State == before.State && r.Used == before.Used
		changed = changed || !same
	}
	return changed, nil
}

// StandingTx returns the rules by which these payments are allowed, as far as they are Active on a day, by
// payment; of each only who approved it. A rule may have been suspended or deleted since it allowed a
// payment, or end sooner now.
func StandingTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, of []int64, day time.Time,
) (standing map[int64]*Rule, err error) {
	var found []struct {
		Payment int64
		Rule    `bun:",extend"`
	}
	err = tx.NewSelect().Model((*Exception)(nil)).Column("payment").ColumnExpr("pp.approvers, pp.by_bank").
		Join("JOIN positive_pay_rules AS pp ON pp.tenant = ppe.tenant AND pp.uid = ppe.rule").
		Where("ppe.tenant = ?", tenant).Where("pp.tenant = ?", tenant).
		Where("ppe.payment IN (?)", bun.List(of)).
		Where("pp.state = ?", Active).Where("pp.effective_date <= ?", day).
		Where("(pp.expiry_date IS NULL OR pp.expiry_date >= ?)", day).Scan(ctx, &found)
	standing = map[int64]*Rule{}
	for i := range found {
		standing[found[i].Payment] = &found[i].Rule
	}
	return standing, err
}

// AskersTx returns who let these payments through: who asked for the rules that allowed them, or for changes
// of those, and who decided on them where no rule did.
func AskersTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, of ...int64,
) (all []audit.Asker, err error) {
	var some []*Exception
	err = tx.NewSelect().Model(&some).Where("ppe.tenant = ?", tenant).
		Where("ppe.payment IN (?)", bun.List(of)).
		Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read who let payments %v through: %w", of, err)
	}
	for _, e := range some {
		if e.DecidedClient != "" {
			all = append(all, audit.Asker{Client: e.DecidedClient, LoginID: e.DecidedLogin})
		}
		if e.Rule == 0 {
			continue
		}
		asked, err := audit.AskersTx(ctx, tx, tenant, object, e.Rule.String(), "createPositivePayRule",
			"changePositivePayRule", "activatePositivePayRule")
		if err != nil {
			return nil, err
		}
		all = append(all, asked...)
	}
	return all, nil
}

// countTx writes which rules were used, at the end of the transaction.
func countTx(ctx context.Context, tenant access.Tenant, used map[*Rule]Rule) error {
	if len(used) == 0 {
		return nil
	}
	var uids, times []int64
	var days []string
	for r := range used {
		uids, times = append(uids, int64(r.UID)), append(times, int64(r.Used))
		days = append(days, r.LastUsed.Format(time.DateOnly))
	}
	return db.ExecAtCommit(ctx, `UPDATE positive_pay_rules AS r SET used = n.used, last_used = n.day::date
		FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS n(uid, used, day)
		WHERE r.tenant = $1 AND r.uid = n.uid`, tenant, uids, times, days)
}

// DayOf returns the day of a time in a zone; midnight UTC.
func DayOf(at time.Time, zone *time.Location) time.Time {
	year, month, day := at.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
