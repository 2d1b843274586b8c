package changes_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/issuers"
	"bankgraph/core/page"
	"bankgraph/core/signatories"
	"bankgraph/core/tenants"
	"bankgraph/db"
)

// office is a bank with a customer of a partner whose changes need a second person, and a change that waits
// for one.
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
	o.customer = b.Customer(coretest.OwnedBy(o.partner),
		func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
	o.person = b.Signatory(o.customer)
	o.desk = deskAt(t, b)
	return o
}

// ask requests a change of the person's title.
func (o *office) ask(ctx context.Context, title string) (changes.Outcome[signatories.Saved], error) {
	return o.Signatories.Change(ctx, 0, o.person.UID, signatories.Draft{Title: given.Of(title)},
		changes.RequestOptions{})
}

// asked returns the approval that such a change waits for.
func (o *office) asked(ctx context.Context) changes.UID {
	o.t.Helper()
	out, err := o.ask(ctx, "CFO")
	o.must(err)
	if out.Approval == 0 || out.Version != 1 {
		o.t.Fatalf("it does not wait: %+v", out)
	}
	return changes.UID(out.Approval)
}

func (o *office) now() *signatories.Signatory {
	o.t.Helper()
	found, err := coretest.Many(o.Bank, o.Staff(),
		func(b *db.Batch) *db.Many[signatories.UID, signatories.Signatory] {
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
	_, err := o.Changes.Approve(ctx, uid, changes.RequestOptions{})
	return err
}

func (o *office) refuse(ctx context.Context, uid changes.UID) error {
	_, err := o.Changes.Refuse(ctx, uid, changes.RequestOptions{})
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
			FullName: given.Of("Ada Byron"), EmailAddress: given.Of("ada@mail.example"),
			PhoneNumber: given.Of("+16145550123"),
		}, changes.RequestOptions{})
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
		if approved { // frees its e-mail address for the next
			_, err := o.Signatories.Remove(o.Staff(), 0, o.person.UID, changes.RequestOptions{})
			o.must(err)
			o.byHand(`UPDATE signatories SET email_address = 'other@mail.example'
				WHERE tenant = ? AND uid = ?`, o.Tenant, o.person.UID)
		}
	}
}

// hand is a maker or checker: a person with an API key, or a program with the person responsible for it.
type hand struct{ client, login, answers string }

func (o *office) of(h hand) context.Context {
	if h.login != "" {
		return changed(o.Someone(h.login), func(c *access.Caller) { c.Client = h.client })
	}
	return changed(o.Staff(), func(c *access.Caller) {
		if c.Client = h.client; h.answers != "" {
			person, _ := access.Require(o.Someone(h.answers))
			c.Responsible = person.User
		}
	})
}

func (o *office) undo() {
	o.byHand(`UPDATE signatories SET title = 'Treasurer', version = 1 WHERE tenant = ? AND uid = ?`, o.Tenant,
		o.person.UID)
}

// Which checkers may approve the changes of which makers, if only people decide, and if programs may too.
func TestNobodyApprovesTheirOwnChange(t *testing.T) {
	t.Parallel()
	own, person := changes.ErrOwn, changes.ErrPerson
	for name, c := range map[string]struct {
		maker, checker  hand
		people, anybody error // the result of an approval if only people decide, and if programs may too
	}{
		"the same program":                     {hand{"a", "", ""}, hand{"a", "", ""}, own, own},
		"another program of the same entity":   {hand{"a", "", ""}, hand{"b", "", ""}, own, own},
		"programs of one responsible person":   {hand{"a", "", "ada"}, hand{"b", "", "ada"}, own, own},
		"of two":                               {hand{"a", "", "ada"}, hand{"b", "", "grace"}, person, nil},
		"of one, and of nobody":                {hand{"a", "", "ada"}, hand{"b", "", ""}, own, own},
		"the same person":                      {hand{"a", "ada", ""}, hand{"a", "ada", ""}, own, own},
		"the same person with another API key": {hand{"a", "ada", ""}, hand{"b", "ada", ""}, own, own},
		"another person with the same API key": {hand{"a", "ada", ""}, hand{"a", "grace", ""}, nil, nil},
		"another person with another":          {hand{"a", "ada", ""}, hand{"b", "grace", ""}, nil, nil},
		"the program a person answers for":     {hand{"a", "ada", ""}, hand{"b", "", "ada"}, own, own},
		"who answers for the program":          {hand{"a", "", "ada"}, hand{"b", "ada", ""}, own, own},
		"a person, of another's program":       {hand{"a", "", "ada"}, hand{"b", "grace", ""}, nil, nil},
		"a person, of nobody's program":        {hand{"a", "", ""}, hand{"b", "ada", ""}, nil, nil},
		"a program, of a person":               {hand{"a", "ada", ""}, hand{"b", "", ""}, person, nil},
		"another's program, of a person":       {hand{"a", "ada", ""}, hand{"b", "", "grace"}, person, nil},
		"a program with the person's API key":  {hand{"a", "ada", ""}, hand{"a", "", ""}, own, own},
		"a person with the program's API key":  {hand{"a", "", ""}, hand{"a", "ada", ""}, own, own},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			for _, decide := range []struct {
				people bool
				want   error
			}{{true, c.people}, {false, c.anybody}} {
				o.letDecide(decide.people)
				maker, checker := o.of(c.maker), o.of(c.checker)
				uid := o.asked(maker)
				is(t, "approve", o.approve(checker, uid), decide.want)
				if made := o.now().Version == 2; made != (decide.want == nil) {
					t.Errorf("people %v: made %v", decide.people, made)
				}
				if decide.want != nil {
					o.must(o.refuse(maker, uid)) // the maker may withdraw it
				}
				o.undo()
			}
		})
	}
}

