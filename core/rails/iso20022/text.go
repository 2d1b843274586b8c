package iso20022

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a text may be.
type kind struct {
	most int // characters
	form *regexp.Regexp
	says string // what the form demands
	free bool   // words of people, whose accents can go
}

var (
	id35      = kind{most: 35}
	account34 = kind{most: 34}
	text16    = kind{most: 16, free: true}
	text35    = kind{most: 35, free: true}
	text70    = kind{most: 70, free: true}
	text105   = kind{most: 105, free: true}
	text140   = kind{most: 140, free: true}
	text2048  = kind{most: 2048, free: true}

	code4        = formed(4, `[A-Z0-9]{1,4}`, "must be a code of at most four letters and digits")
	status4      = formed(4, `[A-Z]{4}`, "must have four letters")
	chargeBearer = formed(4, `DEBT|CRED|SHAR|SLEV`, "must be DEBT, CRED, SHAR or SLEV")
	boolean      = formed(5, `true|false|1|0`, "must be true or false")
	country      = formed(2, `[A-Z]{2}`, "must be a country's two letters")
	routing      = formed(9, `[0-9]{9}`, "must have nine digits")
	member       = formed(11, `[A-Z0-9]{9,11}`, "must be a participant's number")
	definition   = formed(15, `[a-z]{4}\.[0-9]{3}\.001\.[0-9]{2}`, "must be a type of messages")
	iban         = formed(34, `[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}`, "must be an IBAN")
	bic          = formed(11, `[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?`, "must be a BIC")
	uuid4        = formed(36, `[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}`,
		"must be a UUID of version 4 in lower case")
)

func formed(most int, form, says string) kind {
	return kind{most: most, form: regexp.MustCompile("^(?:" + form + ")$"), says: says}
}

// wrong says what is wrong with a text; nothing if it is "".
func (k kind) wrong(text string, reading bool) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "is empty"
	case !isASCII(text) && (!reading || !utf8.ValidString(text) || strings.ContainsFunc(text, isNotPrint)):
		return "has characters that the network does not take"
	case utf8.RuneCountInString(text) > k.most:
		return fmt.Sprintf("has more than %d characters", k.most)
	case k.form != nil && !k.form.MatchString(text):
		return k.says
	}
	return ""
}

// isASCII reports whether a text has only the letters and signs that every network takes.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

func isNotPrint(r rune) bool { return !unicode.IsPrint(r) }
