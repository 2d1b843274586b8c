package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"bankgraph/core/access"
	"bankgraph/core/clients"
	"bankgraph/core/demo"
	"bankgraph/core/tenants"
	"bankgraph/db"
)

// sandbox is the code of the demo bank.
const sandbox = "sandbox"

// demoKeys are the API keys of the demo bank. The secret of each is the key followed by "-secret".
var demoKeys = []struct {
	key, name string
	partner   bool
	may       []access.Permission
}{
	{"demo-reader", "Staff who may only look", false, access.Readers},
	{"demo-partner", "A downstream partner: its own customers", true, access.Partners},
	{"demo-staff", "Bank staff: everything", false, access.All},
}

// demoPeople are the API keys that speak for people of the demo bank, since only a person can approve
// changes. Their secrets are like those of demoKeys.
var demoPeople = []struct{ key, login string }{
	{"demo-linda", "linda.chen"},
	{"demo-maria", "maria.alvarez"},
}

// demoCommand makes the demo bank in the wanted size.
type demoCommand struct {
	Customers int `default:"250" help:"How many customers the demo bank should have (${default})."`
}

// Validate checks the flags before anything starts; kong calls it.
func (c *demoCommand) Validate() error { return checkCustomers(c.Customers) }

func (c *demoCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	if !s.private() {
		return errors.New(
			"the demo bank, whose keys everyone knows, lives on the private database only: " +
				"leave out --database-url (BANKGRAPH_DATABASE_URL)")
	}
	b, err := beginSealing(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	operator, err := b.demoTenant(ctx)
	if err != nil {
		return err
	}
	if err := b.fill(operator, c.Customers, t); err != nil {
		return err
	}
	if err := b.directory(operator, true); err != nil {
		return err
	}
	if err := b.live(operator, true, t); err != nil {
		return err
	}
	return b.demoClients(operator, s)
}

// checkCustomers checks the number of a demo bank's customers; 0 stands for the usual one.
func checkCustomers(n int) error {
	if n > 0 && n < demo.Fewest {
		return fmt.Errorf("--customers (BANKGRAPH_DEMO_CUSTOMERS): a demo bank has at least %d customers",
			demo.Fewest)
	}
	return nil
}

// demo makes the demo bank if a private database has no bank at all, and reports whether it is there. Its
// keys are public, so by default it is served only to this machine.
func (c *serveCommand) demo(ctx context.Context, s *settings, b *bank, t *terminal) (there bool, err error) {
	if !s.private() {
		return false, nil
	}
	all, err := b.Tenants.List(b.anywhere(ctx))
	if err != nil {
		return false, err
	}
	isDemo := func(tenant *tenants.Tenant) bool { return tenant.Code == sandbox && tenant.Sandbox }
	if len(all) > 0 && !slices.ContainsFunc(all, isDemo) {
		return false, nil
	}
	if !loopback(s.Addr) && !c.DemoAnywhere {
		return false,
			fmt.Errorf("everyone knows the keys of the demo bank, and %s is reached from other "+
				"machines: choose a loopback address or say --demo-anywhere", s.Addr)
	}
	if len(all) == 0 {
		slog.Info("making the demo bank", "customers", c.Customers)
	}
	return true, b.openDemo(ctx, s, c.Customers, t)
}

// openDemo makes the missing parts of the demo bank: at first all of it, the rest after a start that was
// killed, and usually nothing.
func (b *bank) openDemo(ctx context.Context, s *settings, customers int, t *terminal) error {
	operator, err := b.demoTenant(ctx)
	if err != nil {
		return err
	}
	err = b.fill(operator, customers, t)
	filled := errors.Is(err, demo.ErrFilled)
	if err != nil && !filled {
		return err
	}
	if err := b.directory(operator, !filled); err != nil {
		return err
	}
	if err := b.live(operator, !filled, t); err != nil {
		return err
	}
	return b.demoClients(operator, s)
}

// directory fills the directory of banks, by which the files of payments of a demo bank that is new are
// checked then. Later files are checked by the workers: a large one must not hold up the start.
func (b *bank) directory(operator context.Context, fresh bool) error {
	if err := demo.Directory(operator, b.Core); err != nil || !fresh {
		return err
	}
	for {
		if checked, err := b.Files.Check(operator); err != nil || checked == 0 {
			return err
		}
	}
}

// demoTenant finds or adds the demo bank, and returns the context of its operator.
func (b *bank) demoTenant(ctx context.Context) (operator context.Context, err error) {
	_, err = b.Tenants.Add(b.anywhere(ctx), tenants.Draft{
		Code: sandbox, Name: "Sandbox Bank", Zone: "America/New_York", Currency: "USD", Admin: "demo.admin",
		Sandbox: true, Customer: int64(demo.Institution),
	})
	if err != nil && !errors.Is(err, tenants.ErrExists) {
		return nil, err
	}
	operator, _, err = b.operator(ctx, sandbox)
	return operator, err
}

// fill adds the customers, all or none of them.
func (b *bank) fill(operator context.Context, customers int, t *terminal) error {
	caller, err := access.Require(operator)
	if err != nil {
		return err
	}
	err = demo.Fill(operator, b.Core, caller.Tenant,
		demo.Options{Customers: customers, Progress: progress(t.errs, "customers of the demo bank")})
	if err != nil {
		return err
	}
	if err := demo.Ask(operator, b.Core, "demo-staff"); err != nil {
		return err
	}
	return db.Analyze(operator, b.at.owner)
}

// live lets the demo bank live through its last weeks, or go on with that.
func (b *bank) live(operator context.Context, fresh bool, t *terminal) error {
	return demo.Live(operator, b.Core, "demo-staff", fresh,
		progress(t.errs, "days in the life of the demo bank"))
}

// demoClients adds the public keys that are missing. A key that somebody has disabled stays disabled. The
// keys exist only in a private database.
func (b *bank) demoClients(operator context.Context, s *settings) error {
	if !s.private() {
		return nil
	}
	var drafts []clients.Draft
	for _, known := range demoKeys {
		draft := clients.Draft{Key: known.key, Name: known.name, Permissions: permissionNames(known.may)}
		if known.partner {
			draft.Customer = int64(demo.Partner)
		}
		drafts = append(drafts, draft)
	}
	for _, person := range demoPeople {
		drafts = append(drafts,
			clients.Draft{
				Key: person.key, Name: "Speaks for " + person.login, User: person.login,
				Permissions: permissionNames(access.All),
			})
	}
	there, err := b.Clients.List(operator)
	if err != nil {
		return err
	}
	for _, draft := range drafts {
		// one that is there is not added in vain: its person may have been suspended since
		if slices.ContainsFunc(there, func(c *clients.Client) bool { return c.Key == draft.Key }) {
			continue
		}
		draft.Secret = draft.Key + "-secret"
		if _, _, err := b.Clients.Add(operator, draft); err != nil && !errors.Is(err, clients.ErrExists) {
			return err
		}
	}
	return nil
}
