package iso20022

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"
	"time"

	"bankgraph/core/money"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/plain"
)

// codec goes through the elements of a message in their order, and reads, writes or only checks them. It
// keeps the first error, and does nothing after it.
type codec struct {
	profile *Profile
	message Message
	out     *bytes.Buffer // what is written; nil otherwise
	at      *node         // the element that is read; nil otherwise
	path    []string
	unread  []string
	err     error
}

func (c *codec) reading() bool { return c.at != nil }

func (c *codec) fail(reason string) {
	if c.err == nil {
		path := strings.TrimPrefix(strings.Join(c.path, "/"), "Document/")
		c.err = &FieldError{Message: c.message.Type(), Path: path, Reason: reason}
	}
}

// failAt fails for an element of the present one.
func (c *codec) failAt(name, reason string) {
	c.path = append(c.path, name)
	c.fail(reason)
	c.path = c.path[:len(c.path)-1]
}

// part is the header or the document, in the namespace of its type.
func (c *codec) part(name, of string, fields func()) {
	if !c.reading() {
		c.open(name, " xmlns=\"", namespace, of, "\"")
		c.path = append(c.path, name)
		fields()
		c.path = c.path[:0]
		c.close(name)
		return
	}
	c.in(name, func() {
		if !inSpace(c.at, namespace+of) {
			c.fail("must be in the namespace of " + of)
		}
		fields()
	})
}

func inSpace(n *node, space string) bool {
	return n.space == space && !slices.ContainsFunc(n.kids, func(kid *node) bool { return !inSpace(kid, space) })
}

// in is an element that there must be, with the elements in it.
func (c *codec) in(name string, fields func()) {
	if !c.enter(name, true, fields) {
		c.failAt(name, "is missing")
	}
}

// maybe is an element that is written if it is present.
func (c *codec) maybe(name string, present bool, fields func()) { c.enter(name, present, fields) }

func (c *codec) enter(name string, present bool, fields func()) bool {
	if c.err != nil {
		return true
	}
	c.path = append(c.path, name)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	if !c.reading() {
		if present {
			c.open(name)
			fields()
			c.close(name)
		}
		return true
	}
	found := c.find(name)
	if found == nil {
		return false
	}
	parent := c.at
	c.at = found
	if found.currency != "" || len(found.kids) == 0 && strings.TrimSpace(found.text) != "" {
		c.fail("must have elements, and nothing else")
	}
	fields()
	c.leave()
	c.at = parent
	return true
}

// find returns the next kid of that name.
func (c *codec) find(name string) *node {
	c.at.asked = append(c.at.asked, name)
	for i := c.at.next; i < len(c.at.kids); i++ {
		if kid := c.at.kids[i]; kid.name == name {
			c.at.next, c.at.found = i+1, append(c.at.found, kid)
			return kid
		}
	}
	return nil
}

// leave looks for kids that were not read.
func (c *codec) leave() {
	found := 0
	for _, kid := range c.at.kids {
		path := strings.Join(append(slices.Clone(c.path), kid.name), "/")
		switch {
		case found < len(c.at.found) && c.at.found[found] == kid:
			found++
		case slices.Contains(c.at.asked, kid.name):
			c.failAt(kid.name, "stands in the wrong place, or once too often")
		default:
			c.unread = append(c.unread, strings.TrimPrefix(path, "Document/"))
		}
	}
}

// messageID is the ID of a message in the form of the network.
func (c *codec) messageID() kind {
	return kind{most: 35, form: c.profile.id, says: "must have the form of " + c.profile.Name + "'s message IDs"}
}

// text is a text that there must be.
func (c *codec) text(name string, value *string, of kind) { c.leaf(name, value, of, true) }

// option is a text that may be empty, and is not written then.
func (c *codec) option(name string, value *string, of kind) { c.leaf(name, value, of, false) }

func (c *codec) leaf(name string, value *string, of kind, must bool) {
	text, there := *value, *value != ""
	if c.reading() {
		text, _, there = c.read(name, false)
	} else if of.free {
		text = plain.ASCII(text)
	}
	c.path = append(c.path, name)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	switch {
	case c.err != nil:
	case !there && must:
		c.fail("is missing")
	case !there:
	default:
		if reason := of.wrong(text, c.reading()); reason != "" {
			c.fail(reason)
		} else if c.reading() {
			*value = text
		} else {
			c.write(name, "", text)
		}
	}
}

func (c *codec) write(name, attribute, text string) {
	if c.err == nil && c.out != nil {
		c.open(name, attribute)
		_ = xml.EscapeText(c.out, []byte(text)) // a buffer takes everything
		c.close(name)
	}
}

// open writes the start tag of an element, with the text of its attribute in parts.
func (c *codec) open(name string, attribute ...string) {
	if c.out == nil {
		return
	}
	c.out.WriteByte('<')
	c.out.WriteString(name)
	for _, part := range attribute {
		c.out.WriteString(part)
	}
	c.out.WriteByte('>')
}

