package rest_test

import (
	"os"
	"strings"
	"testing"

	"bankgraph/rest"
)

// Whoever gets a code finds in CONTRACT.md where it comes from, and whether partners were promised it.
func TestTheContractNamesEveryCode(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile("CONTRACT.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range rest.Codes() {
		if !strings.Contains(string(contract), c.Code) {
			t.Errorf("%s (%s) is not in CONTRACT.md", c.Code, c.Area)
		}
	}
}