// Who is responsible for a program may change between a request and its decision: whoever is by then counts
// as one with the program, and so does who was when it asked.
func TestWhoAnswersForAProgramByNowCountsWithIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then, now string // who answers for the program that asks
		checker   hand
		want      error
	}{
		"a person, named since":             {"", "ada", hand{"b", "ada", ""}, changes.ErrOwn},
		"a person, named instead":           {"grace", "ada", hand{"b", "ada", ""}, changes.ErrOwn},
		"who was named then":                {"grace", "ada", hand{"b", "grace", ""}, changes.ErrOwn},
		"who was named then, and nobody is": {"grace", "", hand{"b", "grace", ""}, changes.ErrOwn},
		"a program of who is named":         {"grace", "ada", hand{"b", "", "ada"}, changes.ErrOwn},
		"somebody else":                     {"grace", "ada", hand{"b", "linda", ""}, nil},
		"a program of somebody else":        {"grace", "ada", hand{"b", "", "linda"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.letDecide(false)
			maker, checker := o.of(hand{"feed", "", c.then}), o.of(c.checker)
			uid := o.asked(maker)
			o.answersFor("feed", c.now)
			is(t, "approve", o.approve(checker, uid), c.want)
			if made := o.now().Version == 2; made != (c.want == nil) {
				t.Errorf("made %v", made)
			}
		})
	}
}

// A person who asks by a program's key answers for themselves, whoever answers for the program.
func TestWhoAnswersForAPortalApprovesWhatItsPeopleAsk(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	uid := o.asked(o.of(hand{"portal", "ada", ""}))
	o.answersFor("portal", "grace")
	o.must(o.approve(o.of(hand{"portal", "grace", ""}), uid))
	o.stands("CFO", 2, uid, changes.Approved)
}

// answersFor adds an API key for which this person answers; without a login id nobody does.
func (o *office) answersFor(key, login string) {
	o.t.Helper()
	var person *uuid.UUID
	if login != "" {
		caller, err := access.Require(o.Someone(login))
		o.must(err)
		person = &caller.User
	}
	o.Exec(`INSERT INTO clients (tenant, key, name, secret, entity, permissions, responsible)
		VALUES (?, ?, 'A program', '', 0, '{}', ?)`, o.Tenant, key, person)
}

// letDecide sets whether only people decide.
func (o *office) letDecide(people bool) {
	o.t.Helper()
	operator := access.OperatorAs(o.t.Context(), "jo", o.Tenant, o.Code, nil)
	is, err := o.Tenants.Set(operator, func(s *tenants.Settings) { s.PeopleDecide = people })
	o.must(err)
	if is.PeopleDecide != people {
		o.t.Fatalf("settings: %+v", is)
	}
}

// A program neither approves nor refuses changes of others, not even of the same legal entity.
func TestAProgramRefusesOnlyWhatItAsked(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	uid := o.asked(o.of(hand{"a", "", ""}))
	is(t, "another program", o.refuse(o.of(hand{"b", "", ""}), uid), changes.ErrPerson)
	is(t, "a program of a person's", o.refuse(o.of(hand{"b", "", "ada"}), uid), changes.ErrPerson)
	o.must(o.refuse(o.of(hand{"a", "", ""}), uid))
	uid = o.asked(o.of(hand{"a", "", ""}))
	o.must(o.refuse(o.Someone("grace"), uid))
	o.stands("Treasurer", 1, uid, changes.Refused)
}

