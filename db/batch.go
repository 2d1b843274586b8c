package db

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/uptrace/bun"
)

// Batch collects reads and sends them to the server in one round trip.
// A batch is used by one goroutine and sent once.
type Batch struct {
	pool     *pgxpool.Pool
	replica  *replica // nil: it is read from the pool
	readers  *places
	queue    pgx.Batch
	unfilled []func(error)
	clear    []func() // what a replica filled that then failed
}

// Batch starts an empty one.
func (d *DB) Batch() *Batch { return &Batch{pool: d.fresh, replica: d.replica, readers: d.readers} }

// PrimaryBatch is Batch for what was just written: it never reads from a replica, which may lag.
func (d *DB) PrimaryBatch() *Batch { return &Batch{pool: d.fresh, readers: d.readers} }

// Len is how many statements wait to be sent.
func (b *Batch) Len() int { return b.queue.Len() }

// longestRead bounds a batch. When it has passed, the driver cancels what runs on the server.
const longestRead = 5 * time.Second

// Lasting is a context that ends with its deadline alone. To cancel what runs on the server costs its
// connection, with all that is prepared on it: a caller who comes and goes would have everybody's made anew.
// What it left behind is bounded, and counts as its own until it ends.
func Lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	until, bounded := ctx.Deadline()
	if !bounded {
		return context.WithCancel(context.WithoutCancel(ctx))
	}
	return context.WithDeadline(context.WithoutCancel(ctx), until)
}

// Send runs what was queued and fills every result. An empty batch costs nothing. Who goes away while it
// waits for a connection is not served any more; once it runs, it is finished. When it fails, each result
// that was not filled carries the error too.
func (b *Batch) Send(ctx context.Context) error {
	if b.queue.Len() == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, longestRead)
	defer cancel()
	err := meterOf(ctx).spend(b.queue.Len(), 1)
	if err == nil {
		err = b.readers.read(ctx, func() error {
			if err := ctx.Err(); err != nil {
				return err // nobody waits for it
			}
			ctx, cancel := Lasting(ctx)
			defer cancel()
			return b.read(ctx)
		})
	}
	if err != nil {
		err = fmt.Errorf("read from the database: %w", err)
		for _, fail := range b.unfilled {
			fail(err)
		}
	}
	return err
}

func (b *Batch) read(ctx context.Context) error {
	if b.replica != nil {
		return b.replica.send(ctx, b)
	}
	return b.pool.SendBatch(ctx, &b.queue).Close()
}

// Query is the SQL of one form of a read, with $1, $2 … for its values.
type Query[T any] struct {
	sql  string
	once sync.Once
	into []target
}

// NewQuery is the text of a query that db.Select started, or of one built around it.
func NewQuery[T any](sql string) *Query[T] { return &Query[T]{sql: sql} }

// QueryCache keeps the queries of one read, one for each key. Bun writes each of them once. Callers choose
// the key by what they ask for, and there are more keys than memory: past mostTexts all are forgotten.
type QueryCache[T any] struct {
	byKey sync.Map
	known atomic.Int64
}

// mostTexts is more than a connection keeps prepared (mostPrepared). Real programs ask for a few dozen.
const mostTexts = 1000

// Get returns the query of a key, built by the first who asks. A key is a comparable struct that
// says everything the text depends on.
func (t *QueryCache[T]) Get(key any, build func() string) *Query[T] {
	if known, ok := t.byKey.Load(key); ok {
		return known.(*Query[T])
	}
	if t.known.Add(1) > mostTexts {
		t.byKey.Clear()
		t.known.Store(1)
	}
	known, _ := t.byKey.LoadOrStore(key, NewQuery[T](build()))
	return known.(*Query[T])
}

// PerParentWindow is the part of their lists that a read gives several parents: it belongs to the key of its
// query.
type PerParentWindow struct{ single, from, skip, back bool }

