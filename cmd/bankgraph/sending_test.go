package main

import (
	"strings"
	"testing"
	"time"

	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

func TestEachThingToLeaveIsALine(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	for want, l := range map[string]payments.Leaving{
		"return|7|RETURN_INITIATED|RTP|12.00 USD|Ada|Bob|M1|2026-05-03T12:00:00Z\n": {
			Kind: "return", Number: 1, Payment: 7, State: payments.Returning, Rail: rails.RTP, Minor: 12_00,
			Currency: "USD", From: "Ada", To: "Bob", Reference: "M1", Since: at,
		},
		"file of ACH|-|-|ACH|-|-|-|M2|2026-05-03T12:00:00Z\n": {
			Kind: "file of ACH", Number: 2, Rail: rails.ACH, Reference: "M2", Since: at,
		},
	} {
		var line strings.Builder
		writeLeaving(&line, &l)
		if got := strings.ReplaceAll(line.String(), "\t", "|"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