func TestWhetherPeopleDecideIsOnTheRecord(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.letDecide(true) // the default: nothing changes
	if n := o.entries("done"); n != 0 {
		t.Errorf("%d entries of nothing", n)
	}
	o.letDecide(false)
	var login, before, after string
	o.must(o.DB.NewRaw(
		`SELECT login_id, before::text, after::text FROM audit_entries
			WHERE tenant = ? AND action = 'changeSettings'`, o.Tenant).
		Scan(t.Context(), &login, &before, &after))
	if login != "jo" || before != `{"peopleDecide":true}` || after != "{}" {
		t.Errorf("%s %s %s", login, before, after)
	}
	if _, err := o.Tenants.Set(o.Staff(), func(*tenants.Settings) {}); !errors.Is(err, access.ErrDenied) {
		t.Errorf("staff: %v", err)
	}
	if was, err := o.Other().Tenants.Settings(access.Operator(t.Context(), o.Other().Tenant, "",
		nil)); err != nil || !was.PeopleDecide {
		t.Errorf("another bank: %+v %v", was, err)
	}
}

func TestADecisionNeedsThePermissionOfTheChange(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	uid := o.asked(o.Staff())
	for _, ctx := range []context.Context{
		as(o.Staff(), "reader", "", access.Readers...),
		as(o.Staff(), "nobody", "", access.ViewCustomers, access.ManageAccounts),
	} {
		is(t, "approve", o.approve(ctx, uid), access.ErrDenied)
		is(t, "refuse", o.refuse(ctx, uid), access.ErrDenied)
	}
	is(t, "nobody", o.approve(o.Nobody(), uid), access.ErrUnauthenticated)
	o.stands("Treasurer", 1, uid, changes.Open)
	if n := o.entries("refused"); n != 4 {
		t.Errorf("%d attempts are on the record", n)
	}
	o.must(o.approve(as(o.Checker(), "portal", "checker", access.ManageCustomers), uid))
	o.stands("CFO", 2, uid, changes.Approved)
}

func TestADecisionIsTheBanksAndThePartnersOwn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	stranger, theirs := o.DownstreamPartner(), o.personOf(o.partner)
	uid := o.asked(o.Partner(o.partner))
	for name, ctx := range map[string]context.Context{
		"another bank": o.Other().Checker(), "another partner": o.Partner(stranger),
	} {
		is(t, name+" approves", o.approve(ctx, uid), changes.ErrNoApproval)
		is(t, name+" refuses", o.refuse(ctx, uid), changes.ErrNoApproval)
		is(t, name+" about nothing", o.approve(ctx, 4711), changes.ErrNoApproval)
	}
	o.stands("Treasurer", 1, uid, changes.Open)
	o.must(o.approve(theirs, uid))
	o.stands("CFO", 2, uid, changes.Approved)
}

// A checker with less reach than the maker neither approves nor refuses; the maker may withdraw.
func TestWhoSeesLessThanTheMakerDecidesNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	somebody := o.PersonOf(o.customer, o.User(o.customer, nil))
	uid := o.asked(o.Staff())
	for name, ctx := range map[string]context.Context{
		"the partner": o.Partner(o.partner), "somebody of the customer": somebody,
	} {
		is(t, name+" approves", o.approve(ctx, uid), changes.ErrNotYours)
		is(t, name+" refuses", o.refuse(ctx, uid), changes.ErrNotYours)
	}
	o.must(o.refuse(o.Staff(), uid))
	uid = o.asked(o.Partner(o.partner))
	is(t, "somebody of the customer, of the partner's", o.approve(somebody, uid), changes.ErrNotYours)
	o.must(o.approve(o.Checker(), uid))
	o.stands("CFO", 2, uid, changes.Approved)
}

// Who asked takes it back without the permission that it is decided with, which alone approves.
func TestWhoAskedTakesItBackWithoutThePermissionToDecide(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	maker := as(o.Staff(), "maker", "", access.ManageCustomers)
	uid := o.asked(maker)
	lost := as(o.Staff(), "maker", "", access.ViewCustomers)
	is(t, "somebody else", o.refuse(as(o.Staff(), "other", "", access.ViewCustomers), uid), access.ErrDenied)
	is(t, "the maker approves", o.approve(lost, uid), access.ErrDenied)
	o.must(o.refuse(lost, uid))
	o.stands("Treasurer", 1, uid, changes.Refused)
}

