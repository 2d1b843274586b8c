package changes_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/signatories"
	"bankgraph/db"
)

// office is a bank with a customer of a partner whose changes need a second person, and a change that waits for one.
type office struct {
	*desk
	partner  *customers.Customer
	customer *customers.Customer
	person   *signatories.Signatory
}

func newOffice(t *testing.T) *office {
	t.Helper()
	b := coretest.New(t)
	o := &office{partner: b.DownstreamPartner()}
	o.customer = b.Customer(coretest.OwnedBy(o.partner), func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
	o.person = b.Signatory(o.customer)
	o.desk = deskAt(t, b)
	return o
}

// ask is a change of the person's title.
func (o *office) ask(ctx context.Context, title string) (changes.Outcome[signatories.Saved], error) {
	return o.Signatories.Change(ctx, 0, o.person.UID, signatories.Draft{Title: given.Of(title)}, changes.Terms{})
}

// asked is the approval that such a change by the staff waits for.
func (o *office) asked(ctx context.Context) changes.UID {
	o.t.Helper()
	out, err := o.ask(ctx, "CFO")
	o.must(err)
	if out.Approval == 0 || out.Version != 1 {
		o.t.Fatalf("it does not wait: %+v", out)
	}
	return changes.UID(out.Approval)
}

// now is the person's row.
func (o *office) now() *signatories.Signatory {
	o.t.Helper()
	found, err := coretest.Many(o.Bank, o.Staff(), func(b *db.Batch) *db.Many[signatories.UID, signatories.Signatory] {
		return o.Signatories.FindMany(o.Staff(), b, []signatories.UID{o.person.UID}, db.Columns{})
	})
	o.must(err)
	if len(found[o.person.UID]) == 0 {
		return nil
	}
	return found[o.person.UID][0]
}

// stands fails the test unless the person has this title and version, and the approval this status.
func (o *office) stands(title string, version int32, uid changes.UID, status changes.Status) {
	o.t.Helper()
	if g := o.now(); g == nil || g.Title != title || g.Version != version {
		o.t.Errorf("the person is %+v, want %s in version %d", g, title, version)
	}
	a, err := o.Changes.Find(o.Staff(), uid)
	o.must(err)
	if a.Status != status {
		o.t.Errorf("the approval is %s, want %s", a.Status, status)
	}
}

func (o *office) approve(ctx context.Context, uid changes.UID) error {
	_, err := o.Changes.Approve(ctx, uid, changes.Terms{})
	return err
}

func (o *office) refuse(ctx context.Context, uid changes.UID) error {
	_, err := o.Changes.Refuse(ctx, uid, changes.Terms{})
	return err
}

func TestASecondPersonMakesTheChange(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	uid := o.asked(o.Staff())
	o.stands("Treasurer", 1, uid, changes.Open)
	o.must(o.approve(o.Checker(), uid))
	o.stands("CFO", 2, uid, changes.Approved)
	is(t, "once more", o.approve(o.Checker(), uid), changes.ErrDecided)
	is(t, "refused afterwards", o.refuse(o.Checker(), uid), changes.ErrDecided)
	o.stands("CFO", 2, uid, changes.Approved)
	for decision, n := range map[string]int{"proposed": 1, "done": 1, "approved": 1, "refused": 2} {
		if got := o.entries(decision); got != n {
			t.Errorf("%d entries say %s, want %d", got, decision, n)
		}
	}
}

func TestARefusedChangeIsNotMade(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	uid := o.asked(o.Staff())
	o.must(o.refuse(o.Checker(), uid))
	o.stands("Treasurer", 1, uid, changes.Refused)
	is(t, "approved afterwards", o.approve(o.Checker(), uid), changes.ErrDecided)
	o.stands("Treasurer", 1, uid, changes.Refused)
}

func TestSomethingNewIsPendingUntilASecondPersonDecides(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, approved := range []bool{true, false} {
		out, err := o.Signatories.Add(o.Staff(), o.customer.UID, signatories.Draft{
			FullName: given.Of("Ada Byron"), EmailAddress: given.Of("ada@mail.example"), PhoneNumber: given.Of("+16145550123"),
		}, changes.Terms{})
		o.must(err)
		o.person = &signatories.Signatory{UID: out.Result.UID}
		if g := o.now(); g == nil || g.Status != signatories.Pending {
			t.Errorf("before: %+v", g)
		}
		decide := o.refuse
		if approved {
			decide = o.approve
		}
		o.must(decide(o.Checker(), changes.UID(out.Approval)))
		if g := o.now(); approved && (g == nil || g.Status != signatories.Active) || !approved && g != nil {
			t.Errorf("approved %v: %+v", approved, g)
		}
		if approved { // its address is free for the next
			_, err := o.Signatories.Remove(o.Staff(), 0, o.person.UID, changes.Terms{})
			o.must(err)
			o.byHand(`UPDATE signatories SET email_address = 'other@mail.example' WHERE tenant = ? AND uid = ?`, o.Tenant, o.person.UID)
		}
	}
}

func TestNobodyApprovesTheirOwnChange(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for name, c := range map[string]struct {
		maker, checker [2]string // API key and login
		own            bool
	}{
		"the same program":                           {[2]string{"a", ""}, [2]string{"a", ""}, true},
		"another program":                            {[2]string{"a", ""}, [2]string{"b", ""}, false},
		"the same person":                            {[2]string{"a", "ada"}, [2]string{"a", "ada"}, true},
		"the same person with another API key":       {[2]string{"a", "ada"}, [2]string{"b", "ada"}, true},
		"the same person, written otherwise":         {[2]string{"a", "ada"}, [2]string{"b", "ADA"}, true},
		"another person with the same API key":       {[2]string{"a", "ada"}, [2]string{"a", "grace"}, false},
		"a person's own program":                     {[2]string{"a", "ada"}, [2]string{"a", ""}, true},
		"the person behind the program":              {[2]string{"a", ""}, [2]string{"a", "ada"}, true},
		"a program of somebody else, after a person": {[2]string{"a", "ada"}, [2]string{"b", ""}, false},
		"a person with another key, after a program": {[2]string{"a", ""}, [2]string{"b", "ada"}, false},
	} {
		maker, checker := as(o.Staff(), c.maker[0], c.maker[1]), as(o.Staff(), c.checker[0], c.checker[1])
		uid := o.asked(maker)
		was := o.now().Version
		err := o.approve(checker, uid)
		if c.own {
			is(t, name, err, changes.ErrOwn)
			if now := o.now().Version; now != was {
				t.Errorf("%s: it was made all the same", name)
			}
			o.must(o.refuse(checker, uid)) // who asked may take it back
			continue
		}
		if err != nil || o.now().Version != was+1 {
			t.Errorf("%s: %v", name, err)
		}
		o.byHand(`UPDATE signatories SET title = 'Treasurer', version = 1 WHERE tenant = ? AND uid = ?`, o.Tenant, o.person.UID)
	}
}

func TestADecisionNeedsThePermissionOfTheChange(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	uid := o.asked(o.Staff())
	for _, ctx := range []context.Context{as(o.Staff(), "reader", "", access.Readers...), as(o.Staff(), "nobody", "", access.ViewCustomers, access.ManageAccounts)} {
		is(t, "approve", o.approve(ctx, uid), access.ErrDenied)
		is(t, "refuse", o.refuse(ctx, uid), access.ErrDenied)
	}
	is(t, "nobody", o.approve(o.Nobody(), uid), access.ErrUnauthenticated)
	o.stands("Treasurer", 1, uid, changes.Open)
	if n := o.entries("refused"); n != 4 {
		t.Errorf("%d attempts are on the record", n)
	}
	o.must(o.approve(as(o.Staff(), "manager", "", access.ManageCustomers), uid))
	o.stands("CFO", 2, uid, changes.Approved)
}

func TestADecisionIsTheBanksAndThePartnersOwn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	stranger := o.DownstreamPartner()
	uid := o.asked(o.Partner(o.partner))
	for name, ctx := range map[string]context.Context{"another bank": o.Other().Checker(), "another partner": o.Partner(stranger)} {
		is(t, name+" approves", o.approve(ctx, uid), changes.ErrNoApproval)
		is(t, name+" refuses", o.refuse(ctx, uid), changes.ErrNoApproval)
		is(t, name+" about nothing", o.approve(ctx, 4711), changes.ErrNoApproval)
	}
	o.stands("Treasurer", 1, uid, changes.Open)
	o.must(o.approve(as(o.Partner(o.partner), "another of the partner", ""), uid))
	o.stands("CFO", 2, uid, changes.Approved)
}

