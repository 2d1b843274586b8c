package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"bankgraph/core/fault"
)

var errClosed = fault.New(fault.State, "account", "the account is closed")

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
	if errClosed.Field != "" || on.Field != "accountUID" || twice.Field != "receiver" || on.Kind != fault.State {
		t.Errorf("%+v %+v %+v", errClosed, on, twice)
	}
	if errors.Is(on, fault.New(fault.State, "account", "the account is closed")) {
		t.Error("another fault with the same words is the same")
	}
	if got := on.Error(); got != "accountUID: the account is closed" {
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
