package graph_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/payments"
	"bankgraph/core/roles"
	"bankgraph/core/signatories"
	"bankgraph/graph"
	"bankgraph/graph/generated"
)

// Random documents over the whole schema are executed both directly (package direct) and by gqlgen. gqlgen's
// answer is the expected one.
func TestBothWaysOfExecutionAnswerAlike(t *testing.T) {
	t.Parallel()
	bank := coretest.Alone(t)
	parent := bank.Customer()
	customer := bank.Customer(func(c *customers.Customer) {
		c.Parent, c.ParentEntityShortName = &parent.UID, parent.ShortName
	})
	account, other := bank.Account(customer, coretest.Holding(100_00, 0)), bank.Account(customer)
	bank.Account(parent)
	contact := bank.Contact(customer)
	bank.Contact(parent)
	signatory := bank.Signatory(customer)
	bank.Limit(customer, "FEDWIRE_PAYMENT_LIMIT_PER_DAY", 100)
	bank.Limit(customer, "ACH_PAYMENT_LIMIT_PER_TRANSACTION", 100_00)
	bank.Fee(customer)

	role := bank.Role(customer)
	user := bank.User(customer, []*roles.Role{role})
	pay(t, bank, account.UID, other.UID)
	waits := approval(t, bank, customer)
	direct, fieldwise := graph.New(bank.Core, graph.Options{}), graph.Resolving(bank.Core, graph.Options{})
	callers := []context.Context{
		bank.Staff(), bank.Reader(), bank.As(access.ViewCustomers), bank.As(access.ViewAccounts), bank.As(),
	}
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	w := &documents{schema: schema, values: map[string][]string{
		"CustomerBy": {
			fmt.Sprintf("{uid: %q}", customer.UID), fmt.Sprintf("{shortName: %q}", customer.ShortName), `{uid: "5"}`,
			fmt.Sprintf("{accountNumber: %q}", coretest.AccountNumber(account.UID)),
		},
		"AccountBy": {
			fmt.Sprintf("{uid: %q}", account.UID), fmt.Sprintf("{number: %q}", coretest.AccountNumber(account.UID)),
			`{number: "nobody"}`,
		},
		"ID": {
			fmt.Sprintf("%q", "cus_"+customer.UID.String()), fmt.Sprintf("%q", "acc_"+account.UID.String()),
			fmt.Sprintf("%q", "con_"+contact.UID.String()), fmt.Sprintf("%q", "sig_"+signatory.UID.String()),
			fmt.Sprintf("%q", "apr_"+waits), `"aud_1"`, fmt.Sprintf("%q", "usr_"+user.UID.String()),
			fmt.Sprintf("%q", "rol_"+role.UID.String()), `"cus_1"`, `"nonsense"`,
		},
		"Int":  append(slices.Repeat([]string{"1", "2", "5", "20"}, 8), "0", "201"),
		"UID":  {fmt.Sprintf("%q", parent.UID)},
		"Rail": {"ACH", "FEDWIRE", "RTP"}, "EntryType": {"CREDIT", "DEBIT", "null"},
		"SecCode": {"PPD", "null", "null"}, "Amount": {`"1000.01"`, `"1"`, "null", "null", `"-1"`},
		"Date":           {`"2026-11-21"`, "null"},
		"AuditDecision":  {"DONE"},
		"AuditFilter":    {"null", "{}", `{object: "signatory"}`, fmt.Sprintf("{customer: %q}", customer.UID)},
		"ApprovalFilter": {"null", "{}", "{status: APPROVED}"}, "CustomerOrder": {"UID", "NAME"},
		"CustomerFilter": {"null", "{type: CORPORATE}", `{namePrefix: "a"}`},
		"AccountFilter":  {"null", "{status: ACTIVE}"},
		"UserFilter":     {"null", "{status: ACTIVE}", `{lastName: "k"}`}, "RoleFilter": {"null", `{name: "role"}`},
		"ContactFilter":        {"null", `{name: "a"}`},
		"VirtualAccountBy":     {`{uid: "5"}`, `{number: "80000000000001"}`},
		"VirtualAccountFilter": {"null", `{name: "a"}`},
		"PaymentFilter":        {"null", "{status: [PROCESSED]}", `{amountAtLeast: "1"}`},
		"SendPaymentInput": {fmt.Sprintf(`{senderAccount: {uid: %q}, receiver: {contact: %q}, amount: "1",
			currency: "USD",
			speed: INSTANT, externalReferenceId: "1", idempotencyKey: "1"}`, account.UID, contact.UID)},
		"TransferFundsInput": {fmt.Sprintf(`{senderAccount: {uid: %q}, receiverAccount: {uid: %q}, amount: "1",
			idempotencyKey: "1"}`, account.UID, other.UID)},
	}}
	answered, failed := 0, 0
	for seed := range uint64(600) {
		w.random = rand.New(rand.NewPCG(seed, 20261121))
		document := w.document()
		for i, caller := range callers {
			one, other := ask(caller, direct, document), ask(caller, fieldwise, document)
			if !bytes.Equal(one.Data, other.Data) || one.errors() != other.errors() {
				t.Fatalf("seed %d, caller %d\n%s\n\ndirect     %s\n%s\n\nfield by field %s\n%s",
					seed, i, document, one.Data, one.errors(), other.Data, other.errors())
			}
			if len(one.Errors) == 0 {
				answered++
			} else {
				failed++
			}
		}
	}
	if answered < 200 || failed < 200 {
		t.Errorf("%d answers and %d errors: the documents have become too alike", answered, failed)
	}
}

