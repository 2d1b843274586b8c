package rest_test

import (
	"regexp"
	"strings"
	"testing"

	"bankgraph/rest"
)

// The reference's table of codes comes from the dialects. Each code has its published form and says when it
// is answered.
func TestEveryCodeSaysWhenItComes(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^([A-Z]+[0-9]{3}|[A-Z]+(_[A-Z]+)+|([A-Z][a-z]+)+Exception)?$`)
	seen, said := map[rest.Code]bool{}, map[string]bool{}
	for _, c := range rest.Codes() {
		if c.When == "" || strings.HasSuffix(c.When, " ") || !form.MatchString(c.Code) || c.Status < 400 ||
			seen[c] {
			t.Errorf("%+v", c)
		}
		seen[c], said[c.Code] = true, true
	}
	for _, code := range []string{
		"CUST001", "CUST002", "ACC001", "ACC002", "API900", "API901", "CUSTOMER_BNKACCTACTION_REQUIRED",
		"LKUP_ACCNUM_MAX", "SIG_EMAIL_CONFLICT", "VERSION_CONFLICT",
	} {
		if !said[code] {
			t.Errorf("%s is not in the table", code)
		}
	}
}
