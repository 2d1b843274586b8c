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
	leastRate     = 16 << 10        // bytes a second, on average after the first seconds
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

// answerOf returns the answer that w writes, or nil if w writes to the caller directly.
func answerOf(w http.ResponseWriter) *answer {
	a, _ := w.(*answer)
	return a
}

// unsent bounds the memory of answers that have not been sent yet.
type unsent struct {
	mu     sync.Mutex
	bytes  shares
	meters *meters
}

func newUnsent(bytes int64, m *meters) *unsent { return &unsent{bytes: newShares(bytes), meters: m} }

// full reports why a party must read its answers before it may ask for more. It is nil if the largest answer
// would still fit. So a request is refused before its work is done, unless other answers took the memory
// meanwhile.
func (u *unsent) full(of party) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.over(of, largestAnswer)
}

func (u *unsent) over(of party, n int64) error {
	switch {
	case u.bytes.callers[of]+n > u.bytes.caller():
		return errUnread
	case u.bytes.banks[of.bank]+n > u.bytes.bank(),
		u.bytes.banks[of.bank]+n > u.bytes.all/4 && u.bytes.taken+n > u.bytes.all-u.bytes.all/4:
		return errBankUnread // the last quarter is for banks that hold less
	case u.bytes.taken+n > u.bytes.all:
		return errBusy
	}
	return nil
}

// take counts the memory of an answer. It refuses one that does not fit, unless must is true.
func (u *unsent) take(of party, n int64, must bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.over(of, n); err != nil && !must {
		return err
	}
	u.bytes.add(of, n)
	return nil
}

func (u *unsent) held() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bytes.taken
}

func (u *unsent) give(of party, n int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes.add(of, -n)
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
		if err := u.take(a.of, a.held(), a.kept); err != nil {
			u.meters.refuse(err)
			a.reset()
			a.header.Set("Retry-After", "1")
			refuse(a, r, err)
			_ = u.take(a.of, a.held(), true)
		}
		u.send(a, r)
	})
}

// send writes an answer as fast as its caller reads, and cuts it if the caller reads too slowly.
func (u *unsent) send(a *answer, r *http.Request) {
	of, left := a.of, a.held()
	defer func() { u.give(of, left) }()
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
	deadline := http.NewResponseController(a.to)
	a.to.WriteHeader(a.status)
	if r.Method == http.MethodHead {
		return
	}
	err := a.eachPiece(func(piece []byte) error {
		until := time.Now().Add(slowestPiece)
		if last.Before(until) {
			until = last
		}
		_ = deadline.SetWriteDeadline(until) // only connections of a network have deadlines
		_, err := a.to.Write(piece)
		u.give(of, pieceSize)
		left -= pieceSize
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
