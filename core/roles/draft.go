package roles

import (
	"regexp"
	"slices"
	"strconv"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/ident"
	"bankgraph/core/money"
)

// Draft is what a request says about a role (rest/CONTRACT.md, role bodies). A change changes only the fields
// that are given; applications are replaced as a whole.
type Draft struct {
	Name                given.Text                `json:"name,omitzero"`
	Description         given.Text                `json:"description,omitzero"`
	ExternalReferenceID given.Text                `json:"externalReferenceId,omitzero"`
	Applications        given.Value[[]GrantDraft] `json:"applications,omitzero"`
}

// GrantDraft is what a request says about one application of a role.
type GrantDraft struct {
	Name         string       `json:"name"`
	Entitlements []string     `json:"entitlements"`
	Limits       []LimitDraft `json:"limits"`
}

// LimitDraft is what a request says about one limit.
type LimitDraft struct {
	Name  string `json:"name"`
	Value string `json:"value"` // decimal, in the bank's currency; empty for none
}

var names = regexp.MustCompile(`^[a-zA-Z0-9 ]+$`)

// ParseName checks the name that a search asks for: letters, digits and spaces (rest/CONTRACT.md, role
// answers).
func ParseName(field, text string) (string, error) {
	if !names.MatchString(text) {
		return "", fault.Field("role", field, fault.Malformed, "must be made of letters, digits and spaces")
	}
	return text, nil
}

// check validates the draft of a new role (making) or of a change, and spells every word as the catalogue
// does.
func (d *Draft) check(making bool) error {
	c := check.Of("role")
	if !making && !d.Name.Given && !d.Description.Given && !d.ExternalReferenceID.Given &&
		!d.Applications.Given {
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	d.Name.Value = ident.Spaced(d.Name.Value)
	c.Given("name", d.Name, making)
	c.Pattern("name", d.Name.Value, names, "must be made of letters, digits and spaces")
	c.AtMost("name", d.Name.Value, 100)
	c.Given("description", d.Description, making)
	c.AtMost("description", d.Description.Value, 255)
	c.AtMost("externalReferenceId", d.ExternalReferenceID.Value, 255)
	if (making || d.Applications.Given) && len(d.Applications.Value) == 0 {
		c.Fail("applications", fault.Required, "is required")
	}
	seen := map[string]bool{}
	for i := range d.Applications.Value {
		g := &d.Applications.Value[i]
		in := c.Item("applications", i)
		g.check(in)
		if seen[g.Name] && g.Name != "" {
			in.Fail("name", fault.Forbidden, "is there twice")
		}
		seen[g.Name] = true
	}
	return c.Err()
}

func (g *GrantDraft) check(c *check.Fields) {
	c.Required("name", g.Name)
	a := application(g.Name)
	if a == nil {
		c.Fail("name", fault.Unknown, "is not an application of the bank")
		return
	}
	g.Name = a.Name
	if len(g.Entitlements) == 0 {
		c.Fail("entitlements", fault.Required, "is required")
	}
	var entitlements []string
	for i, word := range g.Entitlements {
		known := oneOf(a.Entitlements, word)
		if known == "" {
			c.Fail("entitlements["+strconv.Itoa(i)+"]", fault.Unknown,
				"is not an entitlement of the application "+a.Name)
		} else if !slices.Contains(entitlements, known) {
			entitlements = append(entitlements, known)
		}
	}
	g.Entitlements = entitlements
	CheckLimits(c, a.Name, g.Limits)
}

// CheckLimits validates the limits of a known application, and spells their names as the catalogue does.
func CheckLimits(c *check.Fields, applicationName string, limits []LimitDraft) {
	seen := map[string]bool{}
	for i := range limits {
		l, in := &limits[i], c.Item("limits", i)
		in.Required("name", l.Name)
		_, known := LimitOf(applicationName, l.Name)
		switch {
		case known == "":
			in.Fail("name", fault.Unknown, "is not a limit of the application "+applicationName)
		case seen[known]:
			in.Fail("name", fault.Forbidden, "is there twice")
		}
		seen[known] = true
		l.Name = known
		in.NotNegative("value", l.Value)
		in.BankAmount("value", l.Value, 12)
	}
}

// Stored returns limits in stored form, without those that have no value.
func Stored(c *check.Fields, limits []LimitDraft, in money.Currency) (all []access.Limit) {
	for i, l := range limits {
		if amount := c.Item("limits", i).Amount("value", l.Value, in); amount != nil {
			all = append(all, access.Limit{Name: l.Name, Minor: amount.Minor, Currency: in})
		}
	}
	return all
}

// to writes the given fields into a role.
func (d *Draft) to(r *Role, in money.Currency) error {
	d.Name.To(&r.Name)
	d.Description.To(&r.Description)
	d.ExternalReferenceID.To(&r.ExternalReferenceID)
	if !d.Applications.Given {
		return nil
	}
	r.Applications = nil
	c := check.Of("role")
	for i, g := range d.Applications.Value {
		r.Applications = append(r.Applications,
			Grant{g.Name, g.Entitlements, Stored(c.Item("applications", i), g.Limits, in)})
	}
	return c.Err()
}
