package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/db"
)

var shown = regexp.MustCompile(`(?m)^secret +(\S{43})$`)

func TestBankAndItsKeysAreMadeOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("tenant", "add", "FIRST.BANK-1", "--name", "First Bank", "--zone", "America/Chicago", "--currency",
		"USD", "--admin", "jo")
	if out := p.ok("tenant",
		"list"); !strings.Contains(out, "FIRST.BANK-1  First Bank  America/Chicago  USD       false") {
		t.Errorf("tenant list:\n%s", out)
	}
	secret := shown.FindStringSubmatch(p.ok("client", "add", "portal", "--permissions", "readers,mCust"))
	if secret == nil {
		t.Fatal("no secret was shown")
	}
	if out := p.ok("client", "list"); strings.Contains(out, secret[1]) || !strings.Contains(out, "portal") ||
		!strings.Contains(out, "mCust,vCust") {
		t.Errorf("client list:\n%s", out)
	}
	fresh := shown.FindStringSubmatch(p.ok("client", "rotate", "portal", "--overlap", "1h"))
	if fresh == nil || fresh[1] == secret[1] {
		t.Error("the secret was not rotated")
	}
	if out := p.ok("client", "list"); !strings.Contains(out, "old secret until") {
		t.Errorf("client list:\n%s", out)
	}
	if out := p.ok("tenant", "rekey", "FIRST.BANK-1"); !strings.Contains(out, "signs from") {
		t.Errorf("rekey: %s", out)
	}
	p.ok("client", "disable", "portal")
	if _, errs, status := p.run("token", "portal"); status != 1 ||
		!strings.Contains(errs, "the API key is disabled") {
		t.Errorf("token of a disabled key: %d, %s", status, errs)
	}
}

func TestAClockIsMovedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	if _, errs, status := p.run("clock", "--by", "48h"); status != 1 ||
		!strings.Contains(errs, "a real bank") {
		t.Errorf("the clock of a real bank: %d, %s", status, errs)
	}
	if _, err := d.ExecContext(t.Context(), `UPDATE tenants SET sandbox = true`); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(p.ok("clock", "--by", "2d")))
	if err != nil || at.Before(began.Add(48*time.Hour).Truncate(time.Second)) ||
		at.After(time.Now().Add(48*time.Hour)) {
		t.Errorf("it shows %s (%v)", at, err)
	}
	later := at.AddDate(0, 1, 0).Format(time.RFC3339)
	if out := p.ok("clock", "--to", later); strings.TrimSpace(out) < later {
		t.Errorf("it shows %s, want %s", out, later)
	}
	if _, errs, status := p.run("clock", "--by", "90s"); status == 0 ||
		!strings.Contains(errs, "whole minutes") {
		t.Errorf("a part of a minute: %d, %s", status, errs)
	}
	if _, errs, status := p.run("clock", "--to", "2026-01-01T00:00:00Z"); status != 1 ||
		!strings.Contains(errs, "must be later") {
		t.Errorf("back: %d, %s", status, errs)
	}
}

func TestFeesAndKeysAreConfiguredOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jo")
	p.ok("fee", "add", "Payments", "Outgoing Payment", "SPOT", "Gold", "12.5")
	if out := p.ok("fee",
		"list"); !strings.Contains(out, "Payments     Outgoing Payment  SPOT  Gold  12.50  USD") {
		t.Errorf("fee list:\n%s", out)
	}
	p.ok("fee", "remove", "payments", "outgoing payment", "spot", "gold")
	if _, errs, status := p.run("fee", "remove", "payments", "outgoing payment", "spot", "gold"); status != 1 ||
		!strings.Contains(errs, "no such fee") {
		t.Errorf("%d %s", status, errs)
	}
	p.ok("reporting", "add", "Purpose")
	p.ok("reporting", "remove", "social")
	if out := p.ok("reporting", "list"); out != "routingNumber\nTaxId\nPurpose\n" {
		t.Errorf("reporting list:\n%s", out)
	}
}

