package main

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/fair"
	"bankgraph/graph"
	"bankgraph/rest"
)

func newRoomOf(places int) *room {
	m := newMeters(nil)
	return newRoom(places, newUnsent(64<<20, m), m)
}

func TestSurplusOfRequestsIsToldToComeBack(t *testing.T) {
	t.Parallel()
	room := newRoomOf(1)
	inside, leave := make(chan struct{}), make(chan struct{})
	handler := room.admit(graph.Refuse, "", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		inside <- struct{}{}
		<-leave
	}))
	send := func(ctx context.Context, from string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
		request.RemoteAddr = from
		handler.ServeHTTP(answer, request)
		return answer
	}
	var all sync.WaitGroup
	all.Go(func() { send(context.Background(), "192.0.2.1:1") })
	<-inside
	if answer := send(context.Background(), "192.0.2.1:2"); answer.Code != http.StatusTooManyRequests ||
		answer.Header().Get("Retry-After") != "1" {
		t.Errorf("surplus of one caller: %d %v", answer.Code, answer.Header())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	room.places.banks[""] = 0 // as if the first belonged to a bank
	if answer := send(ctx, "192.0.2.2:1"); answer.Code != http.StatusServiceUnavailable ||
		answer.Header().Get("Retry-After") != "1" {
		t.Errorf("who gave up waiting: %d %v", answer.Code, answer.Header())
	}
	room.places.banks[""] = 1
	close(leave)
	all.Wait()
	if running, waiting := room.full(); running != 0 || waiting != 0 ||
		len(room.places.callers)+len(room.places.banks)+len(room.waits.callers)+len(room.waits.banks) != 0 {
		t.Errorf("%d places are taken, %d wait, %+v", running, waiting, room.places)
	}
}

// fill takes as many places as a party can get, and returns their number.
func fill(room *room, of party) (taken int) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for taken < 1000 && room.enter(ctx, of) == nil {
		taken++
	}
	return taken
}

func TestNoCallerAndNoBankTakesTheWholeRoom(t *testing.T) {
	t.Parallel()
	room := newRoomOf(16)
	a := party{"A", "first"}
	if n := fill(room, a); n != 8 {
		t.Errorf("a caller alone takes %d of 16 places, want half", n)
	}
	if n := fill(room, party{"A", "second"}); n != 4 {
		t.Errorf("a second one of the same bank takes %d, want what is left but for a quarter", n)
	}
	if n := fill(room, party{"A", "third"}); n != 0 {
		t.Errorf("a third one of the same bank takes %d, want none: the last quarter is for others", n)
	}
	if n := fill(room, party{"B", "other"}); n != 4 {
		t.Errorf("another bank takes %d, want the last quarter", n)
	}
	if why := room.surplus(a); !errors.Is(why, errCrowd) {
		t.Errorf("the first is told %v", why)
	}
	if why := room.surplus(party{"A", "third"}); !errors.Is(why, errBankCrowd) {
		t.Errorf("the third is told %v", why)
	}
	if why := room.surplus(party{"C", "new"}); !errors.Is(why, errBusy) {
		t.Errorf("a newcomer is told %v", why)
	}
}

// An attacker can use any number of networks. Strangers from all of them leave places, and room in the queue,
// for known callers. Strangers with tokens leave some for callers who sign in.
func TestStrangersCrowdOutNobodyWhoIsKnown(t *testing.T) {
	t.Parallel()
	room := newRoomOf(16)
	known := party{"A", "portal"}
	flood := func(crowd string) {
		for i := range 100 {
			fill(room, party{crowd, fmt.Sprint("192.0.2.", i)})
		}
	}
	flood("")
	if n := room.places.banks[""]; n != 8 {
		t.Errorf("strangers take %d of 16 places while nobody else wants any, want half", n)
	}
	flood(signingIn)
	if n := room.places.banks[signingIn]; n != 4 {
		t.Errorf("those who sign in take %d, want what is left but for a quarter", n)
	}
	if n := fill(room, known); n != 4 {
		t.Errorf("a known caller takes %d, want the last quarter", n)
	}
	for i := range 100 {
		for _, crowd := range []string{"", signingIn} {
			if of := (party{crowd, fmt.Sprint("192.0.2.", i)}); room.queues(of) {
				room.queueUp(of, false)
			}
		}
	}
	if n := room.wait.Len(); n != 32 || !room.queues(known) || !room.queues(party{"B", "other"}) {
		t.Errorf("%d of 64 wait, want half, and others still may", n)
	}
}

