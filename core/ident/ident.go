// Package ident says when two texts name the same person or thing.
//
// Only the letters A to Z are compared without regard to case. Unicode folds other letters to these, such as
// U+0130 and U+212A, which would make different names equal. SQL compares the same way: lower(column COLLATE
// "C") with the result of Fold.
package ident

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// LongestLogin is the largest number of characters of a login id.
const LongestLogin = 200

// Login returns a login id in the form in which it is compared, and reports whether the text is one: 1 to 200
// letters, digits and special characters of ASCII, without spaces. Call it before any comparison: no other
// text names anybody.
func Login(text string) (folded string, ok bool) {
	if text == "" || len(text) > LongestLogin || !Printable(text) {
		return "", false
	}
	return Fold(text), true
}

// Printable reports whether a text consists of letters, digits and special characters of ASCII, without
// spaces.
func Printable(text string) bool {
	for at := range len(text) {
		if text[at] <= ' ' || text[at] > '~' {
			return false
		}
	}
	return true
}

// Fold returns a text with A to Z in lower case and everything else unchanged.
func Fold(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// Upper returns a text with a to z in upper case and everything else unchanged.
func Upper(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r + 'A' - 'a'
		}
		return r
	}, text)
}

// Spaced returns a name with single spaces between its words and none around them, and with letters and marks
// composed as Unicode does (NFC), so that names that look alike are equal.
func Spaced(text string) string { return norm.NFC.String(strings.Join(strings.Fields(text), " ")) }

// Word finds the word that equals a text, without regard to the case of A to Z.
func Word[T ~string](text string, words ...T) (word T, found bool) {
	for _, word := range words {
		if Same(text, string(word)) {
			return word, true
		}
	}
	return "", false
}

// Same reports whether two texts are equal, without regard to the case of A to Z.
func Same(a, b string) bool { return len(a) == len(b) && Fold(a) == Fold(b) }
