package rest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"bankgraph/core/payments"
)

// The states of payments in CONTRACT.md, and what can follow on each, are written from the code that holds
// payments to them, with -update.
func TestPaymentStatesAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	const file, begins, ends = "CONTRACT.md", "### Payment states\n", "`PUT …/cancel` takes"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begins)
	_, after, ok := strings.Cut(rest, ends)
	if !ok {
		t.Fatalf("CONTRACT.md has no %q before %q", begins, ends)
	}
	want := before + begins + "\n" + stateTable() + "\n" + stateDiagram() + "\n" + ends + after
	if *update {
		err = os.WriteFile(file, []byte(want), 0o600)
	} else if want != string(text) {
		err = fmt.Errorf("the payment states of %s are stale: go test ./rest -run PaymentStates -update", file)
	}
	if err != nil {
		t.Error(err)
	}
}

// stateTable has a row for each state.
func stateTable() string {
	var b strings.Builder
	b.WriteString("Written from the code by `go test ./rest -run PaymentStates -update`; REPAIR and " +
		"RETURN_INITIATED are ours, as no\n" +
		"text names them. `memoPostStatus` of a request for payment or drawdown request, one that went out " +
		"or that came in, and of an\nenrolment is NOT_APPLICABLE in every state.\n\n" +
		"| `status` | means | `memoPostStatus` | `returnStatus` | may be cancelled |\n" +
		"|---|---|---|---|---|\n")
	for _, s := range payments.States {
		asked := string(s.ReturnStatus())
		if asked == "" {
			asked = "none"
		}
		cancelled := "no"
		if s.MayBeCancelled() {
			cancelled = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.Status(), s.Means(), s.MemoPost(), asked, cancelled)
	}
	return b.String()
}

// stateDiagram draws what can follow on each state.
func stateDiagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	called := map[payments.State]string{"": "[*]"}
	for _, s := range payments.States {
		called[s] = string(s.Status())
		if payments.StatesOf(s.Status())[0] != s {
			called[s] += "_" + string(s.ReturnStatus())
			fmt.Fprintf(&b, "    state \"%s, %s\" as %s\n", s.Status(), s.ReturnStatus(), called[s])
		}
	}
	for _, s := range append([]payments.State{""}, payments.States...) {
		for _, to := range s.Next() {
			fmt.Fprintf(&b, "    %s --> %s\n", called[s], called[to])
		}
		if len(s.Next()) == 0 {
			fmt.Fprintf(&b, "    %s --> [*]\n", called[s])
		}
	}
	b.WriteString("```\n")
	return b.String()
}