// However busy known callers are, others can sign in and use a first token.
func TestKnownCallersLeaveAnEighthToEachKindOfStranger(t *testing.T) {
	t.Parallel()
	room := newRoomOf(16)
	for _, bank := range []string{"A", "B"} {
		for i := range 4 {
			fill(room, party{bank, fmt.Sprint(i)})
		}
	}
	for range 4 {
		room.leave(party{"A", "0"})
	}
	for _, crowd := range []string{"", signingIn} {
		if n := fill(room, party{crowd, "192.0.2.1"}); n != 2 {
			t.Errorf("strangers %q take %d of the last 4 places, want 2", crowd, n)
		}
	}
}

// Networks that send thousands of requests fill the queue for signing in. A caller from another network can
// still wait there, in the place of the last request of the network with the most.
func TestWhoSignsInWaitsBesideNetworksThatSendThousands(t *testing.T) {
	t.Parallel()
	room := newRoomOf(16)
	came := func(n int) party { return party{signingIn, fmt.Sprint("192.0.2.", n)} }
	var last *list.Element
	for n := range 2 {
		fill(room, came(n))
		for room.queues(came(n)) {
			last = room.queueUp(came(n), false)
		}
	}
	if room.displaces(came(0)) || room.displaces(came(1)) {
		t.Error("a network that has its share displaces another that has no more")
	}
	one := came(2)
	if room.queues(one) || !room.displaces(one) {
		t.Error("one who comes from elsewhere does not wait")
	}
	if w := last.Value.(*waiter); w.goes == nil {
		t.Errorf("who came last has to go: %v", w.goes)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	mine := room.queueUp(one, false)
	for range 16 {
		room.leave(came(0))
		if room.places.callers[came(0)] == 0 {
			break
		}
	}
	for room.places.callers[came(1)] > 0 {
		room.leave(came(1))
	}
	if err := room.await(ctx, mine); err != nil {
		t.Errorf("its turn does not come: %v", err)
	}
}

func TestOneBankDoesNotFillTheQueue(t *testing.T) {
	t.Parallel()
	room := newRoomOf(16)
	for i := range 100 {
		if of := (party{"A", fmt.Sprint(i)}); room.queues(of) {
			room.queueUp(of, false)
		}
	}
	if n := room.wait.Len(); n != 32 || !room.queues(party{"B", "other"}) {
		t.Errorf("%d of 64 wait, want half", n)
	}
}

func TestAPlaceGoesToWhoHoldsLessThoughOthersCameFirst(t *testing.T) {
	t.Parallel()
	room := newRoomOf(4)
	greedy, modest := party{"A", "greedy"}, party{"B", "modest"}
	fill(room, greedy) // two places
	fill(room, party{"C", "else"})
	fill(room, party{"D", "else"})
	came := make(chan party, 2)
	var all sync.WaitGroup
	wait := func(of party, waiting int) {
		all.Go(func() {
			if room.enter(context.Background(), of) == nil {
				came <- of
			}
		})
		for _, n := room.full(); n < waiting; _, n = room.full() {
			time.Sleep(time.Millisecond)
		}
	}
	wait(greedy, 1)
	wait(modest, 2)
	room.leave(greedy)
	if first := <-came; first != modest {
		t.Errorf("the place went to %v", first)
	}
	room.leave(modest)
	room.leave(greedy)
	if second := <-came; second != greedy {
		t.Errorf("then it went to %v", second)
	}
	all.Wait()
}

// Callers who always have some that come back, as events of subscriptions do, keep out neither their own
// bank, nor another, nor who signs in.
func TestWhoAlwaysComeBackLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	room := newRoomOf(16)
	var holding []party
	for _, bank := range []string{"A", "B"} {
		for _, key := range []string{"one", "two", "three"} {
			of := party{bank, key}
			for range fill(room, of) {
				holding = append(holding, of)
			}
			for range 100 {
				room.queueUp(of, true)
			}
		}
	}
	for _, one := range []party{{"A", "portal"}, {"C", "portal"}, {signingIn, "192.0.2.1"}, {"", "192.0.2.1"}} {
		mine := room.queueUp(one, false).Value.(*waiter)
		// Each leaves once, and another of the same comes for it.
		for _, of := range holding {
			room.queueUp(of, true)
			room.leave(of)
		}
		select {
		case <-mine.turn:
			if mine.goes != nil {
				t.Errorf("%v has to go: %v", one, mine.goes)
			}
			room.leave(one)
		default:
			t.Errorf("the turn of %v does not come", one)
		}
		holding = holding[:0]
		for of, n := range room.places.callers {
			for range n {
				holding = append(holding, of)
			}
		}
	}
}

