package main

import (
	"context"
	"errors"
	"fmt"

	"bankgraph/core/access"
	"bankgraph/core/clients"
	"bankgraph/core/demo"
	"bankgraph/core/tenants"
)

// sandbox is the code of the demo bank.
const sandbox = "sandbox"

// demoKeys are the API keys of the demo bank; each one's secret is its key with "-secret" appended.
var demoKeys = []struct {
	key, name string
	partner   bool
	may       []access.Permission
}{
	{"demo-reader", "Staff who may only look", false, access.Readers},
	{"demo-partner", "A downstream partner: its own customers", true, access.Partners},
	{"demo-staff", "Bank staff: everything", false, access.All},
}

// demoCommand makes the demo bank larger.
type demoCommand struct {
	Customers int `default:"250" help:"How many customers the demo bank shall have (${default})."`
}

func (c *demoCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	return b.openDemo(ctx, c.Customers, t)
}

// demo makes the demo bank when a private database has no bank at all, and tells whether it is there.
// Everyone knows its keys, so it is served to this machine only unless told otherwise.
func (c *serveCommand) demo(ctx context.Context, s *settings, b *bank, t *terminal) (bool, error) {
	if !s.private() {
		return false, nil
	}
	all, err := b.Tenants.List(access.Operator(ctx, 0, "", nil))
	if err != nil {
		return false, err
	}
	there := false
	for _, tenant := range all {
		there = there || tenant.Code == sandbox && tenant.Sandbox
	}
	if len(all) > 0 && !there {
		return false, nil
	}
	if !loopback(s.Addr) && !c.DemoAnywhere {
		return false, fmt.Errorf("everyone knows the keys of the demo bank, and %s is reached from other machines: choose a loopback address or say --demo-anywhere", s.Addr)
	}
	if there {
		return true, b.finishDemo(ctx, c.Customers, t)
	}
	return true, b.openDemo(ctx, c.Customers, t)
}

// finishDemo goes on where a start was killed while it made the demo bank: the last key comes last.
func (b *bank) finishDemo(ctx context.Context, customers int, t *terminal) error {
	operator, _, err := b.operator(ctx, sandbox)
	if err != nil {
		return err
	}
	keys, err := b.Clients.List(operator)
	if err != nil || len(keys) >= len(demoKeys) {
		return err
	}
	return b.openDemo(ctx, customers, t)
}

// openDemo makes what of the demo bank is missing: the bank, its customers, its keys.
func (b *bank) openDemo(ctx context.Context, customers int, t *terminal) error {
	_, err := b.Tenants.Add(access.Operator(ctx, 0, "", nil), tenants.Draft{
		Code: sandbox, Name: "Sandbox Bank", Zone: "America/New_York", Currency: "USD", Admin: "demo.admin", Sandbox: true,
	})
	if err != nil && !errors.Is(err, tenants.ErrExists) {
		return err
	}
	operator, _, err := b.operator(ctx, sandbox)
	if err != nil {
		return err
	}
	partner, err := b.fillDemo(operator, customers, t)
	if err != nil {
		return err
	}
	for _, demo := range demoKeys {
		draft := clients.Draft{Key: demo.key, Name: demo.name, Secret: demo.key + "-secret"}
		for _, permission := range demo.may {
			draft.Permissions = append(draft.Permissions, string(permission))
		}
		if demo.partner {
			draft.Customer = partner
		}
		if _, _, err := b.Clients.Add(operator, draft); err != nil && !errors.Is(err, clients.ErrExists) {
			return err
		}
	}
	return nil
}

// fillDemo fills the demo bank and returns the number of the partner that demo-partner belongs to.
// One that is filled already stays as it is.
func (b *bank) fillDemo(operator context.Context, customers int, t *terminal) (partner int64, err error) {
	caller, err := access.Require(operator)
	if err != nil {
		return 0, err
	}
	err = demo.Fill(operator, b.Core, caller.Tenant, demo.Options{Customers: customers, Progress: progress(t.errs, "customers of the demo bank")})
	if errors.Is(err, demo.ErrFilled) {
		err = nil
	}
	return int64(demo.Partner), err
}