func (c *codec) close(name string) {
	if c.out == nil {
		return
	}
	c.out.WriteString("</")
	c.out.WriteString(name)
	c.out.WriteByte('>')
}

// read returns the text of the next kid of that name, and its currency where it may have one.
func (c *codec) read(name string, amount bool) (text, currency string, there bool) {
	if c.err != nil {
		return "", "", false
	}
	found := c.find(name)
	if found == nil {
		return "", "", false
	}
	if len(found.kids) > 0 || found.currency != "" && !amount {
		c.failAt(name, "must have text, and nothing else")
	}
	return found.text, found.currency, true
}

// fixed is a text that is always the same.
func (c *codec) fixed(name, want string) { c.oneOf(name, want) }

// oneOf is a text that is written as the first, and read as any of some.
func (c *codec) oneOf(name string, want ...string) {
	value := want[0]
	c.text(name, &value, kind{most: 350})
	if !slices.Contains(want, value) && c.err == nil {
		c.failAt(name, "must be "+strings.Join(want, " or "))
	}
}

// list has texts of which each is an element of the same name.
func (c *codec) list(name string, values *[]string, of kind, most int) {
	for i := 0; i < most; i++ {
		if !c.reading() && i < len(*values) {
			c.text(name, &(*values)[i], of)
			continue
		}
		var value string
		if c.option(name, &value, of); value == "" {
			break
		}
		*values = append(*values, value)
	}
	if len(*values) > most {
		c.failAt(name, "must not be there so often")
	}
}

// each is a group of elements that may be there several times; grow adds one while reading.
func (c *codec) each(name string, count int, grow func(), fields func(i int)) {
	if !c.reading() {
		for i := range count {
			c.in(name, func() { fields(i) })
		}
		return
	}
	for c.enter(name, false, func() { grow(); fields(count) }) && c.err == nil {
		count++
	}
}

// flag is true or false, and false where it is missing.
func (c *codec) flag(name string, value *bool) {
	text := ""
	if *value {
		text = "true"
	}
	c.option(name, &text, boolean)
	*value = text == "true" || text == "1"
}

// condition is a flag that is written whatever it says.
func (c *codec) condition(name string, value *bool) {
	text := strconv.FormatBool(*value)
	c.text(name, &text, boolean)
	*value = text == "true" || text == "1"
}

// day is a date that there must be.
func (c *codec) day(name string, value *time.Time) { c.date(name, value, true) }

// date is written unless it is the zero time.
func (c *codec) date(name string, value *time.Time, must bool) {
	c.time(name, value, must, time.DateOnly, func(text string) (time.Time, error) {
		return time.Parse(time.DateOnly, text)
	})
}

// instant is a time that there must be.
func (c *codec) instant(name string, value *time.Time) { c.moment(name, value, true) }

// moment is written unless it is the zero time.
func (c *codec) moment(name string, value *time.Time, must bool) {
	at := *value
	if !at.IsZero() && (!c.profile.utc || c.path[0] != "AppHdr") {
		at = at.In(calendar.Zone())
	}
	c.time(name, &at, must, time.RFC3339, func(text string) (time.Time, error) {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at, nil
		}
		return time.ParseInLocation("2006-01-02T15:04:05", text, calendar.Zone())
	})
	if c.reading() {
		*value = at
	}
}

// lastYear is the last one of dates and times that can be read: who counts on from there stays below the year
// 10000, which JSON does not have.
const lastYear = 2199

func (c *codec) time(
	name string, value *time.Time, must bool, layout string, parse func(string) (time.Time, error),
) {
	text := ""
	if !c.reading() && !value.IsZero() {
		text = value.Format(layout)
	}
	c.leaf(name, &text, kind{most: 40}, must)
	if text == "" || c.err != nil {
		return
	}
	at, err := parse(text)
	if err != nil || at.Year() < 1970 || at.Year() > lastYear {
		c.failAt(name, "must be a date or time of ISO 8601")
		return
	}
	if c.reading() {
		*value = at.UTC()
	}
}

// amount is more than nothing; in dollars, if only these settle, and of at most so many digits.
func (c *codec) amount(name string, value *money.Amount, must, dollars bool, digits int) {
	text, currency, there := value.String(), string(value.Currency), *value != (money.Amount{})
	if c.reading() {
		text, currency, there = c.read(name, true)
		text = strings.TrimSpace(text)
	}
	c.path = append(c.path, name)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	if c.err != nil || !there && !must {
		return
	}
	if !there {
		c.fail("is missing")
		return
	}
	in, err := money.ParseCurrency(currency)
	if err != nil || string(in) != currency || dollars && in != "USD" {
		c.fail("has no currency that can be used here")
		return
	}
	read, err := money.Parse(text, in)
	if err != nil || read.Minor <= 0 || digitsOf(read) > digits {
		c.fail("must be an exact amount, more than nothing and not too much for the network")
		return
	}
	if c.reading() {
		*value = read
		return
	}
	c.write(name, ` Ccy="`+currency+`"`, text)
}

func digitsOf(a money.Amount) int { return len(strconv.FormatInt(a.Minor, 10)) }