// Whatever callers do, no more are in than there are places, all are let in at last, and the counts end at
// zero.
func TestRoomKeepsCountOfEverybody(t *testing.T) {
	t.Parallel()
	room := newRoomOf(4)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range 200 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(n%3)*time.Millisecond)
				from, to := party{caller: fmt.Sprint(i % 5)}, party{fmt.Sprint(i % 2), fmt.Sprint(i % 3)}
				mine := &place{room: room, ctx: ctx, of: from}
				if room.enter(ctx, from) == nil {
					mine.held = true
					if running, _ := room.full(); running > 4 {
						t.Errorf("%d in a room for 4", running)
					}
					_ = mine.rename(to)
					mine.Leave()
				}
				cancel()
			}
		})
	}
	all.Wait()
	if running, waiting := room.full(); running != 0 || waiting != 0 ||
		len(room.places.callers)+len(room.places.banks)+len(room.waits.callers)+len(room.waits.banks) != 0 {
		t.Errorf("%d places are taken, %d wait, %+v, %v", running, waiting, room.places, room.waits)
	}
}

func TestWhoSendsABodySlowlyHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	room := newRoomOf(1)
	handler := room.admit(graph.Refuse, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if running, _ := room.full(); running != 1 {
			t.Errorf("%d requests are worked on in a room for one", running)
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write(text)
	}))
	send := func(ctx context.Context, body io.Reader) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, "/", body))
		return answer
	}
	body, caller := io.Pipe()
	var all sync.WaitGroup
	all.Go(func() {
		if answer := send(context.Background(), body); answer.Body.String() != "slow" {
			t.Errorf("slow caller: %d %s", answer.Code, answer.Body)
		}
	})
	_, _ = caller.Write([]byte("sl")) // returns after it is read, so the slow caller has been let in
	if answer := send(context.Background(), strings.NewReader("quick")); answer.Body.String() != "quick" {
		t.Errorf("quick caller: %d %s", answer.Code, answer.Body)
	}
	_, _ = caller.Write([]byte("ow"))
	_ = caller.Close()
	all.Wait()
}

func TestWhoWaitsForANetworkHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	room := newRoomOf(1)
	aside, answered := make(chan struct{}), make(chan struct{})
	handler := room.admit(graph.Refuse, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/waits" {
			back, ok := rest.StepAside(r.Context(), func() {})
			close(aside)
			if <-answered; ok {
				back()
			}
		}
		if running, _ := room.full(); running != 1 {
			t.Errorf("%s: %d requests are worked on in a room for one", r.URL.Path, running)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	send := func(path string) int {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil))
		return answer.Code
	}
	var waits sync.WaitGroup
	waits.Go(func() {
		if code := send("/waits"); code != http.StatusNoContent {
			t.Errorf("who waited: %d", code)
		}
	})
	<-aside
	if code := send("/passes"); code != http.StatusNoContent {
		t.Errorf("beside: %d", code)
	}
	close(answered)
	waits.Wait()
	if running, waiting := room.full(); running != 0 || waiting != 0 {
		t.Errorf("%d are in, %d wait", running, waiting)
	}
}

