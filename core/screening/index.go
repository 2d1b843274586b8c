package screening

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A listed name matches a name if the words of the listed one are among the other's, in any order and
// whatever is written between them; letter case and accents do not count, and signs may join what is around
// them or part it: O'Neil is ONeil and O Neil. In names of two words and more one word of five letters or more
// may have one letter wrong, missing or too many, or two of them swapped. Where words end does not count in
// names of eight letters and more: Al-Rashid Trading is Alrashid Tra ding.

// Index finds the listed names that a name may be.
type Index struct {
	// each listed name stands under its two rarest words: whatever matches has one of them as it is
	by map[string][]*indexed
	// each one that may be parted in another way stands under its rarest word that is not short
	parted map[string][]*indexed
	sorted []string // the words of parted
}

// indexed is one reading of a listed name.
type indexed struct {
	words []string
	Match
}

// fewestParted is how many letters a name has at least that is found however it is parted: shorter ones would
// be found in too many words.
const fewestParted = 8

// NewIndex makes the index of listed names.
func NewIndex(all []*Name) *Index {
	x := &Index{by: map[string][]*indexed{}, parted: map[string][]*indexed{}}
	often := map[string]int{}
	var names []*indexed
	for _, n := range all {
		for _, words := range readings(n.Name) {
			names = append(names, &indexed{words, Match{n.List, n.Name, n.Program, n.Reference}})
			for _, word := range words {
				often[word]++
			}
		}
	}
	for _, one := range names {
		rarest := slices.Clone(one.words)
		slices.SortStableFunc(rarest, func(a, b string) int { return often[a] - often[b] })
		for _, word := range slices.Compact(rarest[:min(2, len(rarest))]) {
			x.by[word] = append(x.by[word], one)
		}
		if utf8.RuneCountInString(strings.Join(one.words, "")) >= fewestParted &&
			len(one.words) <= mostParted {
			rare := rarest[0]
			if at := slices.IndexFunc(rarest, func(word string) bool { return len(word) >= shortest }); at >= 0 {
				rare = rarest[at]
			}
			x.parted[rare] = append(x.parted[rare], one)
		}
	}
	x.sorted = slices.Sorted(maps.Keys(x.parted))
	return x
}

// mostMatches bounds what is kept of one payment.
const mostMatches = 10

// Find returns the listed names that a name may be, the first ones of the lists if they are many.
func (x *Index) Find(name string) (found []Match) {
	matched := map[Match]bool{}
	look := func(all []*indexed, tried map[*indexed]bool, is func(*indexed) bool) {
		for _, one := range all {
			if !tried[one] && !matched[one.Match] && len(found) < mostMatches && is(one) {
				found, matched[one.Match] = append(found, one.Match), true
			}
			tried[one] = true
		}
	}
	for _, has := range readings(name) {
		tried := map[*indexed]bool{}
		for _, word := range has {
			look(x.by[word], tried, func(one *indexed) bool { return one.in(has) })
		}
		letters := joined(has)
		clear(tried)
		for at := range letters.text {
			for _, word := range x.beginning(letters.text[at:]) {
				look(x.parted[word], tried, letters.have)
			}
		}
	}
	return found
}

// beginning returns the words of parted that a text begins with, the longest first.
func (x *Index) beginning(text string) (all []string) {
	for text != "" {
		at, is := slices.BinarySearch(x.sorted, text)
		if is {
			at++
		}
		if at == 0 {
			return all
		}
		word := x.sorted[at-1] // what the text begins with is not after it, and a part of it
		n := 0
		for n < len(word) && n < len(text) && word[n] == text[n] {
			n++
		}
		if n == len(word) {
			all = append(all, word)
			n--
		}
		text = text[:n]
	}
	return all
}

// mostParted is how many words a listed name has at most that is found however it is parted.
const mostParted = 32

// letters are those of the words of a name, one after the other.
type letters struct {
	text string
	ends map[int]bool // where words end or begin
}

func joined(words []string) letters {
	l := letters{text: strings.Join(words, ""), ends: map[int]bool{0: true}}
	at := 0
	for _, word := range words {
		at += len(word)
		l.ends[at] = true
	}
	return l
}

// mostPlaces bounds how long a name is compared with one listed name: beyond it, people are asked.
const mostPlaces = 5000

// have reports whether the words of a listed name are among the letters, each of them once: one word, or
// several that follow each other, begin where a word begins and end where a word ends.
func (l letters) have(n *indexed) bool {
	type place struct {
		at   int
		used uint32 // the listed words before it, by their bits
	}
	seen := map[place]bool{}
	var from func(p place) bool
	from = func(p place) bool {
		switch {
		case p.used == 1<<len(n.words)-1 && l.ends[p.at], len(seen) == mostPlaces:
			return true
		case p.at == len(l.text), seen[p]:
			return false
		}
		seen[p] = true
		for i, word := range n.words {
			if bit := uint32(1) << i; p.used&bit == 0 && strings.HasPrefix(l.text[p.at:], word) &&
				from(place{p.at + len(word), p.used | bit}) {
				return true
			}
		}
		if !l.ends[p.at] {
			return false
		}
		next := p.at + 1
		for !l.ends[next] {
			next++
		}
		return from(place{next, p.used})
	}
	return from(place{})
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

// spelled are letters that are written in more than one way without an accent telling so.
var spelled = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d",
	"þ", "th", "ł", "l", "ı", "i")

// joining are signs that people write within a word, as in O'Neil and L.L.C.
const joining = ".'’‘ʼ`"

// readings returns the words of a name, in small letters without accents, as they may be meant. A sign, which
// is whatever is no letter, digit or blank, joins what is around it or parts it: signs within words join and
// others part, or all part, or all join. A name without signs has one reading.
func readings(name string) (all [][]string) {
	var usual, parted, joined strings.Builder
	// ´ is a blank with an accent to Unicode
	for _, r := range norm.NFKD.String(strings.ReplaceAll(name, "´", "'")) {
		switch {
		case unicode.Is(unicode.M, r), unicode.Is(unicode.Cf, r):
			continue
		case unicode.IsLetter(r), unicode.IsDigit(r):
			r = unicode.ToLower(r)
			usual.WriteRune(r)
			joined.WriteRune(r)
		case unicode.IsSpace(r):
			r = ' '
			usual.WriteRune(r)
			joined.WriteRune(r)
		case strings.ContainsRune(joining, r):
			r = ' '
		default:
			r = ' '
			usual.WriteRune(r)
		}
		parted.WriteRune(r)
	}
	for _, one := range []*strings.Builder{&usual, &parted, &joined} {
		words := strings.Fields(spelled.Replace(one.String()))
		if !slices.ContainsFunc(all, func(other []string) bool { return slices.Equal(words, other) }) {
			all = append(all, words)
		}
	}
	return all
}
