// Package fault holds what a caller may see of a failure: its kind, what it is about and which field.
// It carries no published code and no status: each transport has one table that gives those.
package fault

import (
	"errors"
	"strings"
	"sync"
)

// Kind says what sort of failure it is; a transport picks the status by it.
type Kind string

const (
	Invalid         Kind = "INVALID"         // the request is malformed or breaks a field rule
	Unauthenticated Kind = "UNAUTHENTICATED" // nobody is known to be calling
	Denied          Kind = "DENIED"          // the caller is known and may not do this
	NotFound        Kind = "NOT_FOUND"       // it does not exist for this caller
	State           Kind = "STATE"           // it exists, but its state does not allow this
	Conflict        Kind = "CONFLICT"        // it clashes with something that exists
	TooMany         Kind = "TOO_MANY"        // the caller asks too often
	Unavailable     Kind = "UNAVAILABLE"     // the bank cannot answer now; the same request may work later
	Internal        Kind = "INTERNAL"        // a defect; the cause is logged, never shown
)

// Problem says what is wrong with a field, in the words that published codes end with.
type Problem string

const (
	Required  Problem = "REQUIRED"   // missing or blank
	Malformed Problem = "INVALID"    // does not have the documented form
	Max       Problem = "MAX"        // too long or too large
	Min       Problem = "MIN"        // too short or too small
	Number    Problem = "NUMBER"     // not made of digits
	AllZero   Problem = "ALLZERO"    // made of zeros only
	Unknown   Problem = "NOTFOUND"   // names something that does not exist
	Forbidden Problem = "NOTALLOWED" // may not be given here
	NoMatch   Problem = "NOMATCH"    // does not fit another field
	Exact     Problem = "EXACT"      // does not have the one length there is
)

// Fault is an error that callers may see. Message is plain text without identifiers of others.
type Fault struct {
	Kind    Kind
	Subject string  // the thing it is about, in the singular: "customer", "account"
	Field   string  // the field as the caller wrote it, when one field is to blame
	Problem Problem // what is wrong with the field
	Message string
	// of Denied the permissions that would do, with | between them; of State the state that is in the way
	Detail string

	code   string // of a declared one
	origin *Fault // the declared fault that this one specialises
}

// New declares a fault of a domain by its code, account.closed: what it is about, and what is wrong. The code
// is its identity, which idempotency keys keep it by; it stays when the message is put in better words, and
// callers never see it. Two faults of one code are a defect of the program, which does not start. A subject
// without more is a fault that is not declared: one of a kind, made on the spot.
func New(kind Kind, code, message string) *Fault {
	subject, _, declared := strings.Cut(code, ".")
	f := &Fault{Kind: kind, Subject: subject, Message: message}
	if !declared {
		return f
	}
	f.code = code
	if _, taken := byCode.LoadOrStore(code, f); taken {
		panic("fault: two have the code " + code)
	}
	return f
}

// byCode finds declared faults again: a refusal that was kept for an idempotency key is the same fault when
// it is told once more.
var byCode sync.Map

// Kept is a fault as it is written down: with its words, so that it reads the same when it is told again.
type Kept struct {
	Code    string  `json:"code,omitempty"` // of a declared one
	Kind    Kind    `json:"kind"`
	Subject string  `json:"subject"`
	Field   string  `json:"field,omitempty"`
	Problem Problem `json:"problem,omitempty"`
	Message string  `json:"message"`
	Detail  string  `json:"detail,omitempty"`
}

// Keep writes a fault down.
func (f *Fault) Keep() Kept {
	return Kept{
		Code: f.declared().code, Kind: f.Kind, Subject: f.Subject, Field: f.Field, Problem: f.Problem,
		Message: f.Message, Detail: f.Detail,
	}
}

// Again is the fault that was written down; errors.Is finds the declared one behind it.
func (k Kept) Again() *Fault {
	f := &Fault{
		Kind: k.Kind, Subject: k.Subject, Field: k.Field, Problem: k.Problem, Message: k.Message, Detail: k.Detail,
	}
	if origin, ok := byCode.Load(k.Code); ok {
		f.origin = origin.(*Fault)
	}
	return f
}

// Field is an Invalid fault about one field of a request.
func Field(subject, field string, problem Problem, message string) *Fault {
	return &Fault{Kind: Invalid, Subject: subject, Field: field, Problem: problem, Message: message}
}

func (f *Fault) Error() string {
	if f.Field != "" {
		return f.Field + ": " + f.Message
	}
	return f.Message
}

// Told is what callers read: Error, with the permissions that would do where one is missing.
func (f *Fault) Told() string {
	if f.Kind != Denied || f.Detail == "" {
		return f.Error()
	}
	return f.Error() + ": it needs " + strings.Join(f.Needs(), " or ")
}

// Needs are the permissions, any of which would do, where one is missing.
func (f *Fault) Needs() []string {
	if f.Kind != Denied || f.Detail == "" {
		return nil
	}
	return strings.Split(f.Detail, "|")
}

// On returns the same fault, blamed on a field; errors.Is still finds the declared one.
func (f *Fault) On(field string) *Fault {
	on := *f
	on.Field, on.origin = field, f.declared()
	return &on
}

// With returns the same fault with its detail; errors.Is still finds the declared one.
func (f *Fault) With(detail string) *Fault {
	with := *f
	with.Detail, with.origin = detail, f.declared()
	return &with
}

// Saying returns the same fault in more particular words; errors.Is still finds the declared one.
func (f *Fault) Saying(message string) *Fault {
	saying := *f
	saying.Message, saying.origin = message, f.declared()
	return &saying
}

// Is lets errors.Is find a declared fault behind those made from it by On.
func (f *Fault) Is(target error) bool {
	other, ok := target.(*Fault)
	return ok && f.declared() == other.declared()
}

func (f *Fault) declared() *Fault {
	if f.origin != nil {
		return f.origin
	}
	return f
}

// Of finds the fault in an error; ok is false for errors that callers must not see.
func Of(err error) (f *Fault, ok bool) {
	ok = errors.As(err, &f)
	return f, ok
}

// Faults are several at once, for requests whose every field is checked.
type Faults []*Fault

func (fs Faults) Error() string {
	if len(fs) == 0 {
		return "no fault"
	}
	return fs[0].Error()
}

// As lets Of find the first of several.
func (fs Faults) As(target any) bool {
	if first, ok := target.(**Fault); ok && len(fs) > 0 {
		*first = fs[0]
		return true
	}
	return false
}
