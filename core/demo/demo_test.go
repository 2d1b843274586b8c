package demo_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/demo"
	"bankgraph/core/given"
	"bankgraph/core/limits"
	"bankgraph/core/page"
	"bankgraph/core/rails"
	"bankgraph/core/roles"
	"bankgraph/core/seal"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

var start = time.Date(2026, 11, 18, 15, 0, 0, 0, time.UTC)

// sandbox returns an empty bank in a database of its own, at the start.
func sandbox(t testing.TB) (*core.Core, access.Tenant) {
	t.Helper()
	return sandboxAt(t, start)
}

func sandboxAt(t testing.TB, now time.Time) (*core.Core, access.Tenant) {
	t.Helper()
	d, err := db.Open(dbtest.URL(t), db.Options{Connections: 4, Tracer: dbtest.Watch(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	c := core.New(core.Options{DB: d, Keys: seal.New(), Now: func() time.Time { return now }})
	var tenant access.Tenant
	err = d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		return tx.NewRaw(
			`INSERT INTO tenants (code, name, zone, currency, sandbox)
				VALUES ('sandbox', 'Sandbox Bank', 'America/New_York', 'USD', true) RETURNING id`).
			Scan(ctx, &tenant)
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, tenant
}

// write writes by hand, in a transaction of the bank.
func write(t *testing.T, c *core.Core, tenant access.Tenant, statements ...string) {
	t.Helper()
	err := c.DB.InTx(t.Context(), int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement, tenant); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func filled(t testing.TB, o demo.Options) (*core.Core, access.Tenant) {
	t.Helper()
	c, tenant := sandbox(t)
	if err := demo.Fill(t.Context(), c, tenant, o); err != nil {
		t.Fatal(err)
	}
	return c, tenant
}

func staff(ctx context.Context, tenant access.Tenant) context.Context {
	return access.With(ctx,
		access.Caller{
			Tenant: tenant, Entity: int64(demo.Institution), Partner: int64(demo.Institution), Reach: access.OfBank,
			Permissions: access.All,
		})
}

func count(t *testing.T, c *core.Core, query string, args ...any) (n int64) {
	t.Helper()
	if err := c.DB.NewRaw(query, args...).Scan(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTheBooksOfTheDemoBankProveThemselves(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{})
	violations, err := c.Ledger.Prove(access.Operator(t.Context(), tenant, "", nil))
	if err != nil || len(violations) > 0 {
		t.Error(violations, err)
	}
	if n := count(t, c, "SELECT count(*) FROM postings WHERE tenant = ?", tenant); n < 1000 {
		t.Errorf("only %d postings", n)
	}
}

func TestTwoFillsMakeTheSameBank(t *testing.T) {
	t.Parallel()
	const customers = 120
	var dumps [2]map[string][]string
	for i := range dumps {
		c, _ := filled(t, demo.Options{Customers: customers})
		dumps[i] = dump(t, c)
	}
	for table, rows := range dumps[0] {
		if len(rows) == 0 {
			t.Errorf("%s is empty", table)
		}
		if diff := cmp.Diff(rows, dumps[1][table]); diff != "" {
			t.Errorf("%s differs: %s", table, diff)
		}
	}
}

// dump returns every row as text, without what differs each time: sealed values, their hashes, and times that
// the database sets.
func dump(t *testing.T, c *core.Core) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for table, without := range map[string]string{
		"customers": "{tax_id_sealed,tax_id_hash}",
		"accounts": "{number_sealed,number_hash,fbo_number_sealed,fbo_number_hash,external_token_sealed," +
			"external_token_hash}",
		"contacts": "{bank_account_number_sealed,bank_account_number_hash}", "signatories": "{}",
		"limits": "{updated_at}", "limit_usage": "{}", "fee_tiers": "{created_at}", "balances": "{}",
		"journals": "{}", "postings": "{}", "users": "{}", "roles": "{}", "user_roles": "{}",
		"customer_counts": "{}", "payments": "{}", "payment_steps": "{}", "fee_catalogue": "{}",
	} {
		var rows []string
		err := c.DB.NewRaw(
			`SELECT regexp_replace((to_jsonb(r) - ?::text[])::text, '"(sealed|hash)": "[^"]*"', '', 'g') AS row FROM `+
				table+" AS r ORDER BY 1", without).Scan(t.Context(), &rows)
		if err != nil {
			t.Fatal(err)
		}
		all[table] = rows
	}
	return all
}

func TestASmallerDemoBankIsTheBeginningOfALargerOne(t *testing.T) {
	t.Parallel()
	small, _ := filled(t, demo.Options{Customers: 60})
	large, _ := filled(t, demo.Options{Customers: 90})
	of := `SELECT (to_jsonb(r) - '{tax_id_sealed,tax_id_hash}'::text[])::text FROM customers AS r
		WHERE uid <= 1000060 ORDER BY uid`
	var a, b []string
	if err := errors.Join(small.DB.NewRaw(of).Scan(t.Context(), &a),
		large.DB.NewRaw(of).Scan(t.Context(), &b)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" || len(a) != 61 {
		t.Errorf("%d rows, %s", len(a), diff)
	}
}

// The facts that documentation and examples quote.
func TestTheDocumentedFactsHold(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{})
	ctx := staff(t.Context(), tenant)
	of := []customers.UID{demo.First}
	b := c.Batch()
	list := c.Accounts.OfCustomers(ctx, b, of, accounts.Search{}, db.Columns{}, page.First(50))
	contactList := c.Contacts.OfCustomers(ctx, b, of, contacts.Search{}, db.Columns{}, page.First(50))
	signatoryList := c.Signatories.OfCustomers(ctx, b, of, db.Columns{}, page.First(50))
	configured := c.Limits.ConfiguredOf(ctx, b, of)
	all := c.Customers.Count(ctx, b, customers.Search{})
	if err := b.Send(ctx); err != nil {
		t.Fatal(err)
	}
	var subTypes []accounts.SubType
	for k, a := range list.Of[demo.First] {
		subTypes = append(subTypes, a.SubType)
		if a.UID != demo.Account(1, k) || a.Number.Last4 != demo.AccountNumber(1, k)[8:] ||
			a.Balances() == nil {
			t.Errorf("account %d: %s, %s, %v", k, a.UID, a.Number, a.Balances())
		}
	}
	if diff := cmp.Diff(subTypes,
		[]accounts.SubType{
			accounts.Checking, accounts.Savings, accounts.MoneyMarket, accounts.Pseudo, accounts.LineOfCredit,
		}); diff != "" {
		t.Error(diff)
	}
	if n := len(contactList.Of[demo.First]); n != 12 {
		t.Errorf("%d contacts", n)
	}
	if n := len(signatoryList.Of[demo.First]); n != 3 {
		t.Errorf("%d signatories", n)
	}
	if n := len(configured.Of[demo.First]); n != len(limits.Kinds()) {
		t.Errorf("%d limits", n)
	}
	if n := all.Items[0].N; n != 251 {
		t.Errorf("%d customers with the bank itself", n)
	}
	for uid, want := range map[customers.UID]customers.Status{
		1000001: customers.Active, 1000005: customers.Suspended, 1000006: customers.StatusNew,
		1000007: customers.Pending, demo.Partner: customers.Active,
	} {
		if got, err := c.Customers.Find(ctx, uid); err != nil || got.Status != want {
			t.Errorf("customer %s: %v, %v", uid, got.Status, err)
		}
	}
	for _, fact := range []struct {
		account accounts.UID
		want    accounts.Status
	}{{demo.Account(2, 2), accounts.Inactive}, {demo.Account(4, 2), accounts.Closed}} {
		found := c.Batch()
		a := c.Accounts.FindMany(ctx, found, []accounts.UID{fact.account}, db.Columns{})
		if err := found.Send(ctx); err != nil || len(a.Of[fact.account]) != 1 ||
			a.Of[fact.account][0].Status != fact.want {
			t.Errorf("account %s is not %s", fact.account, fact.want)
		}
	}
	self, err := c.Customers.Find(ctx, demo.Institution)
	if err != nil || self.LegalName != "Sandbox Bank" || self.ShortName != "sandbox" ||
		self.Type != customers.ProcessingOrg || self.RelationshipType != customers.RelationSelf {
		t.Errorf("the bank itself: %+v, %v", self, err)
	}
}

func TestThePartnerOfTheDemoBankSeesItsOwnOnly(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{})
	ctx := access.With(t.Context(),
		access.Caller{
			Tenant: tenant, Entity: int64(demo.Partner), Partner: int64(demo.Partner), Reach: access.OfPartner,
			Permissions: access.All,
		})
	b := c.Batch()
	rows := c.Customers.List(ctx, b, customers.Search{}, db.Columns{}, page.First(200))
	counted := c.Customers.Count(ctx, b, customers.Search{})
	if err := b.Send(ctx); err != nil {
		t.Fatal(err)
	}
	if len(rows.Items) != 25 || counted.Items[0].N != 25 { // itself, and 1000013 to 1000243
		t.Errorf("%d customers, counted %d", len(rows.Items), counted.Items[0].N)
	}
	for _, customer := range rows.Items {
		if customer.UID != demo.Partner &&
			(customer.UID%10 != 3 || customer.RelationshipType != customers.RelationThirdParty ||
				customer.PartnerOrgShortName == "") {
			t.Errorf("%s: %s %q", customer.UID, customer.RelationshipType, customer.PartnerOrgShortName)
		}
	}
	for _, uid := range []customers.UID{demo.First, demo.Institution, demo.SecondPartner} {
		if _, err := c.Customers.Find(ctx, uid); !errors.Is(err, customers.ErrNotFound) {
			t.Errorf("customer %s: %v", uid, err)
		}
	}
}

func TestTheCountersAreRight(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Customers: 333})
	wrong := count(t, c,
		`SELECT count(*) FROM (SELECT owner, count(*) AS n FROM customers WHERE tenant = ?0 GROUP BY owner) AS c
		FULL JOIN (SELECT owner, sum(customers) AS n FROM customer_counts WHERE tenant = ?0
			GROUP BY owner) AS k USING (owner) WHERE c.n IS DISTINCT FROM k.n`, tenant)
	if wrong != 0 {
		t.Errorf("%d owners are counted wrongly", wrong)
	}
}