type reply struct {
	Data   json.RawMessage
	Errors []json.RawMessage
}

// errors returns the errors in a fixed order: gqlgen adds them as its goroutines finish.
func (r reply) errors() string {
	lines := make([]string, len(r.Errors))
	for i, e := range r.Errors {
		lines[i] = string(e)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func ask(ctx context.Context, h http.Handler, document string) (r reply) {
	body, _ := json.Marshal(map[string]string{"query": document})
	return post(ctx, h, string(body))
}

func post(ctx context.Context, h http.Handler, body string) (r reply) {
	request := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body)).WithContext(ctx)
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	if err := json.Unmarshal(recorder.Body.Bytes(), &r); err != nil {
		panic(fmt.Sprintf("%v: %s", err, recorder.Body))
	}
	return r
}

// pay moves 1.00 from one account to another.
func pay(t *testing.T, bank *coretest.Bank, from, to accounts.UID) {
	t.Helper()
	_, err := bank.Payments.Transfer(bank.Staff(), payments.Draft{
		Sender: payments.Party{UID: from}, Receiver: payments.Party{UID: to}, Amount: "1",
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// approval makes a change of the customer that waits, and returns the approval's number.
func approval(t *testing.T, bank *coretest.Bank, of *customers.Customer) string {
	t.Helper()
	bank.Exec(`UPDATE customers SET access_customer_dual_approval = true WHERE tenant = ? AND uid = ?`,
		bank.Tenant, of.UID)
	out, err := bank.Signatories.Add(bank.Staff(), of.UID, signatories.Draft{
		FullName: given.Of("Ada Byron"), EmailAddress: given.Of("ada@mail.example"),
		PhoneNumber: given.Of("+16145550123"),
	}, changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	return changes.UID(out.Approval).String()
}

// documents writes random queries.
type documents struct {
	schema *ast.Schema
	random *rand.Rand
	values map[string][]string // of each type of argument
	out    strings.Builder
}

func (w *documents) document() string {
	w.out.Reset()
	w.out.WriteString("query Random")
	w.selection(w.schema.Query, 0)
	return w.out.String()
}

// selection writes some fields of a type, fewer at greater depth. Some are aliased, in a fragment, repeated
// or skipped.
func (w *documents) selection(definition *ast.Definition, depth int) {
	w.out.WriteString(" { ")
	if depth > 0 {
		w.out.WriteString("__typename ")
	}
	if definition.Kind == ast.Interface {
		w.out.WriteString("id ")
		for _, of := range w.schema.PossibleTypes[definition.Name] {
			w.out.WriteString("... on " + of.Name)
			w.selection(of, depth+1)
		}
		w.out.WriteString("} ")
		return
	}
	wanted := 6 - depth
	for range max(1, wanted) {
		field := definition.Fields[w.random.IntN(len(definition.Fields))]
		named := w.schema.Types[field.Type.Name()]
		if strings.HasPrefix(field.Name, "__") || named.IsCompositeType() && depth > 5 {
			continue
		}
		fragment := w.random.IntN(6) == 0 && depth > 0
		if fragment {
			w.out.WriteString("... on " + definition.Name + " { ")
		}
		// the same field with other arguments needs an alias
		if len(field.Arguments) > 0 || w.random.IntN(8) == 0 {
			fmt.Fprintf(&w.out, "a%d: ", w.random.IntN(1_000_000))
		}
		w.out.WriteString(field.Name)
		w.arguments(field)
		switch w.random.IntN(12) {
		case 0:
			w.out.WriteString(" @skip(if: true)")
		case 1:
			w.out.WriteString(" @include(if: true)")
		}
		if named.IsCompositeType() {
			w.selection(named, depth+1)
		}
		w.out.WriteString(" ")
		if fragment {
			w.out.WriteString("} ")
		}
	}
	w.out.WriteString("__typename } ")
}

func (w *documents) arguments(field *ast.FieldDefinition) {
	var written []string
	for _, argument := range field.Arguments {
		switch {
		case argument.Name == "ids" && w.values["[ID]"] != nil:
			written = append(written, "ids: "+w.value("[ID]"))
		case argument.Name == "ids":
			written = append(written, "ids: ["+w.value("ID")+", "+w.value("ID")+"]")
		case argument.Name == "after" || argument.Name == "before" ||
			argument.Name == "last" && w.random.IntN(4) > 0:
		case argument.Type.NonNull || w.random.IntN(2) == 0:
			if value := w.value(argument.Type.Name()); value != "null" || !argument.Type.NonNull {
				written = append(written, argument.Name+": "+value)
			}
		}
	}
	if len(written) > 0 {
		w.out.WriteString("(" + strings.Join(written, ", ") + ")")
	}
}

func (w *documents) value(of string) string {
	values := w.values[of]
	if definition := w.schema.Types[of]; len(values) == 0 && definition != nil {
		values = []string{"null"}
		for _, value := range definition.EnumValues {
			values = append(values, value.Name)
		}
	}
	return values[w.random.IntN(len(values))]
}