// Who sees less of the bank than the maker decides nothing of the maker's, neither way; the maker takes back.
func TestWhoSeesLessThanTheMakerDecidesNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	somebody := o.PersonOf(o.customer, o.User(o.customer, nil))
	uid := o.asked(o.Staff())
	for name, ctx := range map[string]context.Context{"the partner": o.Partner(o.partner), "somebody of the customer": somebody} {
		is(t, name+" approves", o.approve(ctx, uid), changes.ErrNotYours)
		is(t, name+" refuses", o.refuse(ctx, uid), changes.ErrNotYours)
	}
	o.must(o.refuse(o.Staff(), uid))
	uid = o.asked(o.Partner(o.partner))
	is(t, "somebody of the customer, of the partner's", o.approve(somebody, uid), changes.ErrNotYours)
	o.must(o.approve(o.Staff(), uid))
	o.stands("CFO", 2, uid, changes.Approved)
}

// What the bank's people say about a change, and who they are, is theirs; and so is what would change for whom may not
// see the thing.
func TestAnApprovalShowsWhatTheCallerMaySee(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	out, err := o.Signatories.Change(o.Staff(), 0, o.person.UID, signatories.Draft{Title: given.Of("CFO")}, changes.Terms{Reason: "watch them"})
	o.must(err)
	uid := changes.UID(out.Approval)
	_, err = o.Changes.Refuse(o.Checker(), uid, changes.Terms{Reason: "fraud desk"})
	o.must(err)
	theirs := o.asked(as(o.Partner(o.partner), "theirs", ""))
	partner, blind := o.Partner(o.partner), as(o.Partner(o.partner), "blind", "", access.ViewCustomers)
	for name, c := range map[string]struct {
		ctx         context.Context
		uid         changes.UID
		says, shows bool
	}{
		"the bank": {o.Staff(), uid, true, true}, "the partner": {partner, uid, false, true},
		"the partner, of its own": {partner, theirs, true, true}, "who may not see signatories": {blind, uid, false, false},
	} {
		a, err := o.Changes.Find(c.ctx, c.uid)
		o.must(err)
		if said := a.MakerClient != "" && (a.Reason != "" || c.uid == theirs); said != c.says || !c.says && a.MakerClient+a.MakerLogin+a.Reason+a.CheckerClient+a.CheckerLogin+a.DecisionReason != "" {
			t.Errorf("%s: %+v", name, a)
		}
		if (len(a.Changes()) > 0) != c.shows {
			t.Errorf("%s: %v", name, a.Changes())
		}
		rows, err := coretest.Rows(o.Bank, c.ctx, func(b *db.Batch) *db.Rows[changes.Approval] {
			return o.Changes.List(c.ctx, b, changes.Search{}, db.Columns{}, page.First(10))
		})
		o.must(err)
		if len(rows) != 2 || !c.says && rows[0].MakerClient+rows[0].Reason+rows[0].DecisionReason != "" || (len(rows[0].Changes()) > 0) != c.shows {
			t.Errorf("%s, in a list: %+v", name, rows)
		}
	}
}

