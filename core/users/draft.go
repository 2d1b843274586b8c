package users

import (
	"slices"
	"strconv"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/roles"
)

// Draft is what a request says about a user (rest/CONTRACT.md, user bodies). A change changes only the fields
// that are given: roles as a whole, limits one by one.
type Draft struct {
	LoginID             given.Text                 `json:"loginId,omitzero"` // of a new user; it never changes
	FirstName           given.Text                 `json:"firstName,omitzero"`
	LastName            given.Text                 `json:"lastName,omitzero"`
	EmailAddress        given.Text                 `json:"email,omitzero"`
	PhoneNumber         given.Text                 `json:"phoneNumber,omitzero"`
	Mobile              given.Text                 `json:"mobile,omitzero"`
	Department          given.Text                 `json:"department,omitzero"`
	ExternalReferenceID given.Text                 `json:"externalReferenceId,omitzero"`
	RoleNames           given.Value[[]string]      `json:"roleNames,omitzero"`
	Limits              given.Value[[]LimitsDraft] `json:"applicationLimits,omitzero"`

	Roles []roles.UID `json:"roles,omitzero"` // that had the names when they were asked for; nil in a request
}

// LimitsDraft is what a request says about a person's own limits in one application.
type LimitsDraft struct {
	Name   string             `json:"name"`
	Limits []roles.LimitDraft `json:"limits"` // empty: the person has no limits of its own there
}

// mostRoles is how many roles a person may have.
const mostRoles = 50

func (d *Draft) empty() bool {
	return !d.FirstName.Given && !d.LastName.Given && !d.EmailAddress.Given && !d.PhoneNumber.Given &&
		!d.Mobile.Given &&
		!d.Department.Given && !d.ExternalReferenceID.Given && !d.RoleNames.Given && !d.Limits.Given
}

// check validates the draft of a new user (making) or of a change, and puts it into stored form. The login id
// comes first: the published message for an empty request names it (rest/CONTRACT.md, user bodies).
func (d *Draft) check(making bool) error {
	c := check.Of("user")
	switch {
	case making:
		c.Required("loginId", d.LoginID.Value)
		c.LoginID("loginId", d.LoginID.Value)
	case d.LoginID.Given:
		c.Fail("loginId", fault.Forbidden, "cannot be changed")
	case d.empty():
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	d.checkPerson(c, making)
	d.checkRights(c, making)
	return c.Err()
}

func (d *Draft) checkPerson(c *check.Fields, making bool) {
	for _, f := range []struct {
		name     string
		text     given.Text
		required bool
		most     int
	}{
		{"firstName", d.FirstName, true, 100},
		{"lastName", d.LastName, true, 100},
		{"email", d.EmailAddress, true, 254},
		{"phoneNumber", d.PhoneNumber, false, 40},
		{"mobile", d.Mobile, true, 40},
		{"department", d.Department, true, 255},
		{"externalReferenceId", d.ExternalReferenceID, false, 255},
	} {
		if f.required {
			c.Given(f.name, f.text, making)
		}
		c.AtMost(f.name, f.text.Value, f.most)
	}
	c.Name("firstName", d.FirstName.Value)
	c.Name("lastName", d.LastName.Value)
	c.Email("email", d.EmailAddress.Value)
	d.PhoneNumber.Value = c.UserPhone("phoneNumber", d.PhoneNumber.Value)
	d.Mobile.Value = c.UserPhone("mobile", d.Mobile.Value)
}

func (d *Draft) checkRights(c *check.Fields, making bool) {
	var names []string
	for i, name := range d.RoleNames.Value {
		field := "roleNames[" + strconv.Itoa(i) + "]"
		c.Required(field, name)
		c.Plain(field, name)
		if !slices.ContainsFunc(names, func(n string) bool { return ident.Same(n, name) }) {
			names = append(names, name)
		}
	}
	switch {
	case (making || d.RoleNames.Given) && len(names) == 0:
		c.Fail("roleNames", fault.Required, "is required")
	case len(names) > mostRoles:
		c.Fail("roleNames", fault.Max, "must have at most "+strconv.Itoa(mostRoles)+" names")
	}
	d.RoleNames.Value = names
	seen := map[string]bool{}
	for i := range d.Limits.Value {
		l, in := &d.Limits.Value[i], c.Item("applicationLimits", i)
		in.Required("name", l.Name)
		known, _ := roles.LimitOf(l.Name, "")
		switch {
		case known == "":
			in.Fail("name", fault.Unknown, "is not an application of the bank")
			continue
		case seen[known]:
			in.Fail("name", fault.Forbidden, "is there twice")
		}
		l.Name, seen[known] = known, true
		roles.CheckLimits(in, known, l.Limits)
	}
}

// to writes the given fields into a user, except the roles.
func (d *Draft) to(u *User, in money.Currency) error {
	d.LoginID.To(&u.LoginID)
	d.FirstName.To(&u.FirstName)
	d.LastName.To(&u.LastName)
	d.EmailAddress.To(&u.EmailAddress)
	d.PhoneNumber.To(&u.PhoneNumber)
	d.Mobile.To(&u.Mobile)
	d.Department.To(&u.Department)
	d.ExternalReferenceID.To(&u.ExternalReferenceID)
	c := check.Of("user")
	for i, l := range d.Limits.Value {
		l.to(c.Item("applicationLimits", i), u, in)
	}
	return c.Err()
}

// to replaces the limits that are named: one without a value is removed, and so are all of an application
// without limits (rest/CONTRACT.md, user bodies).
func (l LimitsDraft) to(c *check.Fields, u *User, in money.Currency) {
	stored := roles.Stored(c, l.Limits, in)
	var others []access.ApplicationLimits
	for _, a := range u.Limits {
		if a.Name != l.Name {
			others = append(others, a)
			continue
		}
		for _, kept := range a.Limits {
			named := slices.ContainsFunc(l.Limits, func(d roles.LimitDraft) bool { return d.Name == kept.Name })
			if !named && len(l.Limits) > 0 {
				stored = append(stored, kept)
			}
		}
	}
	u.Limits = append([]access.ApplicationLimits{}, others...)
	if len(stored) > 0 {
		u.Limits = append(u.Limits, access.ApplicationLimits{Name: l.Name, Limits: stored})
	}
}
