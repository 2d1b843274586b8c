package check_test

import (
	"strings"
	"testing"

	"bankgraph/core/check"
	"bankgraph/core/fault"
)

func TestANameIsMadeOfLetters(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).Name,
		[]string{
			"Jane", "O'Brien", "D’Angelo", "Jean-Luc", "de la Cruz", "Nuñez", "Zo\u0065\u0308", "Ю", "प्रिया",
			"St. John", "J.", "J. R.", "J.R.R. Tolkien", "J.-P.",
			"King, Jr.", "'t Hooft", "van 't Hoff", "Ng'ang'a",
			"Gal·la", "Kealoha ʻOkina",
			"ジョン・スミス", "מנדלה", "ז׳בוטינסקי", "Nguyễn Thị Minh Khai",
			"علی\u200cرضا", "ක්\u200dරිස්ටෝ", "Ọlá\u0300", "Łukasz", "Þór",
		},
		map[string]fault.Problem{
			"Jane\u200d": fault.Malformed, "Ja\u200dne": fault.Malformed, "Ja\u200bne": fault.Malformed,
			"Jane\u202enhoJ": fault.Malformed, "Ja\u0000ne": fault.Malformed,
			"Ja\u00adne": fault.Malformed, "Jane\u3164": fault.Malformed, "Jane\u200e": fault.Malformed,
			"Jane\tDoe": fault.Malformed, "Jane\U000e0041": fault.Malformed,
			"Jane..Doe": fault.Malformed, "St . John": fault.Malformed, ".": fault.Malformed, "Jane,": fault.Malformed,
			"Jane <b>": fault.Malformed, "\u0301Jane": fault.Malformed,
			"Jane2": fault.Malformed, " Jane": fault.Malformed, "Jane ": fault.Malformed, "Jane  Doe": fault.Malformed,
			"-Jane": fault.Malformed, "O''Brien": fault.Malformed, "Jane_Doe": fault.Malformed, "'": fault.Malformed,
		})
}

func TestALoginIDHasNoSpaces(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).LoginID, []string{"jane.doe", "j@bank.example", "J-1_#!"},
		map[string]fault.Problem{"jane doe": fault.Malformed, "jаne": fault.Malformed, " jane": fault.Malformed})
}

func TestAnEmailIsOnePlainAddress(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	domain := strings.Repeat("b", 60) + "." + strings.Repeat("c", 60) + "." + strings.Repeat("d", 60)
	expect(t, (*check.Fields).Email,
		[]string{
			"jane.doe@bank.example", "o'brien+tag@mail.bank.example", long + "@bank.example", "a@b.co",
			long + "@" + domain + ".museum",
		},
		map[string]fault.Problem{
			"jane": fault.Malformed, "jane@": fault.Malformed, "@bank.example": fault.Malformed,
			"jane@bank":                fault.Malformed,
			"Jane <jane@bank.example>": fault.Malformed, "<jane@bank.example>": fault.Malformed,
			"jane@bank.example ":       fault.Malformed,
			"a@b.example, c@d.example": fault.Malformed, `"jane doe"@bank.example`: fault.Malformed,
			"jane@[127.0.0.1]":   fault.Malformed,
			"jane@bank..example": fault.Malformed, "jane@-bank.example": fault.Malformed,
			"jane@10.0.0.1":      fault.Malformed,
			"jane@@bank.example": fault.Malformed, ".jane@bank.example": fault.Malformed,
			long + "a@bank.example":           fault.Malformed,
			long + "@" + domain + ".museum.x": fault.Malformed, "jane@bänk.example": fault.Malformed,
			"jane(x)@bank.example": fault.Malformed,
		})
}

func TestAnAddressOfTheWebNamesAHost(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).URL,
		[]string{
			"https://www.bank.example", "http://bank.example:8080/a?b=c#d", "www.bank.example",
			"bank.example/logo.png",
		},
		map[string]fault.Problem{
			"javascript:alert(1)": fault.Malformed, "ftp://bank.example": fault.Malformed, "https://": fault.Malformed,
			"bank":                fault.Malformed,
			"https://a b.example": fault.Malformed, "https://user:secret@bank.example": fault.Malformed,
			"https://127.0.0.1/":       fault.Malformed,
			"data:text/html,x.example": fault.Malformed, "https://bank.example/<script>": fault.Malformed,
			"//bank.example":                        fault.Malformed,
			"javascript://bank.example/%0aalert(1)": fault.Malformed,
		})
}

func TestAPhoneNumberIsStoredInE164(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"+1 614 555 0123": "+16145550123", "614-555-0123": "+16145550123",
		"(614) 555-0123 ext. 12": "+16145550123;ext=12",
		"+16145550123;ext=12":    "+16145550123;ext=12", "+44 20 7946 0018": "+442079460018",
		"1 (614) 555.0123 x7": "+16145550123;ext=7",
	} {
		c := check.Of("thing")
		if got := c.Phone("field", written, "US"); got != want || c.Err() != nil {
			t.Errorf("%s: %q %v", written, got, c.Err())
		}
	}
	c := check.Of("thing")
	if got := c.Phone("field", "020 7946 0018", "GB"); got != "+442079460018" {
		t.Errorf("%q %v", got, c.Err())
	}
	if got := check.Of("thing").Phone("field", "12", "US"); got != "" {
		t.Errorf("a wrong number is stored as %q", got)
	}
	expect(t, func(c *check.Fields, field, value string) { c.Phone(field, value, "US") }, nil,
		map[string]fault.Problem{
			"12": fault.Malformed, "abc": fault.Malformed, "call 614 555 0123 now": fault.Malformed,
			"555 0123":         fault.Malformed,
			"+1 614 555 01234": fault.Malformed, "+999 123456": fault.Malformed, "614-555-0123; drop": fault.Malformed,
			"1-800-FLOWERS": fault.Malformed,
		})
	expect(t, func(c *check.Fields, field, value string) { c.Phone(field, value, "") }, []string{"+16145550123"},
		map[string]fault.Problem{"614 555 0123": fault.Malformed})
}

func TestAUsersPhoneHasItsCountryCode(t *testing.T) {
	t.Parallel()
	expect(t, func(c *check.Fields, field, value string) { c.UserPhone(field, value) },
		// the last two are in no numbering plan
		[]string{"+1 614 555 0123", "+1-(614)-555-0123", "+16145550123", "+15551234567", "+1-5555555555"},
		map[string]fault.Problem{
			"614 555 0123": fault.Malformed, "+0 614 555 0123": fault.Malformed, "+1.614.555.0123": fault.Malformed,
			"+1": fault.Malformed, "+1 614 555 01234": fault.Malformed,
			"+1 " + strings.Repeat("1", 100) + "!": fault.Malformed,
		})
}