func TestEveryLimitLeavesSomething(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Customers: 100})
	ctx := staff(t.Context(), tenant)
	for _, rail := range rails.All {
		found, err := c.Limits.Check(ctx, demo.First, limits.Asked{Rail: rail})
		if err != nil || len(found) != 4 {
			t.Fatalf("%s: %v %v", rail, found, err)
		}
		for _, l := range found {
			periodic := l.Period() != limits.PerTransaction
			if periodic != (l.Used().Minor > 0) || l.Remaining().Minor <= 0 {
				t.Errorf("%s: used %s, left %s", l.Code, l.Used(), l.Remaining())
			}
		}
	}
	over := count(t, c, `SELECT count(*) FROM limits AS l JOIN (
		SELECT customer, rail, sum(amount) AS month FROM limit_usage GROUP BY customer, rail) AS u
		ON u.customer = l.customer AND l.code = u.rail || '_PAYMENT_LIMIT_PER_WEEK'
		WHERE u.month > l.ceiling`)
	if over != 0 {
		t.Errorf("%d limits are passed", over)
	}
}

func TestEveryNumberPassesItsCheck(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Customers: 400})
	each := func(query string, check func(value string) bool) {
		t.Helper()
		var values []string
		if err := c.DB.NewRaw(query, tenant).Scan(t.Context(), &values); err != nil || len(values) == 0 {
			t.Fatalf("%s: %v", query, err)
		}
		for _, value := range values {
			if !check(value) {
				t.Errorf("%s: %q", query, value)
			}
		}
	}
	matches := func(pattern string) func(string) bool { return regexp.MustCompile(pattern).MatchString }
	each(`SELECT DISTINCT bank_id FROM accounts WHERE tenant = ?`, aba)
	each(`SELECT DISTINCT bank_national_code FROM contacts
		WHERE tenant = ? AND bank_national_code <> ''`, aba)
	each(`SELECT lei FROM customers WHERE tenant = ? AND lei <> ''`, func(lei string) bool {
		return matches(`^[A-Z0-9]{4}00[A-Z0-9]{12}[0-9]{2}$`)(lei) && iso7064(lei) == 1
	})
	bic := matches(`^[A-Z]{6}[A-Z0-9]0$`)
	each(`SELECT DISTINCT bank_swift_code FROM contacts WHERE tenant = ? AND bank_swift_code <> ''`, bic)
	each(`SELECT swift_code FROM customers WHERE tenant = ? AND swift_code <> ''`, bic)
	each(`SELECT template_name FROM contacts WHERE tenant = ?`, matches(`^[A-Za-z0-9]+$`))
	for _, table := range []string{"customers", "contacts", "signatories"} {
		each(`SELECT phone_number FROM `+table+` WHERE tenant = ?`, matches(`^\+[1-9]\d{9,14}$`))
		each(`SELECT email_address FROM `+table+` WHERE tenant = ?`,
			matches(`^[a-z0-9.]+@[a-z0-9]+\.example$`))
	}
	each(`SELECT ach_company_id FROM accounts WHERE tenant = ? AND enable_ach`, matches(`^[0-9]{10}$`))
	each(`SELECT legal_postal_code FROM customers WHERE tenant = ?`, matches(`^[0-9]{5}$`))

	var sealed []*customers.Customer
	if err := c.DB.NewSelect().Model(&sealed).Where("c.tenant = ?", tenant).Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, customer := range sealed {
		clear, err := c.Keys.Open(customer.TaxID,
			seal.Place{Tenant: int64(tenant), Column: customers.TaxIDColumn, Row: int64(customer.UID)})
		if err != nil || !matches(`^[0-9]{9}$`)(clear) || seen[clear] {
			t.Errorf("tax id of %s: %q %v", customer.UID, clear, err)
		}
		seen[clear] = true
	}
}

