package main

import (
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"bankgraph/core/fair"
	"bankgraph/core/fault"
	"bankgraph/rest"
)

// An answer is complete in memory before its first byte is sent, and its request's place in the room is given
// up by then. A slow reader therefore delays nobody; the bytes of its unread answers count against its share.
// No answer is a stream.
const (
	largestAnswer = 8 << 20
	pieceSize     = 16 << 10
	slowestPiece  = 5 * time.Second // the caller must take a piece in this time: at least 3 KiB/s
	leastRate     = fair.LeastRate  // bytes a second, on average after the first seconds
	leastPacked   = 16 << 10        // smaller answers are not compressed
)

var (
	errTooLarge = fault.New(fault.Invalid, "answer.too_large",
		"the answer would be larger than 8 MiB: ask for less at a time, such as a smaller page")
	errTooLargeDone = fault.New(fault.Invalid, "answer.too_large_done",
		"the request was carried out, but its answer would be larger than 8 MiB: ask for less of it")
)

// answer is a response in the making.
type answer struct {
	to     http.ResponseWriter
	header http.Header
	status int
	pieces []*[pieceSize]byte
	size   int
	most   int  // the largest size in bytes; 0 is no limit
	over   bool // it grew too large and was thrown away
	kept   bool // it reports a change and must not be replaced by a refusal
	of     party

	mu    sync.Mutex
	ended bool // it is sent no further
}

var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
}

func (a *answer) Write(text []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.over || a.most > 0 && a.size+len(text) > a.most {
		a.free()
		a.over = true
		return 0, errTooLarge
	}
	for rest := text; len(rest) > 0; {
		at := a.size % pieceSize
		if at == 0 {
			a.pieces = append(a.pieces, pieces.Get().(*[pieceSize]byte))
		}
		n := copy(a.pieces[len(a.pieces)-1][at:], rest)
		a.size, rest = a.size+n, rest[n:]
	}
	return len(text), nil
}

// Keep marks the answer as that of a change that was made. It is then never replaced by "try again", which
// would have the change made twice.
func (a *answer) Keep() { a.kept = true }

func (a *answer) free() {
	for _, p := range a.pieces {
		pieces.Put(p)
	}
	a.pieces, a.size = nil, 0
}

// reset throws away what was written, to write another answer.
func (a *answer) reset() {
	a.free()
	a.status, a.over = 0, false
	a.header = a.to.Header().Clone()
}

// held is how many bytes of memory the answer takes.
func (a *answer) held() int64 { return int64(len(a.pieces)) * pieceSize }

// eachPiece calls do with the pieces that were written, and releases each of them.
func (a *answer) eachPiece(do func([]byte) error) error {
	for len(a.pieces) > 0 {
		one := a.pieces[0]
		n := min(a.size, pieceSize)
		err := do(one[:n])
		a.pieces, a.size = a.pieces[1:], a.size-n
		pieces.Put(one)
		if err != nil {
			return err
		}
	}
	return nil
}

// SetReadDeadline gives the rest of a request's body time; http.ResponseController calls it.
func (a *answer) SetReadDeadline(until time.Time) error {
	return http.NewResponseController(a.to).SetReadDeadline(until)
}

// hurry sets until when a piece has to be taken, unless the answer was cut.
func (a *answer) hurry(until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended { // only connections of a network have deadlines
		_ = http.NewResponseController(a.to).SetWriteDeadline(until)
	}
}

// cut ends the sending.
func (a *answer) cut(bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	_ = http.NewResponseController(a.to).SetWriteDeadline(time.Unix(1, 0))
}

// answerOf returns the answer that w writes, or nil if w writes to the caller directly.
func answerOf(w http.ResponseWriter) *answer {
	a, _ := w.(*answer)
	return a
}

// unsent bounds the memory of answers that have not been sent yet.
type unsent struct {
	bytes  *fair.Supply
	meters *meters
}

// briskRate is how many bytes a second callers have to read where there is no room for others: an answer of
// the largest size in half a minute.
const briskRate = 256 << 10

func newUnsent(bytes int64, m *meters) *unsent {
	return &unsent{bytes: fair.New(bytes, time.Now).Patient(briskRate), meters: m}
}

// full reports why a party must read its answers before it may ask for more. It is nil if the largest answer
// would still fit into its own share, and if some answer would into its bank's and into all. For that others
// are cut once there is an answer: most are small, and room for the largest would cut them for nothing. So a
// request is refused before its work is done, unless its answer is larger than what others give.
func (u *unsent) full(of party) error {
	if _, own := u.bytes.Taken(of.fair()); own+largestAnswer > u.bytes.Caller() {
		return errUnread
	}
	return tooUnread(u.bytes.Room(of.fair(), pieceSize))
}

