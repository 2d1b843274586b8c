package screening

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A listed name matches a name if the words of the listed one are among the other's, in any order and
// whatever is written between them; letter case and accents do not count. In names of two words and more one
// word of five letters or more may have one letter wrong, missing or too many, or two of them swapped.

// Index finds the listed names that a name may be.
type Index struct {
	names []*indexed
	// each listed name stands under its two rarest words: whatever matches has one of them as it is
	by map[string][]*indexed
}

type indexed struct {
	words []string
	Match
}

// NewIndex makes the index of listed names.
func NewIndex(all []*Name) *Index {
	x := &Index{by: map[string][]*indexed{}}
	often := map[string]int{}
	for _, n := range all {
		one := &indexed{words: words(n.Name), Match: Match{n.List, n.Name, n.Program, n.Reference}}
		x.names = append(x.names, one)
		for _, word := range one.words {
			often[word]++
		}
	}
	for _, one := range x.names {
		rarest := slices.Clone(one.words)
		slices.SortStableFunc(rarest, func(a, b string) int { return often[a] - often[b] })
		for _, word := range slices.Compact(rarest[:min(2, len(rarest))]) {
			x.by[word] = append(x.by[word], one)
		}
	}
	return x
}

// mostMatches bounds what is kept of one payment.
const mostMatches = 10

// Find returns the listed names that a name may be, the first ones of the lists if they are many.
func (x *Index) Find(name string) (found []Match) {
	has := words(name)
	seen := map[*indexed]bool{}
	for _, word := range has {
		for _, one := range x.by[word] {
			if !seen[one] && one.in(has) && len(found) < mostMatches {
				found = append(found, one.Match)
			}
			seen[one] = true
		}
	}
	return found
}

// in reports whether the words of a listed name are among these.
func (n *indexed) in(has []string) bool {
	used := make([]bool, len(has))
	var inexact []string
	for _, word := range n.words {
		at := -1
		for i := range has {
			if !used[i] && has[i] == word {
				at = i
				break
			}
		}
		if at >= 0 {
			used[at] = true
		} else if inexact = append(inexact, word); len(inexact) > 1 || len(n.words) == 1 {
			return false
		}
	}
	if len(inexact) == 0 {
		return true
	}
	for i, word := range has {
		if !used[i] && alike([]rune(inexact[0]), []rune(word)) {
			return true
		}
	}
	return false
}

// shortest is how many letters a word has at least that may be written wrong.
const shortest = 5

// alike reports whether two different words are one letter apart, or have two letters swapped.
func alike(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < shortest || len(b) > len(a)+1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return slices.Equal(a[i:], b[i+1:])
	}
	return slices.Equal(a[i+1:], b[i+1:]) ||
		i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
}

// letters are written in more than one way without an accent telling so.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "þ", "th", "ł", "l",
	"ı", "i")

// words splits a name into its words, in small letters without accents. Full stops and apostrophes join what
// is around them, as in O'Neil and L.L.C.; whatever else is no letter or digit parts it.
func words(name string) []string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(name) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			b.WriteRune(unicode.ToLower(r))
		case unicode.Is(unicode.M, r), unicode.Is(unicode.Cf, r), strings.ContainsRune(".'’ʼ`´", r):
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Fields(letters.Replace(b.String()))
}