func TestForeignAccountsHaveIBANsAndReportATaxID(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Customers: 100})
	var abroad []*contacts.Contact
	if err := c.DB.NewSelect().Model(&abroad).Where("k.tenant = ? AND k.bank_swift_code <> ''", tenant).
		Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	taxID := regexp.MustCompile(`^[0-9]{9}$`)
	lengths := map[string]int{"DE": 22, "GB": 22, "FR": 27, "NL": 18, "BE": 16, "CH": 21}
	seen := map[string]int{}
	for _, contact := range abroad {
		number, err := c.Keys.Open(contact.Bank.AccountNumber,
			seal.Place{Tenant: int64(tenant), Column: contacts.NumberColumn, Row: int64(contact.UID)})
		if err != nil {
			t.Fatal(err)
		}
		country := contact.Bank.Address.CountryCode
		seen[country]++
		report := contact.RegulatoryReporting
		if len(report) != 1 || report[0].Key != "TaxId" {
			t.Fatalf("contact %s reports %v", contact.UID, report)
		}
		if clear, err := c.Keys.Open(report[0].Value, contact.ReportingPlace("TaxId")); err != nil ||
			!taxID.MatchString(clear) {
			t.Errorf("contact %s reports %v: %v", contact.UID, report, err)
		}
		length, has := lengths[country]
		if has && (len(number) != length || number[:2] != country || iso7064(number[4:]+number[:4]) != 1) {
			t.Errorf("%s is no IBAN of %s", number, country)
		}
		if !has && contact.Intermediary.Name == "" {
			t.Errorf("contact %s in %s has no intermediary", contact.UID, country)
		}
	}
	if len(seen) != 8 {
		t.Errorf("countries: %v", seen)
	}
}

