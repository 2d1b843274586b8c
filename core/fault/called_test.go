package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"bankgraph/core/fault"
)

func TestAFaceCallsFieldsInItsOwnWords(t *testing.T) {
	t.Parallel()
	words := map[string]string{"contactBank": "bank", "contactBank.accountNo": "bank.number", "entries": "list"}
	for field, want := range map[string]string{
		"contactBank": "bank", "contactBank.accountNo": "bank.number",
		"contactBank.address.city": "bank.address.city",
		"entries[3].key":           "list[3].key", "contactBanking": "contactBanking", "name": "name", "": "",
	} {
		one := fault.Called(fault.Field("contact", field, fault.Required, "is required"), words)
		several := fault.Called(fault.Faults{
			errClosed.On("x"),
			fault.Field("contact", field, fault.Max, "too long"),
		}, words)
		f, _ := fault.Of(one)
		var all fault.Faults
		if f.Field != want || f.Problem != fault.Required || !errors.As(several, &all) || len(all) != 2 ||
			all[1].Field != want || !errors.Is(all[0], errClosed) {
			t.Errorf("%s: %v, %v", field, one, several)
		}
	}
	if err := errors.New("disk on fire"); !errors.Is(fault.Called(err, words), err) ||
		fault.Called(nil, words) != nil {
		t.Error("what is no fault has changed")
	}
	if !errors.Is(fault.Called(fmt.Errorf("pay: %w", errClosed), words), errClosed) {
		t.Error("the declared fault is lost")
	}
}
