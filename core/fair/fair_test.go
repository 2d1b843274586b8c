package fair_test

import (
	"fmt"
	"testing"
	"time"

	"bankgraph/core/fair"
)

// house is a supply, with a clock that is set by hand.
type house struct {
	*fair.Supply
	t   *testing.T
	now time.Time
}

func newHouse(t *testing.T, all int64) *house {
	t.Helper()
	h := &house{t: t, now: time.Unix(1, 0)}
	h.Supply = fair.New(all, func() time.Time { return h.now })
	return h
}

// sender is what one request holds, and whether it was cut.
type sender struct {
	*fair.Holding
	cut, slow bool
}

func (h *house) take(bank, caller string) (*sender, fair.Surplus) {
	s := new(sender)
	var why fair.Surplus
	s.Holding, why = h.Take(fair.Party{Bank: bank, Caller: caller}, 1,
		func(slow bool) { s.cut, s.slow = true, slow })
	return s, why
}

// sends has requests come in of which nothing follows.
func (h *house) sends(bank, caller string, n int) (all []*sender) {
	h.t.Helper()
	for range n {
		s, why := h.take(bank, caller)
		if why != fair.None {
			h.t.Fatalf("%s of %s sends %d, not %d: %d", caller, bank, len(all), n, why)
		}
		s.Await()
		all = append(all, s)
	}
	return all
}

func cut(all []*sender) (n int) {
	for _, s := range all {
		if s.cut {
			n++
		}
	}
	return n
}

func TestACallerHasAQuarterAtMost(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 16)
	all := h.sends("A", "one", 4)
	if _, why := h.take("A", "one"); why != fair.OfCaller || cut(all) != 0 {
		t.Errorf("the fifth of a caller's: %d, %d were cut", why, cut(all))
	}
	all[0].Leave()
	all[0].Leave()
	h.sends("A", "one", 1)
	if taken, own := h.Taken(fair.Party{Bank: "A", Caller: "one"}); taken != 4 || own != 4 {
		t.Errorf("%d are held, %d by the caller", taken, own)
	}
}

// Two callers have their bank's half. A third has as much as they in the end, and takes nothing more.
func TestWhoHasLessGetsRoomWhereOthersHaveMore(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 24)
	one, two := h.sends("A", "one", 6), h.sends("A", "two", 6)
	three := h.sends("A", "three", 4)
	if cut(one) != 2 || cut(two) != 2 || cut(three) != 0 {
		t.Errorf("of the callers gave way %d, %d and %d", cut(one), cut(two), cut(three))
	}
	if _, why := h.take("A", "three"); why != fair.OfBank {
		t.Errorf("who has its fair part gets more: %d", why)
	}
	if taken, _ := h.Taken(fair.Party{}); taken != 12 {
		t.Errorf("the bank holds %d", taken)
	}
	for _, s := range append(one, two...) {
		if s.cut == s.Moved(1) || s.slow {
			t.Errorf("%+v goes on: %t", s, !s.cut)
		}
		s.Leave()
	}
	if taken, _ := h.Taken(fair.Party{}); taken != 4 {
		t.Errorf("afterwards the bank holds %d", taken)
	}
}

// However many callers a partner has: who is slow gives way, and who has nothing gets in.
func TestManyCallersWithLittleEachShutNobodyOut(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 24)
	var many []*sender
	for i := range 12 {
		many = append(many, h.sends("A", fmt.Sprint(i), 1)...)
		h.now = h.now.Add(time.Millisecond)
	}
	first := h.sends("A", "new", 1)
	if !many[0].cut || many[0].slow || cut(many) != 1 {
		t.Errorf("%d gave way, not the one that has been coming for longest", cut(many))
	}
	if _, why := h.take("A", "new"); why != fair.OfBank {
		t.Errorf("who has as much as others gets more of who is quick: %d", why)
	}
	h.now = h.now.Add(5 * time.Second)
	if !many[1].Moved(5 * fair.LeastRate) {
		t.Error("who is quick gave way")
	}
	first[0].Moved(5 * fair.LeastRate)
	first = append(first, h.sends("A", "new", 1)...)
	if !many[2].cut || !many[2].slow || many[1].cut || cut(first) != 0 {
		t.Errorf("the slowest did not give way, but another")
	}
	if _, why := h.take("A", "new"); why != fair.OfBank {
		t.Errorf("who has more than those who are slow gets theirs: %d", why)
	}
}

func TestOnlyTimeOfTheCallersIsSlow(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 16)
	s := h.sends("A", "one", 1)[0]
	h.now = h.now.Add(2 * time.Second)
	s.Moved(fair.LeastRate)
	h.now = h.now.Add(time.Hour) // what it sent is worked on
	if left := s.Left(5 * time.Second); left != 4*time.Second {
		t.Errorf("it may send nothing for %v", left)
	}
	s.Await()
	h.now = h.now.Add(5 * time.Second)
	if left := s.Left(5 * time.Second); left != -time.Second {
		t.Errorf("it may send nothing for %v", left)
	}
}

// What is worked on never gives way, and what waits to be only to who would still have less.
func TestWhatIsWorkedOnIsNotCut(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 8)
	one, two := h.sends("A", "one", 2), h.sends("A", "two", 2)
	for _, s := range append(one, two[0]) {
		s.Keep()
	}
	two[1].Queue()
	h.now = h.now.Add(time.Minute)
	h.sends("A", "new", 1)
	if !two[1].cut || two[1].Keep() || cut(one) != 0 || two[0].cut {
		t.Errorf("%d and %d gave way", cut(one), cut(two))
	}
	if _, why := h.take("A", "another"); why != fair.None {
		t.Errorf("beside one who is slow: %d", why)
	}
	if _, why := h.take("A", "third"); why != fair.OfBank || cut(one) != 0 {
		t.Errorf("%d, %d gave way", why, cut(one))
	}
}

func TestTheBankWithTheMostMakesRoomForOthers(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 16)
	a := append(h.sends("A", "one", 4), h.sends("A", "two", 4)...)
	b := append(h.sends("B", "one", 4), h.sends("B", "two", 3)...)
	c := h.sends("C", "one", 1)
	c = append(c, h.sends("C", "one", 3)...)
	if cut(c) != 0 || cut(a) != 2 || cut(b) != 1 {
		t.Errorf("of the banks gave way %d, %d and %d", cut(a), cut(b), cut(c))
	}
	many := newHouse(t, 4)
	many.sends("A", "one", 1)
	many.sends("B", "one", 1)
	many.sends("C", "one", 1)
	d := many.sends("D", "one", 1)[0]
	d.Keep()
	many.sends("E", "one", 1)
}

// What grows takes the room of who holds most.
func TestHoldingsGrowIntoTheRoomOfWhoHoldsMost(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 400)
	one, two, three := h.sends("A", "one", 2), h.sends("A", "two", 1), h.sends("A", "three", 1)
	for _, s := range append(one, two...) {
		if why := s.Grow(49); why != fair.None {
			t.Fatalf("%d", why)
		}
	}
	if why := one[0].Grow(1); why != fair.OfCaller {
		t.Errorf("a caller beyond its share: %d", why)
	}
	if why := three[0].Grow(49); why != fair.None || cut(one)+cut(two) != 0 {
		t.Errorf("%d, %d gave way", why, cut(one)+cut(two))
	}
	if why := two[0].Grow(10); why != fair.None || cut(one) != 1 || three[0].cut || two[0].cut {
		t.Errorf("%d, %d of who holds most gave way", why, cut(one))
	}
	for _, s := range one {
		if s.cut && s.Grow(1) == fair.None {
			t.Error("what was cut grows")
		}
	}
}