// aba reports whether a routing number's check digit is correct: the digits times 3, 7 and 1 in turn sum to a
// multiple of ten.
func aba(number string) bool {
	sum := 0
	for i, weight := range []int{3, 7, 1, 3, 7, 1, 3, 7, 1} {
		sum += int(number[i]-'0') * weight
	}
	return len(number) == 9 && sum%10 == 0
}

// iso7064 returns the remainder modulo 97 of the text with its letters as numbers from 10 on.
func iso7064(text string) int64 {
	var digits strings.Builder
	for _, r := range text {
		if r >= 'A' {
			fmt.Fprint(&digits, r-'A'+10)
		} else {
			digits.WriteRune(r)
		}
	}
	n, _ := new(big.Int).SetString(digits.String(), 10)
	return new(big.Int).Mod(n, big.NewInt(97)).Int64()
}

// The rules of accounts (rest/CONTRACT.md, account rules) as queries for accounts that break them.
func TestTheFeaturesOfAccountsFitTogether(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Customers: 600})
	for rule, broken := range map[string]string{
		"wires are domestic or international": `enable_wires <> (enable_domestic_wires OR ` +
			`enable_international_wires)`,
		"callbacks need domestic wires":               `enable_callbacks AND NOT enable_domestic_wires`,
		"a callback limit needs callbacks":            `callback_limit IS NOT NULL AND NOT enable_callbacks`,
		"a Pseudo account has no callback limit":      `sub_type = 'Pseudo' AND callback_limit IS NOT NULL`,
		"a Pseudo account stands in front of another": `(sub_type = 'Pseudo') <> (fbo_number_hash IS NOT NULL)`,
		"sending needs the network": `fednow_send AND NOT enable_fednow OR rtp_send
			AND NOT enable_rtp`,
		"underwritten and prefunded exclude each other": `underwritten AND ach_prefund`,
		"credit exposure is for the underwritten":       `credit_exposure_limit IS NOT NULL AND NOT underwritten`,
		"debit exposure is for both": `debit_exposure_limit IS NOT NULL
			AND NOT (underwritten OR ach_prefund)`,
		"ACH features need ACH": `(underwritten OR ach_prefund OR enable_offset
			OR ach_company_id <> '' OR sec_codes <> '{}') AND NOT enable_ach`,
		"ACH needs a company id": `enable_ach AND ach_company_id = ''`,
		"a closed account can do nothing": `status = 'Closed' AND (enable_wires OR enable_ach OR ` +
			`enable_rtp OR enable_fednow OR enable_swift)`,
		"a sub-type is of its type": `(type = 'Loan') <>
			(sub_type IN ('Credit Card', 'Heloc', 'Line of Credit'))`,
		"an external account says where it is": `(system_of_record = 'External') <> (external_provider <> '')`,
		"a name is letters, digits and spaces": `name !~ '^[A-Za-z0-9 ]+$'`,
	} {
		if n := count(t, c, "SELECT count(*) FROM accounts WHERE tenant = ? AND ("+broken+")", tenant); n != 0 {
			t.Errorf("%s: %d accounts do not", rule, n)
		}
	}
	for _, some := range []string{
		`status = 'Closed'`, `status = 'Inactive'`, `system_of_record = 'Other Core'`,
		`system_of_record = 'External'`,
		`enable_rtp`, `enable_fednow`, `enable_swift`, `enable_ach`,
		`NOT enable_wires AND status = 'Active' AND type = 'Deposit'`, `currency <> 'USD'`,
	} {
		if n := count(t, c, "SELECT count(*) FROM accounts WHERE tenant = ? AND "+some, tenant); n == 0 {
			t.Errorf("no account with %s", some)
		}
	}
}

