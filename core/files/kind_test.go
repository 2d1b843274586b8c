package files_test

import (
	"testing"

	"bankgraph/core/files"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// A list of the payments of a file and the webhooks of these payments have the same words for their kind.
func TestALineHasTheKindOfItsPayment(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]files.ShownLine{
		"REALTIME_FEDNOW": {FileLine: files.FileLine{Rail: rails.FedNow}, Speed: payments.Instant},
		"REALTIME_RTP":    {FileLine: files.FileLine{Rail: rails.RTP}, Speed: payments.Instant},
		"REGULAR_ACH":     {FileLine: files.FileLine{Rail: rails.ACH}, Speed: payments.Economy},
		"WIRE":            {FileLine: files.FileLine{Rail: rails.Fedwire}, Speed: payments.Express},
		"CSV":             {},
		// before there is a payment
		"SAME_DAY_ACH": {FileLine: files.FileLine{
			Rail: rails.ACH, Order: &payments.Order{Speed: string(payments.EconomyPlus)},
		}},
	} {
		l.Of = &files.BulkFile{Type: files.CSV}
		if is := l.Kind(); is != want {
			t.Errorf("%s, not %s", is, want)
		}
	}
}
