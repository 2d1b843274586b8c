package check_test

import (
	"errors"
	"strings"
	"testing"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/given"
)

// problem returns the problem that a check finds; "" if none.
func problem(t *testing.T, ask func(c *check.Fields)) fault.Problem {
	t.Helper()
	c := check.Of("thing")
	ask(c)
	f, ok := fault.Of(c.Err())
	if !ok {
		return ""
	}
	if f.Kind != fault.Invalid || f.Subject != "thing" || f.Field != "field" || f.Message == "" {
		t.Errorf("a fault of another kind: %+v", f)
	}
	return f.Problem
}

// expect runs a check on correct values, and on wrong values with their problems.
func expect(
	t *testing.T, ask func(c *check.Fields, field, value string), right []string, wrong map[string]fault.Problem,
) {
	t.Helper()
	for _, value := range append(right, "") {
		if got := problem(t, func(c *check.Fields) { ask(c, "field", value) }); got != "" {
			t.Errorf("%q is refused: %s", value, got)
		}
	}
	for value, want := range wrong {
		if got := problem(t, func(c *check.Fields) { ask(c, "field", value) }); got != want {
			t.Errorf("%q: %q, not %q", value, got, want)
		}
	}
}

func TestAllFaultsOfARequestAreGatheredInTheirOrder(t *testing.T) {
	t.Parallel()
	c := check.Of("customer")
	c.Required("legalName", " ")
	c.AtMost("legalName", strings.Repeat("x", 300), 255) // has a fault already
	c.Email("emailAddress", "nobody")
	c.In("legalAddress").Required("city", "")
	c.In("legalAddress").Required("city", "")
	c.Item("limits", 1).Item("appLimits", 0).NotNegative("value", "-1")
	c.Item("", 2).Required("entityLimitId", "")
	c.Fail("shortName", fault.Forbidden, "cannot be changed")
	c.AtMost("note", "short", 255)

	var all fault.Faults
	if !errors.As(c.Err(), &all) {
		t.Fatal(c.Err())
	}
	var got []string
	for _, f := range all {
		got = append(got, f.Subject+" "+f.Field+" "+string(f.Problem))
	}
	want := "customer legalName REQUIRED, customer emailAddress INVALID, customer legalAddress.city REQUIRED, " +
		"customer limits[1].appLimits[0].value MIN, customer [2].entityLimitId REQUIRED, " +
		"customer shortName NOTALLOWED"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s", got)
	}
	if !c.Failed("legalName") || c.Failed("note") || !c.In("legalAddress").Failed("city") ||
		c.Failed("city") {
		t.Error("the blamed fields are others")
	}
}

func TestARequestWithoutFaultsHasNoError(t *testing.T) {
	t.Parallel()
	c := check.Of("customer")
	c.Required("legalName", "Cedar Works LLC")
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

func TestWhatMustAlwaysBeThereIsNeverCleared(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		value  given.Text
		making bool
		want   fault.Problem
	}{
		{given.Text{}, false, ""},
		{given.Text{}, true, fault.Required},
		{given.Of("Jane"), false, ""},
		{given.Of("Jane"), true, ""},
		{given.Of(" "), false, fault.Required},
		{given.Of(""), false, fault.Required},
	} {
		if got := problem(t, func(c *check.Fields) { c.Given("field", of.value, of.making) }); got != of.want {
			t.Errorf("%+v: %q", of, got)
		}
	}
}

func TestCharactersAreCountedNotBytes(t *testing.T) {
	t.Parallel()
	expect(t, func(c *check.Fields, field, value string) { c.AtMost(field, value, 3) },
		[]string{"abc", "äöü", "日本語"}, map[string]fault.Problem{"abcd": fault.Max, "日本語銀": fault.Max})
	expect(t, func(c *check.Fields, field, value string) { c.AtLeast(field, value, 2) },
		[]string{"ab", "日本"}, map[string]fault.Problem{"ä": fault.Min, " a ": fault.Min})
}