func TestOfficersAreUsers(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Customers: 100})
	if n := count(t, c,
		`SELECT count(*) FROM customers AS c WHERE c.tenant = ? AND NOT EXISTS (SELECT FROM users AS u
		WHERE u.tenant = c.tenant AND u.login_id = c.relationship_manager)
		OR NOT EXISTS (SELECT FROM users AS u
		WHERE u.tenant = c.tenant AND u.login_id = c.originating_officer)`, tenant); n != 0 {
		t.Errorf("%d customers have officers whom nobody knows", n)
	}
}

func TestOnlyTheFirstCustomersUsersNeedASecondPerson(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Customers: 100})
	if n := count(t, c,
		`SELECT count(*) FROM customers WHERE tenant = ? AND access_user_dual_approval AND uid <> 1000001`,
		tenant); n != 0 {
		t.Errorf("so do those of %d others", n)
	}
}

// The demo roles hold only what the catalogue has.
func TestTheDemoRolesAreOfTheCatalogue(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{})
	var all []*roles.Role
	if err := c.DB.NewSelect().Model(&all).Where("r.tenant = ?", tenant).Scan(t.Context()); err != nil ||
		len(all) != 7 {
		t.Fatal(len(all), err)
	}
	for _, r := range all {
		var d roles.Draft
		d.Name, d.Description = given.Of(r.Name+" copy"), given.Of(r.Description)
		d.Applications.Given = true
		for _, g := range r.Applications {
			draft := roles.GrantDraft{Name: g.Name, Entitlements: g.Entitlements}
			for _, l := range g.Limits {
				draft.Limits = append(draft.Limits, roles.LimitDraft{Name: l.Name, Value: l.Value().String()})
			}
			d.Applications.Value = append(d.Applications.Value, draft)
		}
		out, err := c.Roles.Create(staff(t.Context(), tenant), r.Customer, d, changes.RequestOptions{})
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		copied, err := c.Roles.Find(staff(t.Context(), tenant), r.Customer, out.Result.UID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Applications, copied.Applications); diff != "" || copied.Type != r.Type {
			t.Errorf("%s: %s %s", r.Name, copied.Type, diff)
		}
	}
}

