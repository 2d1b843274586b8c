package access

import (
	"github.com/google/uuid"

	"bankgraph/core/ident"
)

// Accountable says who is responsible for what a caller does. It is kept with a change, to tell the checker
// from the maker.
type Accountable struct {
	Client string    // the API key, or the address of the external issuer
	Login  string    // the login id of a person; '' for a program
	Person uuid.UUID // the person, or the one responsible for the API key; uuid.Nil if not known
	Entity int64     // the legal entity; 0 if not known
}

// Accountable returns who is responsible for what this caller does.
func (c Caller) Accountable() Accountable {
	p := Accountable{Client: c.Client, Login: c.LoginID, Person: c.User, Entity: c.Entity}
	if c.User == uuid.Nil {
		p.Person = c.Responsible
	}
	return p
}

// Same reports whether two callers count as one: the same person, a program and the person responsible for
// it, two programs with the same responsible person, or two programs of one legal entity of which at most one
// names a responsible person. Callers with the same API key count as one too, unless both are people.
func (p Accountable) Same(other Accountable) bool {
	switch {
	case p.Person != uuid.Nil && other.Person != uuid.Nil && p.Person == other.Person:
		return true
	case p.Login != "" && other.Login != "":
		return ident.Same(p.Login, other.Login)
	case p.Client == other.Client:
		return true
	case p.Login != "" || other.Login != "": // a person, and a program of somebody else or nobody
		return false
	case p.Person != uuid.Nil && other.Person != uuid.Nil:
		return false
	}
	return p.Entity == other.Entity || p.Entity == 0 || other.Entity == 0
}

// Is reports whether two callers are the same person or the same program, whoever is responsible for it.
func (p Accountable) Is(other Accountable) bool {
	if p.Login != "" && other.Login != "" {
		return ident.Same(p.Login, other.Login)
	}
	return p.Login == other.Login && p.Client == other.Client
}
