package rest_test

import (
	"os"
	"strings"
	"testing"

	"bankgraph/rest"
)

// CONTRACT.md names every code and says whether partners were promised it.
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
