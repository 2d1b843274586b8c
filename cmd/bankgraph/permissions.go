package main

import (
	"context"
	"encoding/csv"
	"slices"
	"strings"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/roles"
	"bankgraph/core/users"
	"bankgraph/graph"
	"bankgraph/rest"
)

// permissionsCommand reports who may do what: for every REST operation and every GraphQL field that needs a
// permission, which permissions suffice, alone or joined by "+", and who has them.
type permissionsCommand struct {
	Tenant   string `env:"BANKGRAPH_TENANT" placeholder:"CODE" help:"The bank's code; the only one there is, if not set."`
	Customer int64  `placeholder:"UID" help:"Report the API keys, roles and users of this customer, instead of the bank's own and the keys of all."`
}

// holder is somebody who has permissions.
type holder struct {
	column  int // of the report
	name    string
	may     func(access.Permission) bool
	program bool // an API key that speaks for nobody
}

// has reports whether the holder has one of several permissions, separated by bars, or all of some that are
// joined by "+".
func (h holder) has(permissions string) bool {
	for some := range strings.SplitSeq(permissions, "|") {
		if !slices.ContainsFunc(strings.Split(some, "+"),
			func(p string) bool { return !h.may(access.Permission(p)) }) {
			return true
		}
	}
	return false
}

// The columns of the report.
const (
	columnKeys = iota + 3
	columnRoles
	columnUsers
	columns
)

func (c *permissionsCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	ctx, _, err = b.operator(ctx, c.Tenant)
	if err != nil {
		return err
	}
	holders, err := b.holders(ctx, customers.UID(c.Customer))
	if err != nil {
		return err
	}
	deciding, err := b.deciding(ctx, holders)
	if err != nil {
		return err
	}
	out := csv.NewWriter(t.out)
	if err := out.Write([]string{
		"face", "operation or field", "one of these permissions", "API keys", "roles", "users",
	}); err != nil {
		return err
	}
	for _, face := range []struct{ name, table string }{
		{"REST", rest.Permissions}, {"GraphQL", graph.Permissions},
	} {
		for line := range strings.Lines(face.table) {
			what, permissions, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			of := holders
			if strings.HasPrefix(what, "Mutation.approveChange ") {
				of = deciding
			}
			if err := out.Write(inert(reported(face.name, what, permissions, of))); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// deciding are those of the holders whom the bank lets approve what waits for a second person.
func (b *bank) deciding(ctx context.Context, holders []holder) ([]holder, error) {
	settings, err := b.Tenants.Settings(ctx)
	if err != nil || !settings.PeopleDecide {
		return holders, err
	}
	return slices.DeleteFunc(slices.Clone(holders), func(h holder) bool { return h.program }), nil
}

// inert are cells that no spreadsheet takes for formulas: callers choose their names, and operators open the
// report.
func inert(cells []string) []string {
	for i, cell := range cells {
		if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			cells[i] = "'" + cell
		}
	}
	return cells
}

// reported is one line of the report.
func reported(face, what, permissions string, holders []holder) []string {
	line := make([]string, columns)
	line[0], line[1], line[2] = face, what, strings.ReplaceAll(permissions, "|", " ")
	for _, h := range holders {
		if h.has(permissions) {
			line[h.column] = strings.TrimPrefix(line[h.column]+" "+h.name, " ")
		}
	}
	return line
}

// holders are all who have permissions now: the API keys, the active roles and the active users of a
// customer; of the bank itself where none is named, and then the keys of all others, too. A key that speaks
// for a user has what the two have in common.
func (b *bank) holders(ctx context.Context, of customers.UID) ([]holder, error) {
	bank := of == 0
	if bank {
		self, err := b.Customers.Self(ctx)
		if err != nil {
			return nil, err
		}
		of = self
	}
	keys, err := b.Clients.List(ctx)
	if err != nil {
		return nil, err
	}
	var all []holder
	for _, key := range keys {
		name := key.Key
		switch {
		case key.Entity == int64(of):
		case bank:
			name += "@" + customers.UID(key.Entity).String()
		default:
			continue
		}
		able, err := b.Clients.Able(ctx, key.Key)
		if err != nil {
			return nil, err
		}
		all = append(all, holder{columnKeys, name, access.Caller{Permissions: able}.May, key.User == nil})
	}
	for number, more := 1, true; more; number++ {
		found, err := b.Roles.Page(ctx, of, roles.Search{}, page.Numbered(number, page.Most))
		if err != nil {
			return nil, err
		}
		for _, role := range found.Items {
			if role.Status == roles.Active {
				all = append(all,
					holder{
						column: columnRoles, name: strings.ReplaceAll(role.Name, " ", "_"),
						may: access.Caller{Permissions: role.Permissions()}.May,
					})
			}
		}
		more = len(found.Items) == page.Most
	}
	return b.people(ctx, of, all)
}

// people adds the users of a customer to the holders.
func (b *bank) people(ctx context.Context, of customers.UID, all []holder) ([]holder, error) {
	for number, more := 1, true; more; number++ {
		found, err := b.Users.Page(ctx, of, users.Search{Status: users.Active}, page.Numbered(number, page.Most))
		if err != nil {
			return nil, err
		}
		for _, person := range found.Items {
			actor, err := b.Users.Actor(ctx, person.Tenant, person.UID.UUID)
			if users.IsNoActor(err) { // its customer is not active
				continue
			}
			if err != nil {
				return nil, err
			}
			all = append(all, holder{
				column: columnUsers, name: person.LoginID, may: access.Caller{Permissions: actor.Permissions}.May,
			})
		}
		more = len(found.Items) == page.Most
	}
	return all, nil
}
