package rest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/page"
)

// reader turns a request into typed values. It keeps the first error and afterwards reads only zero values,
// so that a handler can read everything and check err once.
type reader struct {
	r     *http.Request
	query url.Values
	body  object
	list  []any // of a body that is a list
	err   error
	// gathers keeps a fault of each field; err is then misread, once there is one
	gathers bool
	misread fault.Faults
}

func read(r *http.Request) *reader {
	query, err := url.ParseQuery(r.URL.RawQuery)
	q := &reader{r: r, query: query}
	if err != nil {
		q.fail(fault.Field("request", "query", fault.Malformed, "must be a well-formed query string"))
	}
	return q
}

// readBody makes a reader for operations with a JSON body.
func readBody(r *http.Request) *reader {
	q := read(r)
	body, err := bodyOf(r)
	q.fail(err)
	q.body = body
	return q
}

// readList makes a reader for operations whose body is a JSON array.
func readList(r *http.Request) *reader {
	q := read(r)
	list, err := listOf(r)
	q.fail(err)
	q.list = list
	return q
}

func (q *reader) fail(err error) {
	if f, is := fault.Of(err); is && q.gathers {
		if !slices.ContainsFunc(q.misread, func(m *fault.Fault) bool { return m.Field == f.Field }) {
			q.misread = append(q.misread, f)
			q.err = q.misread
		}
		return
	}
	if q.err == nil {
		q.err = err
	}
}

// gather makes the reader of a body that could be read go on after a fault, and keep one of each field.
func (q *reader) gather() *reader {
	q.gathers = q.err == nil
	return q
}

// parser turns the text of a field into a value, or returns what is wrong with it.
type parser[T any] func(field, text string) (T, error)

// parsed returns the value of a text.
func parsed[T any](q *reader, field, text string, parse parser[T]) (value T) {
	q.fail(plain(field, text))
	if q.err == nil {
		var err error
		value, err = parse(field, text)
		q.fail(err)
	}
	return value
}

// optional is parsed for a text that may be absent; the value is then zero.
func optional[T any](q *reader, field, text string, parse parser[T]) (value T) {
	if text == "" {
		return value
	}
	return parsed(q, field, text, parse)
}

// inPath reads a parameter of the path. The router matches a path as it was sent where that says the same in
// another way than usual, as %31 does for 1.
func inPath[T any](q *reader, name string, parse parser[T]) T {
	text := chi.URLParam(q.r, name)
	if q.r.URL.RawPath != "" {
		if clear, err := url.PathUnescape(text); err == nil {
			text = clear
		}
	}
	return parsed(q, name, text, parse)
}

// inQuery reads an optional parameter by its documented name or by another accepted one. An empty one counts
// as absent; unknown parameters are ignored.
func inQuery[T any](q *reader, name string, parse parser[T], also ...string) T {
	used, text := q.parameter(append([]string{name}, also...))
	return optional(q, used, text, parse)
}

// demanded is inQuery for a parameter without which a request cannot be understood.
func demanded[T any](q *reader, name string, parse parser[T]) T {
	if q.query.Get(name) == "" {
		q.fail(fault.Field("request", name, fault.Required, "is required"))
	}
	return inQuery(q, name, parse)
}

// parameter is the text that was given under one of the names, and that name: errors use the name that the
// caller used. If none was given, it is the documented name, the first.
func (q *reader) parameter(names []string) (used, text string) {
	used = names[0]
	var given []string
	for _, name := range names {
		for _, value := range q.query[name] {
			used, text = name, value
			given = append(given, name)
		}
	}
	if len(given) > 1 {
		q.fail(fault.Field("request", used, fault.Malformed, once(given)))
	}
	return used, text
}

// once says that what was given by these names must be given once.
func once(names []string) string {
	names = slices.Compact(names)
	if len(names) == 1 {
		return "must be given once"
	}
	return "must be given once: " + strings.Join(names, " and ") + " are the same"
}

// inBody reads an optional text of the body; null counts as absent.
func inBody[T any](q *reader, name string, parse parser[T]) T {
	text, ok := q.body[name].(string)
	if !ok && q.body[name] != nil {
		q.fail(fault.Field("request", name, fault.Malformed, "must be a string"))
	}
	return optional(q, name, text, parse)
}

