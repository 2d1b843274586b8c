package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/uptrace/bun"
)

// The tests run in dollars, in yen, which have no minor unit, and in Kuwaiti dinars, which have a thousand
// minor units. Code that assumes a currency, or reads an amount without it, fails in one of them.
var currencies = map[string]struct {
	digits  int
	amount  string // as it is written
	tooFine string // an amount with one digit too many
}{
	"JPY": {0, "1250", "12.5"},
	"KWD": {3, "12.500", "12.0005"},
}

// in changes all amounts of a bank to another currency.
func (b *bank) in(t *testing.T, currency string) {
	t.Helper()
	for _, table := range []string{"accounts", "balances", "sweeps", "signatories", "limits"} {
		b.exec(t, `UPDATE ? SET currency = ? WHERE tenant = ?`, bun.Ident(table), currency, b.tenant)
	}
	b.exec(t, `UPDATE tenants SET currency = ? WHERE id = ?`, currency, b.tenant)
	b.exec(t, `UPDATE users SET limits = replace(limits::text, 'USD', ?)::json WHERE tenant = ?`, currency,
		b.tenant)
	b.exec(t, `UPDATE roles SET applications = replace(applications::text, 'USD', ?)::json WHERE tenant = ?`,
		currency, b.tenant)
}

// written is the text of an amount of minor units.
func written(minor int64, digits int) string {
	text := fmt.Sprintf("%0*d", digits+1, minor)
	if digits == 0 {
		return text
	}
	return text[:len(text)-digits] + "." + text[len(text)-digits:]
}

// leaf is the innermost value of an answer with one value.
func leaf(v any) any {
	for {
		switch inside := v.(type) {
		case map[string]any:
			for _, v = range inside { // it has only one
			}
			if len(inside) != 1 {
				return inside
			}
		case []any:
			if len(inside) == 0 {
				return nil
			}
			v = inside[0]
		default:
			return v
		}
	}
}

// Each amount is asked for alone: reading it must also read its currency.
func TestEveryAmountIsShownInItsCurrency(t *testing.T) {
	t.Parallel()
	for currency, is := range currencies {
		t.Run(currency, func(t *testing.T) {
			t.Parallel()
			b := newBank(t)
			b.in(t, currency)
			b.exec(t,
				`INSERT INTO fee_catalogue (tenant, application, product, fee_name, fee_tier, price, currency)
					VALUES (?, 'Payments', 'Wires', 'Flat', 'Gold', 1234, ?)`,
				b.tenant, currency)
			of := fmt.Sprintf("tenant = %d AND customer = %d ORDER BY 2 LIMIT 1", b.tenant, star)
			account, asked := "SELECT %s, uid FROM accounts WHERE "+of, `accounts(first: 1) { nodes { %s } }`
			for field, minor := range map[string]string{
				`signatories(first: 1) { nodes { approvalLimit } }`: "SELECT approval_limit, uid " +
					"FROM signatories WHERE " + of,
				fmt.Sprintf(asked,
					`balances { ledger }`): fmt.Sprintf(account,
					"(SELECT ledger FROM balances AS b WHERE b.tenant = accounts.tenant AND b.account = uid)"),
				fmt.Sprintf(asked,
					`balances { held }`): fmt.Sprintf(account,
					"(SELECT held FROM balances AS b WHERE b.tenant = accounts.tenant AND b.account = uid)"),
				fmt.Sprintf(asked,
					`balances { available }`): fmt.Sprintf(account,
					"(SELECT ledger - held FROM balances AS b WHERE b.tenant = accounts.tenant AND b.account = uid)"),
				fmt.Sprintf(asked,
					`features { callbackLimit }`): fmt.Sprintf(account, "callback_limit"),
				fmt.Sprintf(asked,
					`features { debitExposureLimit }`): fmt.Sprintf(account, "debit_exposure_limit"),
				fmt.Sprintf(asked,
					`features { creditExposureLimit }`): fmt.Sprintf(account, "credit_exposure_limit"),
				fmt.Sprintf(asked,
					`sweeps { fromAmount }`): fmt.Sprintf(account, "4000 + uid % 1000"),
				fmt.Sprintf(asked,
					`sweeps { toAmount }`): fmt.Sprintf(account, "9000 + uid % 1000"),
				`limits(rail: FEDWIRE) { current }`: "SELECT ceiling, code FROM limits " +
					"WHERE code = 'FEDWIRE_PAYMENT_LIMIT_PER_DAY' AND " + of,
				fmt.Sprintf(`limits(rail: FEDWIRE, amount: "%s") { current }`,
					is.amount): "SELECT ceiling, code FROM limits " +
					"WHERE code = 'FEDWIRE_PAYMENT_LIMIT_PER_DAY' AND " + of,
				`limits(rail: FEDWIRE) { used }`: "SELECT 1000 + customer % 1000, code FROM limits " +
					"WHERE code = 'FEDWIRE_PAYMENT_LIMIT_PER_DAY' AND " + of,
				`limits(rail: FEDWIRE) { remaining }`: "SELECT ceiling - 1000 - customer % 1000, code " +
					"FROM limits WHERE code = 'FEDWIRE_PAYMENT_LIMIT_PER_DAY' AND " + of,
				`limits(rail: FEDWIRE, amount: "9999999") { exceededBy }`: fmt.Sprintf(
					"SELECT 9999999::bigint * %s - ceiling + 1000 + customer %% 1000, code FROM limits "+
						"WHERE code = 'FEDWIRE_PAYMENT_LIMIT_PER_DAY' AND %s",
					"1"+strings.Repeat("0", is.digits), of),
				`users(first: 1) { nodes { applicationLimits { limits { value } } } }`: "SELECT number, number " +
					"FROM users WHERE " + of,
				`roles(first: 1) { nodes { applications { limits { value } } } }`: "SELECT 100000000 + number, number " +
					"FROM roles WHERE " + of,
			} {
				var want int64
				var key any
				if err := b.core.DB.NewRaw("SELECT * FROM (?) AS x", bun.Safe(minor)).Scan(t.Context(), &want,
					&key); err != nil {
					t.Fatalf("%s: %v", minor, err)
				}
				answer := b.ask(t, b.staff(), fmt.Sprintf(`{ customer(by: {uid: "%s"}) { %s } }`, star, field))
				if got := leaf(any(answer.data)); got != written(want, is.digits) {
					t.Errorf("%s: %v, want %s: %s", field, got, written(want, is.digits), answer.body)
				}
			}
			if got := leaf(any(b.ask(t, b.staff(), `{ feeCatalogue { price } }`).data)); got != written(1234,
				is.digits) {
				t.Errorf("price: %v", got)
			}
		})
	}
}