func TestAnAccountIsFoundByItsNumber(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{})
	ctx := staff(t.Context(), tenant)
	b := c.Batch()
	found := c.Accounts.FindWith(ctx, b, accounts.By{Number: demo.AccountNumber(1, 0)}, db.Columns{},
		db.Columns{})
	if err := b.Send(ctx); err != nil || len(found.Items) != 1 ||
		found.Items[0].Account.UID != demo.Account(1, 0) {
		t.Error(found.Items, err)
	}
}

func TestABankWithCustomersIsNotFilled(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Customers: 50})
	before := dump(t, c)
	if err := demo.Fill(t.Context(), c, tenant, demo.Options{Customers: 60}); !errors.Is(err, demo.ErrFilled) {
		t.Error(err)
	}
	if diff := cmp.Diff(before, dump(t, c)); diff != "" {
		t.Errorf("it was changed: %s", diff)
	}
}

func TestABankThatDoesNotExistIsNotFilled(t *testing.T) {
	t.Parallel()
	c, tenant := sandbox(t)
	if err := demo.Fill(t.Context(), c, tenant+1, demo.Options{}); !errors.Is(err, demo.ErrNoBank) {
		t.Error(err)
	}
	if err := demo.Fill(t.Context(), c, tenant, demo.Options{Customers: 7}); !errors.Is(err, demo.ErrFewest) {
		t.Error(err)
	}
}

// A bank added at the command line already has its own customer and a first user.
func TestABankThatWasAddedBeforeIsCompleted(t *testing.T) {
	t.Parallel()
	c, tenant := sandbox(t)
	write(t, c, tenant,
		`INSERT INTO customers (tenant, legal_name, short_name, type, relationship_type, status)
			VALUES (?, 'First Bank of Testing', 'fbt', 'Processing Org', 'Self', 'Active')`,
		`INSERT INTO customer_counts (tenant, owner, shard, customers) VALUES (?, 0, 0, 1)`,
		`INSERT INTO users (tenant, uid, customer, login_id, status)
			VALUES (?, gen_random_uuid(), 1000000, 'demo.admin', 'Active')`)
	if err := demo.Fill(t.Context(), c, tenant, demo.Options{Customers: 50}); err != nil {
		t.Fatal(err)
	}
	self, err := c.Customers.Find(staff(t.Context(), tenant), demo.Institution)
	if err != nil || self.LegalName != "First Bank of Testing" || self.ShortName != "fbt" ||
		self.LegalAddress.City == "" {
		t.Errorf("%+v %v", self, err)
	}
	if n := count(t, c, `SELECT sum(customers) FROM customer_counts WHERE tenant = ?`, tenant); n != 51 {
		t.Errorf("counted %d", n)
	}
}

