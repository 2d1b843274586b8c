package rest

import (
	"encoding/json"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/given"
)

// fields are the members of a body's JSON object, or of an object inside it. Faults name a member by its
// path, such as legalAddress.city or limits[0].appName. Null counts as absent; unknown members are ignored.
type fields struct {
	q       *reader
	members object
	path    string
}

// fields returns the members of the body.
func (q *reader) fields() fields { return fields{q: q, members: q.body} }

func (f fields) fail(name string, message string) {
	f.q.fail(fault.Field("request", f.path+name, fault.Malformed, message))
}

// member is the value that was given under one of the names, and that name.
func (f fields) member(names []string) (used string, value any) {
	used = names[0]
	for _, name := range names {
		if f.members[name] == nil {
			continue
		}
		if value != nil {
			f.fail(name, once([]string{used, name}))
		}
		used, value = name, f.members[name]
	}
	return used, value
}

// filled leaves out members that are empty texts: of a search they ask for nothing.
func (f fields) filled() fields {
	members := maps.Clone(f.members)
	maps.DeleteFunc(members, func(_ string, value any) bool { return value == "" })
	f.members = members
	return f
}

// notText is said of a member that is no text, whatever else its form is.
const notText = "must be a string"

// spoken leaves out members that are blank texts, at any depth: they say nothing. What is no plain text
// stays, and is refused.
func (f fields) spoken() fields {
	f.members = spoken(f.members)
	return f
}

func spoken(members object) object {
	members = maps.Clone(members)
	for name, value := range members {
		switch value := value.(type) {
		case string:
			if strings.TrimSpace(value) == "" && check.IsPlain(value) {
				delete(members, name)
			}
		case object:
			members[name] = spoken(value)
		}
	}
	return members
}

// text reads a text by its documented name or by another accepted one.
func (f fields) text(names ...string) given.Text {
	used, value := f.member(names)
	if value == nil {
		return given.Text{}
	}
	text, ok := value.(string)
	if !ok {
		f.fail(used, notText)
		return given.Text{}
	}
	f.q.fail(plain(f.path+used, text))
	return given.Of(text)
}

// flag reads true or false.
func (f fields) flag(names ...string) given.Flag {
	used, value := f.member(names)
	if value == nil {
		return given.Flag{}
	}
	flag, ok := value.(bool)
	if !ok {
		f.fail(used, "must be true or false")
	}
	return given.Value[bool]{Given: ok, Value: flag}
}

// yesNo reads a switch that is the text Yes or No, in the oldest generation also True or False. A JSON true
// or false is accepted too.
func (f fields) yesNo(names ...string) given.Flag {
	used, value := f.member(names)
	if value == nil {
		return given.Flag{}
	}
	if flag, ok := value.(bool); ok {
		return given.Of(flag)
	}
	text, _ := value.(string)
	flag, err := yesNo(f.path+used, text)
	if f.q.fail(err); err != nil {
		return given.Flag{}
	}
	return given.Of(*flag)
}

// yesNo is the parser of switches that are the text Yes or No, or True or False.
func yesNo(field, text string) (*bool, error) {
	switch strings.ToLower(text) {
	case "yes", "true":
		return new(true), nil
	case "no", "false":
		return new(false), nil
	}
	return nil, fault.Field("request", field, fault.Malformed, "must be Yes or No")
}

// none refuses members of which nothing can be done yet. An empty text counts as absent.
func (f fields) none(why string, names ...string) {
	for _, name := range names {
		if value := f.members[name]; value != nil && value != "" {
			f.q.fail(fault.Field("request", f.path+name, fault.Forbidden, why))
		}
	}
}

// zeros are the decimals of a whole number: 3.0 is 3, written as text too.
var zeros = regexp.MustCompile(`^(-?[0-9]+)\.0+$`)

// number reads a number as an exact decimal. It also accepts the number as text, where the published texts
// differ (rest/CONTRACT.md, numbers).
func (f fields) number(names ...string) given.Text { return f.digits("must be a number", names...) }

// id reads what is published as a text and as a number, in different places (rest/CONTRACT.md, ids).
func (f fields) id(names ...string) given.Text {
	return f.digits("must be a string or a number", names...)
}

