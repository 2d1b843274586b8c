package scalar_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/uuid"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/given"
	"bankgraph/core/money"
	"bankgraph/core/roles"
	"bankgraph/core/users"
	"bankgraph/graph/scalar"
)

var user = users.UID{UUID: uuid.MustParse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")}

// A scalar is the same in both ways of execution, and is JSON that every reader accepts.
func TestBothWaysOfWritingSayTheSame(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 21, 23, 30, 15, 999, time.FixedZone("", -5*3600))
	amount, err := money.Parse("-1234.50", "USD")
	if err != nil {
		t.Fatal(err)
	}
	yen, err := money.Parse("1234", "JPY")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		appended []byte
		other    graphql.Marshaler
		want     string
	}{
		{scalar.AppendString(nil, "plain"), scalar.MarshalString("plain"), `"plain"`},
		{scalar.AppendString(nil, ""), scalar.MarshalString(""), `null`},
		{scalar.AppendString(nil, "a\"b\\c\n\x01é"), scalar.MarshalString("a\"b\\c\n\x01é"), `"a\"b\\c\n\u0001é"`},
		{scalar.AppendBoolean(nil, true), graphql.MarshalBoolean(true), `true`},
		{scalar.AppendInt(nil, math.MinInt32), scalar.MarshalInt(math.MinInt32), `-2147483648`},
		{scalar.AppendUID(nil, 99_999_999_999), scalar.MarshalUID(99_999_999_999), `"99999999999"`},
		{scalar.AppendCustomerID(nil, 7), scalar.MarshalCustomerID(7), `"cus_7"`},
		{scalar.AppendCustomerUID(nil, 7), scalar.MarshalCustomerUID(7), `"7"`},
		{scalar.AppendAccountID(nil, 7), scalar.MarshalAccountID(7), `"acc_7"`},
		{scalar.AppendContactID(nil, 7), scalar.MarshalContactID(7), `"con_7"`},
		{scalar.AppendSignatoryID(nil, 7), scalar.MarshalSignatoryID(7), `"sig_7"`},
		{scalar.AppendApprovalID(nil, 7), scalar.MarshalApprovalID(7), `"apr_7"`},
		{scalar.AppendAuditEntryID(nil, 7), scalar.MarshalAuditEntryID(7), `"aud_7"`},
		{scalar.AppendUserID(nil, user), scalar.MarshalUserID(user), `"usr_6ba7b810-9dad-11d1-80b4-00c04fd430c8"`},
		{scalar.AppendUserUID(nil, user), scalar.MarshalUserUID(user), `"6ba7b810-9dad-11d1-80b4-00c04fd430c8"`},
		{
			scalar.AppendRoleID(nil, roles.UID(user)), scalar.MarshalRoleID(roles.UID(user)),
			`"rol_6ba7b810-9dad-11d1-80b4-00c04fd430c8"`,
		},
		{scalar.AppendFeeTierUID(nil, fees.ID(3)), scalar.MarshalFeeTierUID(3), `"3"`},
		{scalar.AppendAmount(nil, amount), scalar.MarshalAmount(amount), `"-1234.50"`},
		{scalar.AppendAmount(nil, yen), scalar.MarshalAmount(yen), `"1234"`},
		{scalar.AppendCents(nil, customers.Cents(5)), scalar.MarshalCents(5), `"0.05"`},
		{scalar.AppendCurrency(nil, "USD"), scalar.MarshalCurrency("USD"), `"USD"`},
		{scalar.AppendCurrency(nil, ""), scalar.MarshalCurrency(""), `null`},
		{scalar.AppendDate(nil, day), scalar.MarshalDate(day), `"2026-11-21"`},
		{scalar.AppendDateTime(nil, day), scalar.MarshalDateTime(day), `"2026-11-22T04:30:15Z"`},
	} {
		var marshalled bytes.Buffer
		c.other.MarshalGQL(&marshalled)
		if string(c.appended) != c.want || marshalled.String() != c.want || !json.Valid(c.appended) {
			t.Errorf("appended %s, marshalled %s, want %s", c.appended, &marshalled, c.want)
		}
	}
	if b := scalar.AppendInt(scalar.AppendString([]byte("["), "kept"), 1); string(b) != `["kept"1` {
		t.Errorf("what was written before is lost: %s", b)
	}
}

// reading gives all functions that read the same type.
func reading[T comparable](read func(any) (T, error)) func(any) (any, error) {
	return func(v any) (any, error) { return read(v) }
}

