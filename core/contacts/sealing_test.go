package contacts_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/given"
)

// inTheClear stores entries of a contact in the clear, as earlier programs did.
func inTheClear(bank *coretest.Bank, k *contacts.Contact, entries string) {
	bank.Exec(`UPDATE contacts SET regulatory_reporting = ?::jsonb WHERE tenant = ? AND uid = ?`, entries,
		bank.Tenant, k.UID)
}

func operator(bank *coretest.Bank) context.Context {
	return access.Operator(bank.Nobody(), bank.Tenant, bank.Code, coretest.Zone())
}

const old = `[{"key": "TaxId", "value": "914820033"}, {"key": "social", "value": null},
	{"key": "Purpose", "value": "Goods"}]`

func TestEntriesInTheClearAreSealedByTheWorkers(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	k, sealed, none := bank.Contact(bank.Customer()), bank.Contact(bank.Customer(), func(k *contacts.Contact) {
		k.RegulatoryReporting = contacts.Report{k.Reported(bank.Keys, "TaxId", "77-7654321")}
	}), bank.Contact(bank.Customer())
	mixed := bank.Contact(bank.Customer())
	bank.Other()
	already := columnOf(t, bank, sealed.UID)
	inTheClear(bank, k, old)
	inTheClear(bank.Other(), k, old)
	inTheClear(bank, mixed,
		strings.TrimSuffix(columnOf(t, bank, sealed.UID), "]")+`, {"key": "TaxId", "value": "1234567"}]`)

	shown := find(t, bank, bank.Staff(), k.UID)
	if r := shown.RegulatoryReporting; len(r) != 3 || r[0].ShownValue() != "****0033" ||
		r[1].ShownValue() != "" || r[2].ShownValue() != "****ds" {
		t.Errorf("in the clear it is shown as %+v", r)
	}
	if n, err := bank.Contacts.Seal(operator(bank)); err != nil || n != 2 {
		t.Errorf("%d were sealed (%v)", n, err)
	}
	now := find(t, bank, bank.Staff(), k.UID)
	if now.Version != k.Version || !now.UpdatedAt.Equal(k.UpdatedAt) || len(now.RegulatoryReporting) != 3 ||
		opened(t, bank, now, 0) != "914820033" || opened(t, bank, now, 1) != "" ||
		opened(t, bank, now, 2) != "Goods" {
		t.Errorf("sealed it is %+v", now)
	}
	if text := columnOf(t, bank, k.UID); strings.Contains(text, "914820033") ||
		strings.Contains(text, "value") {
		t.Error(text)
	}
	if got := find(t, bank, bank.Staff(),
		mixed.UID); len(got.RegulatoryReporting) != 2 || opened(t, bank, got, 1) != "1234567" ||
		got.RegulatoryReporting[0].Value.Fingerprint() != find(t, bank, bank.Staff(),
			sealed.UID).RegulatoryReporting[0].Value.Fingerprint() {
		t.Errorf("%+v", got.RegulatoryReporting)
	}
	if columnOf(t, bank, sealed.UID) != already || columnOf(t, bank, none.UID) != "[]" {
		t.Error("others were written too")
	}
	if n, err := bank.Contacts.Seal(operator(bank)); err != nil || n != 0 {
		t.Errorf("%d were sealed again (%v)", n, err)
	}
	if text := columnOf(t, bank.Other(), k.UID); !strings.Contains(text, "914820033") {
		t.Errorf("another bank's is sealed too: %s", text)
	}
}

func TestOnlyOperatorsSeal(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	_, err := bank.Contacts.Seal(bank.Staff())
	if !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
}

