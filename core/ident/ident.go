// Package ident says when two texts name the same person or thing.
//
// Only the letters A to Z are compared without regard to case. Unicode knows other letters that become them,
// such as U+0130 and U+212A: whoever folds those takes one name for another. SQL compares the same way, by
// lower(column COLLATE "C") with what Fold returned.
package ident

import "strings"

// LongestLogin is how many characters a login id can have.
const LongestLogin = 200

// Login returns a login id as it is compared, and reports whether it is one: 1 to 200 of the letters, digits
// and special characters of ASCII, without spaces. Ask it before anything is compared: no other text is
// anybody.
func Login(text string) (folded string, ok bool) {
	if text == "" || len(text) > LongestLogin || !Printable(text) {
		return "", false
	}
	return Fold(text), true
}

// Printable reports whether a text is made of the letters, digits and special characters of ASCII, without
// spaces.
func Printable(text string) bool {
	for at := range len(text) {
		if text[at] <= ' ' || text[at] > '~' {
			return false
		}
	}
	return true
}

// Fold returns a text with the letters A to Z in lower case, and all else as it is.
func Fold(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// Spaced returns a name with single spaces between its words and none around them, however it was written:
// two names that read alike are one.
func Spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// Word finds the one of some words that a text is, but for the case of the letters A to Z.
func Word[T ~string](text string, words ...T) (word T, found bool) {
	for _, word := range words {
		if Same(text, string(word)) {
			return word, true
		}
	}
	return "", false
}

// Same reports whether two texts are one but for the case of the letters A to Z.
func Same(a, b string) bool { return len(a) == len(b) && Fold(a) == Fold(b) }
