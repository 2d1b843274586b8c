// Package fault describes what a caller may see of a failure: its kind, its subject and its field. Published
// codes and statuses are not part of it; each face has a table for them.
package fault

import (
	"errors"
	"strings"
	"sync"
)

// Kind is the kind of a failure, from which a face chooses the status.
type Kind string

const (
	Invalid         Kind = "INVALID"         // the request is malformed or breaks a field rule
	Unauthenticated Kind = "UNAUTHENTICATED" // the caller is not known
	Denied          Kind = "DENIED"          // the caller is known and may not do this
	NotFound        Kind = "NOT_FOUND"       // it does not exist for this caller
	State           Kind = "STATE"           // it exists, but its state does not allow this
	Conflict        Kind = "CONFLICT"        // it clashes with something that exists
	TooMany         Kind = "TOO_MANY"        // the caller asks too often
	Unavailable     Kind = "UNAVAILABLE"     // the bank cannot answer now; the same request may work later
	Internal        Kind = "INTERNAL"        // a defect; the cause is logged, never shown
)

// Problem says what is wrong with a field, in the words with which published codes end.
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
	Exact     Problem = "EXACT"      // does not have the exact length
)

// Fault is an error that callers may see. Message is plain text without identifiers of other callers.
type Fault struct {
	Kind    Kind
	Subject string  // the thing it is about, in the singular: "customer", "account"
	Field   string  // the path of the field at fault, as the caller wrote it; '' if none
	Problem Problem // what is wrong with the field
	Message string
	// for Denied the permissions that would be enough, separated by |; for State the state that does not
	// allow it
	Detail string

	code   string // of a declared fault
	origin *Fault // the declared fault that this one was made from
}

// New declares a fault by its code, such as account.closed: the subject, and what is wrong. Idempotency keys
// store the code, so it must stay when the message changes; callers never see it. New panics if two faults
// have the same code. If code is only a subject, without a dot, the fault is not declared.
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

// byCode finds declared faults by code, so that a fault that was kept for an idempotency key is the same one
// again.
var byCode sync.Map

// Kept is the stored form of a fault. It includes the message, so that a replay reads the same.
type Kept struct {
	Code    string  `json:"code,omitempty"` // of a declared fault
	Kind    Kind    `json:"kind"`
	Subject string  `json:"subject"`
	Field   string  `json:"field,omitempty"`
	Problem Problem `json:"problem,omitempty"`
	Message string  `json:"message"`
	Detail  string  `json:"detail,omitempty"`
}

// Keep returns the stored form of the fault.
func (f *Fault) Keep() Kept {
	return Kept{
		Code: f.declared().code, Kind: f.Kind, Subject: f.Subject, Field: f.Field, Problem: f.Problem,
		Message: f.Message, Detail: f.Detail,
	}
}

// Again restores a stored fault. errors.Is finds the declared fault that it was made from.
func (k Kept) Again() *Fault {
	f := &Fault{
		Kind: k.Kind, Subject: k.Subject, Field: k.Field, Problem: k.Problem, Message: k.Message, Detail: k.Detail,
	}
	if origin, ok := byCode.Load(k.Code); ok {
		f.origin = origin.(*Fault)
	}
	return f
}

// Field makes an Invalid fault of one field of a request.
func Field(subject, field string, problem Problem, message string) *Fault {
	return &Fault{Kind: Invalid, Subject: subject, Field: field, Problem: problem, Message: message}
}

func (f *Fault) Error() string {
	if f.Field != "" {
		return f.Field + ": " + f.Message
	}
	return f.Message
}

// PublicMessage returns what callers read: Error, and the permissions that would do if one is missing.
func (f *Fault) PublicMessage() string {
	if f.Kind != Denied || f.Detail == "" {
		return f.Error()
	}
	return f.Error() + ": it needs " + strings.Join(f.Needs(), " or ")
}

// Needs returns the permissions, any of which would do, if one is missing.
func (f *Fault) Needs() []string {
	if f.Kind != Denied || f.Detail == "" {
		return nil
	}
	return strings.Split(f.Detail, "|")
}

// On returns a copy of the fault with a field. errors.Is still finds the declared fault.
func (f *Fault) On(field string) *Fault {
	on := *f
	on.Field, on.origin = field, f.declared()
	return &on
}

// With returns a copy of the fault with a detail. errors.Is still finds the declared fault.
func (f *Fault) With(detail string) *Fault {
	with := *f
	with.Detail, with.origin = detail, f.declared()
	return &with
}

// Saying returns a copy of the fault with another message. errors.Is still finds the declared fault.
func (f *Fault) Saying(message string) *Fault {
	saying := *f
	saying.Message, saying.origin = message, f.declared()
	return &saying
}

// Is reports whether both faults were made from the same declared fault.
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

// Of returns the fault in an error, the first if there are several. ok is false for errors that callers must
// not see.
func Of(err error) (f *Fault, ok bool) {
	ok = errors.As(err, &f)
	return f, ok
}

// Faults is several faults of one request.
type Faults []*Fault

func (fs Faults) Error() string {
	if len(fs) == 0 {
		return "no fault"
	}
	return fs[0].Error()
}

// As lets errors.As find the first fault.
func (fs Faults) As(target any) bool {
	if first, ok := target.(**Fault); ok && len(fs) > 0 {
		*first = fs[0]
		return true
	}
	return false
}
