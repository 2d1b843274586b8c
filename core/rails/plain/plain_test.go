package plain_test

import (
	"testing"

	"bankgraph/core/rails/plain"
)

func TestAccentsAreLostAndOtherLettersStay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"José Müller": "Jose Muller", "Łódź": "Lodz", "Straße": "Strasse", "Ærø": "AEro", "O’Neil": "O'Neil",
		"Søren Þór": "Soren Thor", "ﬁnance": "finance", "Ñandú — x": "Nandu - x", "plain~!": "plain~!",
		"e\u0301": "e", "日本": "日本", "€": "€",
	} {
		if got := plain.ASCII(text); got != want {
			t.Errorf("%s is %s", text, got)
		}
	}
}
