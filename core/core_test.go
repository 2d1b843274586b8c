package core_test

import (
	"context"
	"encoding"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/alerts"
	"bankgraph/core/audit"
	"bankgraph/core/banks"
	"bankgraph/core/changes"
	"bankgraph/core/clients"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/fees"
	"bankgraph/core/fx"
	"bankgraph/core/holds"
	"bankgraph/core/issuers"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/roles"
	"bankgraph/core/seal"
	"bankgraph/core/signatories"
	"bankgraph/core/sweeps"
	"bankgraph/core/tenants"
	"bankgraph/core/users"
	"bankgraph/core/verifications"
	"bankgraph/core/virtualaccounts"
	"bankgraph/core/waterfalls"
	"bankgraph/core/webhooks"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// The rules in this file apply to every service and every type of core.

func open(t *testing.T) *core.Core {
	t.Helper()
	pools, err := db.Open(dbtest.Shared(t), db.Options{Connections: 4, Tracer: dbtest.Watch(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pools.Close() })
	return core.New(core.Options{DB: pools, Keys: seal.New(), PublicURL: "http://127.0.0.1"})
}

// beforeCallers are open to everybody: they issue and verify what identifies a caller, or tell what time it
// is, to transactions that many callers share.
var beforeCallers = map[string]bool{
	"Tenants.Find": true, "Clients.Issue": true, "Clients.Refresh": true, "Clients.Verify": true,
	"Clients.VerifyFor": true, "Clients.PublicKeys": true, "Clients.Issuer": true, "Issuers.Verify": true,
	"Users.Actor": true, "Users.ActorLinked": true, "Users.ActorNamed": true, "Roles.ActiveOf": true,
	"Users.Granted": true, "Clock.Now": true,
}

func TestEveryServiceMethodAsksWhoCalls(t *testing.T) {
	t.Parallel()
	c := open(t)
	asked := 0
	for name, service := range services(c) {
		for m := range service.NumMethod() {
			method, signature := name+"."+service.Type().Method(m).Name, service.Method(m).Type()
			if beforeCallers[method] || signature.NumIn() == 0 ||
				signature.In(0) != reflect.TypeFor[context.Context]() || inTransaction(signature) {
				continue
			}
			asked++
			t.Run(method, func(t *testing.T) {
				t.Parallel()
				if err := call(c, service.Method(m)); !errors.Is(err, access.ErrUnauthenticated) {
					t.Errorf("called by nobody, it answers %v", err)
				}
			})
		}
	}
	if asked < 20 {
		t.Errorf("only %d methods were asked: the test has lost the services", asked)
	}
}

// inTransaction reports whether the method joins a transaction, whose owner has checked the permission.
func inTransaction(signature reflect.Type) bool {
	for i := range signature.NumIn() {
		if at := signature.In(i).String(); at == "bun.Tx" || at == "bun.IDB" || at == "*changes.Tx" {
			return true
		}
	}
	return false
}

// call calls a method without a caller, with zero values, and returns its error: the last result, or that of
// a batch's result.
func call(c *core.Core, method reflect.Value) error {
	in := []reflect.Value{reflect.ValueOf(context.Background())}
	for i := 1; i < method.Type().NumIn(); i++ {
		at := method.Type().In(i)
		if at == reflect.TypeFor[*db.Batch]() {
			in = append(in, reflect.ValueOf(c.Batch()))
			continue
		}
		in = append(in, reflect.Zero(at))
	}
	call := method.Call
	if method.Type().IsVariadic() {
		call = method.CallSlice
	}
	out := call(in)
	last := out[len(out)-1]
	if err, ok := last.Interface().(error); ok {
		return err
	}
	for _, name := range []string{"Check", "Of"} { // the methods of batch results that are no plain rows
		if read := last.MethodByName(name); read.IsValid() {
			var in []reflect.Value
			for i := range read.Type().NumIn() {
				in = append(in, reflect.Zero(read.Type().In(i)))
			}
			out := read.Call(in)
			err, _ := out[len(out)-1].Interface().(error)
			return err
		}
	}
	if last.Kind() == reflect.Pointer && !last.IsNil() {
		if err := last.Elem().FieldByName("Err"); err.IsValid() && !err.IsNil() {
			return err.Interface().(error)
		}
	}
	return nil
}

// models lists all types that have a table.
var models = []any{
	(*audit.Entry)(nil), (*events.Event)(nil), (*changes.Approval)(nil), (*tenants.Tenant)(nil),
	(*roles.Role)(nil), (*users.User)(nil), (*users.RoleOf)(nil), (*issuers.Issuer)(nil), (*clients.Client)(nil),
	(*customers.Customer)(nil), (*customers.Configured)(nil), (*contacts.Contact)(nil),
	(*accounts.Account)(nil), (*accounts.Sweep)(nil), (*sweeps.Run)(nil), (*signatories.Signatory)(nil),
	(*fees.Tier)(nil), (*limits.Limit)(nil), (*banks.Bank)(nil), (*banks.Report)(nil),
	(*ledger.Balance)(nil), (*ledger.Journal)(nil), (*ledger.Posting)(nil),
	(*holds.Hold)(nil), (*alerts.Alert)(nil), (*payments.InformationRequest)(nil),
	(*virtualaccounts.VirtualAccount)(nil), (*virtualaccounts.VirtualPosting)(nil), (*positivepay.Rule)(nil),
	(*waterfalls.Waterfall)(nil), (*waterfalls.Step)(nil), (*fx.Quote)(nil), (*fx.Trade)(nil),
	(*webhooks.Webhook)(nil), (*webhooks.Delivery)(nil), (*webhooks.Attempt)(nil),
	(*verifications.Verification)(nil), (*payments.Prenote)(nil),
}

func TestEveryColumnExists(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, model := range models {
		t.Run(reflect.TypeOf(model).Elem().String(), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if _, err := c.DB.NewSelect().Model(model).Limit(1).Exec(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEveryFieldIsLabelledForPartners(t *testing.T) {
	t.Parallel()
	for _, model := range models {
		labelled(t, reflect.TypeOf(model).Elem(), map[reflect.Type]bool{})
	}
}

// labelled fails for each exported field without a json tag, which is "-" if partners must not see the field.
func labelled(t *testing.T, model reflect.Type, seen map[reflect.Type]bool) {
	t.Helper()
	if seen[model] || !strings.HasPrefix(model.PkgPath(), "bankgraph/core/") ||
		model.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		model.Implements(reflect.TypeFor[interface{ MarshalJSON() ([]byte, error) }]()) &&
			model.Name() != "Customer" {
		return
	}
	seen[model] = true
	for i := range model.NumField() {
		field := model.Field(i)
		label, ok := field.Tag.Lookup("json")
		if !ok && field.IsExported() && !field.Anonymous {
			t.Errorf("%s.%s has no json tag", model, field.Name)
		}
		if kind := field.Type; label != "-" && kind.Kind() == reflect.Struct {
			labelled(t, kind, seen)
		}
	}
}