// Each amount is written, and shown as it was written. An amount with one digit too many is refused, and its
// field named.
func TestEveryAmountIsReadInItsCurrency(t *testing.T) {
	t.Parallel()
	for currency, is := range currencies {
		t.Run(currency, func(t *testing.T) {
			t.Parallel()
			b := settled(t)
			b.in(t, currency)
			account, contact := accountOf(star, 0), contactOf(star, 0)
			for name, w := range map[string]struct{ input, payload, field string }{
				"changeSignatory": {
					fmt.Sprintf(`uid: "%s", approvalLimit: "%%s"`, signatoryOf(star, 0)), `signatory { approvalLimit }`,
					"approvalLimit",
				},
				"changeAccount": {
					fmt.Sprintf(`uid: "%s", features: {debitExposureLimit: "%%s"}`, account),
					`account { features { debitExposureLimit } }`, "features.debitExposureLimit",
				},
				"changeSweep": {
					fmt.Sprintf(`account: "%s", direction: BOTH, fromAmount: "%%s", toAmount: "999999"`, account),
					`sweep { fromAmount }`, "fromAmount",
				},
				"setSweep": {
					fmt.Sprintf(
						`account: "%s", direction: IN, balanceType: TARGET, targetBalance: "%%s",
							fromContact: "%s", fromMethod: ACH_DEBIT, frequency: DAILY`,
						accountOf(star, 1), contact), `sweep { targetBalance }`, "targetBalance",
				},
				"changeLimits": {
					fmt.Sprintf(`customer: "%s", limits: [{code: "FEDWIRE_PAYMENT_LIMIT_PER_DAY", value: "%%s"}]`, partner),
					`customer { limits(rail: FEDWIRE) { current } }`, "limits[0].value",
				},
				"createRole": {
					fmt.Sprintf(
						`customer: "%s", name: "Clerk", description: "Pays",
							applications: [{name: "Payments", entitlements: ["Initiate_Payments"],
							limits: [{name: "Daily_Payment_Limits", value: "%%s"}]}]`,
						star), `role { applications { limits { value } } }`,
					"applications[0].limits[0].value",
				},
				"changeUser": {
					fmt.Sprintf(
						`uid: "%s", applicationLimits: [{name: "Foreign_Exchange",
							limits: [{name: "Daily_Payment_Limits", value: "%%s"}]}]`,
						userOf(star, 0)), `user { applicationLimits { limits { value } } }`,
					"applicationLimits[0].limits[0].value",
				},
			} {
				ask := func(amount string) answer {
					return b.ask(t, b.staff(),
						fmt.Sprintf(`mutation { %s(input: {%s}) { %s } }`, name,
							fmt.Sprintf(w.input, amount), w.payload))
				}
				if fine := ask(is.tooFine); len(fine.errors) != 1 ||
					fine.errors[0].Extensions.Field != w.field {
					t.Errorf("%s of %s: %s, want a fault of %s", name, is.tooFine, fine.body, w.field)
				}
				answer := ask(is.amount)
				if got := leaf(any(answer.data)); got != is.amount {
					t.Errorf("%s: %v, want %s: %s", name, got, is.amount, answer.body)
				}
			}
		})
	}
}