// Callers of a bank whose requests wait for their networks shut out nobody: not whose requests have bodies,
// and not who would wait, too. One more of theirs is not to wait.
func TestWhoWaitForNetworksShutNobodyOut(t *testing.T) {
	t.Parallel()
	room := newRoomOf(1) // 64 bodies, and 64 that wait
	answered, waits := make(chan struct{}), make(chan bool, 64)
	var ended atomic.Int32
	handler := func(key string) http.Handler {
		inner := room.known(graph.Refuse, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			if r.URL.Path == "/waits" {
				gaveWay := make(chan struct{})
				back, ok := rest.StepAside(r.Context(), func() { close(gaveWay) })
				if waits <- ok; ok {
					select {
					case <-gaveWay:
						ended.Add(1)
					case <-answered:
					}
					back()
				}
			}
			if running, _ := room.full(); running != 1 {
				t.Errorf("%s: %d requests are worked on in a room for one", r.URL.Path, running)
			}
			w.WriteHeader(http.StatusNoContent)
		}))
		return room.admit(graph.Refuse, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := access.With(r.Context(), access.Caller{TenantCode: "A", Client: key})
			inner.ServeHTTP(w, r.WithContext(ctx))
		}))
	}
	send := func(key, path string) (passed bool) {
		w := httptest.NewRecorder()
		handler(key).ServeHTTP(w,
			httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("body")))
		if w.Code != http.StatusNoContent {
			t.Errorf("%s of %s is answered %d %s", path, key, w.Code, w.Body)
		}
		return w.Code == http.StatusNoContent
	}
	var all sync.WaitGroup
	wait := func(key string) bool {
		all.Go(func() {
			if !send(key, "/waits") {
				waits <- false
			}
		})
		return <-waits
	}
	for _, key := range []string{"one", "two"} {
		for n := range 17 {
			if wait(key) != (n < 16) {
				t.Errorf("%s waits with %d others of its own: %t", key, n, n >= 16)
			}
		}
	}
	for _, key := range []string{"one", "three"} {
		send(key, "/passes")
	}
	if !wait("three") {
		t.Error("who has none that wait does not wait")
	}
	close(answered)
	all.Wait()
	if n := ended.Load(); n != 1 {
		t.Errorf("%d gave way to one", n)
	}
	bodies, _ := room.bodies.Taken(fair.Party{})
	asides, _ := room.asides.Taken(fair.Party{})
	if running, waiting := room.full(); bodies+asides != 0 || running != 0 || waiting != 0 {
		t.Errorf("%d bodies, %d waits, %d places and %d in the queue are left", bodies, asides, running, waiting)
	}
}

func TestTheDeadlineEndsTheWaitForABodysWayBackIn(t *testing.T) {
	t.Parallel()
	room := newRoomOf(1)
	ctx, cancel := context.WithCancel(context.Background())
	body, caller := io.Pipe()
	handler := room.admit(graph.Refuse, "", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		go func() {
			_ = room.enter(context.Background(), party{"B", "somebody"}) // takes the place that this request gave up
			cancel()
			_ = caller.Close()
		}()
		if _, err := io.ReadAll(r.Body); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/", body))
	if running, waiting := room.full(); running != 1 || waiting != 0 {
		t.Errorf("%d places are taken, and one was somebody else's; %d wait", running, waiting)
	}
}

// A place belongs to its caller. Otherwise all callers behind a proxy would have one share together.
func TestAPlaceIsTheCallersOnceItIsKnown(t *testing.T) {
	t.Parallel()
	room := newRoomOf(8)
	handler := room.admit(graph.Refuse, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := access.With(r.Context(), access.Caller{TenantCode: "A", Client: "portal"})
		room.known(graph.Refuse, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if room.places.callers[party{"A", "portal"}] != 1 || room.places.taken != 1 {
				t.Errorf("%+v", room.places)
			}
		})).ServeHTTP(w, r.WithContext(ctx))
	}))
	ctx, mine := throughASlot(t.Context())
	handler.ServeHTTP(httptest.NewRecorder(),
		httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody))
	if room.places.taken != 0 || len(room.places.callers) != 0 {
		t.Errorf("afterwards %+v", room.places)
	}
	if !mine.known {
		t.Error("its connection is still taken for a stranger's")
	}
}

