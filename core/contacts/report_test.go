package contacts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/page"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// opened returns the decrypted value of an entry of a contact.
func opened(t *testing.T, bank *coretest.Bank, k *contacts.Contact, at int) string {
	t.Helper()
	stored := *k
	stored.Tenant = bank.Tenant
	clear, err := bank.Keys.Open(k.RegulatoryReporting[at].Value,
		stored.ReportingPlace(k.RegulatoryReporting[at].Key))
	if err != nil {
		t.Errorf("entry %d: %v", at, err)
	}
	return clear
}

// columnOf returns the stored column of a contact's entries.
func columnOf(t *testing.T, bank *coretest.Bank, uid contacts.UID) (text string) {
	t.Helper()
	err := bank.DB.NewRaw(`SELECT regulatory_reporting::text FROM contacts WHERE tenant = ? AND uid = ?`,
		bank.Tenant, uid).Scan(t.Context(), &text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// report changes a contact's entries: pairs of key and value.
func report(
	bank *coretest.Bank, k contacts.UID, of *contacts.Contact, entries ...string,
) (changes.Outcome[contacts.Saved], error) {
	draft := contacts.Draft{RegulatoryReporting: []contacts.ReportingDraft{}}
	for i := 0; i < len(entries); i += 2 {
		draft.RegulatoryReporting = append(draft.RegulatoryReporting,
			contacts.ReportingDraft{Key: entries[i], Value: entries[i+1]})
	}
	return bank.Contacts.Change(bank.Staff(), of.Customer, k, draft, changes.RequestOptions{})
}

func TestAnEntryIsMaskedHoweverItIsPrinted(t *testing.T) {
	t.Parallel()
	keys, k := seal.New(), contacts.Contact{Tenant: 1, UID: 7}
	k.RegulatoryReporting = contacts.Report{k.Reported(keys, "TaxId", "914820033"), {Key: "social"}}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("read", "report", k.RegulatoryReporting, "contact", k, "entry",
			k.RegulatoryReporting[0], "pointer", &k)
	}
	encoded, err := json.Marshal(k.RegulatoryReporting)
	if err != nil || string(encoded) != `[{"key":"TaxId","value":"****0033"},{"key":"social","value":""}]` {
		t.Errorf("%s %v", encoded, err)
	}
	whole, err := json.Marshal(k)
	out := log.String() + string(whole)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		out += fmt.Sprintf(verb, k.RegulatoryReporting) + fmt.Sprintf(verb, k) +
			fmt.Sprintf(verb, &k.RegulatoryReporting[0])
	}
	if err != nil || !strings.Contains(out, "****0033") || strings.Contains(out, "9148") ||
		strings.Contains(out, fmt.Sprintf("%x", k.RegulatoryReporting[0].Value.Sealed)) {
		t.Errorf("%s %v", out, err)
	}
}

func TestTheColumnKeepsEntriesSealedInTheirPlace(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	uid := add(t, bank, bank.Staff(), bank.Customer(), complete(func(d *contacts.Draft) {
		d.RegulatoryReporting = append(d.RegulatoryReporting,
			contacts.ReportingDraft{Key: "routingNumber", Value: "914820033"},
			contacts.ReportingDraft{Key: "social"})
	}))
	var entries []map[string]string
	if err := json.Unmarshal([]byte(columnOf(t, bank, uid)), &entries); err != nil || len(entries) != 3 {
		t.Fatal(entries, err)
	}
	for _, e := range entries[:2] {
		if len(e) != 4 || e["sealed"] == "" || e["hash"] == "" || e["last4"] != "0033" {
			t.Errorf("%v", e)
		}
	}
	if len(entries[2]) != 1 || entries[0]["hash"] == entries[1]["hash"] {
		t.Errorf("%v", entries)
	}
	k := find(t, bank, bank.Staff(), uid)
	if opened(t, bank, k, 0) != "914820033" || opened(t, bank, k, 1) != "914820033" ||
		opened(t, bank, k, 2) != "" {
		t.Errorf("%+v", k.RegulatoryReporting)
	}
	k.Tenant = bank.Tenant
	if _, err := bank.Keys.Open(k.RegulatoryReporting[0].Value, k.ReportingPlace("routingNumber")); err == nil {
		t.Error("it opens under another key")
	}
	unsealed := contacts.Report{{Key: "TaxId", Value: seal.Mask("914820033")}}
	if _, err := unsealed.Value(); err == nil || strings.Contains(err.Error(), "0033") {
		t.Errorf("what is not sealed is stored: %v", err)
	}
	for _, broken := range []any{"914820033", []byte(`[{"key": 914820033}]`), 7, `{"key": "914820033"}`} {
		if err := new(contacts.Report).Scan(broken); err == nil ||
			strings.Contains(err.Error(), "914820033") {
			t.Errorf("%v: %v", broken, err)
		}
	}
}