// tooUnread is the refusal for answers that do not fit.
func tooUnread(why fair.Surplus) error {
	switch why {
	case fair.OfCaller:
		return errUnread
	case fair.OfBank:
		return errBankUnread
	case fair.OfAll:
		return errBusy
	}
	return nil
}

// take counts the memory of an answer. It refuses one that does not fit, unless must is true. Cut ends the
// sending of the answer, where it has to give way to others.
func (u *unsent) take(of party, n int64, must bool, cut func(bool)) (*fair.Holding, error) {
	held, why := u.bytes.Take(of.fair(), n, cut)
	if why != fair.None && must {
		return u.bytes.Force(of.fair(), n, cut), nil
	}
	return held, tooUnread(why)
}

func (u *unsent) held() int64 {
	all, _ := u.bytes.Taken(fair.Party{})
	return all
}

// deliver lets next make an answer and sends it when it is complete. mayChange reports whether a request may
// change something, judged from outside; a handler can also call Keep.
func (u *unsent) deliver(refuse refusal, mayChange func(*http.Request) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{
			to: w, header: w.Header().Clone(), most: largestAnswer, kept: mayChange(r),
			of: party{caller: rest.Network(r)},
		}
		defer a.free()
		next.ServeHTTP(a, r)
		if a.over {
			why := errTooLarge
			if a.kept {
				why = errTooLargeDone
			}
			a.reset()
			refuse(a, r, why)
		}
		held, err := u.take(a.of, a.held(), a.kept, a.cut)
		if err != nil {
			u.meters.refuse(err)
			a.reset()
			a.header.Set("Retry-After", "1")
			refuse(a, r, err)
			held, _ = u.take(a.of, a.held(), true, a.cut)
		}
		defer held.Leave()
		u.send(a, r, held)
	})
}

// send writes an answer as fast as its caller reads, and cuts it if the caller reads too slowly.
func (u *unsent) send(a *answer, r *http.Request, held *fair.Holding) {
	if seen := recorderOf(a.to); seen != nil {
		seen.answered = time.Now()
	}
	header := a.to.Header()
	clear(header)
	maps.Copy(header, a.header)
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		header.Set("Content-Length", strconv.Itoa(a.size))
	}
	begun := time.Now()
	last := begun.Add(slowestPiece + time.Duration(a.size)*time.Second/leastRate)
	a.to.WriteHeader(a.status)
	if r.Method == http.MethodHead {
		return
	}
	err := a.eachPiece(func(piece []byte) error {
		until := time.Now().Add(slowestPiece)
		if last.Before(until) {
			until = last
		}
		if !held.Await() {
			return errBankUnread // nobody is told any more
		}
		a.hurry(until)
		n, err := a.to.Write(piece)
		held.Moved(int64(n))
		held.Shrink(pieceSize)
		return err
	})
	if err != nil {
		u.meters.cut.Inc()
		panic(http.ErrAbortHandler) // the rest will not come
	}
}

var packers = sync.Pool{New: func() any {
	packer, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one
	}
	return packer
}}

// pack compresses a large JSON answer if the caller accepts gzip.
func (a *answer) pack(r *http.Request) {
	media, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	if a.size < leastPacked || !strings.HasSuffix(media, "json") || a.header.Get("Content-Encoding") != "" {
		return
	}
	a.header.Add("Vary", "Accept-Encoding")
	if !takesGzip(r.Header.Values("Accept-Encoding")) {
		return
	}
	packed := &answer{status: a.status}
	packer := packers.Get().(*gzip.Writer)
	defer packers.Put(packer)
	packer.Reset(packed)
	// Neither can fail: both write to memory.
	_ = a.eachPiece(func(piece []byte) error { _, err := packer.Write(piece); return err })
	_ = packer.Close()
	a.pieces, a.size = packed.pieces, packed.size
	a.header.Set("Content-Encoding", "gzip")
	a.header.Del("Content-Length")
}

// takesGzip reports whether Accept-Encoding names gzip, or *, without q=0.
func takesGzip(accept []string) bool {
	named, any := "", ""
	for one := range strings.SplitSeq(strings.ToLower(strings.Join(accept, ",")), ",") {
		coding, parameter, _ := strings.Cut(one, ";")
		quality := strings.TrimRight(strings.ReplaceAll(parameter, " ", ""), "0.")
		if quality != "q=" {
			quality = "wanted"
		}
		switch strings.TrimSpace(coding) {
		case "gzip", "x-gzip":
			named = quality
		case "*":
			any = quality
		}
	}
	return named == "wanted" || named == "" && any == "wanted"
}
