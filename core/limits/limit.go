// Package limits knows how much a customer may pay on each rail, how much of it is used up, and whether a
// planned payment fits.
package limits

import (
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/rails"
)

// Period is the time over which a limit counts.
type Period string

const (
	PerTransaction Period = "TRANSACTION"
	PerBatch       Period = "BATCH"
	PerFile        Period = "FILE"
	PerDay         Period = "DAY"
	PerWeek        Period = "WEEK"
	PerMonth       Period = "MONTH"
)

// Family is the group of rails that one set of limits counts for.
type Family string

const (
	ACH     Family = "ACH"
	Fedwire Family = "FEDWIRE"
	Instant Family = "INSTANT" // RTP and FedNow together
	SWIFT   Family = "SWIFT"
)

// FamilyOf is the family that a rail's payments count for.
func FamilyOf(rail rails.Rail) Family {
	switch rail {
	case rails.RTP, rails.FedNow:
		return Instant
	case rails.Fedwire:
		return Fedwire
	default:
		return ACH
	}
}

// Kind is what one limit code means.
type Kind struct {
	Code      string
	Name      string // the label that people see
	Family    Family
	Period    Period
	EntryType rails.EntryType // '' counts for both directions
	SECCode   rails.SECCode   // '' counts for all classes
	Checked   bool            // the limit check answers it; the others bound batches, files and counts
}

// Application is where people set the limit (rest/CONTRACT.md, limit codes).
func (k Kind) Application() string {
	if k.Family == "FX" {
		return "Foreign_Exchange"
	}
	return "Payments"
}

// isApplication tells whether there are limits of an application with this name, letter case apart.
func isApplication(name string) bool {
	for _, k := range kinds {
		if strings.EqualFold(k.Application(), name) {
			return true
		}
	}
	return false
}

// Counts tells whether the limit is a number of things; others are amounts.
func (k Kind) Counts() bool { return strings.HasPrefix(k.Code, "NO_OF_") }

// kinds are all limit codes that a customer can have, by code (rest/CONTRACT.md, limit codes).
var kinds = map[string]Kind{}

// order is how the codes are listed, and place is where each one stands in it.
var (
	order []string
	place = map[string]int{}
)

func add(k Kind) {
	kinds[k.Code] = k
	place[k.Code] = len(order)
	order = append(order, k.Code)
}

func init() {
	for _, family := range []struct {
		family Family
		label  string
	}{{ACH, "ACH payment"}, {Fedwire, "Wire payment"}, {Instant, "Instant payment"}, {SWIFT, "SWIFT payment"}} {
		for _, period := range []struct {
			period Period
			word   string
		}{{PerTransaction, "transaction"}, {PerDay, "day"}, {PerWeek, "week"}, {PerMonth, "month"}} {
			add(Kind{
				Code: string(family.family) + "_PAYMENT_LIMIT_PER_" + string(period.period),
				Name: family.label + " limit per " + period.word, Family: family.family, Period: period.period,
				Checked: true,
			})
		}
	}
	for _, sec := range rails.SECCodes {
		for _, entry := range []rails.EntryType{rails.Credit, rails.Debit} {
			add(Kind{
				Code:   "ACH_" + string(sec) + "_" + string(entry) + "_TRANSACTION_LIMIT",
				Name:   "ACH " + string(sec) + " " + strings.ToLower(string(entry)) + " limit per transaction",
				Family: ACH, Period: PerTransaction, EntryType: entry, SECCode: sec, Checked: true,
			})
			add(Kind{
				Code:   "ACH_" + string(sec) + "_" + string(entry) + "_LIMIT_PER_BATCH",
				Name:   "ACH " + string(sec) + " " + strings.ToLower(string(entry)) + " limit per batch",
				Family: ACH, Period: PerBatch, EntryType: entry, SECCode: sec,
			})
		}
	}
	for _, k := range []Kind{
		{
			Code: "FEDWIRE_PAYMENT_LIMIT_PER_FILE", Name: "Wire payment limit per file", Family: Fedwire,
			Period: PerFile,
		},
		{
			Code: "INSTANT_PAYMENT_LIMIT_PER_FILE", Name: "Instant payment limit per file", Family: Instant,
			Period: PerFile,
		},
		{Code: "ACH_WHITELIST_LIMIT", Name: "ACH whitelist limit", Family: ACH, Period: PerTransaction},
		{Code: "FX_DAILY_SETTLEMENT_LIMIT", Name: "FX settlement limit per day", Family: "FX", Period: PerDay},
		{Code: "FX_FORWARD_LIMIT", Name: "FX forward limit", Family: "FX", Period: PerTransaction},
		{Code: "NO_OF_ACH_BATCHES_PER_FILE", Name: "Number of ACH batches per file", Family: ACH, Period: PerFile},
		{Code: "NO_OF_ACH_FILES_PER_DAY", Name: "Number of ACH files per day", Family: ACH, Period: PerDay},
		{Code: "NO_OF_ACH_FILES_PER_MONTH", Name: "Number of ACH files per month", Family: ACH, Period: PerMonth},
	} {
		add(k)
	}
}

// Kinds are all limits that a customer can have, in the order in which they are listed.
func Kinds() []Kind {
	all := make([]Kind, len(order))
	for i, code := range order {
		all[i] = kinds[code]
	}
	return all
}

// Known tells what a limit code means.
func Known(code string) (Kind, bool) {
	k, ok := kinds[strings.ToUpper(code)]
	return k, ok
}

// Asked is what limits are asked for: all of a rail, or those that a planned payment meets.
type Asked struct {
	Rail      rails.Rail
	EntryType rails.EntryType // '' asks for both directions; counts for ACH only
	SECCode   rails.SECCode   // adds the class's own limits; counts for ACH only, and needs an entry type
	Amount    string          // decimal text of the payment to test; '' tests none
	On        time.Time       // the day of delivery; zero means today in the bank's zone
}

