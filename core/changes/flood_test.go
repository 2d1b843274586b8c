package changes_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
)

// folded records the counted refusals, and returns the reasons in their entries.
func (d *desk) folded(stopping bool) (reasons []string) {
	d.t.Helper()
	d.must(d.Audit.RecordFolded(d.operator(), stopping))
	d.must(d.DB.NewRaw(
		`SELECT client || ': ' || reason FROM audit_entries
			WHERE tenant = ? AND object = 'refusals' ORDER BY id`,
		d.Tenant).Scan(d.t.Context(), &reasons))
	return reasons
}

func (d *desk) operator() context.Context {
	return access.Operator(d.t.Context(), d.Tenant, d.Code, nil)
}

func (d *desk) refusedTimes(ctx context.Context, times int, key string) {
	d.t.Helper()
	for i := range times {
		if key != "" {
			key = fmt.Sprint("key", i)
		}
		_, err := d.askAs(ctx, key)
		is(d.t, "refused", err, errFull)
	}
}

func TestRefusedWorkDoesNotFloodTheRecord(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.refuses(errFull)
	d.refusedTimes(d.Staff(), 200, "")
	d.wrote(0, 59)
	if told := d.folded(false); told != nil {
		t.Errorf("the minute is not over: %q", told)
	}
	d.refusedTimes(as(d.Staff(), "other", ""), 1, "")
	d.wrote(0, 60) // refusals of another caller are still recorded
	d.Clock.Advance(time.Minute)
	d.refusedTimes(d.Staff(), 1, "")
	for range 2 {
		if told := d.folded(false); len(told) != 1 ||
			told[0] != "staff: and 141 further refusals within the minute" {
			t.Errorf("%q", told)
		}
	}
	d.wrote(0, 62)
	d.does = func(context.Context, *changes.Tx) error { return nil }
	_, err := d.ask("")
	d.must(err)
}

func TestAStopTellsOfRefusalsThatWereOnlyCounted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.refuses(errFull)
	d.refusedTimes(d.Staff(), 61, "")
	if told := d.folded(true); len(told) != 1 || told[0] != "staff: and 2 further refusals within the minute" {
		t.Errorf("%q", told)
	}
}

func TestTheRefusalsOfOneBankAreBoundedTogether(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other := deskAt(t, d.Other())
	d.refuses(errFull)
	other.refuses(errFull)
	for i := range 12 {
		d.refusedTimes(as(d.Staff(), fmt.Sprint("key", i), ""), 55, "")
	}
	d.wrote(0, 599)
	other.refusedTimes(other.Staff(), 1, "")
	other.wrote(0, 1)
	d.Clock.Advance(time.Minute)
	if told := d.folded(false); len(told) != 1 ||
		told[0] != ": and 61 further refusals of several callers within the minute" {
		t.Errorf("%q", told)
	}
}

// Counts that could not be recorded are not lost.
func TestCountedRefusalsWaitForTheDatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.refuses(errFull)
	d.refusedTimes(d.Staff(), 60, "")
	gone, cancel := context.WithCancel(d.operator())
	cancel()
	if err := d.Audit.RecordFolded(gone, true); err == nil {
		t.Error("it was written after all")
	}
	d.refusedTimes(d.Staff(), 60, "")
	if told := d.folded(true); len(told) != 1 || told[0] != "staff: and 2 further refusals within the minute" {
		t.Errorf("%q", told)
	}
}

// A key keeps its refusal even if the record does not, up to a bound; beyond it the caller is told to try
// later.
func TestKeysRememberRefusalsThatAreOnlyCounted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.refuses(errFull)
	d.refusedTimes(d.Staff(), 600, "key")
	d.wrote(0, 59)
	if n := d.keys(); n != 600 {
		t.Errorf("%d keys are kept", n)
	}
	_, err := d.ask("one more")
	is(t, "one more", err, changes.ErrRefusals)
	if n := d.keys(); n != 600 {
		t.Errorf("%d keys are kept after that", n)
	}
	out, err := d.ask("key599")
	if is(t, "the last one again", err, errFull); !out.Replayed {
		t.Error("it was not kept")
	}
	d.does = func(context.Context, *changes.Tx) error { return nil }
	out, err = d.ask("one more")
	d.fresh("one more, once it is allowed", out, err)
	d.Clock.Advance(time.Minute)
	if told := d.folded(false); len(told) != 1 || !strings.HasPrefix(told[0], "staff: and 542 further") {
		t.Errorf("%q", told)
	}
}
