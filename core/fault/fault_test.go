package fault_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"bankgraph/core/fault"
)

var errClosed = fault.New(fault.State, "till.closed", "the till is closed")

func TestAFaultIsFoundBehindWhatWasBeingDone(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("pay: %w", fmt.Errorf("post: %w", errClosed))
	if f, ok := fault.Of(wrapped); !ok || f != errClosed || !errors.Is(wrapped, errClosed) {
		t.Errorf("%v %v", f, ok)
	}
	if _, ok := fault.Of(errors.New("disk on fire")); ok {
		t.Error("a plain error is a fault")
	}
	if _, ok := fault.Of(nil); ok {
		t.Error("nothing is a fault")
	}
}

func TestABlamedFieldKeepsTheDeclaredFault(t *testing.T) {
	t.Parallel()
	on := errClosed.On("accountUID")
	twice := on.On("receiver")
	if !errors.Is(on, errClosed) || !errors.Is(twice, errClosed) || !errors.Is(errClosed, on) {
		t.Error("the declared fault is lost")
	}
	if errClosed.Field != "" || on.Field != "accountUID" || twice.Field != "receiver" ||
		on.Kind != fault.State {
		t.Errorf("%+v %+v %+v", errClosed, on, twice)
	}
	if errors.Is(on, fault.New(fault.State, "till", "the till is closed")) {
		t.Error("another fault with the same words is the same")
	}
	if got := on.Error(); got != "accountUID: the till is closed" {
		t.Error(got)
	}
}

func TestSeveralFaultsShowTheFirst(t *testing.T) {
	t.Parallel()
	first := fault.Field("customer", "legalName", fault.Required, "is required")
	var err error = fault.Faults{first, fault.Field("customer", "taxId", fault.Max, "too long")}
	err = fmt.Errorf("create: %w", err)
	if f, ok := fault.Of(err); !ok || f != first {
		t.Errorf("%v", f)
	}
	var all fault.Faults
	if !errors.As(err, &all) || len(all) != 2 {
		t.Errorf("%v", all)
	}
	if _, ok := fault.Of(fault.Faults{}); ok {
		t.Error("none is one")
	}
}

func TestAFaultThatWasKeptIsTheSameByItsCodeWhateverItsWords(t *testing.T) {
	t.Parallel()
	kept := errClosed.On("till").Keep()
	kept.Message = "the till was closed, as we said in those days"
	text, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	var read fault.Kept
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	again := read.Again()
	if !errors.Is(again, errClosed) || again.Error() != "till: the till was closed, as we said in those days" ||
		again.Keep() != kept {
		t.Errorf("%+v", again)
	}
	kept.Code = "till.burnt"
	if again := kept.Again(); errors.Is(again, errClosed) || again.Message != kept.Message {
		t.Errorf("a fault that this program does not have: %+v", again)
	}
}

func TestTwoFaultsOfOneCodeAreADefect(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a second fault was declared by the code of the first")
		}
	}()
	_ = fault.New(fault.Conflict, "till.closed", "something else")
}