func TestNoCheckTakesTextThatIsNotPlain(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).Plain,
		[]string{
			"Zürich", "مریم\u200cالف", "日本", "O'Brien & Søns, 50% \"off\" <tag>", "👩\u200d👩",
			"❤\ufe0f", "葛\U000e0100城", "ᠠ\u180b", "\u0601١٢",
		},
		map[string]fault.Problem{
			"a\x00b": fault.Malformed, "a\nb": fault.Malformed, "a\tb": fault.Malformed, "\x7f": fault.Malformed,
			"\u0085": fault.Malformed, "a\xffb": fault.Malformed, "gpj\u202eexe": fault.Malformed,
			"a\u2066b": fault.Malformed,
			"a\u200bb": fault.Malformed, "\ufeffa": fault.Malformed, "a\u2028b": fault.Malformed,
			"QUAY10\u200d": fault.Malformed, "a\u200db": fault.Malformed, "\u200c": fault.Malformed,
			"QUAY10\ufe0f": fault.Malformed, "QUAY10\u2800": fault.Malformed, "a\u034fb": fault.Malformed,
			"QUAY10\u200e": fault.Malformed, "\u200fQUAY10": fault.Malformed, "QUAY\u061c10": fault.Malformed,
			"QUAY10\u180b": fault.Malformed, "QUAY10\u17b4": fault.Malformed, "QUAY\ufffa10": fault.Malformed,
			"QUAY10\U0001d173": fault.Malformed, "QUAY10\U000e0180": fault.Malformed,
			"A+\ufe0f": fault.Malformed, "a\U000e0041": fault.Malformed, "half \ufffd": fault.Malformed,
		})
	if got := problem(t, func(c *check.Fields) { c.AtMost("field", "a\x00", 255) }); got != fault.Malformed {
		t.Error(got)
	}
}

type colour string

func TestAWordIsReadInAnyLetterCaseAndStoredAsTheListWritesIt(t *testing.T) {
	t.Parallel()
	c := check.Of("thing")
	if got := check.OneOf[colour](c, "field", "dark RED", "Green", "Dark Red"); got != "Dark Red" ||
		c.Err() != nil {
		t.Errorf("%q %v", got, c.Err())
	}
	if got := check.OneOf[colour](c, "absent", "", "Green"); got != "" || c.Err() != nil {
		t.Errorf("%q %v", got, c.Err())
	}
	got := check.OneOf[colour](c, "field", "blue", "Green", "Dark Red")
	if f, _ := fault.Of(c.Err()); got != "" || f == nil || f.Problem != fault.Malformed ||
		f.Message != "must be one of Green, Dark Red" {
		t.Errorf("%q %v", got, c.Err())
	}
}

func TestSwitchesAreYesOrNo(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"Yes": true, "no": false, "TRUE": true, "False": false} {
		c := check.Of("thing")
		if got := c.YesNo("field", value); got == nil || *got != want || c.Err() != nil {
			t.Errorf("%s: %v %v", value, got, c.Err())
		}
	}
	c := check.Of("thing")
	if c.YesNo("absent", "") != nil || c.Err() != nil || c.YesNo("field", "Y") != nil || c.Err() == nil {
		t.Error(c.Err())
	}
}

func TestADomainsOwnParserIsBlamedOnTheWholePath(t *testing.T) {
	t.Parallel()
	c := check.Of("account")
	parse := func(field, text string) (int, error) {
		if text == "good" {
			return 7, nil
		}
		if text == "odd" {
			return 8, errors.New("disk on fire")
		}
		return 9, fault.Field("other", field, fault.Unknown, "is unknown")
	}
	if got := check.Parsed(c.In("a"), "good", "good", parse); got != 7 || c.Err() != nil {
		t.Errorf("%d %v", got, c.Err())
	}
	if got := check.Parsed(c, "absent", "", parse); got != 0 || c.Err() != nil {
		t.Errorf("%d %v", got, c.Err())
	}
	if got := check.Parsed(c.In("a"), "bad", "bad", parse); got != 0 {
		t.Error(got)
	}
	check.Parsed(c, "odd", "odd", parse)
	var all fault.Faults
	if !errors.As(c.Err(), &all) || len(all) != 2 || all[0].Field != "a.bad" ||
		all[0].Problem != fault.Unknown ||
		all[0].Subject != "account" || strings.Contains(all[1].Error(), "fire") {
		t.Errorf("%+v", all)
	}
}

func TestAThousandWrongItemsAreNotAThousandFaults(t *testing.T) {
	t.Parallel()
	c := check.Of("limit")
	for i := range 1000 {
		c.Item("", i).Required("code", "")
	}
	var faults fault.Faults
	if !errors.As(c.Err(), &faults) || len(faults) != 100 || faults[99].Field != "[99].code" {
		t.Errorf("%d faults", len(faults))
	}
	if !c.Item("", 999).Failed("code") {
		t.Error("what is wrong beyond them counts as right")
	}
}
