// Package check says what makes a field of a request right. Its rules know no database and no service: the
// domains ask them of what either face read, and answer the faults of a request at once.
//
//	c := check.Of("customer")
//	c.Required("legalName", d.LegalName)
//	c.AtMost("legalName", d.LegalName, 255)
//	row.Type = check.OneOf(c, "customerType", d.Type, Types...)
//	row.PhoneNumber = c.Phone("phoneNumber", d.PhoneNumber, "US")
//	c.In("legalAddress").Required("city", d.LegalAddress.City)
//	return c.Err()
//
// An absent value, the empty text, passes every check but Required. A field that has failed is not blamed
// again, so checks stand in the order in which their faults matter. No field passes any check with text that
// IsPlain refuses. Checks that return a value return it as it is to be stored, and the zero value for what
// is absent or wrong.
package check

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/ident"
)

// Fields gathers the faults of one request's fields.
type Fields struct {
	subject string
	path    string // of the object that the fields are in, as the caller wrote it
	*gathered
}

type gathered struct {
	faults fault.Faults
	failed map[string]bool
}

// Of starts the checks of a request; the subject is what the faults are about: "customer".
func Of(subject string) *Fields {
	return &Fields{subject: subject, gathered: &gathered{failed: map[string]bool{}}}
}

// In is for the fields of a nested object: c.In("legalAddress") blames "legalAddress.city". The faults stay
// with c.
func (c *Fields) In(object string) *Fields {
	return &Fields{subject: c.subject, path: c.name(object), gathered: c.gathered}
}

// Item is for the fields of one object of a list, from 0: c.Item("limits", 2) blames "limits[2].name".
// A body that is a list has no name: c.Item("", 2).
func (c *Fields) Item(list string, at int) *Fields { return c.In(list + "[" + strconv.Itoa(at) + "]") }

func (c *Fields) name(field string) string {
	if c.path == "" || field == "" {
		return c.path + field
	}
	return c.path + "." + field
}

// mostFaults is how many faults are told: whoever sends ten thousand wrong items must not get a far longer
// answer.
const mostFaults = 100

// Err is nil, or the faults in the order in which they were found, the first hundred of them; fault.Of finds
// the first.
func (c *Fields) Err() error {
	if len(c.faults) == 0 {
		return nil
	}
	return c.faults
}

// Fail blames a field for what only its domain knows to be wrong.
func (c *Fields) Fail(field string, problem fault.Problem, message string) {
	name := c.name(field)
	if c.failed[name] {
		return
	}
	c.failed[name] = true
	if len(c.faults) == mostFaults {
		return
	}
	c.faults = append(c.faults, fault.Field(c.subject, name, problem, message))
}

// Failed tells whether a field was blamed, for rules about two fields that only make sense of right ones.
func (c *Fields) Failed(field string) bool { return c.failed[c.name(field)] }

// open tells whether there is a value to look at: given, not yet blamed, and plain text.
func (c *Fields) open(field, value string) bool {
	if value == "" || c.Failed(field) {
		return false
	}
	if !IsPlain(value) {
		c.Fail(field, fault.Malformed, "must be plain text")
	}
	return !c.Failed(field)
}

// demand blames the field of a given value that does not meet it.
func (c *Fields) demand(met bool, field, value string, problem fault.Problem, message string) {
	if c.open(field, value) && !met {
		c.Fail(field, problem, message)
	}
}

// right is what to store of a field: what was read of it, if it was never blamed.
func right[T any](c *Fields, field string, read T) (stored T) {
	if c.Failed(field) {
		return stored
	}
	return read
}

// Required demands more than blanks.
func (c *Fields) Required(field, value string) {
	if strings.TrimSpace(value) == "" {
		c.Fail(field, fault.Required, "is required")
	}
}

// Given is Required for what must always be there: something new needs it, and a change must not clear it
// (rest/CONTRACT.md, user bodies: an update names FirstName although it is optional).
func (c *Fields) Given(field string, value given.Text, making bool) {
	if making || value.Given {
		c.Required(field, value.Value)
	}
}

// Plain demands plain text of any length; see IsPlain.
func (c *Fields) Plain(field, value string) { c.open(field, value) }

// AtMost demands no more than so many characters.
func (c *Fields) AtMost(field, value string, most int) {
	c.demand(utf8.RuneCountInString(value) <= most, field, value, fault.Max,
		"must have at most "+strconv.Itoa(most)+" characters")
}

