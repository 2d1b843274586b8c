package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/codegen/config"
)

// configured is the configuration that generates from a schema into a folder of its own.
func configured(t *testing.T, name, text string) *config.Config {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.DefaultConfig()
	cfg.SchemaFilename = config.StringList{file}
	cfg.Exec.Filename = filepath.Join(folder, "generated.go")
	cfg.Model.Filename = filepath.Join(folder, "models.go")
	cfg.Directives["cost"] = config.DirectiveConfig{SkipRuntime: true}
	if err := config.CompleteConfig(cfg); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// A directive that nothing carries out must be refused: a field with @auth would otherwise look protected but
// be shown.
func TestGenerationRefusesDirectivesThatItCannotCarry(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"field": `directive @auth(may: String!) on FIELD_DEFINITION
			type Query { secret: String @auth(may: "x") }`,
		"field of an input": `directive @trim on INPUT_FIELD_DEFINITION  input In { name: String @trim }
			type Query { find(by: In): String }`,
		"argument": `directive @least(n: Int!) on ARGUMENT_DEFINITION
			type Query { list(first: Int @least(n: 1)): String }`,
		"object":   `directive @own on OBJECT  type Query @own { secret: String }`,
		"document": `directive @slow on FIELD | QUERY  type Query { secret: String }`,
		"extension": `type Query { a: String }  directive @auth on FIELD_DEFINITION
			extend type Query { b: String @auth }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := configured(t, "bank.graphqls", text)
			if err := generate(cfg); err == nil || !strings.Contains(err.Error(), "bank.graphqls:1: directive @") {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(cfg.Exec.Filename); err == nil {
				t.Error("code was written all the same")
			}
		})
	}
}

func TestGenerationTakesDirectivesThatOnlySaySomething(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`type Query { old: String @deprecated(reason: "use new"), new: String }`,
		`input By @oneOf { a: String, b: String }  type Query { find(by: By!): String }`,
		`directive @cost(weight: Int!) on FIELD_DEFINITION  type Query { dear: String @cost(weight: 5) }`,
	} {
		cfg := configured(t, "bank.graphqls", text)
		if err := cfg.LoadSchema(); err != nil {
			t.Fatal(err)
		}
		if err := refuseDirectives(cfg); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Developers who add a type are told what is missing, where it is looked for, and what to do.
func TestTypesOfTheSchemaAreFoundInGo(t *testing.T) {
	t.Parallel()
	cfg := configured(t, "accounts.graphqls", `
		type Query { account: Account }
		type Mutation { addContact(input: AddContactInput!): AddContactPayload }
		interface Node { id: ID! }
		type Account implements Node { id: ID!, uid: String, status: AccountStatus, customer: Customer,
		subType: AccountSubType }
		type Customer implements Node { id: ID!, legalName: String,
		contacts(by: ContactFilter): ContactConnection, fees: [FeeTier!] }
		type ContactConnection { nodes: [Contact!]! }
		type Contact implements Node { id: ID!, bank: ContactBank }
		type ContactBank { name: String }
		type FeeTier { tierPosition: Int }
		enum AccountStatus { ACTIVE NEW }
		enum AccountSubType { HEALTH_SAVINGS LINE_OF_CREDIT }
		input ContactFilter { name: String }
		input ContactBankInput { name: String }
		input AddContactInput { customer: ID!, bank: ContactBankInput }
		type AddContactPayload { contact: Contact, replayed: Boolean! }`)
	cfg.Models["FeeTier"] = config.TypeMapEntry{Model: config.StringList{"bankgraph/core/fees.Tier"}}
	if err := cfg.Init(); err != nil {
		t.Fatal(err)
	}
	bound := &bindings{cfg: cfg, root: "../.."}
	if err := bound.MutateSchema(cfg.Schema); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Account": "bankgraph/core/accounts.Account", "AccountStatus": "bankgraph/core/accounts.Status",
		"Customer": "bankgraph/core/customers.Customer", "ContactBank": "bankgraph/core/contacts.Bank",
		"ContactFilter": "bankgraph/core/contacts.Search", "ContactBankInput": "bankgraph/core/contacts.BankDraft",
		"ContactConnection": "bankgraph/graph/model.ContactConnection",
		"AddContactInput":   "bankgraph/graph/model.ContactDraft",
		"AddContactPayload": "bankgraph/graph/model.ContactPayload",
	} {
		if got := cfg.Models[name].Model; len(got) != 1 || got[0] != want {
			t.Errorf("%s is %v, not %s", name, got, want)
		}
	}
	for name, want := range map[string]config.TypeMapField{
		"Account.id": {FieldName: "UID"}, "Account.customer": {Resolver: true}, "Account.status": {},
		"ContactConnection.nodes": {},
		"Customer.contacts":       {Resolver: true}, "Customer.fees": {Resolver: true}, "Contact.bank": {},
		"AddContactPayload.contact": {FieldName: "Object"}, "AddContactPayload.replayed": {},
	} {
		object, field, _ := strings.Cut(name, ".")
		if got := cfg.Models[object].Fields[field]; got.FieldName != want.FieldName ||
			got.Resolver != want.Resolver {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got := cfg.Models["AccountSubType"].EnumValues["HEALTH_SAVINGS"].Value
	if got != "bankgraph/core/accounts.HealthSavings" {
		t.Error(got)
	}
	if got := cfg.Models["AccountStatus"].EnumValues["NEW"].Value; got != "bankgraph/core/accounts.StatusNew" {
		t.Error(got)
	}
}

func TestWhatIsNotFoundInGoIsNamed(t *testing.T) {
	t.Parallel()
	cfg := configured(t, "accounts.graphqls", `type Query { account: Account, address: Address, ghost: Ghost }
		type Account { status: AccountStatus }  enum AccountStatus { ACTIVE GONE }
		type Address { city: String }  type Ghost { a: String }`)
	if err := cfg.Init(); err != nil {
		t.Fatal(err)
	}
	err := (&bindings{cfg: cfg, root: "../.."}).MutateSchema(cfg.Schema)
	for _, want := range []string{
		"accounts.graphqls: no Go type is called like Ghost; say in gqlgen.yml which one it is",
		"accounts.graphqls: no Go type is called like Address", // there are two
		"AccountStatus.GONE: 0 constants of type bankgraph/core/accounts.Status are called so; say in " +
			"gqlgen.yml which one it is",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %s", err, want)
		}
	}
}
