package core_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/db"
	"bankgraph/db/dbtest/faults"
)

// The promise (core/README.md, P3): after any fault at any statement of a write nothing is half done, the
// caller learns that the bank could not answer, and a repetition with the same key has exactly one effect.

// wrongs lists the faults of a statement.
var wrongs = func() (all []faults.Fault) {
	for _, state := range []string{"40001", "40P01", "55P03", "57014", "53300", "57P01"} {
		all = append(all, faults.Fault{State: state}, faults.Fault{State: state, Ran: true})
	}
	return append(all, cutBefore, cutWhile, cutAfter)
}()

var (
	cutBefore = faults.Fault{Cut: true, Never: true}
	cutWhile  = faults.Fault{Cut: true}
	cutAfter  = faults.Fault{Cut: true, Ran: true}
)

// thorough asks for every fault at every statement, which takes long.
var thorough = os.Getenv("BANKGRAPH_TEST_FAULTS") == "all"

// A statement that many writes send is struck at the first few of them, and then at one of some.
const firstFew, oneOf = 3, 8

// turns chooses the statements to strike, for one write after the other.
type turns struct {
	over  []chan struct{} // closed when the write has had its turn
	once  []sync.Once
	times map[string]int // how many writes have sent a statement, by how it begins
}

func newTurns() *turns {
	q := &turns{once: make([]sync.Once, len(writes)), times: map[string]int{}}
	for range writes {
		q.over = append(q.over, make(chan struct{}))
	}
	return q
}

func (q *turns) end(i int) { q.once[i].Do(func() { close(q.over[i]) }) }

// choose returns which statements of a write are struck: those that commit, and what few writes before it
// have sent.
func (q *turns) choose(i int, statements []string) []bool {
	for _, before := range q.over[:i] {
		<-before
	}
	defer q.end(i)
	few := firstFew
	if testing.Short() {
		few = 1
	}
	chosen := make([]bool, len(statements))
	seen := map[string]bool{}
	for k, statement := range statements {
		begins := statement[:min(40, len(statement))]
		n := q.times[begins]
		chosen[k] = thorough || faults.Commits(statement) || !seen[begins] && (n < few || n%oneOf == 0)
		if !seen[begins] {
			seen[begins] = true
			q.times[begins]++
		}
	}
	return chosen
}

// wrongsAt chooses the faults to try at the k-th statement of a write: one in turn, and at COMMIT one of
// those that leave its outcome open. BANKGRAPH_TEST_FAULTS=all tries every fault at every statement.
func wrongsAt(name string, k int, statement string) []faults.Fault {
	all := slices.DeleteFunc(slices.Clone(wrongs), func(f faults.Fault) bool { return !possible(f, statement) })
	if thorough {
		return all
	}
	if faults.Commits(statement) {
		all = []faults.Fault{cutWhile, cutAfter, {State: "57P01", Ran: true}}
	}
	start := fnv.New32()
	_, _ = start.Write([]byte(name))
	return all[(int(start.Sum32()%1000)+k)%len(all):][:1]
}

// possible reports whether a fault can happen: the server does not refuse what it has committed.
func possible(f faults.Fault, statement string) bool {
	return !faults.Commits(statement) || !f.Ran || f.Cut || f.State == "57P01"
}

func TestAFaultAtAnyStatementDoesNoHarm(t *testing.T) {
	t.Parallel()
	left, order := make(chan int), newTurns()
	var trials sync.WaitGroup
	for range trialsAtOnce {
		trials.Go(func() {
			line := coretest.NewLine(t)
			for i := range left {
				t.Run(writes[i].name, func(t *testing.T) { try(t, line.For(t), i, order) })
				order.end(i)
			}
		})
	}
	for i := range writes { //nolint:paralleltest // trialsAtOnce of them run in parallel
		left <- i
	}
	close(left)
	trials.Wait()
}

// trialsAtOnce is more than the number of processors, as a trial mostly waits for a fault to pass.
const trialsAtOnce = 8

// try injects faults at statements of one write.
func try(t *testing.T, line *coretest.Line, i int, order *turns) {
	t.Helper()
	tr := &trial{t: t, line: line, witness: newWitness(t), of: i}
	statements, effect := tr.calm()
	chosen := order.choose(i, statements)
	for k, statement := range statements {
		if !chosen[k] {
			continue
		}
		for _, f := range wrongsAt(writes[i].name, k+1, statement) {
			tr.strike(k+1, statement, f, effect)
		}
	}
}