// throughASlot is the context of a request on a connection of its own.
func throughASlot(ctx context.Context) (context.Context, *slot) {
	mine := newSlots(1, newMeters(nil)).take("192.0.2.1", 1, nil, func() {})
	return context.WithValue(ctx, slotKey{}, mine), mine
}

// Strangers who crowd the room from a caller's own network, such as those behind one proxy, do not keep the
// caller out.
func TestACrowdOfStrangersDoesNotKeepOutWhomTheBankRemembers(t *testing.T) {
	t.Parallel()
	room := newRoomOf(8)
	room.remembered = func(r *http.Request) (access.Caller, bool) {
		return access.Caller{TenantCode: "A", Client: "portal"}, bearer(r) == "known"
	}
	passed := 0
	handler := room.admit(graph.Refuse, "",
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed++ }))
	var mine *slot
	ask := func(token string) int {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // so that it does not wait
		ctx, mine = throughASlot(ctx)
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
		request.Header.Set("Authorization", "Bearer "+token)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		return answer.Code
	}
	network := party{
		caller: rest.Network(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)),
	}
	if n := fill(room, network); n == 0 || n == 8 {
		t.Fatalf("a network takes %d of 8 places", n)
	}
	if code := ask("junk"); code != http.StatusTooManyRequests || mine.known {
		t.Errorf("one more stranger is answered %d, taken for known: %t", code, mine.known)
	}
	if code := ask("known"); code != http.StatusOK || passed != 1 || !mine.known {
		t.Errorf("a remembered caller is answered %d", code)
	}
}

// Bodies that never arrive are counted, so that other callers and other banks can send theirs.
func TestBodiesOnTheirWayAreCounted(t *testing.T) {
	t.Parallel()
	room := newRoomOf(8) // 512 bodies
	send := func(bank, key string) *httptest.ResponseRecorder {
		ctx := access.With(t.Context(), access.Caller{TenantCode: bank, Client: key})
		handler := room.admit(graph.Refuse, "",
			room.known(graph.Refuse, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer,
			httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("body")))
		return answer
	}
	var held []*fair.Holding
	fill := func(of party) (n int) {
		for ; n < 1000; n++ {
			one, why := room.bodies.Take(of.fair(), 1, nil)
			if why != fair.None {
				break
			}
			held = append(held, one)
		}
		return n
	}
	for _, c := range []struct {
		of   party
		want int
	}{
		{party{"A", "portal"}, 128},
		{party{"A", "other"}, 128},
		{party{"A", "third"}, 0}, // all of it is worked on
		{party{"B", "portal"}, 128},
	} {
		if n := fill(c.of); n != c.want {
			t.Errorf("%v sends %d bodies at a time, want %d", c.of, n, c.want)
		}
	}
	if got := send("A", "third").Code; got != http.StatusTooManyRequests {
		t.Errorf("one more of the first bank: %d", got)
	}
	if got := send("B", "other").Code; got != http.StatusOK {
		t.Errorf("one of the second bank: %d", got)
	}
	held[0].Leave()
	for range 2 { // the second time, it has been given back
		if got := send("A", "third").Code; got != http.StatusOK {
			t.Errorf("once one has come: %d", got)
		}
	}
}

