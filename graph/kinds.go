package graph

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/limits"
	"bankgraph/core/rails"
	"bankgraph/core/signatories"
	"bankgraph/db"
	"bankgraph/graph/generated"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

// schema is the parsed schema, as the server serves it.
var schema = generated.NewExecutableSchema(generated.Config{}).Schema()

// The object types that are read from the database. Fields that are not called as in core say what they need.
var (
	customerKind = newKind[customers.Customer]("Customer", map[string][]string{
		"id": {"UID"}, "parent": {"Parent"}, "accounts": {"UID"}, "contacts": {"UID"}, "signatories": {"UID"}, "limits": {"UID"}, "fees": {"UID"},
		"history": {"UID"}, "users": {"UID"}, "roles": {"UID"},
	})
	accountKind = newKind[accounts.Account]("Account", map[string][]string{
		"id": {"UID"}, "balances": {"Balance", "Currency"}, "customer": {"Customer"}, "sweeps": {"UID"}, "history": {"UID"},
		"externalAccount": {"ExternalProvider", "ExternalID"},
		"features": {
			"Currency", "EnableWires", "EnableDomesticWires", "EnableInternationalWires", "EnableCallbacks", "CallbackLimit",
			"EnableACH", "EnableOffset", "DefaultOffset", "Underwritten", "ACHPrefund", "DebitExposureLimit", "CreditExposureLimit",
			"ACHCompanyID", "SECCodes", "EnableFedNow", "FedNowSend", "FedNowRFPSend", "EnableRTP", "RTPSend", "RTPRFPSend",
			"RFPReceive", "RFPSend", "EnableSWIFT", "EnablePositivePay", "AccountAnalysis", "FeeAccount", "ReturnAccount",
		},
	})
	contactKind = newKind[contacts.Contact]("Contact", map[string][]string{
		"id": {"UID"}, "customer": {"Customer"}, "bank.accountNumber": {"Bank.AccountNumber"}, "intermediaryBank": {"Intermediary"}, "history": {"UID"},
	})
	signatoryKind = newKind[signatories.Signatory]("Signatory", map[string][]string{
		"id": {"UID"}, "customer": {"Customer"}, "approvalLimit": {"LimitMinor", "Currency"}, "history": {"UID"},
	})
)

// changes that wait for a second person
var approvalKind = newKind[changes.Approval]("Approval", map[string][]string{
	"id": {"UID"}, "customer": {"Customer"}, "changes": {"Before", "After"},
})

// The relations between them. Each is planned ahead, and served by a loader where it was not.
var (
	customerAccounts = of(customerUID, list[customers.UID, accounts.UID, accounts.Account, accounts.Search]{
		rows: func(ctx context.Context, o *operation, b *db.Batch, of []customers.UID, by accounts.Search, want db.Columns, w window) *db.Many[customers.UID, accounts.Account] {
			return o.core.Accounts.OfCustomers(ctx, b, of, by, want, w)
		},
		count: func(ctx context.Context, o *operation, b *db.Batch, of []customers.UID, by accounts.Search) *db.Many[customers.UID, db.Count] {
			return o.core.Accounts.CountUpTo(ctx, b, of, by, model.MostCounted+1)
		},
		key: accountUID, kind: func() *kind { return accountKind },
	})
	customerContacts = of(customerUID, list[customers.UID, contacts.UID, contacts.Contact, contacts.Search]{
		rows: func(ctx context.Context, o *operation, b *db.Batch, of []customers.UID, by contacts.Search, want db.Columns, w window) *db.Many[customers.UID, contacts.Contact] {
			return o.core.Contacts.OfCustomers(ctx, b, of, by, want, w)
		},
		count: func(ctx context.Context, o *operation, b *db.Batch, of []customers.UID, by contacts.Search) *db.Many[customers.UID, db.Count] {
			return o.core.Contacts.CountUpTo(ctx, b, of, by, model.MostCounted+1)
		},
		key: contactUID, kind: func() *kind { return contactKind },
	})
	customerSignatories = of(customerUID, list[customers.UID, signatories.UID, signatories.Signatory, struct{}]{
		rows: func(ctx context.Context, o *operation, b *db.Batch, of []customers.UID, _ struct{}, want db.Columns, w window) *db.Many[customers.UID, signatories.Signatory] {
			return o.core.Signatories.OfCustomers(ctx, b, of, want, w)
		},
		count: func(ctx context.Context, o *operation, b *db.Batch, of []customers.UID, _ struct{}) *db.Many[customers.UID, db.Count] {
			return o.core.Signatories.CountOfCustomers(ctx, b, of)
		},
		key: signatoryUID, kind: func() *kind { return signatoryKind },
	})
	customerLimits    = &relation[customers.Customer, customers.UID, []*limits.Limit]{key: customerUID, queue: queueLimits}
	customerFees      = &relation[customers.Customer, customers.UID, []*fees.Tier]{key: customerUID, queue: queueFees}
	accountSweeps     = &relation[accounts.Account, accounts.UID, []*accounts.Sweep]{key: accountUID, queue: queueSweeps}
	customerParent    = toCustomer(customerUID, func(c *customers.Customer) *customers.UID { return c.Parent })
	accountCustomer   = toCustomer(accountUID, func(a *accounts.Account) *customers.UID { return &a.Customer })
	contactCustomer   = toCustomer(contactUID, func(k *contacts.Contact) *customers.UID { return &k.Customer })
	signatoryCustomer = toCustomer(signatoryUID, func(g *signatories.Signatory) *customers.UID { return &g.Customer })
	approvalCustomer  = toCustomer(approvalUID, func(a *changes.Approval) *customers.UID { return (*customers.UID)(&a.Customer) })
)

