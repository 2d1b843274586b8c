package payments_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/attention"
	"bankgraph/core/coretest"
	"bankgraph/core/rails"
)

// lineOf is an entry of another bank, of a class that this bank does not write itself.
type lineOf struct {
	class, code string
	minor       int
	id, name    string
	addenda     []string
}

// written is a file with such entries for the account, each in a batch of its own, line by line.
func (s *sender) written(entries ...lineOf) string {
	bank := func(number string) int { return int(number[0]-'0')*1e7 + atoi(number[1:8]) }
	lines := []string{fmt.Sprintf("101 %s %s2611181000A094101%-23s%-23s%8s", "061000146", "021000021",
		"FEDERAL RESERVE BANK", "OTHER BANK", "")}
	var records, sum, debits, credits int
	for i, e := range entries {
		n, service, debit, credit := i+1, "225", e.minor, 0
		if e.code[1] < '5' {
			service, debit, credit = "220", 0, e.minor
		}
		lines = append(lines,
			fmt.Sprintf("5%s%-16s%20s%-10s%s%-10s%6s261119%3s1%s%07d", service, "ACME", "", "1234567890", e.class,
				"PAYMENT", "", "", theirs[:8], n),
			fmt.Sprintf("6%s%s%-17s%010d%-15s%-22s%2s%d%s%07d", e.code, ours,
				coretest.AccountNumber(s.from.UID),
				e.minor, e.id, e.name, "", min(1, len(e.addenda)), theirs[:8], n))
		for j, text := range e.addenda {
			lines = append(lines, fmt.Sprintf("705%-80s%04d%07d", text, j+1, n))
		}
		lines = append(lines, fmt.Sprintf("8%s%06d%010d%012d%012d%-10s%19s%6s%s%07d", service, 1+len(e.addenda),
			bank(ours), debit, credit, "1234567890", "", "", theirs[:8], n))
		records, sum, debits, credits = records+1+len(e.addenda), sum+bank(ours), debits+debit, credits+credit
	}
	lines = append(lines, fmt.Sprintf("9%06d%06d%08d%010d%012d%012d%39s", len(entries), (len(lines)+10)/10,
		records,
		sum, debits, credits, ""))
	for len(lines)%10 != 0 {
		lines = append(lines, strings.Repeat("9", 94))
	}
	return strings.Join(lines, "\n") + "\n"
}

func atoi(text string) (n int) {
	for _, digit := range text {
		n = 10*n + int(digit-'0')
	}
	return n
}

// An entry of MTE has to say at which machine it was made.
func TestAnEntryThatLacksWhatItsClassDemandsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	s.arrive(t, rails.ACH, s.written(
		lineOf{class: "PPD", code: "22", minor: 1234_00, id: "PAYROLL", name: "JANE DOE"},
		lineOf{class: "MTE", code: "27", minor: 20_00, id: "0000001", name: "JANE DOE"}))
	s.run(t)
	s.until(t, "2026-11-19 09:00")
	s.has(t, 101_234_00, 0)
	if back := s.wentBack(t); len(back) != 1 || !strings.HasPrefix(back[0], "R17 20.00") {
		t.Errorf("went back: %q", back)
	}
}

// The return of an entry leaves, whatever the entry lacks that ACH demands of its class, or people are told
// of it.
func TestWhatCannotBeTakenGoesBackInAnyClassOrIsTold(t *testing.T) {
	t.Parallel()
	told := map[string]bool{"SHR": true, "POS": true, "ACK": true, "CIE": true} // in which they have no return
	for name, e := range map[string]lineOf{
		"TRX with an addendum":   {"TRX", "27", 24_00, "ID1", "0001JANE DOE", []string{"CHEQUE 4711"}},
		"TRX without":            {"TRX", "27", 24_00, "ID1", "0000JANE DOE", nil},
		"CTX with an addendum":   {"CTX", "27", 24_00, "ID1", "0001JANE DOE", []string{"INVOICE 4711"}},
		"BOC without its cheque": {"BOC", "27", 24_00, "", "JANE DOE", nil},
		"ARC without its cheque": {"ARC", "27", 24_00, "", "JANE DOE", nil},
		"XCK without its cheque": {"XCK", "27", 24_00, "", "", nil},
		"MTE without a machine":  {"MTE", "27", 24_00, "", "JANE DOE", nil},
		"SHR without a machine":  {"SHR", "27", 24_00, "ID1", "JANE DOE", nil},
		"POS without a machine":  {"POS", "27", 24_00, "ID1", "JANE DOE", nil},
		"ACK that moves money":   {"ACK", "24", 24_00, "ID1", "JANE DOE", nil},
		"CIE to a debit":         {"CIE", "27", 24_00, "ID1", "JANE DOE", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			s.Exec(`UPDATE accounts SET status = 'Closed' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
			s.arrive(t, rails.ACH, s.written(e))
			s.run(t)
			s.Clock.Advance(2 * time.Minute)
			s.run(t)
			back, left := s.wentBack(t), s.untaken(t)
			if told[e.class] != (len(left) == 1) || told[e.class] == (len(back) == 1) {
				t.Errorf("went back: %q; people are told: %q", back, left)
			}
		})
	}
}

// What cannot leave is told before its time is over: the other bank takes a return for two banking days.
func TestAReturnThatDoesNotLeaveIsListedForPeople(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	s.Exec(`UPDATE accounts SET status = 'Closed' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
	s.arrive(t, rails.ACH, s.written(lineOf{class: "PPD", code: "27", minor: 24_00, id: "1", name: "JANE DOE"}))
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if _, err := s.Payments.Receive(operator); err != nil { // and no file is made
		t.Fatal(err)
	}
	late := func() (all []string) {
		found, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Late}}, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range found.Items {
			all = append(all, fmt.Sprint(one.UID, " ", one.Reason))
		}
		return all
	}
	s.Clock.Advance(12 * time.Hour)
	if got := late(); len(got) > 0 {
		t.Errorf("it has time: %v", got)
	}
	s.Clock.Advance(time.Hour)
	if got, want := late(), fmt.Sprint(s.newest(t), " its return waits for a file"); len(got) != 1 ||
		got[0] != want {
		t.Errorf("%v, want %s", got, want)
	}
	s.run(t)
	if got := late(); len(got) > 0 {
		t.Errorf("it has left: %v", got)
	}
}
