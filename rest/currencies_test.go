package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/uptrace/bun"
)

// in changes all amounts of a bank to another currency.
func (b *bank) in(currency string) {
	b.t.Helper()
	for _, table := range []string{"accounts", "balances", "sweeps", "signatories", "limits"} {
		b.Exec(`UPDATE ? SET currency = ? WHERE tenant = ?`, bun.Ident(table), currency, b.Tenant)
	}
	b.Exec(`UPDATE tenants SET currency = ? WHERE id = ?`, currency, b.Tenant)
	b.Exec(`UPDATE users SET limits = replace(limits::text, 'USD', ?)::json WHERE tenant = ?`, currency,
		b.Tenant)
	b.Exec(`UPDATE roles SET applications = replace(applications::text, 'USD', ?)::json WHERE tenant = ?`,
		currency, b.Tenant)
}

// amountMembers are the members of answers that are amounts of the bank or of an account.
var amountMembers = map[string]bool{
	"ledgerBalance": true, "availableBalance": true, "callbackLimit": true, "debitExposureLimit": true,
	"creditExposureLimit": true,
	"targetBalance":       true, "currentLimit": true, "usedAmount": true, "remainingLimit": true,
	"approvalLimit": true, "value": true,
}

var plainAmount = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

// amountsIn returns the amounts of a body by their paths.
func amountsIn(t *testing.T, body string) map[string]string {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader([]byte(body)))
	decoder.UseNumber()
	var all any
	if err := decoder.Decode(&all); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	found := map[string]string{}
	var walk func(path string, v any, is bool)
	walk = func(path string, v any, is bool) {
		switch inside := v.(type) {
		case map[string]any:
			for name, v := range inside {
				walk(path+"."+name, v, amountMembers[name])
			}
		case []any:
			for i, v := range inside {
				walk(fmt.Sprint(path, "[", i, "]"), v, is)
			}
		default:
			if text := fmt.Sprint(v); is && plainAmount.MatchString(text) {
				found[path] = text
			}
		}
	}
	walk("", all, false)
	return found
}

// The tests run in dollars, in yen, which have no minor unit, and in Kuwaiti dinars, which have a thousand
// minor units. Each answer shows the same minor units with the currency's decimals.
func TestEveryAmountHasTheDecimalsOfItsCurrency(t *testing.T) {
	t.Parallel()
	dollars := newBank(t)
	dollars.in("USD")
	seen := map[string]bool{}
	for currency, digits := range map[string]int{"JPY": 0, "KWD": 3} {
		b := newBank(t)
		b.in(currency)
		for _, o := range operations {
			if o.name == "rfi_history" { // instant networks have dollars alone
				continue
			}
			o.body = strings.ReplaceAll(o.body, "600.10", "600")
			want := amountsIn(t, dollars.ask(dollars.program(), o).body)
			got := amountsIn(t, b.ask(b.program(), o).body)
			for path, dollar := range want {
				if !strings.Contains(dollar, ".") { // a count, or an attribute that looks like one
					continue
				}
				seen[path[strings.LastIndexByte(path, '.')+1:]] = true
				minor := strings.Replace(dollar, ".", "", 1)
				if shown := strings.Replace(got[path], ".", "",
					1); strings.TrimLeft(shown, "0") != strings.TrimLeft(minor, "0") ||
					len(got[path])-len(shown) != min(digits, 1) ||
					digits > 0 && !regexp.MustCompile(fmt.Sprintf(`\.\d{%d}$`, digits)).
						MatchString(got[path]) {
					t.Errorf("%s of %s: %s is %q, %q in dollars", o.name, currency, path, got[path], dollar)
				}
			}
		}
	}
	for member := range amountMembers {
		if !seen[member] {
			t.Errorf("no answer has %s", member)
		}
	}
}

// Amounts in requests must have the decimals of the bank's currency too.
func TestEveryAmountIsReadInTheBanksCurrency(t *testing.T) {
	t.Parallel()
	for currency, amounts := range map[string][2]string{"JPY": {"1250", "12.5"}, "KWD": {"12.500", "12.0005"}} {
		b := newBank(t)
		b.in(currency)
		for _, w := range []struct{ method, path, body, stored string }{
			{
				http.MethodPatch, "/v1/customers/{C}/signatories/{S}", `{"approvalLimit": %s}`,
				`SELECT approval_limit FROM signatories WHERE tenant = ? ORDER BY uid LIMIT 1`,
			},
			{
				http.MethodPatch, "/v1/customers/{C}/limits",
				`[{"entityLimitId": "ACH_PAYMENT_LIMIT_PER_DAY", "entityLimitValue": "%s",
					"applicationId": "4cd5c6b0-3f0e-4f5c-9a43-0c2bb5c1a001"}]`,
				`SELECT ceiling FROM limits WHERE tenant = ? AND code = 'ACH_PAYMENT_LIMIT_PER_DAY'
					ORDER BY customer LIMIT 1`,
			},
			{
				http.MethodPatch, "/v3/customers/{C}/accounts/{A}",
				`{"accountFeatures": {"achFeature": {"debitExposureLimit": %s}}}`,
				`SELECT max(debit_exposure_limit) FROM accounts WHERE tenant = ?`,
			},
			{
				http.MethodPost, people + "/roles",
				`{"name": "Payer", "description": "Pays",
					"applications": [{"name": "Payments", "entitlements": ["View_Payments"],
					"limits": [{"name": "Daily_Payment_Limits", "value": %s}]}]}`,
				`SELECT (applications->0->'limits'->0->>'minor')::bigint FROM roles
					WHERE tenant = ? AND name = 'Payer'`,
			},
		} {
			path := b.names(b.acme.UID, b.operating.UID, b.supplier.UID, number(b.operating)).Replace(w.path)
			if tooFine := b.call(b.program(), w.method, path,
				fmt.Sprintf(w.body, amounts[1])); tooFine.status != http.StatusBadRequest {
				t.Errorf("%s %s: %s of %s: %d %s", w.method, w.path, amounts[1], currency, tooFine.status, tooFine.body)
			}
			if answer := b.call(b.program(), w.method, path,
				fmt.Sprintf(w.body, amounts[0])); answer.status >= http.StatusBadRequest {
				t.Errorf("%s %s: %s of %s: %d %s", w.method, w.path, amounts[0], currency, answer.status, answer.body)
			}
			var minor int64
			err := b.DB.NewRaw(w.stored, b.Tenant).Scan(t.Context(), &minor)
			if want := strings.Replace(amounts[0], ".", "", 1); err != nil || fmt.Sprint(minor) != want {
				t.Errorf("%s %s: kept %d, want %s (%v)", w.method, w.path, minor, want, err)
			}
		}
	}
}
