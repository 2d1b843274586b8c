package rest_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"bankgraph/core/accounts"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
)

// nullable are the members that the published schemas allow to be null (rest/CONTRACT.md, what answers leave
// out).
var nullable = []string{
	"reason", "externalAccount", "balanceType", "achCompanyId", "code", "message", "data",
	"streetAddress2", "bic", "branchBic",
	"memoPostFailureReason", "memoPostRetryCount", "notificationRefNumber",
	"authenticationRetryCounter", "customerAccountingDate", "fedSettlementId", "rejectReason", "paymentNotes",
	"senderAddress2", "receiverAddress2",
}

func TestOnlyWhatIsPublishedSoIsNull(t *testing.T) {
	t.Parallel()
	views, err := filepath.Glob("views_*.go")
	if err != nil || len(views) == 0 {
		t.Fatal(err)
	}
	for _, view := range views {
		file, err := parser.ParseFile(token.NewFileSet(), view, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			name, options, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
			if _, pointer := field.Type.(*ast.StarExpr); pointer && options != "omitzero" &&
				!slices.Contains(nullable, name) {
				t.Errorf("%s: %s would be null without a value: it must be left out", view, name)
			}
			return true
		})
	}
	doc := readDocument(t)
	for name, schema := range doc.Components.Schemas {
		everyMember(schema.Value, name, func(at, member string, s *openapi3.Schema) {
			if s.Nullable && !slices.Contains(nullable, member) {
				t.Errorf("%s is documented to be null", at)
			}
		})
	}
}

// A text without a value is empty. Only words of an enumeration are left out.
func TestTextsAreNotLeftOut(t *testing.T) {
	t.Parallel()
	words := map[string]bool{}
	for name, schema := range readDocument(t).Components.Schemas {
		everyMember(schema.Value, name, func(_, member string, s *openapi3.Schema) {
			words[member] = words[member] || len(s.Enum) > 0
		})
	}
	views, err := filepath.Glob("views_*.go")
	if err != nil || len(views) == 0 {
		t.Fatal(err)
	}
	for _, view := range views {
		file, err := parser.ParseFile(token.NewFileSet(), view, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			name, options, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
			if kind, plain := field.Type.(*ast.Ident); plain && kind.Name == "string" &&
				options == "omitzero" &&
				!words[name] {
				t.Errorf("%s: %s is left out without a value: it must be empty", view, name)
			}
			return true
		})
	}
}

// A word of an enumeration is one of its words, or the member is left out.
func TestNoEnumerationHasAnEmptyWord(t *testing.T) {
	t.Parallel()
	for name, schema := range readDocument(t).Components.Schemas {
		everyMember(schema.Value, name, func(at, _ string, s *openapi3.Schema) {
			if slices.Contains(s.Enum, any("")) {
				t.Errorf("%s may be empty", at)
			}
		})
	}
}

func everyMember(schema *openapi3.Schema, at string, look func(at, member string, s *openapi3.Schema)) {
	for member, field := range fieldsOf(schema) {
		look(at+"."+member, member, field.Value)
		everyMember(field.Value, at+"."+member, look)
	}
	if schema.Items != nil {
		everyMember(schema.Items.Value, at+"[]", look)
	}
}

// Every operation can show things that have only their required fields. checked compares each answer with the
// OpenAPI document, which allows no null and no empty word there.
func TestWhatHasNoValueIsLeftOut(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.bare.Profile = customers.Profile{}
	account := b.Account(b.bare, func(a *accounts.Account) { a.SystemOfRecord = accounts.OtherCore })
	contact := b.Contact(b.bare,
		func(k *contacts.Contact) { k.Bank.AccountType, k.Bank.AccountSubType = "", "" })
	b.Sweep(account, func(w *accounts.Sweep) {
		w.ToContact, w.BalanceType, w.Frequency, w.DayOfWeek, w.DayOfMonth = &contact.UID, accounts.Zero,
			accounts.Daily, "", 0
	})
	for _, o := range operations {
		if strings.Contains(o.path, "{U}") || strings.Contains(o.path, "{R}") ||
			strings.Contains(o.path, "{D}") ||
			o.method == http.MethodPost && o.name == "limits_check" {
			continue // only about acme, or 204
		}
		answer := b.at(b.program(), o, b.bare.UID, account.UID, contact.UID,
			coretest.AccountNumber(account.UID))
		if answer.status != http.StatusOK {
			t.Errorf("%s: %d %s", o.name, answer.status, answer.body)
		}
		if strings.HasSuffix(o.name, "_search") && strings.HasPrefix(o.name, "customers_") {
			continue // shows other things too
		}
		for _, word := range []string{
			"detailsOfCharge", "detailsofCharge", "ledgerBalance",
			"callbackLimit", "ExposureLimit", "dayOfWeek",
			"dayOfMonth", "sweepIn", "sweepFrom", "range",
		} {
			if strings.Contains(answer.body, `"`+word) || strings.Contains(answer.body, word+`":null`) {
				t.Errorf("%s says %s of what has none: %s", o.name, word, answer.body)
			}
		}
	}
}

func TestASweepThatIsNotThereIsNoContent(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	at := fmt.Sprintf("/v1/customers/%s/accounts/%s/sweeps/", b.acme.UID, b.operating.UID)
	if answer := b.get(b.program(), at+"in"); answer.status != http.StatusNoContent || answer.body != "" {
		t.Errorf("%d %s", answer.status, answer.body)
	}
	b.get(b.program(), at+"up").refused(t, "no direction", http.StatusBadRequest, "SWEEP_DIRECTION_INVALID",
		"direction")
	other := fmt.Sprintf("/v1/customers/%s/accounts/%s/sweeps/in", b.acme.UID, b.hidden.UID)
	b.get(b.program(), other).refused(t, "another's account", http.StatusBadRequest,
		"SWEEP_ACCOUNTUID_NOTFOUND", "no such account")
	b.call(b.program(), http.MethodDelete, at+"in", "").refused(t, "nothing to remove", http.StatusBadRequest,
		"SWEEP_DIRECTION_NOTFOUND", "no sweep")
}