func TestInputsHaveOneForm(t *testing.T) {
	t.Parallel()
	type values = []any
	for name, c := range map[string]struct {
		read    func(any) (any, error)
		right   map[any]any // the expected value by input
		wrong   values
		message string
	}{
		"Int": {
			reading(scalar.UnmarshalInt),
			map[any]any{
				json.Number("2147483647"): int32(math.MaxInt32), json.Number("-2147483648"): int32(math.MinInt32),
				3: int32(3), int64(4): int32(4), int32(5): int32(5), nil: int32(0),
			},
			values{
				json.Number("2147483648"), json.Number("-2147483649"), json.Number("1.5"),
				json.Number("1e3"), "7", 1.5, true, int64(math.MaxInt64),
			},
			"must be a whole number of 32 bits",
		},
		"String": {
			reading(scalar.UnmarshalString),
			map[any]any{"a": "a", "": "", nil: ""},
			values{7, true, json.Number("7")},
			"must be a string",
		},
		"Boolean": {
			reading(scalar.UnmarshalGivenFlag),
			map[any]any{true: given.Of(true), false: given.Of(false), nil: given.Of(false)},
			nil, "",
		},
		"UID": {
			reading(scalar.UnmarshalUID),
			map[any]any{
				"1": int64(1), "99999999999": int64(99_999_999_999), "999999999999999999": int64(999_999_999_999_999_999),
				nil: int64(0),
			},
			values{
				"", "0", "007", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "٣", "1000000000000000000", 7,
				json.Number("7"), true,
			},
			"must be the digits of a UID, as a string, without leading zeros",
		},
		"UID of an account": {
			reading(scalar.UnmarshalAccountUID),
			map[any]any{"12": accounts.UID(12), nil: accounts.UID(0)},
			values{"x", "01"},
			"must be the digits of a UID, as a string, without leading zeros",
		},
		"UID of a user": {
			reading(scalar.UnmarshalUserUID),
			map[any]any{user.String(): user},
			values{
				nil, "", "12",
				strings.ToUpper(user.String()), "{" + user.String() + "}", "urn:uuid:" + user.String(),
				strings.ReplaceAll(user.String(), "-", ""), 7,
			},
			"must be a UUID, as a string",
		},
		"global id": {
			reading(scalar.UnmarshalCustomerID), nil, values{"cus_1", "1", nil}, "global ids are read by node",
		},
		"Amount of some currency": {
			reading(scalar.UnmarshalAmountText),
			map[any]any{"12.50": scalar.AmountText("12.50"), "1": scalar.AmountText("1")},
			values{nil, 12.5, json.Number("12.50"), 12, "", strings.Repeat("1", 33)},
			"must be a decimal amount",
		},
		"Amount of cents": {
			reading(scalar.UnmarshalCents),
			map[any]any{"12.50": customers.Cents(1250), "0.05": customers.Cents(5)},
			values{nil, 12.5, json.Number("1"), "", "1.005", "abc", "1,000.00", "NaN"},
			"amount",
		},
		"Amount that null clears": {
			reading(scalar.UnmarshalGivenAmount),
			map[any]any{"1.5": given.Of("1.5"), nil: given.Of("")},
			values{1.5, ""},
			"must be a decimal amount",
		},
		"text that null clears": {
			reading(scalar.UnmarshalGivenText),
			map[any]any{"a": given.Of("a"), nil: given.Of("")},
			values{7},
			"must be a string",
		},
		"decimal": {
			reading(scalar.UnmarshalDecimal),
			map[any]any{"0.5": "0.5", nil: ""},
			values{0.5},
			"must be a decimal amount",
		},
		"Amount of a row": {
			reading(scalar.UnmarshalAmount), nil,
			values{"1.00", nil},
			"an amount is read where its currency is known",
		},
		"Currency": {
			reading(scalar.UnmarshalCurrency),
			map[any]any{"USD": money.Currency("USD"), "usd": money.Currency("USD"), nil: money.Currency("")},
			values{"US", "DOLLAR", "", 840},
			"must be an ISO 4217 currency code",
		},
		"Date": {
			reading(scalar.UnmarshalDate),
			map[any]any{"2026-02-28": time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC), nil: time.Time{}}, // null: absent
			values{
				"", "2026-02-30", "26-02-28", "2026-2-28", "28.02.2026", "1899-12-31", "2026-02-28T00:00:00Z",
				20260228,
			},
			"must be a day as YYYY-MM-DD",
		},
		"DateTime": {
			reading(scalar.UnmarshalDateTime),
			map[any]any{"2026-02-28T23:30:00-05:00": time.Date(2026, 3, 1, 4, 30, 0, 0, time.UTC)},
			values{nil, "", "2026-02-28", "2026-02-28 10:00:00", "2026-02-28T25:00:00Z", 1.5},
			"must be a point in time by RFC 3339",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for value, want := range c.right {
				if got, err := c.read(value); err != nil || got != want {
					t.Errorf("%#v: %#v, %v; want %#v", value, got, err, want)
				}
			}
			for _, value := range c.wrong {
				got, err := c.read(value)
				if f, ok := fault.Of(err); !ok || f.Kind != fault.Invalid ||
					!strings.Contains(f.Message, c.message) {
					t.Errorf("%#v: %#v, %v", value, got, err)
				}
			}
		})
	}
}