// wordInBody reads a field that core compares with the words it knows, or ignores. Anything but a text is no
// known word either. Null counts as absent.
func (q *reader) wordInBody(name string) string {
	if q.body[name] == nil {
		return ""
	}
	return fmt.Sprint(q.body[name])
}

// flagInBody reads an optional true or false of the body; nil if absent.
func (q *reader) flagInBody(name string) *bool {
	flag, ok := q.body[name].(bool)
	if !ok {
		if q.body[name] != nil {
			q.fail(fault.Field("request", name, fault.Malformed, "must be true or false"))
		}
		return nil
	}
	return &flag
}

// numberInBody reads an optional number as plain decimal text, without a float in between.
func (q *reader) numberInBody(name string) string {
	number, ok := q.body[name].(json.Number)
	if !ok && q.body[name] != nil {
		q.fail(fault.Field("request", name, fault.Malformed, "must be a number"))
	}
	return decimal(number.String())
}

// decimal writes a JSON number as core reads amounts: without an exponent and without trailing zeros of
// decimals. JSON allows both, and common libraries write a double of ten million as 1.0E7. A number that
// would be longer than any amount stays as it is, for core to refuse.
func decimal(number string) string {
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(number), "e")
	unsigned, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, pointed := strings.Cut(unsigned, ".")
	if scaled {
		shift, err := strconv.Atoi(exponent)
		if err != nil || shift < -20 || shift > 20 {
			return number
		}
		zeros := strings.Repeat("0", 20)
		digits, point := zeros+whole+fraction+zeros, len(zeros)+len(whole)+shift
		whole, fraction = digits[:point], digits[point:]
	} else if !pointed {
		return number
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		whole += "." + fraction
	}
	if negative {
		return "-" + whole
	}
	return whole
}

// plain refuses characters that no field may contain.
func plain(field, text string) error {
	if !check.IsPlain(text) {
		return fault.Field("request", field, fault.Malformed, "must be plain text")
	}
	return nil
}

// atMost makes the parser of texts with at most so many characters.
func atMost(most int) parser[string] {
	return func(field, text string) (string, error) {
		if utf8.RuneCountInString(text) > most {
			return "", fault.Field("request", field, fault.Max, "must have at most "+strconv.Itoa(most)+" characters")
		}
		return text, nil
	}
}

// words is the parser of what is searched for. What is blank is refused: it is neither absent nor anywhere.
func words(field, given string) (string, error) {
	if strings.TrimSpace(given) == "" {
		return "", fault.Field("request", field, fault.Malformed, "must not be blank")
	}
	return text(field, given)
}

// text is the parser for fields without a published length (rest/CONTRACT.md, sizes).
var text = atMost(255)

// flag reads true or false without regard to letter case.
func flag(field, text string) (*bool, error) {
	for _, value := range []bool{true, false} {
		if ident.Same(text, strconv.FormatBool(value)) {
			return &value, nil
		}
	}
	return nil, fault.Field("request", field, fault.Malformed, "must be true or false")
}

func currency(field, text string) (money.Currency, error) {
	code, err := money.ParseCurrency(text)
	if err != nil {
		return "", fault.Field("request", field, fault.Malformed, "must be an ISO 4217 currency code")
	}
	return code, nil
}

// date reads a day as MM-DD-YYYY, as midnight UTC (rest/CONTRACT.md, dates).
func date(field, text string) (time.Time, error) {
	day, err := time.Parse("01-02-2006", text)
	if err != nil || day.Year() < 1900 {
		return time.Time{}, fault.Field("request", field, fault.Malformed, "must be a date in the form MM-DD-YYYY")
	}
	return day, nil
}

// dateOfOldest reads a day as date does, or as YYYY-MM-DD: so the guides of the oldest credit requests write
// it.
func dateOfOldest(field, text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil && day.Year() >= 1900 {
		return day, nil
	}
	return date(field, text)
}

// dateWithSlashes reads a day as the older form of series writes it.
func dateWithSlashes(field, text string) (time.Time, error) {
	day, err := time.Parse("01/02/2006", text)
	if err != nil || day.Year() < 1900 {
		return time.Time{}, fault.Field("request", field, fault.Malformed, "must be a date in the form MM/DD/YYYY")
	}
	return day, nil
}

// numbering is how an operation numbers pages (rest/CONTRACT.md, pages).
type numbering struct {
	page, size  []string // names of the parameters: the documented one, then others accepted
	first, last int      // the numbers of the first page and of the last one allowed
	most, usual int      // the largest size, and the default; 0: both parameters are required
}