// trial tries one write, on a new bank each time.
type trial struct {
	t       *testing.T
	line    *coretest.Line
	witness *witness
	of      int
}

func (tr *trial) ready() (*coretest.Bank, func(key string) (said, error)) {
	b := tr.line.Bank()
	w := writes[tr.of]
	if w.as == nil {
		w.as = (*coretest.Bank).Staff
	}
	do := w.on(b)
	w.as(b) // creates the caller before any fault
	return b, func(key string) (said, error) {
		ctx, cancel := context.WithTimeout(w.as(b), 20*time.Second)
		defer cancel()
		return do(ctx, key)
	}
}

// done reports whether the write has ended as expected.
func (tr *trial) done(err error) bool {
	if refused := writes[tr.of].refused; refused != nil {
		return errors.Is(err, refused)
	}
	return err == nil
}

// calm carries the write out without a fault, and returns its statements and how many rows it adds to each
// table.
func (tr *trial) calm() ([]string, map[string]int) {
	tr.t.Helper()
	b, do := tr.ready()
	before := tr.witness.look(b.Tenant)
	tr.line.Break(0, faults.Fault{})
	_, err := do("key")
	if !tr.done(err) {
		tr.t.Fatalf("nothing is wrong, and it answers %v", err)
	}
	statements := tr.line.Statements()
	tr.witness.prove("without a fault", b.Tenant)
	effect := tr.witness.look(b.Tenant).since(before)
	events := effect["audit_entries"]
	if writes[tr.of].refused != nil {
		events = 0
	}
	if effect["audit_entries"] == 0 || effect["events"] != events || effect["idempotency_keys"] != 1 {
		tr.t.Errorf("a change leaves an audit entry with its event, and its key; this one %v", effect)
	}
	return statements, effect
}

// strike injects a fault at one statement, and then repeats the write with the same key.
func (tr *trial) strike(k int, statement string, f faults.Fault, effect map[string]int) {
	t := tr.t
	t.Helper()
	b, do := tr.ready()
	at := fmt.Sprintf("%s (%d, %.40s)", f, k, statement)
	before := tr.witness.look(b.Tenant)
	tr.line.Break(k, f)
	first, err := do("key")
	struck := tr.line.Struck()
	if !struck && (!f.Ran || !tr.done(err)) { // a statement that refuses the write failed on its own
		t.Fatalf("%s did not happen: %v", at, err)
	}
	tr.line.Break(0, faults.Fault{})
	after := tr.witness.look(b.Tenant)
	switch {
	case tr.done(err):
		after.holds(t, at, before, effect)
	case !reflect.DeepEqual(after, before):
		t.Errorf("%s: it answers %v, and has changed %v", at, err, after.since(before))
	}
	if wrong := judge(statement, f, err, tr.done(err)); struck && wrong != "" {
		t.Errorf("%s: %s: %v", at, wrong, err)
	}
	if !tr.done(err) {
		if first, err = do("key"); !tr.done(err) {
			t.Errorf("%s: repeated, it answers %v", at, err)
		}
	}
	again, err := do("key")
	if !tr.done(err) || !again.Replayed {
		t.Errorf("%s: repeated after it was answered: %+v %v", at, again, err)
	}
	first.Replayed, again.Replayed = false, false
	if !reflect.DeepEqual(first, again) {
		t.Errorf("%s: it answered %+v, and then %+v", at, first, again)
	}
	tr.witness.look(b.Tenant).holds(t, at, before, effect)
	tr.witness.prove(at, b.Tenant)
}

// judge returns what is wrong with the answer to a fault (core/README.md, faults of the database); empty if
// nothing is.
func judge(statement string, f faults.Fault, err error, done bool) string {
	lost := f.Cut || f.State == "57P01"
	switch {
	case f.State == "40001" || f.State == "40P01":
		if !done {
			return "a transaction that lost a race runs again"
		}
	case faults.Commits(statement) && lost:
		if !done {
			return "the key tells what became of a lost COMMIT"
		}
	case statement == "BEGIN" && (lost || f.State == "53300"):
		if !done {
			return "nothing was done yet: another connection would do"
		}
	case f.State == "55P03" && strings.HasPrefix(statement, "INSERT INTO idempotency_keys"):
		if !errors.Is(err, changes.ErrInFlight) {
			return "who waits for the key waits for a copy of the request"
		}
	case f.State == "55P03" || f.State == "57014":
		if !db.IsTimeout(err) {
			return "want a timeout"
		}
	default:
		if !db.IsUnavailable(err) {
			return "want: unavailable"
		}
	}
	return ""
}
