// Package limits keeps how much a customer may pay on each rail and how much of that is used, and checks
// whether a planned payment fits.
package limits

import (
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/rails"
)

// Period is the time over which a limit adds up.
type Period string

const (
	PerTransaction Period = "TRANSACTION"
	PerBatch       Period = "BATCH"
	PerFile        Period = "FILE"
	PerDay         Period = "DAY"
	PerWeek        Period = "WEEK"
	PerMonth       Period = "MONTH"
)

// Family is a group of rails that share one set of limits.
type Family string

const (
	ACH     Family = "ACH"
	Fedwire Family = "FEDWIRE"
	Instant Family = "INSTANT" // RTP and FedNow together
	SWIFT   Family = "SWIFT"
)

// FamilyOf returns the family of a rail.
func FamilyOf(rail rails.Rail) Family {
	switch rail {
	case rails.RTP, rails.FedNow:
		return Instant
	case rails.Fedwire:
		return Fedwire
	case rails.SWIFT:
		return SWIFT
	default:
		return ACH
	}
}

// Kind is the meaning of one limit code.
type Kind struct {
	Code      string
	Name      string // the label that people see
	Family    Family
	Period    Period
	EntryType rails.EntryType // '' for both directions
	SECCode   rails.SECCode   // '' for all classes
	Checked   bool            // payments and the limit check are tested against it; FX tests its own two
}

// Application returns the application that the limit belongs to (rest/CONTRACT.md, limit codes).
func (k Kind) Application() string {
	if k.Family == "FX" {
		return "Foreign_Exchange"
	}
	return "Payments"
}

// isApplication reports whether an application of this name has limits, without regard to letter case.
func isApplication(name string) bool {
	for _, k := range kinds {
		if ident.Same(k.Application(), name) {
			return true
		}
	}
	return false
}

// Counts reports whether the limit is a number of things, not an amount.
func (k Kind) Counts() bool { return strings.HasPrefix(k.Code, "NO_OF_") }

// kinds maps the limit codes that a customer can have to their meanings (rest/CONTRACT.md, limit codes).
var kinds = map[string]Kind{}

// order lists the codes as they are shown, and place is the index of each in it.
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

// Kinds returns all kinds of limits, in the order in which they are shown.
func Kinds() []Kind {
	all := make([]Kind, len(order))
	for i, code := range order {
		all[i] = kinds[code]
	}
	return all
}

// Known returns the kind of a limit code, and reports whether there is one.
func Known(code string) (Kind, bool) {
	k, ok := kinds[ident.Upper(code)]
	return k, ok
}

// Asked says which limits are wanted: all of a rail, or those that apply to a planned payment.
type Asked struct {
	Rail      rails.Rail
	EntryType rails.EntryType // '' for both directions; ACH only
	SECCode   rails.SECCode   // adds the limits of this class; ACH only, and only with an entry type
	Amount    string          // the planned payment's amount, in decimal; '' for none
	On        time.Time       // the day of delivery; zero for today in the bank's time zone
}

// ParseClass reads the class and direction of an ACH payment. On other rails it ignores both
// (rest/CONTRACT.md, limit check).
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

// ParseRail reads the rail of a limit check, which has none for SWIFT.
func ParseRail(field, text string) (rails.Rail, error) {
	rail, known := rails.ParseRail(text)
	if !known {
		return "", fault.Field("limit", field, fault.Malformed, "must be one of FEDWIRE, FEDNOW, RTP, ACH")
	}
	return rail, nil
}

// codes returns the codes of the wanted limits, in the order in which they are shown.
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

// MostAmount is the largest amount that the limit check accepts, in whole units of the currency
// (rest/CONTRACT.md, limit check).
const MostAmount = 10_000_000

// Limit is one limit of a customer: its ceiling and how much of it is used.
type Limit struct {
	bun.BaseModel `bun:"table:limits,alias:l" json:"-"`

	Tenant      access.Tenant `bun:"tenant,pk" json:"-"`
	Customer    customers.UID `bun:"customer,pk" json:"-"`
	Code        string        `bun:"code,pk" json:"code"`
	Application string        `bun:"application" json:"-"`
	// minor units, or a number of things (Kind.Counts)
	Ceiling   int64          `bun:"ceiling" json:"-"`
	Currency  money.Currency `bun:"currency" json:"-"`
	Version   int32          `bun:"version" json:"-"`
	UpdatedAt time.Time      `bun:"updated_at,nullzero,default:now()" json:"-"`

	UsedMinor int64 `bun:"used,scanonly" json:"-"`
	tested    int64
}

// Usage is the sum of one customer's payments on one rail and day.
type Usage struct {
	bun.BaseModel `bun:"table:limit_usage,alias:lu" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	Customer customers.UID `bun:"customer,pk" json:"-"`
	Rail     Family        `bun:"rail,pk" json:"-"`
	// of delivery, in the bank's time zone; midnight UTC
	Day       time.Time       `bun:"day,pk,type:date" json:"-"`
	EntryType rails.EntryType `bun:"entry_type,pk" json:"-"` // of ACH only
	SECCode   rails.SECCode   `bun:"sec_code,pk" json:"-"`   // of ACH only
	Amount    int64           `bun:"amount" json:"-"`        // minor units of the bank's currency
	Payments  int32           `bun:"payments" json:"-"`
}

// Kind returns the meaning of the limit's code.
func (l *Limit) Kind() Kind { return kinds[l.Code] }

// Name returns the label that people see.
func (l *Limit) Name() string { return l.Kind().Name }

// Period returns the time over which the limit adds up.
func (l *Limit) Period() Period { return l.Kind().Period }

// EntryType returns the direction that the limit applies to; nil for both.
func (l *Limit) EntryType() *rails.EntryType { return pointerTo(l.Kind().EntryType) }

// SECCode returns the class that the limit applies to; nil for all.
func (l *Limit) SECCode() *rails.SECCode { return pointerTo(l.Kind().SECCode) }

// pointerTo returns a pointer to a value; nil for "".
func pointerTo[T ~string](value T) *T {
	if value == "" {
		return nil
	}
	return &value
}

// Current returns the configured ceiling.
func (l *Limit) Current() money.Amount { return money.Of(l.Ceiling, l.Currency) }

// Used returns the sum of the period's payments; 0 for a limit per transaction.
func (l *Limit) Used() money.Amount { return money.Of(l.UsedMinor, l.Currency) }

// Remaining returns the ceiling less what is used, without the planned payment. It is negative if the ceiling
// was lowered below what is used.
func (l *Limit) Remaining() money.Amount { return money.Of(l.Ceiling-l.UsedMinor, l.Currency) }

// ExceededBy returns by how much the planned payment would exceed the limit; nil if it fits.
func (l *Limit) ExceededBy() *money.Amount {
	excess := l.UsedMinor + l.tested - l.Ceiling
	if l.tested == 0 || excess <= 0 {
		return nil
	}
	amount := money.Of(excess, l.Currency)
	return &amount
}

// Message tells people by how much the limit would be exceeded; empty if the payment fits.
func (l *Limit) Message() string {
	excess := l.ExceededBy()
	if excess == nil {
		return ""
	}
	return l.Kind().Name + " would be exceeded by " + excess.String() + " " + string(l.Currency)
}
