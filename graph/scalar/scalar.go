// Package scalar reads and writes the scalars of the schema. gqlgen.yml chooses the functions by the Go type
// of the field.
package scalar

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/uuid"

	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fx"
	"bankgraph/core/given"
	"bankgraph/core/money"
)

// invalid makes the fault of an input without the form of its scalar. The error's path names the argument.
func invalid(message string) error { return fault.Field("argument", "", fault.Malformed, message) }

// Each Append function appends a scalar to b. The Marshal function next to it is for gqlgen's own execution.

// written is what an Append function wrote.
type written []byte

func (w written) MarshalGQL(to io.Writer) { _, _ = to.Write(w) }

// AppendString writes null for the empty text: in core, absent text is empty.
func AppendString(b []byte, text string) []byte {
	if text == "" {
		return append(b, "null"...)
	}
	return appendQuoted(b, text)
}

// MarshalString is AppendString.
func MarshalString(text string) graphql.Marshaler {
	if text == "" {
		return graphql.Null
	}
	return graphql.MarshalString(text)
}

func appendQuoted(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < 0x20 || c == '"' || c == '\\' {
			var escaped bytes.Buffer
			graphql.MarshalString(text).MarshalGQL(&escaped)
			return append(b, escaped.Bytes()...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// AppendBoolean writes true or false.
func AppendBoolean(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

// Where null is allowed and the Go type is no pointer, null is read as the empty value, which core treats as
// absent. Validation refuses null everywhere else.

// UnmarshalString takes a string, or null for the empty one.
func UnmarshalString(v any) (string, error) {
	if v == nil {
		return "", nil
	}
	text, ok := v.(string)
	if !ok {
		return "", invalid("must be a string")
	}
	return text, nil
}

// AppendID writes a global id that is text already.
func AppendID(b []byte, id string) []byte { return appendQuoted(b, id) }

// AppendInt writes a 32-bit integer.
func AppendInt(b []byte, n int32) []byte   { return strconv.AppendInt(b, int64(n), 10) }
func MarshalInt(n int32) graphql.Marshaler { return written(AppendInt(nil, n)) }

// UnmarshalInt takes a whole number of 32 bits: no text, no decimals. Null is 0.
func UnmarshalInt(v any) (int32, error) {
	var n int64
	switch v := v.(type) {
	case nil: // validation has let it pass: the field may be absent
	case int:
		n = int64(v)
	case int32:
		n = int64(v)
	case int64:
		n = v
	case json.Number:
		var err error
		if n, err = strconv.ParseInt(string(v), 10, 64); err != nil {
			return 0, invalid("must be a whole number of 32 bits")
		}
	default:
		return 0, invalid("must be a whole number of 32 bits")
	}
	if n < math.MinInt32 || n > math.MaxInt32 {
		return 0, invalid("must be a whole number of 32 bits")
	}
	return int32(n), nil
}

// The prefixes of global ids. Each type keeps its prefix even if the type is renamed.
const (
	CustomerPrefix   = "cus_"
	AccountPrefix    = "acc_"
	ContactPrefix    = "con_"
	SignatoryPrefix  = "sig_"
	ApprovalPrefix   = "apr_"
	AuditEntryPrefix = "aud_"
	UserPrefix       = "usr_"
	RolePrefix       = "rol_"
	BankPrefix       = "bnk_"
	PaymentPrefix    = "pay_"
	RecurrencePrefix = "rec_"
	BulkFilePrefix   = "fil_"
	WaterfallPrefix  = "wfl_"
	WebhookPrefix    = "whk_"
	QuotePrefix      = "fxq_"
	TradePrefix      = "fxt_"

	PositivePayRulePrefix      = "ppr_"
	PositivePayExceptionPrefix = "ppe_"

	VirtualAccountPrefix     = "vac_"
	VirtualTransactionPrefix = "vtx_"

	WebhookDeliveryPrefix = "whd_"

	BalanceAlertPrefix = "bal_"

	ContactVerificationPrefix = "cvf_"
)

func appendNumber(b []byte, prefix string, uid int64) []byte {
	b = append(append(b, '"'), prefix...)
	return append(strconv.AppendInt(b, uid, 10), '"')
}

// ParseUID reads 1 to 18 digits without a leading zero, so that each number has one form.
func ParseUID(v any) (int64, error) {
	text, ok := v.(string)
	if !ok || text == "" || len(text) > 18 || text[0] == '0' {
		return 0, errUID
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, errUID
	}
	return int64(n), nil
}

var errUID = invalid("must be the digits of a UID, as a string, without leading zeros")

func parse[T ~int64](v any) (T, error) {
	n, err := UnmarshalUID(v)
	return T(n), err
}

func noID[T any](any) (t T, err error) { return t, invalid("global ids are read by node") }

func AppendUID(b []byte, n int64) []byte   { return appendNumber(b, "", n) }
func MarshalUID(n int64) graphql.Marshaler { return written(AppendUID(nil, n)) }
func UnmarshalUID(v any) (int64, error) {
	if v == nil {
		return 0, nil
	}
	return ParseUID(v)
}

// Users and roles have UUIDs.

func appendUUID(b []byte, prefix string, uid uuid.UUID) []byte {
	b = append(append(b, '"'), prefix...)
	text, _ := uid.MarshalText() // it cannot fail
	return append(append(b, text...), '"')
}

var errUUID = invalid("must be a UUID, as a string")

// ParseUUID reads a UUID in lower case with hyphens, its only form.
func ParseUUID(v any) (uuid.UUID, error) {
	text, _ := v.(string)
	uid, err := uuid.Parse(text)
	if err != nil || uid.String() != text {
		return uuid.Nil, errUUID
	}
	return uid, nil
}

// Fields of inputs for which absent differs from null: null clears the value.

func MarshalGivenText(t given.Text) graphql.Marshaler { return MarshalString(t.Value) }

func UnmarshalGivenText(v any) (given.Text, error) {
	text, err := UnmarshalString(v)
	return given.Of(text), err
}

func MarshalGivenFlag(f given.Flag) graphql.Marshaler { return graphql.MarshalBoolean(f.Value) }

// UnmarshalGivenFlag reads null as false.
func UnmarshalGivenFlag(v any) (given.Flag, error) {
	if v == nil {
		return given.Of(false), nil
	}
	flag, err := graphql.UnmarshalBoolean(v)
	return given.Of(flag), err
}

func MarshalGivenAmount(t given.Text) graphql.Marshaler { return MarshalString(t.Value) }

func UnmarshalGivenAmount(v any) (given.Text, error) {
	if v == nil {
		return given.Of(""), nil
	}
	amount, err := UnmarshalAmountText(v)
	return given.Of(string(amount)), err
}

// A decimal of an input whose currency is known only where it is used. Null is empty.

func MarshalDecimal(text string) graphql.Marshaler { return MarshalString(text) }

func UnmarshalDecimal(v any) (string, error) {
	amount, err := UnmarshalGivenAmount(v)
	return amount.Value, err
}

// AmountText is an amount as the caller wrote it. Its currency is known only where it is used.
type AmountText string

func MarshalAmountText(a AmountText) graphql.Marshaler { return graphql.MarshalString(string(a)) }

// UnmarshalAmountText takes decimal text, never a number: a float could have lost digits.
func UnmarshalAmountText(v any) (AmountText, error) {
	text, ok := v.(string)
	if !ok {
		return "", invalid(`must be a decimal amount as a string, such as "12.50"`)
	}
	if text == "" || len(text) > 32 {
		return "", invalid(`must be a decimal amount, such as "12.50"`)
	}
	return AmountText(text), nil
}

func AppendAmount(b []byte, a money.Amount) []byte {
	return append(a.Append(append(b, '"')), '"')
}
func MarshalAmount(a money.Amount) graphql.Marshaler { return written(AppendAmount(nil, a)) }
func UnmarshalAmount(any) (money.Amount, error) {
	return money.Amount{}, invalid("an amount is read where its currency is known")
}

func AppendCents(b []byte, c customers.Cents) []byte   { return AppendAmount(b, c.Amount()) }
func MarshalCents(c customers.Cents) graphql.Marshaler { return written(AppendCents(nil, c)) }
func UnmarshalCents(v any) (customers.Cents, error) {
	text, err := UnmarshalAmountText(v)
	if err != nil {
		return 0, err
	}
	amount, err := money.Parse(string(text), money.Hundredths)
	if err != nil {
		return 0, invalid(err.Error())
	}
	return customers.Cents(amount.Minor), nil
}

func AppendRate(b []byte, r fx.Rate) []byte {
	return append(append(append(b, '"'), r.String()...), '"')
}
func MarshalRate(r fx.Rate) graphql.Marshaler { return written(AppendRate(nil, r)) }
func UnmarshalRate(any) (fx.Rate, error)      { return 0, invalid("a rate is not read") }

// AppendCurrency writes null where no currency is known.
func AppendCurrency(b []byte, c money.Currency) []byte   { return AppendString(b, string(c)) }
func MarshalCurrency(c money.Currency) graphql.Marshaler { return MarshalString(string(c)) }
func UnmarshalCurrency(v any) (money.Currency, error) {
	if v == nil {
		return "", nil
	}
	text, ok := v.(string)
	if !ok {
		return "", invalid("must be an ISO 4217 currency code")
	}
	c, err := money.ParseCurrency(text)
	if err != nil {
		return "", invalid("must be an ISO 4217 currency code")
	}
	return c, nil
}

func AppendDate(b []byte, day time.Time) []byte {
	return append(day.AppendFormat(append(b, '"'), time.DateOnly), '"')
}
func MarshalDate(day time.Time) graphql.Marshaler { return written(AppendDate(nil, day)) }

// UnmarshalDate reads null as the zero time.
func UnmarshalDate(v any) (time.Time, error) {
	if v == nil {
		return time.Time{}, nil
	}
	text, _ := v.(string)
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1900 {
		return time.Time{}, invalid("must be a day as YYYY-MM-DD")
	}
	return day, nil
}

// MarshalGivenDate writes a day that a request gives, or null where it clears one.
func MarshalGivenDate(day given.Value[time.Time]) graphql.Marshaler {
	if day.Value.IsZero() {
		return graphql.Null
	}
	return MarshalDate(day.Value)
}

// UnmarshalGivenDate reads null as given: it clears.
func UnmarshalGivenDate(v any) (given.Value[time.Time], error) {
	day, err := UnmarshalDate(v)
	return given.Of(day), err
}

func AppendDateTime(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(b, '"'), time.RFC3339), '"')
}
func MarshalDateTime(t time.Time) graphql.Marshaler { return written(AppendDateTime(nil, t)) }
func UnmarshalDateTime(v any) (time.Time, error) {
	text, _ := v.(string)
	t, err := time.Parse(time.RFC3339, text)
	if t = t.UTC(); err != nil || t.Year() < 0 || t.Year() > 9999 { // other years have no text by RFC 3339
		return time.Time{}, invalid("must be a point in time by RFC 3339")
	}
	return t, nil
}
