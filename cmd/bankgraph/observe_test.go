package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A caller that sends far more than its share does not fill the log. Every request is counted, and all others
// are logged.
func TestTheLogTellsOfSomeOfACallersSurplus(t *testing.T) {
	t.Parallel()
	m := newMeters(nil)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v2/customers", http.NoBody)
	send := func(times int, client string, status int) (untold float64) {
		t.Helper()
		before := counted(t, m, "bankgraph_requests_untold_total")
		for range times {
			m.record(request, &recorder{status: status, tenant: "BANK", client: client}, "/v2/customers",
				time.Millisecond)
		}
		return counted(t, m, "bankgraph_requests_untold_total") - before
	}
	if untold := send(1000, "portal", http.StatusTooManyRequests); untold < 900 ||
		untold > 1000-mostSurplusTold {
		t.Errorf("of a caller's surplus of 1000 the log leaves out %v", untold)
	}
	if untold := send(mostSurplusTold, "other", http.StatusTooManyRequests); untold != 0 {
		t.Errorf("of another caller's %d the log leaves out %v", mostSurplusTold, untold)
	}
	if untold := send(1000, "portal", http.StatusOK) + send(1000, "portal", http.StatusForbidden); untold != 0 {
		t.Errorf("of what was not surplus the log leaves out %v", untold)
	}
	if all := counted(t, m, "bankgraph_requests_total"); all != 3000+mostSurplusTold {
		t.Errorf("%v requests are counted", all)
	}
}

// counted is the sum of a counter over all its labels.
func counted(t *testing.T, m *meters, name string) (sum float64) {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, one := range family.GetMetric() {
			if family.GetName() == name {
				sum += one.GetCounter().GetValue()
			}
		}
	}
	return sum
}