// personOf returns a person with the reach of a partner.
func (o *office) personOf(of *customers.Customer) context.Context {
	return changed(o.PersonOf(of, o.User(of, nil)), func(c *access.Caller) { c.Reach = access.OfPartner })
}

// Only the bank sees the names and reasons of its own people, and only callers who may see a thing see its
// changes.
func TestAnApprovalShowsWhatTheCallerMaySee(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	out, err := o.Signatories.Change(o.Staff(), 0, o.person.UID, signatories.Draft{Title: given.Of("CFO")},
		changes.RequestOptions{Reason: "watch them"})
	o.must(err)
	uid := changes.UID(out.Approval)
	_, err = o.Changes.Refuse(o.Checker(), uid, changes.RequestOptions{Reason: "fraud desk"})
	o.must(err)
	theirs := o.asked(as(o.Partner(o.partner), "theirs", ""))
	partner, blind := o.Partner(o.partner), as(o.Partner(o.partner), "blind", "", access.ViewCustomers)
	for name, c := range map[string]struct {
		ctx         context.Context
		uid         changes.UID
		says, shows bool
	}{
		"the bank": {o.Staff(), uid, true, true}, "the partner": {partner, uid, false, true},
		"the partner, of its own":     {partner, theirs, true, true},
		"who may not see signatories": {blind, uid, false, false},
	} {
		a, err := o.Changes.Find(c.ctx, c.uid)
		o.must(err)
		if said := a.MakerClient != "" && (a.Reason != "" || c.uid == theirs); said != c.says ||
			!c.says && a.MakerClient+a.MakerLogin+a.Reason+a.CheckerClient+a.CheckerLogin+a.DecisionReason != "" {
			t.Errorf("%s: %+v", name, a)
		}
		if (len(a.Changes()) > 0) != c.shows {
			t.Errorf("%s: %v", name, a.Changes())
		}
		rows, err := coretest.Rows(o.Bank, c.ctx, func(b *db.Batch) *db.Rows[changes.Approval] {
			return o.Changes.List(c.ctx, b, changes.Search{}, db.Columns{}, page.First(10))
		})
		o.must(err)
		if len(rows) != 2 || !c.says && rows[0].MakerClient+rows[0].Reason+rows[0].DecisionReason != "" ||
			(len(rows[0].Changes()) > 0) != c.shows {
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
			ctx := o.Someone(client)
			both.Go(func() { errs[i] = decide[i](ctx, uid) })
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
		o.byHand(`UPDATE signatories SET title = 'Treasurer', version = 1
			WHERE tenant = ? AND uid = ?`, o.Tenant, o.person.UID)
	}
}

func TestWhatChangedInTheMeantimeIsNotOverwritten(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	uid := o.asked(o.Staff())
	o.byHand(`UPDATE signatories SET title = 'Chair', version = 2 WHERE tenant = ? AND uid = ?`, o.Tenant,
		o.person.UID)
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
	if err != nil && !strings.Contains(err.Error(), "waits for approval "+uid.String()+":") {
		t.Errorf("the refusal does not name approval %s: %v", uid, err)
	}
	_, err = o.Signatories.Remove(o.Staff(), 0, o.person.UID, changes.RequestOptions{})
	is(t, "a removal", err, changes.ErrWaiting)
	// To switch dual approval off in the meantime does not help either.
	o.byHand(`UPDATE customers SET access_customer_dual_approval = false
		WHERE tenant = ? AND uid = ?`, o.Tenant, o.customer.UID)
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
		out, err := o.Changes.Approve(o.Checker(), uid, changes.RequestOptions{IdempotencyKey: "k"})
		if err != nil || out.Result != uid || out.Replayed != (i > 0) {
			t.Errorf("%+v %v", out, err)
		}
	}
	_, err := o.Changes.Approve(o.Checker(), uid, changes.RequestOptions{IdempotencyKey: "k", Reason: "another"})
	is(t, "another reason", err, changes.ErrKeyReused)
	o.stands("CFO", 2, uid, changes.Approved)
}