// Callers of a bank that fill its half with bodies that do not come shut nobody out, over either face: those
// bodies give way, and nothing is done of them.
func TestBodiesThatDoNotComeGiveWay(t *testing.T) {
	t.Parallel()
	room := newRoomOf(1) // 64 bodies
	var worked atomic.Int32
	handler := func(key string) http.Handler {
		inner := room.known(graph.Refuse, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err == nil {
				worked.Add(1)
			}
		}))
		return room.admit(graph.Refuse, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := access.With(r.Context(), access.Caller{TenantCode: "A", Client: key})
			inner.ServeHTTP(w, r.WithContext(ctx))
		}))
	}
	var all sync.WaitGroup
	answers := make(chan *httptest.ResponseRecorder, 32)
	var senders []*io.PipeWriter
	for _, key := range []string{"one", "two"} {
		for range 16 {
			body, sender := io.Pipe()
			senders = append(senders, sender)
			all.Go(func() {
				w := httptest.NewRecorder()
				handler(key).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body))
				answers <- w
			})
			_, _ = sender.Write([]byte("x")) // it is read, so the request has been let in
		}
	}
	w := httptest.NewRecorder()
	handler("three").ServeHTTP(w,
		httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("body")))
	if w.Code != http.StatusOK || worked.Load() != 1 {
		t.Errorf("a third caller is answered %d %s", w.Code, w.Body)
	}
	for _, sender := range senders {
		_ = sender.Close()
	}
	all.Wait()
	gave := 0
	for range 32 {
		if w := <-answers; w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "1" &&
			strings.Contains(w.Body.String(), "gave way") {
			gave++
		}
	}
	if n := worked.Load(); gave != 1 || n != 32 {
		t.Errorf("%d gave way, and %d were worked on", gave, n)
	}
	if taken, _ := room.bodies.Taken(fair.Party{}); taken != 0 {
		t.Errorf("%d are still on their way", taken)
	}
}

// The supply of bodies cuts one while it is locked, and the cut waits for the place's lock. So nothing may
// ask the supply under that: the two would wait for each other, and every later request with a body for them.
func TestTheSupplyOfBodiesIsNotAskedUnderThePlacesLock(t *testing.T) {
	t.Parallel()
	mine, asked := new(place), 0
	now := func() time.Time { // the supply asks for the time whenever it is asked how long a body may take
		if asked++; mine.mu.TryLock() {
			mine.mu.Unlock()
		} else {
			t.Error("the supply was asked under the lock of the place")
		}
		return time.Unix(1, 0)
	}
	room := newRoomOf(1)
	room.bodies = fair.New(4, now)
	mine.room, mine.of, mine.ctx = room, party{bank: "A", caller: "slow"}, t.Context()
	mine.ReadCloser = io.NopCloser(strings.NewReader("x"))
	upload := httptest.NewRequest(http.MethodPost, "/v1/payments/customers/1/files/csv", strings.NewReader("x"))
	if err := room.carry(httptest.NewRecorder(), upload, mine); err != nil || !mine.upload {
		t.Fatal(err, mine.upload)
	}
	if _, err := io.ReadAll(mine); err != nil {
		t.Error(err)
	}
	mine.Cut()
	mine.carried()
	if asked == 0 {
		t.Error("the supply was not asked at all")
	}
}

// Requests that come back to the room are let in in their order, before newcomers.
func TestWhoComesBackFirstIsServedFirst(t *testing.T) {
	t.Parallel()
	room := newRoomOf(1)
	newcomer := room.queueUp(party{"A", "new"}, false)
	first, second := room.queueUp(party{"A", "portal"}, true), room.queueUp(party{"A", "portal"}, true)
	for _, want := range []*list.Element{first, second, newcomer} {
		if got := room.wait.Front(); got != want {
			t.Fatalf("%+v is served before %+v", got.Value, want.Value)
		}
		room.wait.Remove(want)
	}
}

// Everybody means the same place: the room, who renames or leaves it, and who steps aside.
func TestARequestHasOnePlace(t *testing.T) {
	t.Parallel()
	room := newRoomOf(1)
	known := room.known(graph.Refuse, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	mine := &place{ReadCloser: http.NoBody, room: room, of: party{caller: "net"}, ctx: t.Context(), held: true}
	room.places.add(mine.of, 1)
	caller := access.Caller{Tenant: 1, TenantCode: "bank", Client: "key"}
	answer := httptest.NewRecorder()
	known.ServeHTTP(answer,
		httptest.NewRequestWithContext(rest.WithPlace(access.With(t.Context(), caller), mine),
			http.MethodGet, "/", nil))
	if answer.Code != http.StatusNoContent || mine.of != partyOf(caller) {
		t.Errorf("%d, the place is that of %v", answer.Code, mine.of)
	}
}