func TestTokenOfTheCommandLineOpensTheService(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.settings = append(p.settings, "BANKGRAPH_PUBLIC_URL=https://api.bank.example", "BANKGRAPH_TENANT=FIRST")
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jo")
	p.ok("tenant", "add", "SECOND", "--name", "Second Bank", "--zone", "UTC", "--currency", "EUR", "--admin",
		"jo")
	p.ok("client", "add", "portal", "--permissions", "all")
	token := strings.TrimSpace(p.ok("token", "portal"))
	s := p.serve()
	if status, body := s.get(s.url+"/graphql?query={__typename}", token); status != http.StatusOK {
		t.Errorf("answer: %d %s", status, body)
	}
	p.ok("client", "disable", "portal")
	if _, errs, status := p.run("token", "portal", "--tenant", "SECOND"); status != 1 ||
		!strings.Contains(errs, "no such API key") {
		t.Errorf("token of another bank's key: %d, %s", status, errs)
	}
}

func TestWrongArgumentsAreExplained(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	for _, c := range []struct {
		args  []string
		wants []string
	}{
		{
			[]string{"tenant", "add", "a b", "--name", "x", "--zone", "Mars", "--currency", "ZZZ", "--admin", "jo"},
			[]string{"code:", "zone:", "currency:"},
		},
		{[]string{"tenant", "add", "x"}, []string{"--name"}},
		{[]string{"client", "list"}, []string{"no bank yet", "bankgraph tenant add"}},
		{[]string{"client", "list", "--tenant", "NONE"}, []string{"no bank has this code", "NONE"}},
		{[]string{"serve", "--origins", "portal.example"}, []string{"BANKGRAPH_ORIGINS"}},
		{[]string{"serve", "--addr", "nonsense"}, []string{"BANKGRAPH_ADDR"}},
		{[]string{"serve", "--keyset", ""}, []string{"BANKGRAPH_KEYSET"}},
		{[]string{"serve", "--public-url", "bank"}, []string{"BANKGRAPH_PUBLIC_URL"}},
		{[]string{"fly"}, []string{"fly", "--help"}},
	} {
		_, errs, status := p.run(c.args...)
		if status == 0 {
			t.Errorf("%v succeeded", c.args)
		}
		for _, want := range c.wants {
			if !strings.Contains(errs, want) {
				t.Errorf("%v does not name %s:\n%s", c.args, want, errs)
			}
		}
	}
}

// A command that looks at a bank, or changes it, makes none: in a shell without the settings of the start it
// would answer for another bank, which nobody has asked for.
func TestACommandMakesNoDatabaseWhereThereIsNone(t *testing.T) {
	t.Parallel()
	p := onData(t)
	data := strings.TrimPrefix(p.settings[0], "BANKGRAPH_DATA=")
	for _, args := range [][]string{
		{"token", "portal"},
		{"proof"},
		{"audit", "verify"},
		{"clock"},
		{"client", "list"},
		{"banks", "sources"},
		{"permissions"},
		{"keyset", "status"},
		{"screening", "find", "Ada"},
		{"user", "list"},
		{"tenant", "list"},
	} {
		_, errs, status := p.run(args...)
		if status != 1 && status != 2 || status == 1 && (!strings.Contains(errs, "there is no data in "+data) ||
			!strings.Contains(errs, "BANKGRAPH_DATA")) {
			t.Errorf("%v: %d %s", args, status, errs)
		}
	}
	if made, err := os.ReadDir(data); err != nil || len(made) > 0 {
		t.Errorf("%v was made (%v)", made, err)
	}
	if _, errs, status := p.run("tenant", "add", "BANK1", "--name", "First Bank", "--zone", "America/New_York",
		"--currency", "USD", "--admin", "jane.doe"); status != 0 {
		t.Fatal(errs)
	}
	p.ok("proof")
}

