package payments_test

import (
	"bytes"
	"testing"
	"time"

	"bankgraph/core/attention"
	"bankgraph/core/changes"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
)

// dishonour is a file in which a bank does not take the return of a payment.
func (s *sender) dishonour(t *testing.T, uid payments.UID, by, code string) string {
	t.Helper()
	var returned struct {
		Trace     string          `bun:"trace"`
		Back      string          `bun:"return_trace"`
		Code      string          `bun:"return_code"`
		Minor     int64           `bun:"amount"`
		Direction rails.EntryType `bun:"direction"`
		Class     rails.SECCode   `bun:"class"`
	}
	if err := s.DB.NewRaw(`SELECT trace, return_trace, return_code, amount, direction, class FROM ach_received
		WHERE tenant = ? AND payment = ?`, s.Tenant, uid).Scan(t.Context(), &returned); err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	w, err := nacha.NewWriter(&body, nacha.Header{
		Origin: payments.FedACH, OriginName: "FRB", Destination: ours, DestinationName: "US", CreatedAt: s.Now(),
		FirstTrace: 77,
	})
	if err == nil {
		err = w.Batch(nacha.Batch{
			Class: returned.Class, CompanyID: "9100011223", CompanyName: "Lakefront", Description: "PAYROLL",
			Effective: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), Only: returned.Direction, Bank: by,
		})
	}
	if err == nil {
		_, err = w.Entry(nacha.Entry{
			Account: rails.Checking, Direction: returned.Direction, Amount: money.Of(returned.Minor, "USD"),
			Routing: ours, Number: "1", Name: "Somebody",
			Dishonour: &nacha.Dishonour{
				Code: code, OriginalTrace: returned.Trace, OriginalBank: ours[:8], ReturnTrace: returned.Back,
				ReturnSettled: 324, ReturnCode: returned.Code,
			},
		})
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return body.String()
}

// A return that the other bank does not take moves no money here: the payment tells of it, and people are
// told, as its money is the bank's again, or a debit is paid after all.
func TestAReturnThatTheOtherBankDoesNotTakeWaitsForPeople(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code string
		come func(*testing.T, *sender) payments.UID
	}{
		"a credit": {"R23", func(t *testing.T, s *sender) payments.UID {
			t.Helper()
			return s.paidOver(t, creditedOn(19))
		}},
		"a debit": {"R29", func(t *testing.T, s *sender) payments.UID {
			t.Helper()
			return s.debit(t, settling(19))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			uid := c.come(t, s)
			s.through(t, "2026-11-19 09:00")
			if _, err := s.Payments.Return(s.Staff(), uid, payments.Return{Code: c.code},
				changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			s.run(t)
			s.through(t, "2026-11-20 12:00")
			before := s.life(t, uid)
			s.has(t, 100_000_00, 0)

			waits := func(want int) {
				t.Helper()
				found, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Dishonour}},
					10)
				if err != nil || len(found.Items) != want {
					t.Fatalf("%d wait, want %d: %v", len(found.Items), want, err)
				}
				if want == 1 && (found.Items[0].UID != int64(uid) || found.Items[0].Customer != int64(s.from.Customer) ||
					found.Items[0].Reason != "R68: the return came too late") {
					t.Errorf("%+v", found.Items[0])
				}
			}
			s.arrive(t, rails.ACH, s.dishonour(t, uid, "011000015", "R68")) // no bank that it went to
			s.run(t)
			waits(0)
			if got := s.life(t, uid); got != before {
				t.Errorf("another bank makes of %s %s", before, got)
			}
			file := s.dishonour(t, uid, theirs, "R68")
			s.arrive(t, rails.ACH, file)
			s.arrive(t, rails.ACH, file) // twice is once
			s.run(t)
			waits(1)
			if got, want := s.life(t, uid), before+" RETURNED"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
			s.through(t, "2026-11-25 12:00")
			s.has(t, 100_000_00, 0)
			s.Prove()
			s.through(t, "2026-11-30 12:00")
			waits(0)
		})
	}
}
