package transport

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep objects and lists of a body may nest.
const maxDepth = 100

// jsonFault says what is wrong with a text and where: the byte, or the path of the string. Its message
// follows a noun, as in "the body is not valid JSON".
type jsonFault struct {
	code    string
	message string
}

// parseJSON reads one JSON value and nothing after it. It is stricter than encoding/json, which takes the
// last of two equal keys and replaces invalid Unicode by U+FFFD: whatever two readers could understand
// differently is refused. NUL is refused because PostgreSQL cannot store it.
//
// Whole numbers that fit are int64, as gqlgen gives them for literals. All others stay text as json.Number,
// since no amount may pass through a float. Paths in errors start with root.
func parseJSON(text, root string) (any, *jsonFault) {
	p := jsonParser{text: text}
	if root != "" {
		p.path = []string{root}
	}
	value := p.value(0)
	p.space()
	if p.fault == nil && p.at < len(text) {
		p.fail()
	}
	return value, p.fault
}

type jsonParser struct {
	text  string
	at    int
	path  []string
	fault *jsonFault
}

func (p *jsonParser) fail() {
	if p.fault == nil {
		p.fault = &jsonFault{InvalidJSON, "is not valid JSON at byte " + strconv.Itoa(p.at+1)}
	}
}

func (p *jsonParser) failText(what string) {
	if p.fault == nil {
		p.fault = &jsonFault{InvalidText, "has " + what + " in " + p.place()}
	}
}

// place is the path of the current value. Keys are the caller's text, so only those that look like names of
// the schema are repeated.
func (p *jsonParser) place() string {
	if len(p.path) == 0 {
		return "a string"
	}
	var b strings.Builder
	for i, step := range p.path {
		if i > 0 && !strings.HasPrefix(step, "[") {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

func shownKey(key string) string {
	if key == "" || len(key) > 60 {
		return "?"
	}
	for _, c := range []byte(key) {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return "?"
		}
	}
	return key
}

func (p *jsonParser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take skips white space, then the byte c. It reports whether c was there.
func (p *jsonParser) take(c byte) bool {
	p.space()
	if p.fault == nil && p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *jsonParser) value(depth int) any {
	p.space()
	if p.at == len(p.text) || depth > maxDepth {
		p.fail()
		return nil
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case c == '"':
		return p.string()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	switch rest := p.text[p.at:]; {
	case strings.HasPrefix(rest, "true"):
		p.at += len("true")
		return true
	case strings.HasPrefix(rest, "false"):
		p.at += len("false")
		return false
	case strings.HasPrefix(rest, "null"):
		p.at += len("null")
		return nil
	}
	p.fail()
	return nil
}

func (p *jsonParser) object(depth int) any {
	p.at++
	fields := map[string]any{}
	if p.take('}') {
		return fields
	}
	for p.fault == nil {
		p.space()
		if p.at == len(p.text) || p.text[p.at] != '"' {
			break
		}
		key := p.string()
		p.path = append(p.path, shownKey(key))
		if _, twice := fields[key]; twice && p.fault == nil {
			p.fault = &jsonFault{InvalidJSON, "has the key " + p.place() + " twice"}
		}
		if !p.take(':') {
			break
		}
		fields[key] = p.value(depth + 1)
		p.path = p.path[:len(p.path)-1]
		if p.take('}') {
			return fields
		}
		if !p.take(',') {
			break
		}
	}
	p.fail()
	return nil
}

func (p *jsonParser) list(depth int) any {
	p.at++
	items := []any{}
	if p.take(']') {
		return items
	}
	for p.fault == nil {
		p.path = append(p.path, "["+strconv.Itoa(len(items))+"]")
		items = append(items, p.value(depth+1))
		p.path = p.path[:len(p.path)-1]
		if p.take(']') {
			return items
		}
		if !p.take(',') {
			break
		}
	}
	p.fail()
	return nil
}

func (p *jsonParser) number() any {
	start := p.at
	for p.at < len(p.text) && strings.IndexByte("+-.eE0123456789", p.text[p.at]) >= 0 {
		p.at++
	}
	text := p.text[start:p.at]
	if !json.Valid([]byte(text)) {
		p.at = start
		p.fail()
		return nil
	}
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		return whole
	}
	return json.Number(text)
}

func (p *jsonParser) string() string {
	p.at++
	start, escaped := p.at, false
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			raw := p.text[start:p.at]
			p.at++
			return p.unescape(raw, escaped)
		case c == '\\':
			escaped = true
			p.at++ // an escaped character does not end the string
		case c < ' ':
			p.fail()
			return ""
		}
	}
	p.at = len(p.text)
	p.fail()
	return ""
}

func (p *jsonParser) unescape(raw string, escaped bool) string {
	if !utf8.ValidString(raw) {
		p.failText("bytes that are not UTF-8")
		return ""
	}
	if !escaped {
		return raw
	}
	if hasLoneSurrogate(raw) {
		p.failText("half of a surrogate pair")
		return ""
	}
	var text string
	if err := json.Unmarshal([]byte(`"`+raw+`"`), &text); err != nil {
		p.fail()
		return ""
	}
	if strings.IndexByte(text, 0) >= 0 {
		p.failText("U+0000")
		return ""
	}
	return text
}

// hasLoneSurrogate reports whether raw has an unpaired \ud800 … \udfff, which encoding/json would replace by
// U+FFFD.
func hasLoneSurrogate(raw string) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		switch unit := escapedUnit(raw[i:]); {
		case unit >= 0xd800 && unit < 0xdc00:
			if low := escapedUnit(raw[i+6:]); low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 11
		case unit >= 0xdc00 && unit <= 0xdfff:
			return true
		default:
			i++
		}
	}
	return false
}

// escapedUnit is the value of a \uXXXX at the start of raw, or -1.
func escapedUnit(raw string) int {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(raw[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return int(unit)
}
