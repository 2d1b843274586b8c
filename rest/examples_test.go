package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/demo"
	"bankgraph/core/payments"
	"bankgraph/core/seal"
	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/rest"
)

// demoBank makes the bank that documentation quotes, with its staff as the caller.
func demoBank(t *testing.T) *bank {
	t.Helper()
	d, err := db.Open(dbtest.URL(t), db.Options{Connections: 4, Tracer: dbtest.Watch(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	clock := &coretest.Clock{}
	clock.Set(coretest.Start)
	made := &coretest.Bank{Core: core.New(core.Options{DB: d, Keys: seal.New(), Now: clock.Now}), Clock: clock}
	err = d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		return tx.NewRaw(
			`INSERT INTO tenants (code, name, zone, currency, sandbox)
				VALUES ('sandbox', 'Sandbox Bank', 'America/New_York', 'USD', true) RETURNING id`).
			Scan(ctx, &made.Tenant)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Fill(t.Context(), made.Core, made.Tenant, demo.Options{Customers: demo.Fewest}); err != nil {
		t.Fatal(err)
	}
	if err := demo.Directory(access.Operator(t.Context(), 0, "", nil), made.Core); err != nil {
		t.Fatal(err)
	}
	operator := access.Operator(t.Context(), made.Tenant, "sandbox", coretest.Zone())
	if err := demo.Ask(operator, made.Core, "demo-staff"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := made.Files.Check(operator); err != nil {
			t.Fatal(err)
		}
	}
	return &bank{Bank: made, t: t, handler: checked(t, rest.New(made.Core, rest.Options{}))}
}

// TestExamplesAreTheDemoBanks calls every operation with its example parameters and body, and compares the
// answer with the examples of the fields. Users who try the reference's examples get what it shows.
func TestExamplesAreTheDemoBanks(t *testing.T) {
	t.Parallel()
	b, doc := demoBank(t), readDocument(t)
	ctx := access.With(t.Context(), access.Caller{
		Tenant: b.Tenant, Zone: coretest.Zone(), Entity: int64(demo.Institution), Partner: int64(demo.Institution),
		Reach:       access.OfBank,
		Permissions: append(slices.Clone(access.Readers), access.UploadFiles, access.ManageExceptions),
	})
	seen := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Security != nil || changes(operation) || // changes: see TestExamplesOfChangesWork
				strings.HasPrefix(path, "/v1/rfi/") { // the demo has no such payment
				continue
			}
			r := exampleOf(t, method, path, operation)
			r.Header.Set(asDocumented, "yes")
			answer := b.send(ctx, r)
			if answer.status != http.StatusOK {
				t.Errorf("%s %s: %d %s", method, r.URL, answer.status, answer.body)
				continue
			}
			var body any
			if err := json.Unmarshal([]byte(answer.body), &body); err != nil {
				t.Fatal(err)
			}
			schema := operation.Responses.Status(http.StatusOK).Value.Content.Get("application/json").Schema
			compareExamples(t, schema, body, operation.OperationID, seen)
		}
	}
	for _, name := range []string{
		"CustomerG1", "CustomerItemV2", "ContactG1", "ContactV2", "AccountG1", "AccountItemV2", "AccountV2",
		"AccountV3", "Signatory", "Limit", "Profile", "User", "UserItem", "Role", "RoleItem", "BankFound",
		"BankRouted", "Payment", "PaymentItem",
	} {
		if !seen["#/components/schemas/"+name] {
			t.Errorf("no operation's examples find a %s", name)
		}
	}
}

// changes reports whether an operation changes something: such operations take an idempotency key.
func changes(operation *openapi3.Operation) bool {
	return operation.Parameters.GetByInAndName(openapi3.ParameterInHeader, "Idempotency-Key") != nil
}

// TestExamplesOfChangesWork calls every operation that changes something with its examples, on the demo bank,
// in the order of the document's paths. Deletions come last.
func TestExamplesOfChangesWork(t *testing.T) {
	t.Parallel()
	b, doc := demoBank(t), readDocument(t)
	ctx := access.With(t.Context(), access.Caller{
		Tenant: b.Tenant, Zone: coretest.Zone(), Client: "staff", Entity: int64(demo.Institution),
		Partner: int64(demo.Institution), Reach: access.OfBank, Permissions: access.All,
	})
	var ruth uuid.UUID
	err := db.Raw(b.DB, `SELECT uid FROM users WHERE tenant = ? AND status = 'Active'
		ORDER BY login_id LIMIT 1`, int64(b.Tenant)).
		Scan(t.Context(), &ruth)
	if err != nil {
		t.Fatal(err)
	}
	person := access.With(t.Context(), access.Caller{
		Tenant: b.Tenant, Zone: coretest.Zone(), Client: "portal", LoginID: "ruth", User: ruth,
		Entity: int64(demo.Institution), Partner: int64(demo.Institution), Reach: access.OfBank,
		Permissions: access.All,
	})
	for _, methods := range [][]string{
		{http.MethodPost, http.MethodPut, http.MethodPatch},
		{http.MethodDelete},
	} {
		for _, path := range doc.Paths.InMatchingOrder() {
			for _, method := range methods {
				operation := doc.Paths.Value(path).GetOperation(method)
				if operation == nil || !changes(operation) {
					continue
				}
				of := path
				if strings.HasSuffix(path, "/return") || strings.HasSuffix(path, "/recall") ||
					strings.HasSuffix(path, "/rfi") { // the demo has no such payment
					of = strings.ReplaceAll(path, "{paymentUID}",
						b.credited(ctx, demo.Account(1, 0)).String())
				}
				if strings.HasSuffix(path, "/answer") { // nor one that its network has not answered for good
					sent := b.sends(ctx, demo.Account(2, 0), payments.Receiver{Contact: demo.Contact(2, 0)})
					of = strings.ReplaceAll(path, "{paymentUID}", sent.String())
				}
				if strings.Contains(path, "/recurring/") {
					of = b.ofAnotherSeries(ctx, path) // as a change of the first one waits by now
				}
				if strings.HasPrefix(path, "/v1/rfi/") {
					of = strings.ReplaceAll(path, "{paymentId}", b.credited(ctx, demo.Account(1, 0)).String())
				}
				held := ""
				if strings.Contains(of, "{paymentId}") || strings.Contains(path, "/decisions/") ||
					strings.HasSuffix(path, "/approveall") { // nor a debit that is held
					held = b.debited(demo.Account(1, 0)).String()
					of = strings.ReplaceAll(of, "{paymentId}", held)
				}
				r := exampleOf(t, method, of, operation)
				if strings.HasSuffix(path, "/approveall") {
					text := `{"paymentUID": ["` + held + `"]}`
					r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
				}
				if strings.HasPrefix(path, "/v1/positivepay/payments/decisions/") {
					text := `{"ids": ["` + held + `"]}`
					r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
				}
				r.Header.Set(asDocumented, "yes")
				by := ctx
				if strings.HasPrefix(path, "/bulkpayment/files/{") { // people decide
					by = person
				}
				if answer := b.send(by, r); answer.status >= 300 {
					t.Errorf("%s %s: %d %s", method, r.URL, answer.status, answer.body)
				}
			}
		}
	}
}

// exampleOf makes a request from the examples of an operation's parameters and body fields.
func exampleOf(t *testing.T, method, path string, operation *openapi3.Operation) *http.Request {
	t.Helper()
	var query []string
	for _, p := range operation.Parameters {
		switch value := plainText(p.Value.Example); {
		case p.Value.In == openapi3.ParameterInPath:
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", value)
		case p.Value.In == openapi3.ParameterInQuery && p.Value.Example != nil:
			query = append(query, p.Value.Name+"="+value)
		}
	}
	header := http.Header{}
	for _, p := range operation.Parameters {
		if p.Value.In == openapi3.ParameterInHeader && p.Value.Required {
			header.Set(p.Value.Name, plainText(p.Value.Example))
		}
	}
	body := ""
	if operation.RequestBody != nil {
		media, fields := operation.RequestBody.Value.Content.Get("application/json"), map[string]any{}
		if media == nil { // a form with a file
			// another file than that of another operation
			text := demo.Payroll(demo.First) + strings.Repeat("\n", 1+len(query))
			return request(method, path+"?"+strings.Join(query, "&"), form("payroll.csv", text))
		}
		for name, field := range media.Schema.Value.Properties {
			if field.Value.Example != nil {
				fields[name] = field.Value.Example
			}
		}
		var example any = fields
		if media.Example != nil {
			example = media.Example
		}
		text, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		body = string(text)
	}
	made := request(method, path+"?"+strings.Join(query, "&"), body)
	for name := range header {
		made.Header.Set(name, header.Get(name))
	}
	return made
}

// plainText returns a text, or a number without an exponent.
func plainText(example any) string {
	if number, ok := example.(float64); ok {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return fmt.Sprint(example)
}

// compareExamples checks the first item of lists, and each named schema once: at its first use in an
// operation about the schema's own subject.
func compareExamples(t *testing.T, ref *openapi3.SchemaRef, value any, at string, seen map[string]bool) {
	t.Helper()
	if ref.Ref != "" && shared[ref.Ref] {
		return
	}
	seen[ref.Ref] = true
	schema := ref.Value
	if value == nil && (schema.Nullable || leftOut(schema)) {
		return
	}
	if schema.Example != nil {
		if same, _ := json.Marshal(value); !reflect.DeepEqual(plainJSON(schema.Example), plainJSON(value)) {
			t.Errorf("%s\texample is\t%v\tthe demo bank says\t%s", at, schema.Example, same)
		}
		return
	}
	switch value := value.(type) {
	case []any:
		if len(value) > 0 && schema.Items != nil {
			compareExamples(t, schema.Items, value[0], at+"[]", seen)
		}
	case map[string]any:
		for _, part := range schema.AllOf {
			compareExamples(t, part, value, at, seen)
		}
		for _, one := range schema.OneOf {
			if len(exactly(one.Value, value, "")) == 0 {
				compareExamples(t, one, value, at, seen)
			}
		}
		for name, field := range schema.Properties {
			compareExamples(t, field, value[name], at+"."+name, seen)
		}
	}
}

// shared schemas are used in many places, with different values.
var shared = map[string]bool{
	"#/components/schemas/Address": true, "#/components/schemas/Attribute": true,
	"#/components/schemas/Reporting":        true,
	"#/components/schemas/IntermediaryBank": true, "#/components/schemas/AccessSettings": true,
	"#/components/schemas/Pagination":     true,
	"#/components/schemas/CustomerStatus": true, "#/components/schemas/CustomerType": true,
	"#/components/schemas/AccountStatus": true, "#/components/schemas/AccountSubType": true,
}

// plainJSON converts a value to its JSON form, in which all numbers have one type.
func plainJSON(value any) (plain any) {
	text, _ := json.Marshal(value)
	_ = json.Unmarshal(text, &plain)
	return plain
}

// ofAnotherSeries names a payment, and its series, other than the first one, in a path.
func (b *bank) ofAnotherSeries(ctx context.Context, path string) string {
	b.t.Helper()
	var payment payments.UID
	var series payments.RecurrenceUID
	err := db.Raw(b.DB,
		"SELECT uid, recurrence FROM payments WHERE tenant = ? AND recurrence > 1 "+
			"ORDER BY recurrence LIMIT 1", int64(b.Tenant)).Scan(ctx, &payment, &series)
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.NewReplacer("{paymentUID}", payment.String(), "{recurrenceId}", series.String()).
		Replace(path)
}