func TestHelpListsEverySetting(t *testing.T) {
	t.Parallel()
	out, _, status := onDatabase(t).run("serve", "--help")
	for _, name := range []string{
		"DATA", "DATABASE_URL", "MIGRATE_URL", "KEYSET", "ADDR", "PUBLIC_URL", "METRICS_ADDR", "ORIGINS",
		"PLAYGROUND",
	} {
		if !strings.Contains(out, "$BANKGRAPH_"+name) {
			t.Errorf("BANKGRAPH_%s is not listed", name)
		}
	}
	if status != 0 {
		t.Errorf("status %d", status)
	}
}

func TestSchemaGoesUpAndDown(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	if out := p.ok("migrate", "status"); strings.Contains(out, " no\n") {
		t.Errorf("status:\n%s", out)
	}
	if out := p.ok("migrate", "down"); !strings.Contains(out, "undone: ") {
		t.Errorf("down: %s", out)
	}
	if _, errs, status := p.run("tenant", "list"); status != 1 ||
		!strings.Contains(errs, `run "bankgraph migrate"`) {
		t.Errorf("on an old schema: %d, %s", status, errs)
	}
	p.ok("migrate")
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jo")
	before := p.ok("migrate", "status")
	if _, errs, status := p.run("migrate",
		"down"); status != 1 || !strings.HasPrefix(errs, "bankgraph: nothing was undone") ||
		!strings.Contains(errs, "--yes") || p.ok("migrate", "status") != before {
		t.Errorf("with a bank, and nobody to ask: %d, %s", status, errs)
	}
	p.ok("migrate", "down", "--yes")
}

func TestKeysetIsNeverWrittenOver(t *testing.T) {
	t.Parallel()
	p := testProgram{T: t}
	file := filepath.Join(t.TempDir(), "keyset.json")
	p.ok("keyset", file)
	made, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, errs, status := p.run("keyset", file); status != 1 ||
		!strings.Contains(errs, "never written over: "+file) {
		t.Errorf("status %d, %s", status, errs)
	}
	if kept, err := os.ReadFile(file); err != nil || !bytes.Equal(kept, made) {
		t.Errorf("the keyset has changed, %v", err)
	}
}

func TestPermissionsTellsWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	exec := execOf(t, d)
	exec(`INSERT INTO users (tenant, uid, customer, login_id, status)
		SELECT tenant, gen_random_uuid(), customer, n, 'Active'
		FROM users, unnest('{kim,lee}'::text[]) AS n WHERE login_id = 'jo'`)
	exec(`INSERT INTO user_roles (tenant, customer, user_uid, role_uid) SELECT r.tenant, r.customer, u.uid,
		r.role_uid
		FROM user_roles AS r JOIN users AS u ON u.tenant = r.tenant AND u.login_id = 'lee'`)
	p.ok("client", "add", "portal", "--permissions", "vCust,View_Account")
	p.ok("client", "add", "desk", "--permissions", "mCust")
	p.ok("client", "add", "gone", "--permissions", "mCust")
	p.ok("client", "disable", "gone")
	for _, login := range []string{"jo", "kim", "lee"} { // kim has no role
		p.ok("client", "add", "of-"+login, "--user", login, "--permissions", "mCust,View_Audit")
	}
	exec(`UPDATE users SET status = 'Locked' WHERE login_id = 'lee'`)
	told := func(lines ...string) {
		t.Helper()
		report := p.ok("permissions")
		for _, line := range lines {
			if !strings.Contains(report, line+"\n") {
				t.Errorf("%q is not in\n%s", line, report)
			}
		}
	}
	told("REST,GET /customers,vCust mCust,desk of-jo portal,Administrator,jo",
		"REST,POST /v1/customers/{customerId}/signatories,mCust,desk of-jo,Administrator,jo",
		"GraphQL,Mutation.addSignatory,mCust,desk of-jo,Administrator,jo",
		"GraphQL,Customer.accounts,View_Account Manage_Account,portal,Administrator,jo",
		"REST,GET /v1/customers/lookup/{accountNumber},Lookup_Customers vCust+View_Account vCust+Manage_Account "+
			"mCust+View_Account mCust+Manage_Account,portal,Administrator,jo",
		"GraphQL,Query.customer by accountNumber,vCust+View_Account vCust+Manage_Account "+
			"mCust+View_Account mCust+Manage_Account,portal,Administrator,jo",
		"GraphQL,Query.audit,View_Audit,of-jo,Administrator,jo",
		"GraphQL,Mutation.approveChange of what needs mCust,mCust,of-jo,Administrator,jo",
		"GraphQL,Mutation.refuseChange of what needs mCust,mCust,desk of-jo,Administrator,jo")
	p.ok("tenant", "set", "FIRST", "--no-people-decide")
	told("GraphQL,Mutation.approveChange of what needs mCust,mCust,desk of-jo,Administrator,jo")

	exec(`INSERT INTO customers (tenant, uid, owner, legal_name, short_name, type, status)
		SELECT id, 7000001, 7000001, 'P', 'p', 'Downstream Partner', 'Active' FROM tenants`)
	p.ok("client", "add", "theirs", "--customer", "7000001", "--permissions", "vCust")
	told("REST,GET /customers,vCust mCust,desk of-jo portal theirs@7000001,Administrator,jo")
	if report := p.ok("permissions", "--customer", "7000001"); !strings.Contains(report,
		"vCust mCust,theirs,,\n") {
		t.Errorf("of the partner alone:\n%s", report)
	}
}