// Changes and workers do not wait for each other.
func TestAChangeSealsWhatItFindsInTheClear(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	for name, draft := range map[string]contacts.Draft{
		"something else": {Name: given.Of("Harbor Two")},
		"as it is shown": {RegulatoryReporting: []contacts.ReportingDraft{{Key: "taxid", Value: "****0033"}}},
	} {
		k := bank.Contact(customer)
		inTheClear(bank, k, `[{"key": "TaxId", "value": "914820033"}]`)
		if _, err := bank.Contacts.Change(bank.Staff(), customer.UID, k.UID, draft,
			changes.RequestOptions{}); err != nil {
			t.Fatal(name, err)
		}
		if now := find(t, bank, bank.Staff(), k.UID); len(now.RegulatoryReporting) != 1 ||
			opened(t, bank, now, 0) != "914820033" {
			t.Errorf("%s: %+v", name, now.RegulatoryReporting)
		}
	}
	k := bank.Contact(customer)
	inTheClear(bank, k, old)
	err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, `SELECT FROM contacts WHERE tenant = ? AND uid = ? FOR NO KEY UPDATE`,
			bank.Tenant, k.UID); err != nil {
			return err
		}
		if n, err := bank.Contacts.Seal(operator(bank)); err != nil || n != 0 {
			t.Errorf("a contact that is being changed: %d (%v)", n, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// During an upgrade, the previous program reads a sealed entry as one without a value.
func TestASealedValueIsNotLostToAnOlderProgram(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	k := bank.Contact(bank.Customer())
	err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx,
			`UPDATE contacts
				SET regulatory_reporting = '[{"key": "a", "value": "b"}, {"key": "TaxId", "value": ""}]'
				WHERE tenant = ? AND uid = ?`, bank.Tenant, k.UID)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "contacts_reporting_kept") {
		t.Error(err)
	}
}

// Workers run every few seconds, so sealed contacts must cost them nothing.
func TestWorkersLookAtNoContactThatIsSealed(t *testing.T) {
	t.Parallel()
	bank := coretest.Alone(t)
	k := bank.Contact(bank.Customer(), func(k *contacts.Contact) {
		k.RegulatoryReporting = contacts.Report{k.Reported(bank.Keys, "TaxId", "77-7654321")}
	})
	bank.Exec(`INSERT INTO contacts (tenant, customer, uid, name, template_name, bank_account_number_sealed,
		bank_account_number_hash, bank_account_number_last4, regulatory_reporting)
		SELECT tenant, customer, uid + n, name, n::text, bank_account_number_sealed, bank_account_number_hash,
		  bank_account_number_last4, CASE WHEN n % 4 = 0 THEN regulatory_reporting ELSE '[]' END
		FROM contacts, generate_series(1000, 21000) AS n WHERE tenant = ? AND uid = ?`, bank.Tenant, k.UID)
	for _, statement := range []string{
		`VACUUM ANALYZE contacts`, `ALTER TABLE contacts DROP CONSTRAINT contacts_reporting_kept`,
	} {
		if _, err := bank.Owner().Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	inTheClear(bank, k, `[{"key": "TaxId", "value": ""}]`) // from before the constraint
	seen := &texts{}
	bank.DB.DB = bank.DB.WithQueryHook(seen)
	if n, err := bank.Contacts.Seal(operator(bank)); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	looks := regexp.MustCompile(`Index (Only )?Scan using contacts_plain_reporting`)
	for _, text := range slices.Clone(seen.all) {
		if strings.HasPrefix(text, "SELECT") && strings.Contains(text, "contacts") {
			if plan := planOf(t, bank, text); !looks.MatchString(plan) ||
				strings.Contains(plan, "Seq Scan on contacts") {
				t.Errorf("%s\n%s", text, plan)
			}
		}
	}
	if text := columnOf(t, bank, k.UID); text != `[{"key": "TaxId"}]` {
		t.Error(text)
	}
}

// texts collects the statements that are sent.
type texts struct{ all []string }

func (x *texts) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }
func (x *texts) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	x.all = append(x.all, event.Query)
}

func planOf(t *testing.T, bank *coretest.Bank, text string) string {
	t.Helper()
	var lines []string
	err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
		return tx.NewRaw("EXPLAIN "+text).Scan(ctx, &lines)
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
