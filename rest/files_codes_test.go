package rest_test

import (
	"fmt"
	"net/http"
	"testing"
)

func TestAFileSearchNamesWhatIsWrongWithItsPage(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, query := range []string{"page=0", "limit=0", "limit=1001", "page=one"} {
		b.call(b.program(), http.MethodPost, "/v2/files/search?"+query, `{"fileName": "pay"}`).
			refused(t, query, http.StatusBadRequest, "VALIDATION_ERROR", "")
	}
}

func TestAFileOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	path := fmt.Sprintf("/v1/payments/customers/%s/files/swift", b.acme.UID)
	b.call(b.program(), http.MethodPost, path, form("pay.txt", "x")).
		refused(t, path, http.StatusBadRequest, "UnsupportedFileTypeException", "fileType")
}
