package core_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/signatories"
)

// said is what an operation answers.
type said struct {
	Result any
	changes.Mark
}

// write is one operation on a bank that is ready for it.
type write func(ctx context.Context, key string) (said, error)

// writes are all that can be done to a bank. The first word of a name is the operation's; as is who does it, staff where it
// is nil; refused is the fault that it is to end with.
var writes = []struct {
	name    string
	on      func(b *coretest.Bank) write
	as      func(b *coretest.Bank) context.Context
	refused error
}{
	{name: "addSignatory", on: func(b *coretest.Bank) write { return addSignatory(b, b.Customer()) }},
	{name: "addSignatory, to be approved", on: func(b *coretest.Bank) write { return addSignatory(b, b.Customer(dual)) }},
	{name: "addSignatory, whose address is taken", refused: signatories.ErrTaken, on: func(b *coretest.Bank) write {
		c := b.Customer()
		b.Signatory(c, func(g *signatories.Signatory) { g.EmailAddress = "ada@mail.example" })
		return addSignatory(b, c)
	}},
	{name: "changeSignatory", on: func(b *coretest.Bank) write { return changeSignatory(b, b.Signatory(b.Customer()).UID) }},
	{name: "changeSignatory, to be approved", on: func(b *coretest.Bank) write { return changeSignatory(b, b.Signatory(b.Customer(dual)).UID) }},
	{name: "changeSignatory, which is absent", refused: signatories.ErrNotFound, on: func(b *coretest.Bank) write { return changeSignatory(b, 4711) }},
	{name: "removeSignatory", on: func(b *coretest.Bank) write { return removeSignatory(b, b.Signatory(b.Customer()).UID) }},
	{name: "createCustomer", on: createCustomer},
	{name: "changeCustomer", on: func(b *coretest.Bank) write { return changeCustomer(b, b.Customer().UID) }},
	{name: "changeCustomer, to be approved", on: func(b *coretest.Bank) write { return changeCustomer(b, b.Customer(dual).UID) }},
	{name: "changeCustomer, which is absent", refused: customers.ErrNotFound, on: func(b *coretest.Bank) write { return changeCustomer(b, 1_999_999) }},
	{name: "suspendCustomer", on: func(b *coretest.Bank) write {
		c := b.Customer()
		return func(ctx context.Context, key string) (said, error) {
			return heard(b.Customers.Suspend(ctx, c.UID, with(key)))
		}
	}},
	{name: "activateCustomer", on: func(b *coretest.Bank) write {
		c := b.Customer(func(c *customers.Customer) { c.Status = customers.Suspended })
		return func(ctx context.Context, key string) (said, error) {
			return heard(b.Customers.Activate(ctx, c.UID, with(key)))
		}
	}},
	{name: "approveChange, of something new", as: checker, on: func(b *coretest.Bank) write { return approve(b, addSignatory(b, b.Customer(dual))) }},
	{name: "approveChange, of a change", as: checker, on: func(b *coretest.Bank) write {
		return approve(b, changeSignatory(b, b.Signatory(b.Customer(dual)).UID))
	}},
	{name: "approveChange, by who asked for it", refused: changes.ErrOwn, on: func(b *coretest.Bank) write {
		return approve(b, addSignatory(b, b.Customer(dual)))
	}},
	{name: "refuseChange", as: checker, on: func(b *coretest.Bank) write { return refuse(b, addSignatory(b, b.Customer(dual))) }},
}

func TestEveryOperationIsAmongTheWrites(t *testing.T) {
	t.Parallel()
	var tried []string
	for _, w := range writes {
		operation, _, _ := strings.Cut(w.name, ",")
		tried = append(tried, operation)
	}
	declared := open(t).Changes.Operations()
	for _, operation := range declared {
		if !slices.Contains(tried, operation) {
			t.Errorf("%s is not in writes", operation)
		}
	}
	for _, operation := range tried {
		if !slices.Contains(declared, operation) {
			t.Errorf("there is no %s", operation)
		}
	}
}

// heard is the outcome of any operation.
func heard[R any](out changes.Outcome[R], err error) (said, error) {
	return said{out.Result, out.Mark}, err
}

func with(key string) changes.Terms { return changes.Terms{IdempotencyKey: key} }

func checker(b *coretest.Bank) context.Context { return b.Checker() }

// dual lets a customer ask for a second person everywhere.
func dual(c *customers.Customer) {
	c.Access.CustomerDualApproval, c.Access.BeneDualApproval, c.Access.UserDualApproval, c.Access.FeeTierForApproval = true, true, true, true
}

func createCustomer(b *coretest.Bank) write {
	// Every shard of the counter is there: its rows change, and none comes to be.
	b.Exec(`INSERT INTO customer_counts (tenant, owner, shard, customers) SELECT ?, 0, shard, 0 FROM generate_series(0, 3) AS shard ON CONFLICT DO NOTHING`, b.Tenant)
	kind := customers.Corporate
	d := customers.Draft{
		Oldest: true, ExternalReferenceID: given.Of("ref"), LegalName: given.Of("Lakeside"), ShortName: given.Of("LAKESIDE"), Type: &kind,
		TaxID: given.Of("12-3456789"), MailAddressSameAsLegal: given.Of(true),
		LegalAddress: given.Address{Line1: given.Of("1 Lake Rd"), City: given.Of("Erie"), State: given.Of("PA"), CountryCode: given.Of("US")},
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Customers.Create(ctx, d, with(key)))
	}
}

func changeCustomer(b *coretest.Bank, uid customers.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Customers.Change(ctx, uid, customers.Draft{Note: given.Of("a note")}, with(key)))
	}
}

func addSignatory(b *coretest.Bank, to *customers.Customer) write {
	ada := signatories.Draft{FullName: given.Of("Ada Byron"), EmailAddress: given.Of("ada@mail.example"), PhoneNumber: given.Of("+16145550123"), ApprovalLimit: given.Of("12.50")}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Signatories.Add(ctx, to.UID, ada, with(key)))
	}
}

func changeSignatory(b *coretest.Bank, uid signatories.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Signatories.Change(ctx, 0, uid, signatories.Draft{Title: given.Of("CFO")}, with(key)))
	}
}

func removeSignatory(b *coretest.Bank, uid signatories.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Signatories.Remove(ctx, 0, uid, with(key)))
	}
}

// proposed is the approval that an operation of the staff asks for.
func proposed(b *coretest.Bank, do write) changes.UID {
	out, err := do(b.Staff(), "")
	if err != nil || out.Approval == 0 {
		panic(fmt.Sprintf("nothing waits for approval: %+v %v", out, err))
	}
	return changes.UID(out.Approval)
}

func approve(b *coretest.Bank, what write) write {
	uid := proposed(b, what)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Changes.Approve(ctx, uid, with(key)))
	}
}

func refuse(b *coretest.Bank, what write) write {
	uid := proposed(b, what)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Changes.Refuse(ctx, uid, with(key)))
	}
}
