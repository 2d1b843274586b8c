package check

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"

	"bankgraph/core/fault"
	"bankgraph/core/ident"
)

// name matches letters of any script with their marks, and between letters the signs of names: O'Brien,
// Jean-Luc, de la Cruz, St. John, J.R.R. Tolkien, J.-P., van 't Hoff, King, Jr., Gal·la.
var name = regexp.MustCompile(
	`^['’‘]?\p{L}\p{M}*(?:(?:[.,]?[ \-‐‑–]?['’‘]?|['’‘][ \-]|[·・׳״])\p{L}\p{M}*)*\.?$`)

// Name demands a person's name: letters of any script, and the signs that are part of names, but no digits
// and no other signs. The published text says "letters only" (rest/CONTRACT.md, names of people), which
// cannot be meant to refuse St. John.
func (c *Fields) Name(field, value string) {
	c.demand(isName(value), field, value, fault.Malformed,
		"must be made of letters, and of the signs between them that names have")
}

// isName removes joiners before it compares: IsPlain allows them only in scripts that need them.
func isName(text string) bool {
	joiners := strings.NewReplacer(string(zeroWidthJoiner), "", string(zeroWidthNonJoiner), "")
	return IsPlain(text) && name.MatchString(joiners.Replace(text))
}

const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'

// joining lists the scripts that use joiners, as in names of Iran, India and Sri Lanka.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
}

// LoginID demands at most 200 letters, digits and special characters of ASCII, without spaces
// (rest/CONTRACT.md, login ids). Letters of other alphabets may look like these.
func (c *Fields) LoginID(field, value string) {
	c.demand(ident.Printable(value), field, value, fault.Malformed,
		"must be made of letters, digits and special characters, without spaces")
	c.AtMost(field, value, ident.LongestLogin)
}

// Email demands one plain address, such as jane.doe@bank.example: ASCII, at most 254 characters and 64 before
// the @ (RFC 5321), with a dot in the domain, and without a display name.
func (c *Fields) Email(field, value string) {
	c.demand(isEmail(value), field, value, fault.Malformed, "must be an e-mail address")
}

func isEmail(text string) bool {
	if len(text) > 254 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return false
	}
	address, err := mail.ParseAddress(text)
	if err != nil || address.Name != "" || address.Address != text {
		return false
	}
	at := strings.LastIndexByte(text, '@')
	return at <= 64 && isDomain(text[at+1:])
}

var label = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

// isDomain reports whether a text is a name of the public DNS: two labels or more, the last not a number.
func isDomain(text string) bool {
	labels := strings.Split(text, ".")
	for _, l := range labels {
		if !label.MatchString(l) {
			return false
		}
	}
	return len(text) <= 253 && len(labels) > 1 && !allDigits(labels[len(labels)-1])
}

// URL demands a web address, such as https://www.bank.example/about. The scheme may be left out:
// www.bank.example.
func (c *Fields) URL(field, value string) {
	c.demand(isURL(value), field, value, fault.Malformed, "must be an address of the web")
}

func isURL(text string) bool {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	address, err := url.Parse(text)
	return err == nil && (address.Scheme == "https" || address.Scheme == "http") && address.User == nil &&
		isDomain(address.Hostname()) && !strings.ContainsAny(text, " \"<>\\^`{|}")
}

// written is a phone number as people write it; the library would find one in the middle of a letter.
var written = regexp.MustCompile(`(?i)^\+?[0-9 ()./-]{1,40}(?:(?:;ext=| ?ext\.? ?| ?x ?| ?# ?)[0-9]{1,7})?$`)

// Phone reads a phone number that exists in its country's plan, in national form for the country of two
// letters or with a + and the country's code. It is returned in E.164, +16145550123; an extension follows
// as RFC 3966 writes it, +16145550123;ext=12, which reads back as the same number.
func (c *Fields) Phone(field, value, country string) string {
	number, ok := phone(value, country, phonenumbers.IsValidNumber)
	c.demand(ok, field, value, fault.Malformed, "must be a phone number")
	return right(c, field, number)
}

// AnyPhone is a phone number in E.164 where it exists in a known plan. The contract asks customers and
// contacts for no more than a length, so others stay as they are written.
func AnyPhone(text, country string) string {
	if number, ok := phone(text, country, phonenumbers.IsValidNumber); ok {
		return number
	}
	return text
}

func phone(text, country string, is func(*phonenumbers.PhoneNumber) bool) (string, bool) {
	if !written.MatchString(text) {
		return "", false
	}
	number, err := phonenumbers.Parse(text, country)
	if err != nil || !is(number) {
		return "", false
	}
	stored := phonenumbers.Format(number, phonenumbers.E164)
	if extension := number.GetExtension(); extension != "" {
		stored += ";ext=" + extension
	}
	return stored, true
}

var withCountryCode = regexp.MustCompile(`^\+[1-9]\d{0,2}([ -]?\(?\d+\)?)*$`)

// UserPhone reads a phone number with its country's code, in the form that users have (rest/CONTRACT.md,
// phone numbers of users). It asks for no more than that: a number of the right length for its country will
// do, as plans grow faster than programs learn them.
func (c *Fields) UserPhone(field, value string) string {
	c.Pattern(field, value, withCountryCode,
		"must be a phone number with its country code, such as +1 614 555 0123")
	number, ok := phone(value, "", phonenumbers.IsPossibleNumber)
	c.demand(ok, field, value, fault.Malformed, "must be a phone number")
	return right(c, field, number)
}
