package ident_test

import (
	"strings"
	"testing"

	"bankgraph/core/ident"
)

func TestOnlyLettersOfASCIIAreComparedWithoutCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"linda.chen", "LINDA.Chen", true},
		{"linda.chen", "l\u0130nda.chen", false},
		{"linda.chen", "l\u0131nda.chen", false},
		{"mark", "mar\u212a", false},
		{"james", "jame\u017f", false},
		{"\u00e9", "\u00c9", false}, // letters outside ASCII have no case here
		{"[", "{", false},           // neighbours of Z and z in the table
		{"@", "`", false},
		{"", "", true},
		{"a", "a ", false},
	} {
		if ident.Same(c.a, c.b) != c.same || ident.Same(c.b, c.a) != c.same {
			t.Errorf("%+q and %+q: same %v", c.a, c.b, !c.same)
		}
	}
}

func TestNamesHaveSingleSpacesBetweenTheirWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Clerk of Works", " Clerk of Works", "Clerk of Works ", "Clerk  of\u00a0Works", "Clerk of\u2003Works",
	} {
		if got := ident.Spaced(text); got != "Clerk of Works" {
			t.Errorf("%+q is %+q", text, got)
		}
	}
	if got := ident.Spaced("Cafe\u0301  10"); got != "Caf\u00e9 10" {
		t.Errorf("a letter and its mark are not composed: %+q", got)
	}
}

func TestLoginIDsAreASCIIWithoutSpaces(t *testing.T) {
	t.Parallel()
	for text, folded := range map[string]string{
		"Jane.Doe": "jane.doe", "jo@bank.example": "jo@bank.example", "auth0|5f7c": "auth0|5f7c", "~!#": "~!#",
		strings.Repeat("a", 200): strings.Repeat("a", 200),
	} {
		if got, ok := ident.Login(text); !ok || got != folded {
			t.Errorf("%q is %q, %v", text, got, ok)
		}
	}
	for _, text := range LookAlikes("linda.chen") {
		if got, ok := ident.Login(text); ok || got != "" {
			t.Errorf("%+q is a login id: %q", text, got)
		}
	}
	for _, text := range []string{"", " ", strings.Repeat("a", 201), "a\x00", "a\x7f", "a\xff"} {
		if _, ok := ident.Login(text); ok {
			t.Errorf("%+q is a login id", text)
		}
	}
}

// LookAlikes are texts that read, or that Unicode folds, like one that has an i, an n and a k or an s.
func LookAlikes(text string) []string {
	return []string{
		strings.Replace(text, "i", "\u0130", 1), strings.Replace(text, "i", "\u0131", 1),
		strings.Replace(text, "i", "i\u0307", 1),
		strings.Replace(text, "n", "\uff4e", 1), strings.Replace(text, "n", "n\u0301", 1),
		strings.Replace(text, "a", "\u0430", 1),
		text + " ", " " + text, text + "\u00a0",
		text + "\u200b", text + "\u200d", "\ufeff" + text, text + "\t",
		text + "\n",
		strings.Replace(text, ".", "\u2024", 1), strings.Replace(text, "c", "\u217d", 1), text + "\u00ad",
		text + "\u202e",
	}
}

func TestAWordIsOneOfTheListButForTheCaseOfLatinLetters(t *testing.T) {
	t.Parallel()
	type word string
	words := []word{"Bank", "ThirdParty"}
	for text, want := range map[string]word{
		"bank": "Bank", "THIRDPARTY": "ThirdParty", "ban\u212a": "", "": "", "bank ": "",
	} {
		if got, ok := ident.Word(text, words...); got != want || ok != (want != "") {
			t.Errorf("%q: %q %t", text, got, ok)
		}
	}
}
