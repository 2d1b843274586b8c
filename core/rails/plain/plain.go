// Package plain writes texts in ASCII, which is all that the networks take.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// letters that Unicode does not take apart, and signs that mean the same in ASCII
var letters = strings.NewReplacer(
	"ß", "ss", "ẞ", "SS", "æ", "ae", "Æ", "AE", "œ", "oe", "Œ", "OE", "ø", "o", "Ø", "O", "ł", "l", "Ł", "L",
	"đ", "d", "Đ", "D", "ð", "d", "Ð", "D", "þ", "th", "Þ", "Th", "ı", "i", "’", "'", "‘", "'", "“", `"`,
	"”", `"`, "–", "-", "—", "-", "\u00a0", " ",
)

// ASCII returns a text without accents: Müller is Muller, Łódź is Lodz, and ’ is '. What has no form in ASCII
// stays as it is; whoever sends the text has to refuse it.
func ASCII(text string) string {
	if Is(text) {
		return text
	}
	text = norm.NFKD.String(letters.Replace(norm.NFC.String(text)))
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, text)
}

// Is reports whether a text is of ASCII alone.
func Is(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