func init() {
	customerKind.relations = map[string]planner{
		"accounts": customerAccounts, "contacts": customerContacts, "signatories": customerSignatories,
		"limits": customerLimits, "fees": customerFees, "parent": customerParent, "history": customerHistory, "users": customerUsers, "roles": customerRoles,
	}
	accountKind.relations = map[string]planner{"customer": accountCustomer, "sweeps": accountSweeps, "history": accountHistory}
	contactKind.relations = map[string]planner{"customer": contactCustomer, "history": contactHistory}
	signatoryKind.relations = map[string]planner{"customer": signatoryCustomer, "history": signatoryHistory}
	auditKind.relations = map[string]planner{"customer": auditCustomer}
	approvalKind.relations = map[string]planner{"customer": approvalCustomer}
}

func customerUID(c *customers.Customer) customers.UID       { return c.UID }
func accountUID(a *accounts.Account) accounts.UID           { return a.UID }
func contactUID(k *contacts.Contact) contacts.UID           { return k.UID }
func signatoryUID(g *signatories.Signatory) signatories.UID { return g.UID }
func approvalUID(a *changes.Approval) changes.UID           { return a.UID }

// toCustomer is the relation from a row to the one customer that it names, if it names one.
func toCustomer[T any, P comparable](key func(*T) P, names func(*T) *customers.UID) *relation[T, P, *customers.Customer] {
	return &relation[T, P, *customers.Customer]{key: key, late: true, queue: func(ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField) (func(P) (*customers.Customer, error), step) {
		named := map[P]customers.UID{}
		uids := each(s.rows.([]*T), func(row *T) (customers.UID, bool) {
			uid := names(row)
			if uid == nil {
				return 0, false
			}
			named[key(row)] = *uid
			return *uid, true
		})
		if len(uids) == 0 {
			return func(P) (*customers.Customer, error) { return nil, nil }, nil
		}
		found, next := find(ctx, o, b, customerKind, uids, f.Selections, o.core.Customers.FindMany)
		return func(key P) (*customers.Customer, error) { return oneOf(found, named[key]) }, next
	}}
}

func queueLimits(ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField) (func(customers.UID) ([]*limits.Limit, error), step) {
	asked, err := askedLimits(argumentsOf(ctx, f))
	if err != nil {
		return func(customers.UID) ([]*limits.Limit, error) { return nil, err }, nil
	}
	answers := o.core.Limits.OfCustomers(ctx, b, s.keys.([]customers.UID), asked)
	return func(uid customers.UID) ([]*limits.Limit, error) {
		found, err := answers.Of(uid)
		return found, ofLimits(err)
	}, nil
}

// limitWords are those that core has from the partners.
var limitWords = strings.NewReplacer("[", "limits[", "body", "limits", "entityLimitId", "code", "entityLimitValue", "value",
	"appName", "application", "paymentRail", "rail", "paymentAmount", "amount")

// ofLimits blames what is wrong with limits on the arguments and fields of the schema.
func ofLimits(err error) error {
	if f, ok := fault.Of(err); ok && f.Subject == "limit" {
		return f.On(limitWords.Replace(f.Field))
	}
	return err
}

func askedLimits(a arguments) (asked limits.Asked, err error) {
	text := func(name string) string { value, _ := a[name].(string); return value }
	asked.Rail, asked.EntryType, asked.SECCode = rails.Rail(text("rail")), rails.EntryType(text("entryType")), rails.SECCode(text("secCode"))
	if a["amount"] != nil {
		amount, err := scalar.UnmarshalAmountText(a["amount"])
		if err != nil {
			return asked, on("amount", err)
		}
		asked.Amount = string(amount)
	}
	if a["date"] != nil {
		asked.On, err = scalar.UnmarshalDate(a["date"])
	}
	return asked, on("date", err)
}

func queueFees(ctx context.Context, o *operation, b *db.Batch, s *siblings, _ graphql.CollectedField) (func(customers.UID) ([]*fees.Tier, error), step) {
	tiers := o.core.Fees.OfCustomers(ctx, b, s.keys.([]customers.UID))
	return func(uid customers.UID) ([]*fees.Tier, error) {
		return append([]*fees.Tier{}, tiers.Of[uid]...), tiers.Err
	}, nil
}

func queueSweeps(ctx context.Context, o *operation, b *db.Batch, s *siblings, _ graphql.CollectedField) (func(accounts.UID) ([]*accounts.Sweep, error), step) {
	sweeps := o.core.Accounts.SweepsOf(ctx, b, s.keys.([]accounts.UID))
	return func(uid accounts.UID) ([]*accounts.Sweep, error) {
		return append([]*accounts.Sweep{}, sweeps.Of[uid]...), sweeps.Err
	}, nil
}