var (
	customerPagesG1 = numbering{
		page: []string{"Page", "page"}, size: []string{"limit"}, first: 1, last: math.MaxInt32, most: 1000,
	}
	contactPagesG1 = numbering{
		page: []string{"page"}, size: []string{"limit", "records"}, first: 1, last: math.MaxInt32, most: 1000,
	}
	contactPagesV2 = numbering{
		page: []string{"page"}, size: []string{"limit", "records"}, first: 1, last: math.MaxInt32, most: 100,
	}
	pagesV2 = numbering{
		page: []string{"page"}, size: []string{"limit"}, first: 1, last: math.MaxInt32, most: 1000,
	}
	// The account search of the first generation is published without pages. They are optional, so that a
	// customer with more accounts than fit into one answer does not silently lose some.
	accountPagesG1 = numbering{
		page: []string{"page"}, size: []string{"limit"}, first: 1, last: math.MaxInt32, most: 1000, usual: 1000,
	}
	accountPagesV3 = numbering{
		page: []string{"page"}, size: []string{"limit"}, first: 1, last: math.MaxInt32, most: 1000, usual: 10,
	}
	paymentPages = numbering{
		page: []string{"page"}, size: []string{"limit"}, first: 1, last: math.MaxInt32, most: 100,
	}
	filePages = numbering{
		page: []string{"page"}, size: []string{"limit"}, first: 1, last: math.MaxInt32, most: 1000, usual: 10,
	}
	rulePages = numbering{
		page: []string{"page"}, size: []string{"records"}, first: 1, last: math.MaxInt32, most: 1000,
	}
	exceptionPages = numbering{
		page: []string{"page"}, size: []string{"records"}, first: 1, last: math.MaxInt32, most: 100,
	}
	signatoryPages = numbering{
		page: []string{"page"}, size: []string{"size"}, first: 0, last: 9999, most: 500, usual: 10,
	}
	virtualPaging = numbering{
		page: []string{"page"}, size: []string{"size"}, first: 0, last: math.MaxInt32 - 1, most: 1000, usual: 10,
	}
	// No largest size is published for users and roles.
	peoplePages = numbering{
		page: []string{"page"}, size: []string{"size"}, first: 1, last: math.MaxInt32, most: 1000, usual: 10,
	}
)

// pageRequest is the requested page.
type pageRequest struct{ number, first, size int }

// window is the requested page as a window of core.
func (s pageRequest) window() page.Window { return page.Numbered(s.number-s.first+1, s.size) }

func (q *reader) page(n numbering) pageRequest {
	number, size := n.first, n.usual
	if used, text := q.parameter(n.page); text != "" {
		number = q.integer(used, text, n.first, n.last)
	} else if n.usual == 0 {
		q.fail(fault.Field("list", used, fault.Required, "is required"))
	}
	if used, text := q.parameter(n.size); text != "" {
		size = q.integer(used, text, 1, n.most)
	} else if n.usual == 0 {
		q.fail(fault.Field("list", used, fault.Required, "is required"))
	}
	return pageRequest{number: number, first: n.first, size: size}
}

// pageInBody is sheet for an operation whose body says which page is wanted.
func (q *reader) pageInBody(n numbering) pageRequest {
	whole := func(name string, least, most int) int {
		text := q.fields().number(name).Value
		if text == "" {
			q.fail(fault.Field("list", name, fault.Required, "is required"))
			return least
		}
		return q.integer(name, text, least, most)
	}
	return pageRequest{
		number: whole(n.page[0], n.first, n.last), first: n.first,
		size: whole(n.size[0], 1, n.most),
	}
}

func (q *reader) integer(field, text string, least, most int) int {
	digits := strings.TrimPrefix(text, "-")
	n, err := strconv.Atoi(text)
	switch {
	case digits == "" || strings.Trim(digits, "0123456789") != "":
		q.fail(fault.Field("list", field, fault.Number, "must be a whole number"))
	case digits != text || err == nil && n < least:
		q.fail(fault.Field("list", field, fault.Min, "must be at least "+strconv.Itoa(least)))
	case err != nil || n > most:
		q.fail(fault.Field("list", field, fault.Max, "must be at most "+strconv.Itoa(most)))
	}
	return n
}