// A draft may hold account numbers, so it is stored nowhere in the clear.
func TestWhatWaitsIsSealed(t *testing.T) {
	t.Parallel()
	const canary = "CANARY-4711-0815"
	o := newOffice(t)
	var made []string
	take := changes.Declare(o.Changes, "takeSecret", "secret", access.ManageCustomers,
		func(ctx context.Context, tx *changes.Tx, at changes.Target, n note) (string, error) {
			if tx.NeedsApproval(true) {
				return "waits",
					tx.Propose(ctx,
						changes.Proposal{
							Customer: at.Customer, UID: changes.UID(9), Version: 1, Before: &noted{Text: "a"},
							After: &noted{Text: "b"},
						})
			}
			made = append(made, n.Text)
			return "", nil
		})
	caller, err := access.Require(o.Staff())
	o.must(err)
	out, err := take.Do(o.Staff(), caller, changes.Target{Customer: int64(o.customer.UID), UID: "9"},
		note{canary}, changes.RequestOptions{IdempotencyKey: "k"})
	o.must(err)
	for _, table := range []string{"approvals", "audit_entries", "events", "idempotency_keys"} {
		var rows []string
		o.must(o.DB.NewRaw("SELECT to_json(x)::text FROM "+table+" AS x WHERE tenant = ?", o.Tenant).
			Scan(t.Context(), &rows))
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
	out, err := o.Signatories.Change(o.Staff(), 0, second.UID, signatories.Draft{Title: given.Of("Chair")},
		changes.RequestOptions{})
	o.must(err)
	o.byHand(`UPDATE approvals SET draft = (SELECT draft FROM approvals WHERE tenant = ?0 AND uid = ?1)
		WHERE tenant = ?0 AND uid = ?2`, o.Tenant, out.Approval, uid)
	err = o.approve(o.Checker(), uid)
	var f *fault.Fault
	if err == nil || errors.As(err, &f) {
		t.Errorf("%v", err)
	}
	o.stands("Treasurer", 1, uid, changes.Open)
}

// What a key asked for that was disabled since, or a person who was suspended, can be refused only.
func TestAChangeOfAMakerWhoEndedIsNotApproved(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]string{
		"the key":    `UPDATE clients SET disabled_at = now() WHERE tenant = ? AND key = 'left'`,
		"the person": `UPDATE users SET status = 'Suspended' WHERE tenant = ? AND login_id = 'left'`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.Exec(`INSERT INTO clients (tenant, key, name, secret, entity, permissions)
				VALUES (?, 'left', 'Left', '', 0, '{}')`, o.Tenant)
			person := uuid.New()
			o.Exec(`INSERT INTO users (tenant, uid, customer, login_id, first_name, last_name, status)
				VALUES (?, ?, ?, 'left', 'Jane', 'Doe', 'Active')`,
				o.Tenant, person.String(), o.customer.UID)
			maker, err := access.Require(o.Staff())
			o.must(err)
			maker.Client, maker.Responsible = "left", person
			uid := o.asked(access.With(o.Staff(), maker))
			o.Exec(end, o.Tenant)
			if _, err := o.Changes.Approve(o.Checker(), uid,
				changes.RequestOptions{}); !errors.Is(err, changes.ErrMakerEnded) {
				t.Errorf("approved: %v", err)
			}
			_, err = o.Changes.Refuse(o.Checker(), uid, changes.RequestOptions{})
			o.must(err)
			_, err = o.Changes.Approve(o.Checker(), o.asked(o.Staff()), changes.RequestOptions{})
			o.must(err)
		})
	}
}

// What a person asked for by an identity provider that was disabled since can be refused only. One audience of
// two does not end it, and neither does what is added again.
func TestAChangeOfAMakerWhoseIssuerEndedIsNotApproved(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	const url = "https://left.example"
	add := func(audience string) {
		_, err := o.Issuers.Add(o.Staff(), issuers.Draft{URL: url, Audience: audience})
		o.must(err)
	}
	add("one")
	add("two")
	maker, err := access.Require(o.Staff())
	o.must(err)
	maker.Client = url
	o.must(o.Issuers.Disable(o.Staff(), url, "one"))
	o.must(o.approve(o.Checker(), o.asked(access.With(o.Staff(), maker))))
	out, err := o.ask(access.With(o.Staff(), maker), "Treasurer")
	o.must(err)
	uid := changes.UID(out.Approval)
	o.must(o.Issuers.Disable(o.Staff(), url, "two"))
	if err := o.approve(o.Checker(), uid); !errors.Is(err, changes.ErrMakerEnded) {
		t.Errorf("approved: %v", err)
	}
	add("one")
	o.must(o.approve(o.Checker(), uid))
}