func TestOnlyOneOfTwoDecisionsCounts(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for round := range 10 {
		uid := o.asked(o.Staff())
		was := o.now().Version
		decide := []func(context.Context, changes.UID) error{o.approve, o.approve}
		if round%2 == 1 {
			decide[1] = o.refuse
		}
		errs := make([]error, 2)
		var both sync.WaitGroup
		for i, client := range []string{"first", "second"} {
			both.Go(func() { errs[i] = decide[i](as(o.Staff(), client, ""), uid) })
		}
		both.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else {
				is(t, "who came second", err, changes.ErrDecided)
			}
		}
		a, err := o.Changes.Find(o.Staff(), uid)
		o.must(err)
		made := o.now().Version - was
		if won != 1 || made > 1 || (made == 1) != (a.Status == changes.Approved) {
			t.Errorf("%d won, %d changes were made, it is %s", won, made, a.Status)
		}
		o.byHand(`UPDATE signatories SET title = 'Treasurer', version = 1 WHERE tenant = ? AND uid = ?`, o.Tenant, o.person.UID)
	}
}

func TestWhatChangedInTheMeantimeIsNotOverwritten(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	uid := o.asked(o.Staff())
	o.byHand(`UPDATE signatories SET title = 'Chair', version = 2 WHERE tenant = ? AND uid = ?`, o.Tenant, o.person.UID)
	is(t, "approve", o.approve(o.Checker(), uid), changes.ErrStale)
	o.stands("Chair", 2, uid, changes.Open)
	if n := o.entries("approved") + o.entries("done"); n != 0 {
		t.Errorf("%d entries say that it was", n)
	}
	o.must(o.refuse(o.Checker(), uid))
	o.stands("Chair", 2, uid, changes.Refused)
}

