package rest

import (
	"net/http"
	"regexp"
	"strings"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
)

// dialect is how one family of operations answers: its envelope, and status and code by fault. The same
// missing customer is CUST001 in one dialect and SIG_CUSTOMER_NOTFOUND in another. Each dialect is in the
// file of its handlers. Envelopes have names, C1 to C13 (rest/CONTRACT.md, envelopes). A denied permission
// has a code of its own only at the lookup; elsewhere it is API901, not authorized.
type dialect struct {
	success func(answer) any
	failure func(phrase string, all []reported) any
	phrase  string            // begins the message of a failure, in envelopes with one message
	spelled map[string]string // the family's names of fields of core
	lines   []line            // only the first that fits counts
}

// says returns the dialect with the phrase for one operation.
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

// line gives status and code to the faults that it fits.
type line struct {
	is      *fault.Fault  // fits this fault; or, if nil,
	kind    fault.Kind    // faults of this kind,
	subject string        // with this subject,
	field   string        // this field
	problem fault.Problem // and problem; empty ones fit all

	status int
	code   string
	exact  bool         // the code already names the field
	as     *fault.Fault // shown instead, if callers must not tell the two apart
}

func (l line) fits(f *fault.Fault) bool {
	if l.is != nil {
		return l.is.Is(f)
	}
	return (l.kind == "" || l.kind == f.Kind) && (l.subject == "" || l.subject == f.Subject) &&
		(l.field == "" || l.field == lastOf(f.Field)) && (l.problem == "" || l.problem == f.Problem)
}

// lastOf is the name of a field without the objects and lists around it: [0].entityLimitId becomes
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
	noText        bool // its value is of another JSON type than text
}

// tell reports a fault in the words of the dialect.
func (d dialect) tell(f *fault.Fault) reported {
	f, _ = fault.Of(fault.Called(f, d.spelled))
	l := d.lineFor(f)
	t := reported{
		status: l.status, code: l.code, message: l.message(f), field: f.Field, problem: problemOf(f),
		noText: f.Message == notText,
	}
	if l.exact || f.Field == wholeBody { // no field is to blame
		t.field = ""
	}
	return t
}

// detail is the code of one mistake: area, field and problem.
func (t reported) detail(area string) string {
	if t.field == "" {
		return t.code
	}
	return area + "_" + strings.ToUpper(strings.ReplaceAll(places.ReplaceAllString(t.field, ""), ".", "_")) +
		"_" + string(t.problem)
}

// problemOf is the problem that a code names. A fault about a thing, not about the form of a field, has no
// problem; its kind decides.
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

// places are indexes of lists, which codes leave out.
var places = regexp.MustCompile(`\[\d+\]`)

const (
	serverFailure = "API900" // (rest/CONTRACT.md, failures of the server)
	notAuthorized = "API901"
)

// table completes the lines of an area: its particular lines, those that all areas share, and its own code
// for all other mistakes in a request. Absent and foreign things answer 400, not 404, both with the same
// message (rest/CONTRACT.md, absent and foreign things).
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

// wrong makes a line for one problem with a field, or for all problems if it is "". It answers 400.
func wrong(field string, problem fault.Problem, code string) line {
	return line{field: field, problem: problem, status: http.StatusBadRequest, code: code}
}

// because makes a line for one fault of core. It answers 400.
func because(is *fault.Fault, code string) line {
	return line{is: is, status: http.StatusBadRequest, code: code}
}

// exactly returns a line whose code already names the field.
func (l line) exactly() line {
	l.exact = true
	return l
}

// toldAs returns a line that shows another fault to callers, because they must not tell the two apart.
func (l line) toldAs(other *fault.Fault) line {
	l.as = other
	return l
}