// Presets give a key outside the bank what partners' programs may have, and no more.
func TestPresetsGiveAPartnersKeyNoRecord(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	execOf(t, d)(`INSERT INTO customers (tenant, uid, owner, legal_name, short_name, type, status)
		SELECT id, 7000001, 7000001, 'P', 'p', 'Downstream Partner', 'Active' FROM tenants`)
	const kept = "The key is outside the bank, so it was not given View_Audit, Explore_GraphQL"
	for _, c := range []struct {
		key, permissions, customer, says string
		has                              bool
	}{
		{"own", "all", "", "", true},
		{
			"all", "all", "7000001",
			kept + ", Manage_Clients, Move_Clock, Screen_Payments: those have to be named.", false,
		},
		{"readers", "readers", "7000001", kept + ": those have to be named.", false},
		{"named", "readers,View_Audit", "7000001", "so it was not given Explore_GraphQL:", true},
		{"partners", "partners", "7000001", "", false},
	} {
		add := []string{"client", "add", c.key, "--permissions", c.permissions}
		if c.customer != "" {
			add = append(add, "--customer", c.customer)
		}
		_, errs, status := p.run(add...)
		if status != 0 || !strings.Contains(errs, c.says) ||
			c.says == "" && strings.Contains(errs, "outside") {
			t.Errorf("%s: %d, %s", c.key, status, errs)
		}
		for line := range strings.Lines(p.ok("client", "list")) {
			if strings.HasPrefix(line, c.key+" ") &&
				(strings.Contains(line, "View_Audit") != c.has || !strings.Contains(line, "vCust")) {
				t.Errorf("%s", line)
			}
		}
	}
}

