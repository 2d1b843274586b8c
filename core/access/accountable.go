package access

import (
	"github.com/google/uuid"

	"bankgraph/core/ident"
)

// Accountable is who answers for what a caller does: what of a caller is kept to tell a second person from
// the first.
type Accountable struct {
	Client string    // the API key, or the address of the external issuer
	Login  string    // of a person
	Person uuid.UUID // the person, or the one who is responsible for the API key; uuid.Nil where nobody is known
	Entity int64     // the legal entity; 0 where it is not known
}

// Accountable is who answers for what this caller does.
func (c Caller) Accountable() Accountable {
	p := Accountable{Client: c.Client, Login: c.LoginID, Person: c.User, Entity: c.Entity}
	if c.User == uuid.Nil {
		p.Person = c.Responsible
	}
	return p
}

// Same reports whether two callers count as one: the same person, a program and the person responsible for
// it, programs of one responsible person, or programs of one legal entity that do not both name somebody.
// Whoever uses the same API key is the same too, unless both are people.
func (p Accountable) Same(other Accountable) bool {
	switch {
	case p.Person != uuid.Nil && other.Person != uuid.Nil && p.Person == other.Person:
		return true
	case p.Login != "" && other.Login != "":
		return ident.Same(p.Login, other.Login)
	case p.Client == other.Client:
		return true
	case p.Login != "" || other.Login != "": // a person, and a program that somebody else answers for, or nobody
		return false
	case p.Person != uuid.Nil && other.Person != uuid.Nil:
		return false
	}
	return p.Entity == other.Entity || p.Entity == 0 || other.Entity == 0
}

// Is reports whether two callers are the same person, or the same program. Who answers for it does not
// matter.
func (p Accountable) Is(other Accountable) bool {
	if p.Login != "" && other.Login != "" {
		return ident.Same(p.Login, other.Login)
	}
	return p.Login == other.Login && p.Client == other.Client
}