func TestABankWithAnotherNumberIsNotFilled(t *testing.T) {
	t.Parallel()
	c, tenant := sandbox(t)
	write(t, c, tenant,
		`INSERT INTO customers (tenant, uid, legal_name, short_name, type, relationship_type, status)
		VALUES (?, 1000007, 'Bank', 'bank', 'Processing Org', 'Self', 'Active')`)
	if err := demo.Fill(t.Context(), c, tenant, demo.Options{}); !errors.Is(err, demo.ErrNumbered) {
		t.Error(err)
	}
}

func TestAnInterruptedFillLeavesNothing(t *testing.T) {
	t.Parallel()
	c, tenant := sandbox(t)
	ctx, interrupt := context.WithCancel(t.Context())
	err := demo.Fill(ctx, c, tenant, demo.Options{Customers: 1100, Progress: func(done, _ int) {
		if done == 1000 {
			interrupt()
		}
	}})
	if err == nil {
		t.Fatal("it went through")
	}
	for table, rows := range dump(t, c) {
		if len(rows) != 0 {
			t.Errorf("%s has %d rows", table, len(rows))
		}
	}
	if err := demo.Fill(t.Context(), c, tenant, demo.Options{Customers: 50}); err != nil {
		t.Errorf("it cannot be filled again: %v", err)
	}
}

func TestNewNumbersComeAfterThoseOfTheDemoBank(t *testing.T) {
	t.Parallel()
	c, _ := filled(t, demo.Options{Customers: 50})
	for sequence, table := range map[string]string{
		"customer_uids":  "(SELECT max(uid) FROM customers)",
		"account_uids":   "(SELECT greatest(max(a.uid), max(k.uid)) FROM accounts AS a, contacts AS k)",
		"signatory_uids": "(SELECT max(uid) FROM signatories)", "fee_tier_ids": "(SELECT max(id) FROM fee_tiers)",
		"journal_ids": "(SELECT max(id) FROM journals)", "payment_uids": "(SELECT max(uid) FROM payments)",
		"recurrence_uids":           "(SELECT max(uid) FROM recurrences)",
		"positive_pay_rule_uids":    "(SELECT max(uid) FROM positive_pay_rules)",
		"balance_alert_uids":        "(SELECT max(uid) FROM balance_alerts)",
		"contact_verification_uids": "(SELECT max(uid) FROM contact_verifications)",
	} {
		if n := count(t, c, "SELECT last_value + is_called::int - "+table+" FROM "+sequence); n <= 0 {
			t.Errorf("%s gives a number that is taken", sequence)
		}
	}
}

func TestProgressEndsAtTheTotal(t *testing.T) {
	t.Parallel()
	var told [][2]int
	filled(t, demo.Options{
		Customers: 1300, Progress: func(done, total int) { told = append(told, [2]int{done, total}) },
	})
	if diff := cmp.Diff(told, [][2]int{{1000, 1300}, {1300, 1300}}); diff != "" {
		t.Error(diff)
	}
}

// The sizes with which performance is measured: about 5 accounts, 10 contacts, 3 signatories and 12 limits
// for each customer.
func TestTheSizesAreThoseOfTheBench(t *testing.T) {
	t.Parallel()
	c, _ := filled(t, demo.Options{Customers: 2000})
	for table, want := range map[string]float64{"accounts": 5, "contacts": 10, "signatories": 3, "limits": 12} {
		if got := float64(count(t, c, "SELECT count(*) FROM "+table)) / 2000; got < want*0.93 ||
			got > want*1.07 {
			t.Errorf("%s: %.2f for each customer, want about %.0f", table, got, want)
		}
	}
}

func TestNobodyOwesMoreThanTheLine(t *testing.T) {
	t.Parallel()
	c, _ := filled(t, demo.Options{Customers: 500})
	if n := count(t, c,
		`SELECT count(*) FROM accounts AS a JOIN balances AS b ON b.tenant = a.tenant AND b.account = a.uid
		WHERE a.type = 'Loan' AND (b.ledger > 0 OR b.ledger < -b.overdraft OR b.overdraft = 0
			AND b.ledger <> 0)`); n != 0 {
		t.Errorf("%d loans do", n)
	}
}
