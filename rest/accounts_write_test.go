package rest_test

import (
	"net/http"
	"strings"
	"testing"
)

// Each action requires a text of its own kind (rest/CONTRACT.md, account actions). A refused action leaves
// the account as it is.
func TestAnActionOnAnAccountNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	path := strings.NewReplacer("{C}", b.acme.UID.String(), "{X}", b.loan.UID.String()).
		Replace("/v2/customers/{C}/accounts/{X}")
	for body, c := range map[string]struct{ code, message string }{
		`{"reason": "r"}`:                         {"CUSTOMER_BNKACCTACTION_REQUIRED", "action: is required"},
		`{"action": null, "reason": "r"}`:         {"CUSTOMER_BNKACCTACTION_REQUIRED", "action: is required"},
		`{"action": "Freeze", "reason": "r"}`:     {"CUSTOMER_BNKACCTACTION_INVALID", "action: "},
		`{"action": 1, "reason": "r"}`:            {"CUSTOMER_BNKACCTACTION_INVALID", "action: must be a string"},
		`{"action": "Close"}`:                     {"CUSTOMER_BNKACCTREASON_REQUIRED", "reason: is required"},
		`{"action": "Close", "reason": " "}`:      {"CUSTOMER_BNKACCTREASON_REQUIRED", "reason: is required"},
		`{"action": "Close", "reason": 5}`:        {"ACC001", "reason: must be a string"},
		`{"action": "Close", "reason": {"a": 1}}`: {"ACC001", "reason: must be a string"},
	} {
		b.call(b.program(), http.MethodPatch, path, body).
			refused(t, body, http.StatusBadRequest, c.code, c.message)
	}
	if n := b.recorded(); n != 0 {
		t.Errorf("%d audit entries", n)
	}
}