// AtLeast demands no fewer than so many characters, blanks around them not counted.
func (c *Fields) AtLeast(field, value string, least int) {
	c.demand(utf8.RuneCountInString(strings.TrimSpace(value)) >= least, field, value, fault.Min,
		"must have at least "+strconv.Itoa(least)+" characters")
}

// Pattern demands a form. Go's expressions take time linear in the text, whatever they repeat.
func (c *Fields) Pattern(field, value string, form *regexp.Regexp, message string) {
	c.demand(form.MatchString(value), field, value, fault.Malformed, message)
}

// IsPlain tells whether a text is one line of what a reader sees: valid UTF-8 without control characters
// (PostgreSQL takes no NUL), line separators, and the invisible characters that make a text read other than
// it is: changes of direction, blanks of no width, tags.
//
// Joiners and variation selectors are part of how some scripts and signs are written, and allowed there alone.
func IsPlain(text string) bool {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(deceptive, r)
	}) {
		return false
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return isJoiner(r) || isSelector(r) }) {
		return true
	}
	all := []rune(text)
	for i, r := range all {
		switch {
		case isJoiner(r) && (i == 0 || i == len(all)-1 || !joins(all[i-1]) || !joins(all[i+1])):
			return false
		case isSelector(r) && (i == 0 || !unicode.IsSymbol(all[i-1]) && !unicode.Is(unicode.Han, all[i-1])):
			return false
		}
	}
	return true
}

func isJoiner(r rune) bool { return r == zeroWidthNonJoiner || r == zeroWidthJoiner }

func isSelector(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef }

// joins reports whether a joiner may stand beside a character: one of a script that writes with them, or a
// sign, such as those of a family.
func joins(r rune) bool { return unicode.In(r, joining...) || unicode.IsSymbol(r) || isSelector(r) }

var deceptive = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00ad, 0x00ad, 1}, // soft hyphen
		{0x034f, 0x034f, 1}, // combining grapheme joiner
		{0x115f, 0x1160, 1}, // fillers of Hangul, letters without a shape; two more below
		{0x180e, 0x180e, 1}, // Mongolian vowel separator
		{0x200b, 0x200b, 1}, // zero width space
		{0x2028, 0x202e, 1}, // line and paragraph separator, embeddings and overrides of direction
		{0x2060, 0x206f, 1}, // word joiner, invisible operators, isolates of direction, former format characters
		{0x2800, 0x2800, 1}, // Braille of no dots
		{0x3164, 0x3164, 1},
		{0xfeff, 0xfeff, 1}, // byte order mark
		{0xffa0, 0xffa0, 1},
		// what reading JSON leaves of half a character: it would be stored as what nobody wrote
		{0xfffd, 0xfffd, 1},
	},
	R32: []unicode.Range32{{0xe0000, 0xe007f, 1}}, // tags
}

// OneOf reads one of some words without regard to letter case and returns it as the list writes it.
func OneOf[T ~string](c *Fields, field, value string, allowed ...T) (word T) {
	word, _ = ident.Word(value, allowed...)
	words := make([]string, len(allowed))
	for i, a := range allowed {
		words[i] = string(a)
	}
	c.demand(word != "", field, value, fault.Malformed, "must be one of "+strings.Join(words, ", "))
	return right(c, field, word)
}

// YesNo reads the switches that are text: Yes or No, and True or False as the oldest generation also has it
// (rest/CONTRACT.md, oldest account bodies). It is nil for what is absent or wrong.
func (c *Fields) YesNo(field, value string) *bool {
	var on *bool
	switch strings.ToLower(value) {
	case "yes", "true":
		on = new(true)
	case "no", "false":
		on = new(false)
	}
	c.demand(on != nil, field, value, fault.Malformed, "must be Yes or No")
	return right(c, field, on)
}

// Parsed reads a value by its domain's own parser, such as accounts.ParseSubType, which takes former
// spellings too, and gathers the parser's fault.
func Parsed[T any](c *Fields, field, value string, parse func(field, text string) (T, error)) (parsed T) {
	if !c.open(field, value) {
		return parsed
	}
	parsed, err := parse(c.name(field), value)
	if f, ok := fault.Of(err); ok {
		c.Fail(field, f.Problem, f.Message)
	} else if err != nil {
		c.Fail(field, fault.Malformed, "is not valid")
	}
	return right(c, field, parsed)
}
