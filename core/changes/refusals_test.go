package changes_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
)

func (d *desk) refuses(with error) {
	d.does = func(ctx context.Context, tx *changes.Tx) error {
		if err := tx.Record(ctx,
			changes.Change{UID: changes.UID(7), After: &noted{Text: "half done"}}); err != nil {
			return err
		}
		return with
	}
}

func TestARefusalUndoesAllAndStaysTheAnswerOfItsKey(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]*fault.Fault{
		"state": errFull, "absent": errNoNote, "conflict": changes.ErrStale,
		"a field": errFull.On("text"), "malformed": fault.Field("note", "text", fault.Max, "is too long"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.refuses(refusal)
			_, first := d.ask("k")
			is(t, "first", first, refusal)
			d.wrote(0, 1)
			d.refuses(nil) // it would be allowed now
			out, again := d.ask("k")
			if !out.Replayed || out.Result != "" || again == nil || again.Error() != first.Error() {
				t.Errorf("again: %+v %v, first %v", out, again, first)
			}
			f, _ := fault.Of(again)
			if f.Keep() != refusal.Keep() {
				t.Errorf("again: %+v, want %+v", f, refusal)
			}
			if refusal.Problem == "" {
				is(t, "again", again, refusal)
			}
			d.wrote(0, 1)
			_, err := d.ask("another")
			d.must(err)
		})
	}
}

func TestSeveralFaultsStaySeveral(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	several := fault.Faults{
		fault.Field("note", "text", fault.Max, "is too long"),
		fault.Field("note", "reason", fault.Required, "is required"),
	}
	d.refuses(several)
	for _, name := range []string{"first", "again"} {
		_, err := d.ask("k")
		var got fault.Faults
		if !errors.As(err, &got) || len(got) != 2 || got[0].Keep() != several[0].Keep() ||
			got[1].Keep() != several[1].Keep() {
			t.Errorf("%s: %#v", name, err)
		}
	}
	d.wrote(0, 1)
}

func TestWhatDependsOnWhoAsksAndWhenIsNotKept(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]*fault.Fault{
		"denied": access.ErrDenied, "unavailable": fault.New(fault.Unavailable, "note", "the notary is out"),
		"too many": fault.New(fault.TooMany, "note", "slower"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.refuses(refusal)
			for range 2 {
				out, err := d.ask("k")
				is(t, name, err, refusal)
				if out.Replayed {
					t.Error("it was kept")
				}
			}
			d.wrote(0, 2)
			d.does = func(context.Context, *changes.Tx) error { return nil }
			out, err := d.ask("k")
			d.fresh("then allowed", out, err)
			d.wrote(1, 2)
		})
	}
}

func TestADefectIsNeitherARefusalNorKept(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, defect := range []error{errors.New("a defect"), fault.New(fault.Internal, "note", "a defect")} {
		d.refuses(defect)
		_, err := d.ask("k")
		is(t, "defect", err, defect)
	}
	d.wrote(0, 0)
	d.does = func(context.Context, *changes.Tx) error { return nil }
	out, err := d.ask("k")
	d.fresh("once it is mended", out, err)
}

func TestARefusalWithoutAKeyIsRecordedEachTime(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.refuses(errFull)
	for range 2 {
		_, err := d.ask("")
		is(t, "refused", err, errFull)
	}
	d.wrote(0, 2)
	if n := d.keys(); n != 0 {
		t.Errorf("%d keys are kept", n)
	}
}

func TestTheRecordOfARefusalSaysWhoWantedWhatAndWhyNot(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.refuses(errFull)
	ctx := as(d.Staff(), "portal", "ada")
	_, err := d.say(ctx, d.take, changes.Target{Customer: int64(d.Self.UID), UID: "7"}, "hello",
		changes.RequestOptions{IdempotencyKey: "k"})
	is(t, "refused", err, errFull)
	var got struct {
		Client, LoginID, Action, Object, UID, Reason string
		Customer                                     int64
	}
	d.must(d.DB.NewRaw(
		`SELECT client, login_id, action, object, uid, reason, customer FROM audit_entries
			WHERE tenant = ? AND decision = 'refused'`, d.Tenant).Scan(t.Context(), &got))
	want := got
	want.Client, want.LoginID, want.Action, want.Object, want.UID, want.Reason, want.Customer = "portal", "ada",
		"takeNote", "note", "7", "the notebook is full", int64(d.Self.UID)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestARefusalThatIsToldAgainTakesOneTransaction(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	d := deskAt(t, line.Bank())
	d.refuses(errFull)
	_, err := d.ask("k")
	is(t, "first", err, errFull)
	line.Meanwhile(0, nil)
	_, err = d.ask("k")
	is(t, "again", err, errFull)
	if s := line.Statements(); len(s) != 4 || s[0] != "BEGIN" || s[3] != "COMMIT" {
		t.Errorf("%q", s)
	}
}

// Between the rollback of a refused change and the storing of its refusal, another server may have made the
// change.
func TestAQuickerCopysAnswerCounts(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	d := deskAt(t, line.Bank())
	quicker := &desk{Bank: d.Bank, t: t, does: func(context.Context, *changes.Tx) error { return nil }}
	quicker.take = quicker.declare(core.New(core.Options{
		DB: coretest.New(t).DB, Keys: d.Keys,
		Now: d.Clock.Now,
	}), "takeNote")
	d.refuses(errFull)
	line.Meanwhile(3, func() { // BEGIN of the second transaction
		out, err := quicker.ask("k")
		d.fresh("the quicker one", out, err)
	})
	out, err := d.ask("k")
	d.replayed("the slower one", out, err)
	d.wrote(1, 0)
}