// WindowOf is the window that a read gives each of several parents. Its values are added to p, behind the tenant and
// what the scope compares with. Each parent gets limit rows: those after the row with the UID cursor or, backward,
// those before it (0: from the list's end), and offset rows further on.
//
// A single parent, which the hottest reads have, is compared with directly; what a window does not use is
// not in the query.
func WindowOf[K ~int64](
	p *Params, parents []K, limit, cursor int64, offset int, backward bool,
) PerParentWindow {
	c := PerParentWindow{single: len(parents) == 1, from: cursor != 0, skip: offset != 0, back: backward}
	if c.single {
		p.Add(int64(parents[0]))
	} else {
		p.Add(parents)
	}
	p.Add(limit)
	if c.from {
		p.Add(cursor)
	}
	if c.skip {
		p.Add(offset)
	}
	return c
}

// Text completes a query on children, given the columns of their parent and of their UID, and the condition
// that a parent is the caller's to see. The query's $1 is the tenant, and $2 what that condition compares
// with. The rows of one parent come in the order of their UIDs.
func (c PerParentWindow) Text(
	q *bun.SelectQuery, scope func(parent string) string, parent, uid string,
) string {
	window, order, compare := " LIMIT $4::bigint", uid, " > "
	if c.back {
		order, compare = uid+" DESC", " < "
	}
	if c.from {
		q = q.Where(uid + compare + "$5::bigint")
	}
	switch {
	case c.skip && c.from:
		window += " OFFSET $6::bigint"
	case c.skip:
		window += " OFFSET $5::bigint"
	}
	q = q.OrderExpr(order)
	if c.single {
		return q.Where(parent+" = $3::bigint").Where(scope("$3::bigint")).String() + window
	}
	return "SELECT r.* FROM unnest($3::bigint[]) WITH ORDINALITY AS p(parent, place) CROSS JOIN LATERAL (" +
		q.Where(parent+" = p.parent").Where(scope("p.parent")).String() + window + ") AS r"
}

// target is where one column stands in the struct: as the plain type of its kind, or as the field's own
// type where that scans itself.
type target struct {
	offset uintptr
	as     reflect.Type
}

// in is the field of the struct behind a pointer, as a pointer that the driver can scan into. It is unsafe
// for speed: a row of 20 columns takes 0.5 µs, with reflect.Value.Field and Convert 1.5 µs, which is a
// millisecond for a page of 1,000.
func (to target) in(row unsafe.Pointer) any {
	return reflect.NewAt(to.as, unsafe.Add(row, to.offset)).Interface()
}

var plainTypes = map[reflect.Kind]reflect.Type{
	reflect.Int64:  reflect.TypeFor[int64](),
	reflect.Int32:  reflect.TypeFor[int32](),
	reflect.Int:    reflect.TypeFor[int](),
	reflect.String: reflect.TypeFor[string](),
	reflect.Bool:   reflect.TypeFor[bool](),
}

type scanner interface{ Scan(any) error }

var scannerType = reflect.TypeFor[scanner]()

func targetsOf[T any](rows pgx.Rows) []target {
	t := tableOf(reflect.TypeFor[T]())
	var into []target
	for _, column := range rows.FieldDescriptions() {
		field, ok := t.byName[column.Name]
		if !ok {
			panic(fmt.Sprintf("db: %s has no column %s", reflect.TypeFor[T](), column.Name))
		}
		into = append(into, targetOf(reflect.TypeFor[T](), field))
	}
	return into
}

// scan reads all rows. Typed ids and enums are scanned as the plain type behind them, which is the
// same memory: the driver has a fast path for those.
func (t *Query[T]) scan(rows pgx.Rows, each func(*T)) error {
	var fields []any
	var room []T // rows are allocated several at a time: a list is read, and let go, as a whole
	for n := 1; rows.Next(); {
		if fields == nil { // only a row that is there tells its columns: a read that failed has none
			t.once.Do(func() { t.into = targetsOf[T](rows) })
			fields = make([]any, len(t.into))
		}
		if len(room) == 0 {
			room = make([]T, n)
			n = min(2*n, 16)
		}
		row := &room[0]
		room = room[1:]
		for i, to := range t.into {
			fields[i] = to.in(unsafe.Pointer(row))
		}
		if err := rows.Scan(fields...); err != nil {
			return err
		}
		each(row)
	}
	return rows.Err()
}