// ParseClass reads the class and the direction of an ACH payment. On other rails they are ignored,
// whatever they say (rest/CONTRACT.md, limit check).
func (a *Asked) ParseClass(secCode, entryType string) error {
	if FamilyOf(a.Rail) != ACH {
		return nil
	}
	var known bool
	if a.SECCode, known = rails.ParseSECCode(secCode); !known && secCode != "" {
		return fault.Field("limit", "secCode", fault.Malformed, "must be one of POP, CCD, PPD, WEB, CTX")
	}
	if a.EntryType, known = rails.ParseEntryType(entryType); !known && entryType != "" {
		return fault.Field("limit", "entryType", fault.Malformed, "must be CREDIT or DEBIT")
	}
	return nil
}

// ParseRail reads the check's rail; SWIFT is none of them.
func ParseRail(field, text string) (rails.Rail, error) {
	rail, known := rails.ParseRail(text)
	if !known {
		return "", fault.Field("limit", field, fault.Malformed, "must be one of FEDWIRE, FEDNOW, RTP, ACH")
	}
	return rail, nil
}

// codes are the limits that answer the question, in the order of the list.
func (a Asked) codes() []string {
	family := FamilyOf(a.Rail)
	var codes []string
	for _, code := range order {
		k := kinds[code]
		if k.Family == family && k.Checked &&
			(k.SECCode == "" || k.SECCode == a.SECCode && k.EntryType == a.EntryType) {
			codes = append(codes, code)
		}
	}
	return codes
}

// MostAmount is the largest amount that the limit check tests, in whole units (rest/CONTRACT.md, limit
// check).
const MostAmount = 10_000_000

// ParseDate reads the check's MM-DD-YYYY.
func ParseDate(field, text string) (time.Time, error) {
	day, err := time.Parse("01-02-2006", text)
	if err != nil || day.Year() < 1900 {
		return time.Time{}, fault.Field("limit", field, fault.Malformed, "must be a date in the form MM-DD-YYYY")
	}
	return day, nil
}

// Limit is one configured ceiling with what is used of it.
type Limit struct {
	bun.BaseModel `bun:"table:limits,alias:l" json:"-"`

	Tenant      access.Tenant `bun:"tenant,pk" json:"-"`
	Customer    customers.UID `bun:"customer,pk" json:"-"`
	Code        string        `bun:"code,pk" json:"code"`
	Application string        `bun:"application" json:"-"`
	// minor units; for limits that count things, their number
	Ceiling   int64          `bun:"ceiling" json:"-"`
	Currency  money.Currency `bun:"currency" json:"-"`
	Version   int32          `bun:"version" json:"-"`
	UpdatedAt time.Time      `bun:"updated_at,nullzero,default:now()" json:"-"`

	UsedMinor int64 `bun:"used,scanonly" json:"-"`
	tested    int64
}

// Usage is what the payments of one customer, rail and day have used up.
type Usage struct {
	bun.BaseModel `bun:"table:limit_usage,alias:lu" json:"-"`

	Tenant    access.Tenant   `bun:"tenant,pk" json:"-"`
	Customer  customers.UID   `bun:"customer,pk" json:"-"`
	Rail      Family          `bun:"rail,pk" json:"-"`
	Day       time.Time       `bun:"day,pk,type:date" json:"-"` // of delivery, in the bank's zone; midnight UTC
	EntryType rails.EntryType `bun:"entry_type,pk" json:"-"`    // of ACH only
	SECCode   rails.SECCode   `bun:"sec_code,pk" json:"-"`      // of ACH only
	Amount    int64           `bun:"amount" json:"-"`           // minor units of the bank's currency
	Payments  int32           `bun:"payments" json:"-"`
}

// Kind is what the limit's code means.
func (l *Limit) Kind() Kind { return kinds[l.Code] }

// Name is the label that people see.
func (l *Limit) Name() string { return l.Kind().Name }

// Period is the time over which the limit counts.
func (l *Limit) Period() Period { return l.Kind().Period }

// EntryType is the direction that the limit counts for; nil for both.
func (l *Limit) EntryType() *rails.EntryType { return given(l.Kind().EntryType) }

// SECCode is the class that the limit counts for; nil for all.
func (l *Limit) SECCode() *rails.SECCode { return given(l.Kind().SECCode) }

func given[T ~string](value T) *T {
	if value == "" {
		return nil
	}
	return &value
}

// Current is the configured ceiling.
func (l *Limit) Current() money.Amount { return money.Of(l.Ceiling, l.Currency) }

// Used is what payments of the period have taken; a limit per transaction has none.
func (l *Limit) Used() money.Amount { return money.Of(l.UsedMinor, l.Currency) }

// Remaining is the ceiling less what is used, without the tested payment. It is below zero where the
// ceiling was lowered under what is used.
func (l *Limit) Remaining() money.Amount { return money.Of(l.Ceiling-l.UsedMinor, l.Currency) }

// ExceededBy is by how much the tested payment would pass the limit; nil where it fits.
func (l *Limit) ExceededBy() *money.Amount {
	excess := l.UsedMinor + l.tested - l.Ceiling
	if l.tested == 0 || excess <= 0 {
		return nil
	}
	amount := money.Of(excess, l.Currency)
	return &amount
}

// Message tells people by how much the limit would be passed; empty where it would not.
func (l *Limit) Message() string {
	excess := l.ExceededBy()
	if excess == nil {
		return ""
	}
	return l.Kind().Name + " would be exceeded by " + excess.String() + " " + string(l.Currency)
}
