package changes_test

import (
	"context"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
)

// leave leaves changes that nobody has decided on: of a program, for whom they count. They are of that one's
// own keys, unless another is named whose people asked for them.
func (o *office) leave(n int, client string, party customers.UID, of ...customers.UID) {
	of = append(of, party)
	o.byHand(`INSERT INTO approvals (tenant, customer, operation, object, object_uid, creation, draft, version,
		maker_client, maker_party, maker_entity)
		SELECT ?, ?, 'changeSignatory', 'signatory', 'x' || n, false, '', 1, ?, ?, ?
		FROM generate_series(1, ?) AS n`, o.Tenant, o.customer.UID, client, party, of[0], n)
}

// asks requests a change as this caller, which is refused at once if it waits.
func (o *office) asks(ctx context.Context) error {
	out, err := o.ask(ctx, "CFO")
	if err == nil {
		o.must(o.refuse(o.Checker(), changes.UID(out.Approval)))
	}
	return err
}

func TestOpenChangesOfAPartnerAreBoundedWhoeverAsks(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	partner, user := o.Partner(o.partner), o.User(o.customer, nil)
	o.leave(999, "partner", o.partner.UID)
	o.must(o.asks(partner))
	last := o.asked(partner)
	second := o.Signatory(o.customer)
	for who, ctx := range map[string]context.Context{
		"the same key": partner, "another key of the partner": as(partner, "another", ""),
	} {
		o.person = second
		is(t, who, o.asks(ctx), changes.ErrOpen)
	}
	o.must(o.asks(o.Staff()))
	other := o.DownstreamPartner()
	its := o.Customer(coretest.OwnedBy(other),
		func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
	o.person = o.Signatory(its)
	o.must(o.asks(o.Partner(other)))
	o.must(o.refuse(partner, last))
	o.person = second
	o.must(o.asks(partner))
	o.leave(1, "partner", o.partner.UID)
	person := o.PersonOf(o.customer, user)
	o.must(o.asks(person)) // of its customer's few
	o.leave(20, "app", o.partner.UID, o.customer.UID)
	is(t, "a user of one of its customers", o.asks(person), changes.ErrOpen)
}

// The people of a customer cannot take all the room of its partner.
func TestOpenChangesOfTheCustomersOfAPartnerAreBoundedEach(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	eve := o.PersonOf(o.customer, o.User(o.customer, nil))
	o.leave(249, "app", o.partner.UID, o.customer.UID)
	o.must(o.asks(eve))
	o.leave(1, "app", o.partner.UID, o.customer.UID)
	is(t, "its people", o.asks(eve), changes.ErrOpen)
	o.must(o.asks(o.Partner(o.partner)))
	other := o.Customer(coretest.OwnedBy(o.partner),
		func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
	bob := o.PersonOf(other, o.User(other, nil))
	for others := range customers.UID(4) {
		o.leave(250, "app", o.partner.UID, 1+others)
	}
	o.person = o.Signatory(other)
	o.must(o.asks(bob))
	o.must(o.asks(o.Partner(o.partner)))
}

func TestOpenChangesOfAProgramOfTheBankAreBounded(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.leave(1000, "staff", 0)
	is(t, "the program", o.asks(o.Staff()), changes.ErrOpen)
	o.must(o.asks(as(o.Staff(), "other", "")))
	o.must(o.asks(o.Partner(o.partner)))
}

func TestOpenChangesOfABankAreBoundedTogether(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for party := range customers.UID(10) {
		o.leave(1000, "key", 1+party)
	}
	is(t, "a partner", o.asks(o.Partner(o.partner)), changes.ErrOpen)
	o.must(o.asks(o.Staff()))
	o.leave(10_000, "key", 20)
	is(t, "the bank", o.asks(o.Staff()), changes.ErrOpen)
}

// What a customer that has left its partner still waits for takes none of that one's room, which could neither
// decide on it nor take it back.
func TestOpenChangesOfACustomerThatLeftAreTheBanks(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	next, partner := o.DownstreamPartner(), o.Partner(o.partner)
	o.leave(1000, "partner", o.partner.UID)
	left := o.customer
	stays := o.Customer(coretest.OwnedBy(o.partner),
		func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
	o.person = o.Signatory(stays)
	is(t, "before", o.asks(partner), changes.ErrOpen)
	out, err := o.Customers.Change(o.Staff(), left.UID,
		customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{})
	o.must(err)
	o.must(o.approve(o.Checker(), changes.UID(out.Approval)))
	o.must(o.asks(partner))
	o.must(o.asks(o.Staff()))
}
