package customers

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/db"
)

// Level is the kind of thing that carries custom attributes.
type Level string

const (
	ForCustomers Level = "customer"
	ForAccounts  Level = "account"
)

// AttributeType is the type of an attribute's values (rest/CONTRACT.md, custom attributes).
type AttributeType string

const (
	TextAttribute    AttributeType = "Text"
	BooleanAttribute AttributeType = "Boolean" // True or False
	DateAttribute    AttributeType = "Date"    // YYYY-MM-DD
)

// Configured is a custom attribute that the bank has configured.
type Configured struct {
	bun.BaseModel `bun:"table:attributes,alias:d" json:"-"`

	Tenant    access.Tenant `bun:"tenant,pk" json:"-"`
	Level     Level         `bun:"level,pk" json:"level"`
	Name      string        `bun:"name,pk" json:"name"`
	Type      AttributeType `bun:"type" json:"type"`
	CreatedAt time.Time     `bun:"created_at" json:"-"`
}

// The faults of configuring attributes.
var (
	ErrConfigured = fault.New(fault.Conflict, "attribute.configured",
		"an attribute of this name is configured already")
	ErrNotConfigured = fault.New(fault.NotFound, "attribute.not_configured",
		"no attribute of this name is configured")
)

// mostAttributes is how many attributes a customer or account may have.
const mostAttributes = 100

// CheckAttributes checks the form of the attributes in a request. AttributesTx compares them with the bank's
// configuration.
func CheckAttributes(c *check.Fields, field string, given []Attribute) {
	if len(given) > mostAttributes {
		c.Fail(field, fault.Max, "must be at most "+strconv.Itoa(mostAttributes))
		return
	}
	named := map[string]bool{}
	for i, a := range given {
		item := c.Item(field, i)
		item.Required("attributeName", a.Name)
		item.Required("value", a.Value)
		item.AtMost("attributeName", a.Name, 255)
		item.AtMost("value", a.Value, 255)
		if name := ident.Fold(a.Name); named[name] {
			item.Fail("attributeName", fault.NoMatch, "must be given once")
		} else {
			named[name] = true
		}
	}
}

// AttributesTx checks the attributes in a request against those that the bank has configured for the level,
// and returns them in stored form. What is given as it is stored already (kept) stays, whatever the bank has
// configured since. Its faults name the list item that is wrong.
func (s *Service) AttributesTx(
	ctx context.Context, tx bun.IDB, tenant access.Tenant, level Level, field string, kept, given []Attribute,
) ([]Attribute, error) {
	if len(given) == 0 {
		return []Attribute{}, nil
	}
	names := make([]string, len(given))
	for i, a := range given {
		names[i] = ident.Fold(a.Name)
	}
	var known []Configured
	err := tx.NewSelect().Model(&known).Where("d.tenant = ?", tenant).Where("d.level = ?", level).
		Where(`lower(d.name COLLATE "C") IN (?)`, bun.List(names)).Scan(ctx)
	if err != nil {
		return nil, err
	}
	byName := map[string]Configured{}
	for _, k := range known {
		byName[ident.Fold(k.Name)] = k
	}
	c, stored := check.Of(string(level)), make([]Attribute, len(given))
	for i, a := range given {
		if at := slices.IndexFunc(kept, a.is); at >= 0 {
			stored[i] = kept[at]
			continue
		}
		item, k := c.Item(field, i), byName[names[i]]
		stored[i] = Attribute{Name: k.Name, Value: k.value(item, a.Value)}
		if k.Name == "" {
			item.Fail("attributeName", fault.Unknown, "is not configured for the "+string(level))
		}
	}
	return stored, c.Err()
}

// is reports whether two attributes have one name and one value.
func (a Attribute) is(b Attribute) bool { return a.Value == b.Value && ident.Same(a.Name, b.Name) }

// value checks a value of the attribute and returns it in stored form.
func (k Configured) value(c *check.Fields, text string) string {
	switch k.Type {
	case BooleanAttribute:
		return check.OneOf(c, "value", text, "True", "False")
	case DateAttribute:
		c.Date("value", text)
	}
	return text
}

// Configure adds an attribute that customers or accounts may have. It is for operators.
func (s *Service) Configure(ctx context.Context, level Level, name string, of AttributeType) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	c := check.Of("attribute")
	c.Required("name", name)
	c.AtMost("name", name, 255)
	level = check.OneOf(c, "level", string(level), ForCustomers, ForAccounts)
	of = check.OneOf(c, "type", string(of), TextAttribute, BooleanAttribute, DateAttribute)
	c.Required("level", string(level))
	c.Required("type", string(of))
	if err := c.Err(); err != nil {
		return err
	}
	k := &Configured{
		Tenant: caller.Tenant, Level: level, Name: strings.TrimSpace(name), Type: of, CreatedAt: s.now(),
	}
	return s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(k).Exec(ctx)
		if _, taken := db.UniqueViolation(err); taken {
			return ErrConfigured.On("name")
		}
		if err != nil {
			return err
		}
		return k.recordTx(ctx, tx, caller, "configureAttribute", nil, k)
	})
}

// Unconfigure removes an attribute: existing values stay, also where a change gives them back, and other ones
// are refused. It is for operators.
func (s *Service) Unconfigure(ctx context.Context, level Level, name string) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		var gone []*Configured
		_, err := tx.NewDelete().Model(&gone).Where("tenant = ?", caller.Tenant).Where("level = ?", level).
			Where(`lower(name COLLATE "C") = ?`, ident.Fold(name)).Returning("?TableColumns").Exec(ctx)
		if err != nil {
			return err
		}
		if len(gone) == 0 {
			return ErrNotConfigured.On("name")
		}
		return gone[0].recordTx(ctx, tx, caller, "unconfigureAttribute", gone[0], nil)
	})
}

// ConfiguredAttributes lists the bank's attributes, by level and name. It is for operators.
func (s *Service) ConfiguredAttributes(ctx context.Context) ([]*Configured, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	var all []*Configured
	return all, s.db.NewSelect().Model(&all).Where("d.tenant = ?", caller.Tenant).Order("d.level", "d.name").
		Scan(ctx)
}

func (k *Configured) recordTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, action string, before, after *Configured,
) error {
	was, is := audit.Diff(before, after)
	return audit.WriteTx(ctx, tx, audit.Entry{
		Action: action, Decision: audit.Done, Object: "attribute", UID: string(k.Level) + "/" + k.Name,
		Before: was, After: is,
	}.By(caller))
}
