package main

import (
	"strings"
	"testing"
)

// The record names the operator, and the settings for who may decide.
func TestOperatorsAreNamed(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("tenant", "add", "BANK1", "--name", "First Bank", "--zone", "America/New_York", "--currency", "USD",
		"--admin", "jane.doe", "--as", "jo")
	p.ok("client", "add", "portal", "--permissions", "vCust", "--responsible", "Jane.Doe", "--as", "kim")
	if out := p.ok("client", "list"); !strings.Contains(out, "jane.doe") {
		t.Error(out)
	}
	p.ok("token", "portal", "--as", "lou")
	p.ok("client", "revoke-tokens", "portal", "--as", "max")
	p.ok("client", "responsible", "portal")
	if out := p.ok("tenant", "set", "BANK1"); !strings.Contains(out, "people-decide   true") {
		t.Error(out)
	}
	if out := p.ok("tenant", "set", "BANK1", "--no-people-decide", "--as",
		"ned"); !strings.Contains(out, "people-decide   false") {
		t.Error(out)
	}
	if out := p.ok("tenant", "set", "BANK1"); !strings.Contains(out, "people-decide   false") {
		t.Error(out)
	}
	record := p.ok("audit", "export")
	for action, who := range map[string]string{
		"addTenant": "jo", "addClient": "kim", "issueToken": "lou", "revokeTokens": "max", "changeSettings": "ned",
	} {
		found := false
		for line := range strings.Lines(record) {
			found = found || strings.Contains(line, `"`+action+`"`) && strings.Contains(line, `"`+who+`"`)
		}
		if !found {
			t.Errorf("%s by %s is not in\n%s", action, who, record)
		}
	}
	for line := range strings.Lines(record) {
		if strings.Contains(line, `"setResponsible"`) && strings.Contains(line, `"loginId":""`) {
			t.Errorf("nobody is named: %s", line)
		}
	}
	for _, name := range []string{"jane d\u00f6e", "a b", "\u212aim"} {
		if _, errs, status := p.run("tenant", "list", "--as", name); status == 0 ||
			!strings.Contains(errs, "--as") {
			t.Errorf("%q: %d %s", name, status, errs)
		}
	}
}

func TestSubjectsAreLinkedAtTheCommandLine(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("tenant", "add", "BANK1", "--name", "First Bank", "--zone", "America/New_York", "--currency", "USD",
		"--admin", "jane.doe")
	p.ok("issuer", "add", "https://dex.invalid", "--audience", "api", "--subject-claim", "sub", "--scope", "",
		"--id-tokens", "--longest-life", "1h")
	if out := p.ok("issuer", "list"); !strings.Contains(out, "sub") || !strings.Contains(out, "1h0m0s") ||
		!strings.Contains(out, "id ") {
		t.Error(out)
	}
	p.ok("user", "link", "JANE.DOE", "--issuer", "https://dex.invalid", "--subject", "7f1c")
	if out := p.ok("user", "links"); !strings.Contains(out, "7f1c") || !strings.Contains(out, "jane.doe") ||
		!strings.Contains(out, "active") {
		t.Error(out)
	}
	if _, errs, status := p.run("user", "link", "j\u0430ne.doe", "--issuer", "https://dex.invalid", "--subject",
		"8"); status != 1 || !strings.Contains(errs, "no such user") {
		t.Errorf("a look-alike: %d %s", status, errs)
	}
	p.ok("user", "unlink", "jane.doe", "--issuer", "https://dex.invalid")
	if out := p.ok("user", "links"); strings.Contains(out, "7f1c") {
		t.Error(out)
	}
	p.ok("user", "link", "jane.doe", "--issuer", "https://dex.invalid", "--subject", "8e2d")
	p.ok("issuer", "disable", "https://dex.invalid")
	if out := p.ok("user", "links"); !strings.Contains(out, "8e2d") || !strings.Contains(out, "disabled") {
		t.Error(out)
	}
}
