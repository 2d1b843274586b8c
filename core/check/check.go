// Package check validates the fields of a request. Its rules need no database and no service. It collects all
// faults of a request:
//
//	c := check.Of("customer")
//	c.Required("legalName", d.LegalName)
//	c.AtMost("legalName", d.LegalName, 255)
//	row.Type = check.OneOf(c, "customerType", d.Type, Types...)
//	row.PhoneNumber = c.Phone("phoneNumber", d.PhoneNumber, "US")
//	c.In("legalAddress").Required("city", d.LegalAddress.City)
//	return c.Err()
//
// An empty text counts as absent, and passes every check but Required. A field gets only its first fault, so
// the order of checks matters. Every check of a text refuses what IsPlain refuses. Checks that return a value
// return its stored form, and the zero value if it is absent or wrong.
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

// Fields collects the faults of one request's fields.
type Fields struct {
	subject string
	path    string // of the object that the fields are in, as the caller wrote it
	*gathered
}

type gathered struct {
	faults fault.Faults
	failed map[string]bool
}

// Of starts the checks of a request. The subject is that of the faults, such as "customer".
func Of(subject string) *Fields {
	return &Fields{subject: subject, gathered: &gathered{failed: map[string]bool{}}}
}

// In returns the checks of a nested object: the faults of c.In("legalAddress") name "legalAddress.city". They
// are collected in c.
func (c *Fields) In(object string) *Fields {
	return &Fields{subject: c.subject, path: c.name(object), gathered: c.gathered}
}

// Item returns the checks of an object in a list, counted from 0: the faults of c.Item("limits", 2) name
// "limits[2].name". If the body itself is the list, its name is empty: c.Item("", 2).
func (c *Fields) Item(list string, at int) *Fields { return c.In(list + "[" + strconv.Itoa(at) + "]") }

func (c *Fields) name(field string) string {
	if c.path == "" || field == "" {
		return c.path + field
	}
	return c.path + "." + field
}

// mostFaults bounds the faults of an answer, as a request may have thousands of wrong items.
const mostFaults = 100

// Err returns the first hundred faults, as fault.Faults in the order in which they were found; nil if there
// are none.
func (c *Fields) Err() error {
	if len(c.faults) == 0 {
		return nil
	}
	return c.faults
}

// Fail adds a fault of a field, for rules of a domain.
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

// Failed reports whether a field has a fault, for rules between fields that apply only to correct ones.
func (c *Fields) Failed(field string) bool { return c.failed[c.name(field)] }

// open reports whether a value is to be checked: it is not empty, is plain text, and its field has no fault.
func (c *Fields) open(field, value string) bool {
	if value == "" || c.Failed(field) {
		return false
	}
	if !IsPlain(value) {
		c.Fail(field, fault.Malformed, "must be plain text")
	}
	return !c.Failed(field)
}

// demand adds a fault if a value that is to be checked does not meet the condition.
func (c *Fields) demand(met bool, field, value string, problem fault.Problem, message string) {
	if c.open(field, value) && !met {
		c.Fail(field, problem, message)
	}
}

// right returns the value of a field if the field has no fault, else the zero value.
func right[T any](c *Fields, field string, read T) (stored T) {
	if c.Failed(field) {
		return stored
	}
	return read
}

// Required demands a text that is not blank.
func (c *Fields) Required(field, value string) {
	if strings.TrimSpace(value) == "" {
		c.Fail(field, fault.Required, "is required")
	}
}

// Given is Required for a field that is always needed: a new object must have it, and a change must not clear
// it (rest/CONTRACT.md, user bodies: an update names FirstName although it is optional).
func (c *Fields) Given(field string, value given.Text, making bool) {
	if making || value.Given {
		c.Required(field, value.Value)
	}
}

// Plain demands plain text of any length; see IsPlain.
func (c *Fields) Plain(field, value string) { c.open(field, value) }

// AtMost demands at most this many characters.
func (c *Fields) AtMost(field, value string, most int) {
	c.demand(utf8.RuneCountInString(value) <= most, field, value, fault.Max,
		"must have at most "+strconv.Itoa(most)+" characters")
}

// AtLeast demands at least this many characters, not counting blanks around them.
func (c *Fields) AtLeast(field, value string, least int) {
	c.demand(utf8.RuneCountInString(strings.TrimSpace(value)) >= least, field, value, fault.Min,
		"must have at least "+strconv.Itoa(least)+" characters")
}

// Pattern demands a text that matches a regular expression. Go's take time linear in the length of the text.
func (c *Fields) Pattern(field, value string, form *regexp.Regexp, message string) {
	c.demand(form.MatchString(value), field, value, fault.Malformed, message)
}

// IsPlain reports whether a text is one line of visible text: valid UTF-8 without control characters
// (PostgreSQL takes no NUL), line separators, and invisible characters that disguise a text, such as changes
// of direction, blanks of no width and tags. Joiners and variation selectors are allowed only where a script
// or a sign is written with them.
func IsPlain(text string) bool {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || isDeceptive(r)
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
		case isSelector(r) && (i == 0 || !selected(all[i-1], r)):
			return false
		}
	}
	return true
}

func isJoiner(r rune) bool { return r == zeroWidthNonJoiner || r == zeroWidthJoiner }

func isSelector(r rune) bool { return unicode.Is(unicode.Variation_Selector, r) }

// selected reports whether a selector may stand behind a character: a sign or one of Han, and those of
// Mongolian behind its letters.
func selected(r, by rune) bool {
	if by >= 0x180b && by <= 0x180f {
		return unicode.Is(unicode.Mongolian, r)
	}
	return isSign(r) || unicode.Is(unicode.Han, r)
}

// joins reports whether a joiner may stand beside a character: one of a script that writes with them, or a
// sign, such as those of a family.
func joins(r rune) bool { return unicode.In(r, joining...) || isSign(r) || isSelector(r) }

// isSign reports whether a character is a sign such as a heart. Signs of arithmetic and currencies are none.
func isSign(r rune) bool { return r > 0x7f && unicode.In(r, unicode.So, unicode.Sk) }

// isDeceptive reports whether a character is invisible, or moves others to where they do not stand, such as a
// mark of direction. Signs before numbers, which Unicode counts among these, are seen.
func isDeceptive(r rune) bool {
	return unicode.In(r, deceptive...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) &&
		!isJoiner(r) && !isSelector(r)
}

var deceptive = []*unicode.RangeTable{
	unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Zl, unicode.Zp,
	{R16: []unicode.Range16{
		{0x2800, 0x2800, 1}, // Braille of no dots
		{0xfffd, 0xfffd, 1}, // what a JSON reader puts in place of broken characters
	}},
}

// OneOf demands one of the allowed words, without regard to letter case, and returns it as the list spells
// it.
func OneOf[T ~string](c *Fields, field, value string, allowed ...T) (word T) {
	word, _ = ident.Word(value, allowed...)
	words := make([]string, len(allowed))
	for i, a := range allowed {
		words[i] = string(a)
	}
	c.demand(word != "", field, value, fault.Malformed, "must be one of "+strings.Join(words, ", "))
	return right(c, field, word)
}

// YesNo reads a switch that is text: Yes or No, or True or False, which the oldest generation also has
// (rest/CONTRACT.md, oldest account bodies). It returns nil if the value is absent or wrong.
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

// Parsed reads a value with its domain's parser, such as accounts.ParseSubType, and adds the parser's fault.
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