// To send a contact back as it was read changes nothing.
func TestAMaskThatIsSentBackLeavesItsEntry(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	k := bank.Contact(customer, func(k *contacts.Contact) {
		for _, e := range [][2]string{{"TaxId", "914820033"}, {"TaxId", "77-7654321"}, {"social", "12345"}} {
			k.RegulatoryReporting = append(k.RegulatoryReporting, k.Reported(bank.Keys, e[0], e[1]))
		}
	})
	before := columnOf(t, bank, k.UID)
	if _, err := report(bank, k.UID, k, "taxid", "****0033", "TAXID", "****4321", "social",
		"****45"); err != nil {
		t.Fatal(err)
	}
	if after := columnOf(t, bank, k.UID); after != before {
		t.Errorf("%s\nwas %s", after, before)
	}
	if _, err := report(bank, k.UID, k, "TaxId", "****4321", "routingNumber", "611090001"); err != nil {
		t.Fatal(err)
	}
	now := find(t, bank, bank.Staff(), k.UID)
	if len(now.RegulatoryReporting) != 2 || opened(t, bank, now, 0) != "77-7654321" ||
		opened(t, bank, now, 1) != "611090001" {
		t.Errorf("%+v", now.RegulatoryReporting)
	}
	for name, entries := range map[string][]string{
		"other digits":             {"TaxId", "****4322"},
		"of another key":           {"social", "****4321"},
		"more digits":              {"TaxId", "****7654321"},
		"with blanks":              {"TaxId", " ****4321"},
		"asterisks alone":          {"TaxId", "****"},
		"asterisks in the middle":  {"TaxId", "77****4321"},
		"the same one twice":       {"TaxId", "****4321", "TaxId", "****4321"},
		"of what is gone":          {"TaxId", "****0033"},
		"one that this would make": {"social", "99991234", "social", "****1234"},
	} {
		_, err := report(bank, k.UID, k, entries...)
		if got, want := blamed(err),
			fmt.Sprintf("regulartoryReporting[%d].value INVALID",
				len(entries)/2-1); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two entries of a key may look alike when masked. Both can be left as they are; with only one it is not
// clear which is meant.
func TestAMaskOfTwoEntriesLeavesBothOrNone(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	k := bank.Contact(bank.Customer(), func(k *contacts.Contact) {
		k.RegulatoryReporting = contacts.Report{
			k.Reported(bank.Keys, "TaxId", "11110033"), k.Reported(bank.Keys, "TaxId", "22220033"),
		}
	})
	if _, err := report(bank, k.UID, k, "TaxId",
		"****0033"); !slices.Equal(blamed(err), []string{"regulartoryReporting[0].value INVALID"}) {
		t.Error(err)
	}
	if _, err := report(bank, k.UID, k, "TaxId", "****0033", "TaxId", "****0033"); err != nil {
		t.Error(err)
	}
	if now := find(t, bank, bank.Staff(), k.UID); opened(t, bank, now, 0) != "11110033" ||
		opened(t, bank, now, 1) != "22220033" {
		t.Errorf("%+v", now.RegulatoryReporting)
	}
}

func TestTheRecordTellsValuesApartThatEndAlike(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	k := bank.Contact(bank.Customer(), func(k *contacts.Contact) {
		k.RegulatoryReporting = contacts.Report{k.Reported(bank.Keys, "TaxId", "914820033")}
	})
	for _, value := range []string{"914820033", "555550033", "****0033"} {
		if _, err := report(bank, k.UID, k, "TaxId", value); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := coretest.Rows(bank, bank.Staff(), func(b *db.Batch) *db.Rows[audit.Entry] {
		return bank.Audit.List(bank.Staff(), b, audit.Search{Object: "contact"}, db.Columns{}, page.First(10))
	})
	if err != nil || len(rows) != 3 {
		t.Fatal(len(rows), err)
	}
	const shown = `[{"key":"TaxId","value":"****0033"}]`
	changed := rows[1].Changes() // without the version
	if len(changed) != 2 || changed[0].Field != "regulatoryReporting" || *changed[0].Before != shown ||
		*changed[0].After != shown {
		t.Errorf("%s to %s", rows[1].Before, rows[1].After)
	}
	if len(rows[0].Changes()) != 1 || len(rows[2].Changes()) != 1 {
		t.Errorf("what stays the same counts as changed: %s, %s", rows[0].After, rows[2].After)
	}
}
