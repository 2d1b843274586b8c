package access_test

import (
	"testing"

	"github.com/google/uuid"

	"bankgraph/core/access"
)

func TestWhoCountsAsOne(t *testing.T) {
	t.Parallel()
	ada, grace := uuid.New(), uuid.New()
	for name, c := range map[string]struct {
		a, b access.Accountable
		same bool
	}{
		"one program": {
			access.Accountable{Client: "a", Entity: 1}, access.Accountable{Client: "a", Entity: 1}, true,
		},
		"two programs of one entity": {
			access.Accountable{Client: "a", Entity: 1}, access.Accountable{Client: "b", Entity: 1}, true,
		},
		"of two entities": {
			access.Accountable{Client: "a", Entity: 1}, access.Accountable{Client: "b", Entity: 2}, false,
		},
		"of an entity that was not kept": {
			access.Accountable{Client: "a"}, access.Accountable{Client: "b", Entity: 2}, true,
		},
		"of one responsible person": {
			access.Accountable{Client: "a", Person: ada, Entity: 1},
			access.Accountable{Client: "b", Person: ada, Entity: 2},
			true,
		},
		"of two": {
			access.Accountable{Client: "a", Person: ada, Entity: 1},
			access.Accountable{Client: "b", Person: grace, Entity: 1},
			false,
		},
		"of one and of nobody": {
			access.Accountable{Client: "a", Person: ada, Entity: 1},
			access.Accountable{Client: "b", Entity: 1},
			true,
		},
		"one person": {
			access.Accountable{Client: "a", Login: "ada", Person: ada},
			access.Accountable{Client: "b", Login: "ada", Person: ada},
			true,
		},
		"one person, written otherwise": {
			access.Accountable{Client: "a", Login: "ada"}, access.Accountable{Client: "b", Login: "ADA"}, true,
		},
		"a person, and who reads like it": {
			access.Accountable{Client: "a", Login: "linda"},
			access.Accountable{Client: "a", Login: "l\u0130nda"},
			false,
		},
		"two people of one API key": {
			access.Accountable{Client: "a", Login: "ada", Person: ada},
			access.Accountable{Client: "a", Login: "grace", Person: grace},
			false,
		},
		"a person and their program": {
			access.Accountable{Client: "a", Login: "ada", Person: ada},
			access.Accountable{Client: "b", Person: ada, Entity: 1},
			true,
		},
		"a person and another's program": {
			access.Accountable{Client: "a", Login: "ada", Person: ada},
			access.Accountable{Client: "b", Person: grace, Entity: 1},
			false,
		},
		"a person and nobody's program": {
			access.Accountable{Client: "a", Login: "ada", Person: ada, Entity: 1},
			access.Accountable{Client: "b", Entity: 1},
			false,
		},
		"a person and a program of their key": {
			access.Accountable{Client: "a", Login: "ada", Person: ada},
			access.Accountable{Client: "a", Entity: 1},
			true,
		},
		"a person of whom the login was kept": {
			access.Accountable{Client: "a", Login: "ada"},
			access.Accountable{Client: "b", Login: "ada", Person: ada},
			true,
		},
	} {
		if c.a.Same(c.b) != c.same || c.b.Same(c.a) != c.same {
			t.Errorf("%s: same %v", name, !c.same)
		}
	}
}

func TestOnlyWhoAskedTakesBack(t *testing.T) {
	t.Parallel()
	ada := uuid.New()
	program, person := access.Accountable{Client: "a", Entity: 1},
		access.Accountable{Client: "a", Login: "ada", Person: ada}
	for name, c := range map[string]struct {
		by, of access.Accountable
		is     bool
	}{
		"the program":           {program, program, true},
		"another of the entity": {access.Accountable{Client: "b", Entity: 1}, program, false},
		"the person": {
			access.Accountable{Client: "b", Login: "Ada", Person: ada}, person, true,
		},
		"the person, of their program":       {person, access.Accountable{Client: "b", Person: ada}, false},
		"another person of the same API key": {access.Accountable{Client: "a", Login: "grace"}, person, false},
	} {
		if c.by.Is(c.of) != c.is {
			t.Errorf("%s: %v", name, !c.is)
		}
	}
}

// An issuer's address and a login id may both hold slashes.
func TestNoTwoPeopleAreOneParty(t *testing.T) {
	t.Parallel()
	one := access.Caller{Client: "https://login.example", LoginID: "staff/jane"}
	other := access.Caller{Client: "https://login.example/staff", LoginID: "jane"}
	if one.Party() == other.Party() {
		t.Errorf("both are %q", one.Party())
	}
}