func TestOneChangeOfAThingWaitsAtATime(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	uid := o.asked(o.Staff())
	_, err := o.ask(o.Checker(), "Chair")
	is(t, "a second change", err, changes.ErrWaiting)
	_, err = o.Signatories.Remove(o.Staff(), 0, o.person.UID, changes.Terms{})
	is(t, "a removal", err, changes.ErrWaiting)
	// Nor does it help to turn the second person off in the meantime.
	o.byHand(`UPDATE customers SET access_customer_dual_approval = false WHERE tenant = ? AND uid = ?`, o.Tenant, o.customer.UID)
	_, err = o.ask(o.Staff(), "Chair")
	is(t, "a change that needs no second person any more", err, changes.ErrWaiting)
	o.must(o.approve(o.Checker(), uid))
	o.stands("CFO", 2, uid, changes.Approved)
	_, err = o.ask(o.Staff(), "Chair")
	o.must(err)
	o.stands("Chair", 3, uid, changes.Approved)
}

func TestTwoWhoAskAtTheSameTimeLeaveOneChangeWaiting(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = o.ask(o.Staff(), strings.Repeat("x", i+1)) })
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			is(t, "who came later", err, changes.ErrWaiting)
		}
	}
	if won != 1 || o.entries("proposed") != 1 {
		t.Errorf("%d are asked, %d entries", won, o.entries("proposed"))
	}
}

func TestARepeatedDecisionHasOneEffect(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	uid := o.asked(o.Staff())
	for i := range 3 {
		out, err := o.Changes.Approve(o.Checker(), uid, changes.Terms{IdempotencyKey: "k"})
		if err != nil || out.Result != uid || out.Replayed != (i > 0) {
			t.Errorf("%+v %v", out, err)
		}
	}
	_, err := o.Changes.Approve(o.Checker(), uid, changes.Terms{IdempotencyKey: "k", Reason: "another"})
	is(t, "another reason", err, changes.ErrKeyReused)
	o.stands("CFO", 2, uid, changes.Approved)
}

// What was asked for may hold account numbers: it is in the clear nowhere.
func TestWhatWaitsIsSealed(t *testing.T) {
	t.Parallel()
	const canary = "CANARY-4711-0815"
	o := newOffice(t)
	var made []string
	take := changes.Declare(o.Changes, "takeSecret", "secret", access.ManageCustomers, func(ctx context.Context, tx *changes.Tx, at changes.Target, n note) (string, error) {
		if tx.Dual(true) {
			return "waits", tx.Propose(ctx, changes.Proposal{Customer: at.Customer, UID: changes.UID(9), Version: 1, Before: &noted{Text: "a"}, After: &noted{Text: "b"}})
		}
		made = append(made, n.Text)
		return "", nil
	})
	caller, err := access.Require(o.Staff())
	o.must(err)
	out, err := take.Do(o.Staff(), caller, changes.Target{Customer: int64(o.customer.UID), UID: "9"}, note{canary}, changes.Terms{IdempotencyKey: "k"})
	o.must(err)
	for _, table := range []string{"approvals", "audit_entries", "events", "idempotency_keys"} {
		var rows []string
		o.must(o.DB.NewRaw("SELECT to_json(x)::text FROM "+table+" AS x WHERE tenant = ?", o.Tenant).Scan(t.Context(), &rows))
		if len(rows) == 0 {
			t.Errorf("%s has no row", table)
		}
		for _, row := range rows {
			if strings.Contains(row, canary) || strings.Contains(row, hexOf(canary)) {
				t.Errorf("%s shows it: %s", table, row)
			}
		}
	}
	o.must(o.approve(o.Checker(), changes.UID(out.Approval)))
	if len(made) != 1 || made[0] != canary {
		t.Errorf("what was carried out is %q", made)
	}
}

// A draft is sealed for its row: moved to another, it does not open.
func TestADraftOpensInItsPlaceOnly(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	uid := o.asked(o.Staff())
	second := o.Signatory(o.customer)
	out, err := o.Signatories.Change(o.Staff(), 0, second.UID, signatories.Draft{Title: given.Of("Chair")}, changes.Terms{})
	o.must(err)
	o.byHand(`UPDATE approvals SET draft = (SELECT draft FROM approvals WHERE tenant = ?0 AND uid = ?1) WHERE tenant = ?0 AND uid = ?2`, o.Tenant, out.Approval, uid)
	err = o.approve(o.Checker(), uid)
	var f *fault.Fault
	if err == nil || errors.As(err, &f) {
		t.Errorf("%v", err)
	}
	o.stands("Treasurer", 1, uid, changes.Open)
}
