package states_test

import (
	"errors"
	"testing"

	"bankgraph/core/fault"
	"bankgraph/core/states"
)

func TestAStepLeadsOnlyFromWhatItNames(t *testing.T) {
	t.Parallel()
	there := fault.New(fault.State, "door.open", "it is open already")
	gone := fault.New(fault.State, "door.gone", "it is not there")
	open := states.Step[string]{
		From: []string{"shut", "ajar"}, To: "open", Refused: map[string]*fault.Fault{"open": there}, Else: gone,
	}
	for from, want := range map[string]error{"shut": nil, "ajar": nil, "open": there, "sold": gone, "": gone} {
		to, err := open.Take(from)
		if want == nil {
			if to != "open" || err != nil {
				t.Errorf("from %q to %q, %v", from, to, err)
			}
			continue
		}
		if f, _ := fault.Of(err); to != from || !errors.Is(err, want) || f.Detail != from {
			t.Errorf("from %q to %q, %v", from, to, err)
		}
	}
}
