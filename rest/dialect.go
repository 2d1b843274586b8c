package rest

import (
	"net/http"
	"regexp"
	"strings"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
)

// dialect is how one family of operations speaks: its envelope, and status and code by fault. The same
// missing customer is CUST001 in one and SIG_CUSTOMER_NOTFOUND in another. Each stands in the file of its
// domain's handlers. Envelopes have names, C1 to C10 (rest/CONTRACT.md, envelopes). A denied permission has a
// code of its own only at the lookup: elsewhere it is API901, not authorized.
type dialect struct {
	success func(answer) any
	failure func(phrase string, all []reported) any
	phrase  string            // what the message of a failure starts with, in envelopes that have one message
	spelled map[string]string // fields of core that this family calls by another name
	lines   []line            // the first that fits counts
}

// says returns the dialect with the phrase of one operation.
func (d dialect) says(phrase string) dialect {
	d.phrase = phrase
	return d
}

// updates returns the dialect of an account update, which has a code of its own for the server's failures
// (rest/CONTRACT.md, API901).
func (d dialect) updates() dialect {
	d.lines = append([]line{{kind: fault.Internal, status: http.StatusInternalServerError, code: notAuthorized}},
		d.lines...)
	return d
}

// line gives a fault its status and code.
type line struct {
	is      *fault.Fault  // this very fault of core,
	kind    fault.Kind    // or any of this kind,
	subject string        // about this subject,
	field   string        // this field
	problem fault.Problem // and this problem with it; what is empty fits all

	status int
	code   string
	exact  bool         // the code says the field already
	as     *fault.Fault // what callers read in its place, where they must not tell the two apart
}

func (l line) fits(f *fault.Fault) bool {
	if l.is != nil {
		return l.is.Is(f)
	}
	return (l.kind == "" || l.kind == f.Kind) && (l.subject == "" || l.subject == f.Subject) &&
		(l.field == "" || l.field == lastOf(f.Field)) && (l.problem == "" || l.problem == f.Problem)
}

// lastOf is the name of a field without the objects and lists that it is in: [0].entityLimitId is an
// entityLimitId.
func lastOf(field string) string { return field[strings.LastIndexByte(field, '.')+1:] }

func (d dialect) lineFor(f *fault.Fault) line {
	for _, l := range d.lines {
		if l.fits(f) {
			return l
		}
	}
	return line{status: http.StatusInternalServerError, code: serverFailure}
}

// reported is a fault in the words of a dialect.
type reported struct {
	status        int
	code, message string
	field         string // the field to blame, and what is wrong with it
	problem       fault.Problem
}

// tell: callers read the field in the words of their generation.
func (d dialect) tell(f *fault.Fault) reported {
	f, _ = fault.Of(fault.Called(f, d.spelled))
	l := d.lineFor(f)
	t := reported{status: l.status, code: l.code, message: l.message(f), field: f.Field, problem: problemOf(f)}
	if l.exact {
		t.field = ""
	}
	return t
}

// detail is the code of one thing that is wrong: the area, the field to blame and the problem with it.
func (t reported) detail(area string) string {
	if t.field == "" {
		return t.code
	}
	return area + "_" + strings.ToUpper(strings.ReplaceAll(places.ReplaceAllString(t.field, ""), ".", "_")) +
		"_" + string(t.problem)
}

// problemOf is what a code says is wrong with a field. Where the fault is one about a thing, and not about
// the form of a field, its kind says it: a conflict is no absence.
func problemOf(f *fault.Fault) fault.Problem {
	if f.Problem != "" {
		return f.Problem
	}
	switch f.Kind {
	case fault.NotFound:
		return fault.Unknown
	case fault.Conflict:
		return "CONFLICT"
	case fault.State:
		return "STATUS"
	case fault.Denied:
		return "DENIED"
	}
	return fault.Malformed
}

// places in lists are no part of a code.
var places = regexp.MustCompile(`\[\d+\]`)

const (
	serverFailure = "API900" // (rest/CONTRACT.md, failures of the server)
	notAuthorized = "API901"
)

// table completes the lines of an area: what is particular to it, what all areas share, and its own code for
// everything else that is wrong with a request. Absent and foreign things answer 400, not 404, and both in
// the same words (rest/CONTRACT.md, absent and foreign things).
func table(area, denied string, particular ...line) []line {
	return append(particular, []line{
		{is: customers.ErrOutOfScope, status: http.StatusBadRequest, code: area, as: customers.ErrNotFound},
		{is: changes.ErrKeyReused, status: http.StatusConflict, code: "IDEMPOTENCY_KEY_REUSED"},
		{is: changes.ErrInFlight, status: http.StatusConflict, code: "IDEMPOTENCY_IN_FLIGHT"},
		{is: changes.ErrStale, status: http.StatusConflict, code: "VERSION_CONFLICT"},
		{is: errMediaType, status: http.StatusUnsupportedMediaType, code: area},
		{is: errTooLarge, status: http.StatusRequestEntityTooLarge, code: area},
		{kind: fault.Unauthenticated, status: http.StatusUnauthorized, code: notAuthorized},
		{kind: fault.Denied, status: http.StatusForbidden, code: denied},
		{kind: fault.TooMany, status: http.StatusTooManyRequests, code: serverFailure},
		{kind: fault.Unavailable, status: http.StatusServiceUnavailable, code: serverFailure},
		{kind: fault.Internal, status: http.StatusInternalServerError, code: serverFailure},
		{status: http.StatusBadRequest, code: area},
	}...)
}

// wrong is a line for a field that is blamed: for one problem with it, or ” for all. It answers 400.
func wrong(field string, problem fault.Problem, code string) line {
	return line{field: field, problem: problem, status: http.StatusBadRequest, code: code}
}

// because is a line for one fault of core. It answers 400.
func because(is *fault.Fault, code string) line {
	return line{is: is, status: http.StatusBadRequest, code: code}
}

// exactly returns a line whose code says the field already.
func (l line) exactly() line {
	l.exact = true
	return l
}

// toldAs returns a line whose callers read another fault, because they must not tell the two apart.
func (l line) toldAs(other *fault.Fault) line {
	l.as = other
	return l
}