// Rows is the answer to one read, filled by Send.
type Rows[T any] struct {
	Items []*T
	Err   error
}

// One is the only row, and nil without one.
func (r *Rows[T]) One() (*T, error) {
	if r.Err != nil || len(r.Items) == 0 {
		return nil, r.Err
	}
	return r.Items[0], nil
}

// Queue adds a read of rows to the batch.
func Queue[T any](b *Batch, text *Query[T], values ...any) *Rows[T] {
	rows := &Rows[T]{Err: errNotSent}
	queue(b, text, func(item *T) { rows.Items = append(rows.Items, item) }, func(err error) { rows.Err = err },
		values)
	b.whenUndone(func() { rows.Items = nil })
	return rows
}

// Many is the answer to one read for many parents, filled by Send.
type Many[K comparable, T any] struct {
	Of  map[K][]*T // the rows of each parent that has any
	Err error
}

// QueueMany adds a read to the batch whose rows belong to the parent that key names.
func QueueMany[K comparable, T any](b *Batch, text *Query[T], key func(*T) K, values ...any) *Many[K, T] {
	many := &Many[K, T]{Of: map[K][]*T{}, Err: errNotSent}
	queue(b, text, func(item *T) { k := key(item); many.Of[k] = append(many.Of[k], item) },
		func(err error) { many.Err = err }, values)
	b.whenUndone(func() { clear(many.Of) })
	return many
}

// Refuse is the answer to a read that was not queued, because the caller may not ask or asked wrongly.
func Refuse[K comparable, T any](err error) *Many[K, T] { return &Many[K, T]{Err: err} }

// RefuseRows is Refuse for a read of rows.
func RefuseRows[T any](err error) *Rows[T] { return &Rows[T]{Err: err} }

// whenUndone says how to forget what one read was filled with.
func (b *Batch) whenUndone(clear func()) {
	if b.replica != nil {
		b.clear = append(b.clear, clear)
	}
}

var errNotSent = fmt.Errorf("db: the batch of this read was not sent")

func queue[T any](b *Batch, text *Query[T], each func(*T), done func(error), values []any) {
	finished := false
	b.unfilled = append(b.unfilled, func(err error) {
		if !finished {
			done(err)
		}
	})
	b.queue.Queue(text.sql, values...).Query(func(rows pgx.Rows) error {
		if err := text.scan(rows, each); err != nil {
			return err
		}
		finished = true
		done(nil)
		return nil
	})
}

// Params collects the values of a text that is built as it is needed.
type Params []any

// Add keeps a value and returns its placeholder.
func (p *Params) Add(value any) string {
	*p = append(*p, value)
	return "$" + strconv.Itoa(len(*p))
}

// Conditions narrow a query; all of them must hold.
type Conditions []string

// Key is what a text depends on: the conditions name placeholders, never values.
func (c Conditions) Key() string { return strings.Join(c, " AND ") }

// On narrows a query.
func (c Conditions) On(q *bun.SelectQuery) *bun.SelectQuery {
	for _, condition := range c {
		q = q.Where(condition)
	}
	return q
}

// Count is the row of a read that counts.
type Count struct {
	Of int64 `bun:"of"` // the parent, where each parent is counted by itself
	N  int64 `bun:"n"`
}

// CountOf is the count of one parent, 0 where nothing of it was found.
func CountOf[K comparable](counts *Many[K, Count], parent K) int64 {
	if rows := counts.Of[parent]; len(rows) > 0 {
		return rows[0].N
	}
	return 0
}