// digits reads a number, or a text in its place; fails says what anything else must be.
func (f fields) digits(fails string, names ...string) given.Text {
	used, value := f.member(names)
	switch value := value.(type) {
	case nil:
		return given.Text{}
	case json.Number:
		return given.Of(decimal(value.String()))
	case string:
		f.q.fail(plain(f.path+used, value))
		return given.Of(zeros.ReplaceAllString(value, "$1"))
	}
	f.fail(used, fails)
	return given.Text{}
}

// address reads an address of a customer, contact or bank (rest/CONTRACT.md, addresses).
func (f fields) address(names ...string) given.Address {
	a := f.object(names...)
	return given.Address{
		Line1: a.text("addressLine1"), Line2: a.text("addressLine2"), City: a.text("city"), State: a.text("state"),
		PostalCode: a.text("postalCode"), CountryCode: a.text("countryCode"), Country: a.text("country"),
	}
}

// whole reads a whole number, also as text. It returns nil if none was given.
func (f fields) whole(names ...string) *int32 {
	used, _ := f.member(names)
	text := f.number(names...)
	if text.Value == "" {
		return nil
	}
	n, err := strconv.ParseInt(text.Value, 10, 32)
	if err != nil {
		f.fail(used, "must be a whole number")
	}
	return new(int32(n))
}

// texts reads a list of texts.
func (f fields) texts(names ...string) given.Value[[]string] {
	used, value := f.member(names)
	if value == nil {
		return given.Value[[]string]{}
	}
	list, ok := value.([]any)
	texts := make([]string, 0, len(list))
	for _, item := range list {
		text, is := item.(string)
		ok = ok && is
		f.q.fail(plain(f.path+used, text))
		texts = append(texts, text)
	}
	if !ok {
		f.fail(used, "must be a list of strings")
	}
	return given.Of(texts)
}

// object reads an object in an object. An absent one has no members.
func (f fields) object(names ...string) fields {
	used, value := f.member(names)
	members, ok := value.(object)
	if !ok && value != nil {
		f.fail(used, "must be an object")
	}
	return fields{q: f.q, members: members, path: f.path + used + "."}
}

// items returns the objects of a body that is a list. Faults name their members as [0].name.
func (q *reader) items() []fields { return fields{q: q}.objects("", q.list) }

// each returns the objects of a list, and whether the list was given.
func (f fields) each(names ...string) (items []fields, there bool) {
	used, value := f.member(names)
	if value == nil {
		return nil, false
	}
	list, ok := value.([]any)
	if !ok {
		f.fail(used, "must be a list")
	}
	return f.objects(used, list), true
}

func (f fields) objects(used string, list []any) (items []fields) {
	for i, item := range list {
		at := used + "[" + strconv.Itoa(i) + "]"
		members, ok := item.(object)
		if !ok {
			f.fail(at, "must be an object")
		}
		items = append(items, fields{q: f.q, members: members, path: f.path + at + "."})
	}
	return items
}

// wordIn reads an optional word of a domain. It returns nil if the word was not given or is empty.
func wordIn[T any](f fields, parse parser[T], names ...string) *T {
	used, _ := f.member(names)
	return parsedIn(f, parse, used, f.text(names...).Value)
}

// idIn reads the number of a thing, given as a number or as text (rest/CONTRACT.md, ids).
func idIn[T any](f fields, parse parser[T], names ...string) *T {
	used, _ := f.member(names)
	return parsedIn(f, parse, used, f.id(names...).Value)
}

// idsIn reads a list of numbers of things, each given as a number or as text.
func idsIn[T any](f fields, parse parser[T], name string) (ids []T) {
	value := f.members[name]
	list, ok := value.([]any)
	if value != nil && !ok {
		f.fail(name, "must be a list")
	}
	for i, item := range list {
		at := name + "[" + strconv.Itoa(i) + "]"
		one := idIn(fields{q: f.q, members: object{at: item}, path: f.path}, parse, at)
		if one == nil {
			f.fail(at, "must be an id")
			return nil
		}
		ids = append(ids, *one)
	}
	return ids
}

func parsedIn[T any](f fields, parse parser[T], used, text string) *T {
	if text == "" || f.q.err != nil && !f.q.gathers {
		return nil
	}
	word, err := parse(f.path+used, text)
	f.q.fail(err)
	return &word
}