// execOf returns a function that changes the rows of the one bank.
func execOf(t *testing.T, d *db.DB) func(statement string) {
	t.Helper()
	return func(statement string) {
		t.Helper()
		var tenant int64
		if err := d.NewRaw(`SELECT id FROM tenants`).Scan(t.Context(), &tenant); err != nil {
			t.Fatal(err)
		}
		err := d.InTx(t.Context(), tenant, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, statement)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// One typing error in an address, and every table would be made where nobody looks for it.
func TestMigrateChangesNoOtherDatabaseThanIsServed(t *testing.T) {
	t.Parallel()
	p, other := onDatabase(t), onDatabase(t)
	other.ok("migrate", "down", "--yes")
	before := other.ok("migrate", "status")
	for _, command := range [][]string{
		{"migrate"}, {"migrate", "down", "--yes"}, {"serve", "--addr", "127.0.0.1:0"},
	} {
		wrong := testProgram{t, append(slices.Clone(p.settings), other.settings[1])}
		if _, errs, status := wrong.run(command...); status != 1 ||
			!strings.Contains(errs, "must name the same database as BANKGRAPH_DATABASE_URL") {
			t.Errorf("%v: status %d, %s", command, status, errs)
		}
	}
	if after := other.ok("migrate", "status"); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

// People choose their login ids, and operators open the report in a spreadsheet.
func TestPermissionsHoldNoFormulas(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	for i, login := range []string{"=1+2", "+1", "-1", "@sum"} {
		bank := fmt.Sprint("BANK", i)
		p.ok("tenant", "add", bank, "--name", "Bank", "--zone", "America/New_York", "--currency", "USD",
			"--admin="+login)
		report := p.ok("permissions", "--tenant", bank)
		if !strings.Contains(report, ",Administrator,'"+login+"\n") || strings.Contains(report, ","+login) {
			t.Errorf("%s stands as a formula in\n%.300s", login, report)
		}
	}
}

func TestAttributesAreConfiguredAtTheCommandLine(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("tenant", "add", "BANK1", "--name", "Bank One", "--zone", "America/New_York", "--currency", "USD",
		"--admin", "jo")
	p.ok("attribute", "add", "--tenant", "BANK1", "--level", "customer", "--name", "Next Review", "--type",
		"Date")
	if out := p.ok("attribute", "list"); !strings.Contains(out, "Next Review") ||
		!strings.Contains(out, "Date") {
		t.Error(out)
	}
	p.ok("attribute", "remove", "--level", "customer", "--name", "next review")
	if out := p.ok("attribute", "list"); strings.Contains(out, "Review") {
		t.Error(out)
	}
}

// The proof of one bank looks at no other.
func TestProofLooksAtOneBankAlone(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	p.ok("tenant", "add", "SECOND", "--name", "Second Bank", "--zone", "UTC", "--currency", "USD", "--admin",
		"jo")
	if _, err := d.Exec(
		`INSERT INTO balances (tenant, account, currency) SELECT id, 4711, 'USD' FROM tenants
			WHERE code = 'SECOND'`); err != nil {
		t.Fatal(err)
	}
	if out := p.ok("proof", "--tenant", "FIRST"); out != "the books hold\n" {
		t.Errorf("the bank whose books hold: %s", out)
	}
	for _, args := range [][]string{{"proof"}, {"proof", "--tenant", "SECOND"}} {
		if out, errs, status := p.run(args...); status != 1 || !strings.Contains(out, "account 4711") ||
			!strings.Contains(errs, "do not hold") {
			t.Errorf("%v: %d, %s%s", args, status, out, errs)
		}
	}
	if _, errs, status := p.run("proof", "--tenant", "NONE"); status != 1 || !strings.Contains(errs, "NONE") {
		t.Errorf("no such bank: %d, %s", status, errs)
	}
}

// Terminals of operators obey control characters. Names with them are refused, and existing ones are not
// printed as they are.
func TestNamesDoNotSteerTerminals(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	for _, evil := range []string{"x\x1b[31mred", "a\nbank two", "bell\x07", "\u009b2J", "right\u202eto left"} {
		for _, args := range [][]string{
			{"tenant", "add", "EVIL", "--name", evil, "--zone", "UTC", "--currency", "USD", "--admin", "jo"},
			{"client", "add", "evil", "--name", evil, "--permissions", "readers"},
			{"audit", "restored", "--reason", evil},
		} {
			if _, errs, status := p.run(args...); status != 1 || !strings.Contains(errs, "plain text") {
				t.Errorf("%q: %d, %s", args, status, errs)
			}
		}
		if _, errs, _ := p.run("client", "list", "--tenant", evil); strings.ContainsAny(errs, "\x1b\x07") {
			t.Errorf("an error prints %q", errs)
		}
	}
	p.ok("client", "add", "old", "--permissions", "readers")
	if _, err := d.Exec(`UPDATE clients SET name = 'x' || chr(27) || '[31mred Łódź'`); err != nil {
		t.Fatal(err)
	}
	if out := p.ok("client", "list"); strings.Contains(out, "\x1b") ||
		!strings.Contains(out, "x?[31mred Łódź") {
		t.Errorf("%q", out)
	}
}
