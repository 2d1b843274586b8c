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
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/uptrace/bun"
)

// Batch collects reads and sends them to the server in one round trip.
// A batch is used by one goroutine and sent once.
type Batch struct {
	tx       *bun.Tx // nil: outside of transactions
	pool     *pgxpool.Pool
	replica  *replica // nil: read from the pool
	readers  *places
	queue    pgx.Batch
	unfilled []func(error)
	clear    []func()  // clear what was filled by a replica that then failed
	searches []*search // by values that are Sought
}

// Batch starts an empty batch.
func (d *DB) Batch() *Batch { return &Batch{pool: d.fresh, replica: d.replica, readers: d.readers} }

// PrimaryBatch is Batch without the replica, which may lag, for reads of what was just written.
func (d *DB) PrimaryBatch() *Batch { return &Batch{pool: d.fresh, readers: d.readers} }

// TxBatch starts a batch in a writing transaction, whose statements may lock rows.
func TxBatch(tx bun.Tx) *Batch { return &Batch{tx: &tx} }

// Len returns how many statements are queued.
func (b *Batch) Len() int { return b.queue.Len() }

// longestRead bounds the time of a batch, and of other reads (Reading). After it, the driver cancels the
// running statement.
const longestRead = 5 * time.Second

// lasting returns a context that ends only by its deadline, not when the caller gives up. To cancel a running
// statement costs its connection with all prepared statements, so callers who keep giving up would cost
// everybody's. What they leave running is bounded, and counts towards their share until it ends.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	until, bounded := ctx.Deadline()
	if !bounded {
		return context.WithCancel(context.WithoutCancel(ctx))
	}
	return context.WithDeadline(context.WithoutCancel(ctx), until)
}

// Reading is lasting for reads that are no batch and may be asked for without a deadline, as by streams. It
// ends after five seconds at most: a server that falls silent without closing its connections answers
// nothing, and its own limits do not end the wait.
func Reading(ctx context.Context) (context.Context, context.CancelFunc) {
	bounded, end := context.WithTimeout(ctx, longestRead)
	reading, cancel := lasting(bounded)
	return reading, func() { cancel(); end() }
}

// Send runs the queued reads and fills their results. An empty batch costs nothing. If the caller gives up
// while Send waits for a connection, it returns; once the batch runs, it is finished. If Send fails, every
// result that was not filled has the error too.
func (b *Batch) Send(ctx context.Context) error {
	if b.queue.Len() == 0 {
		return nil
	}
	err := b.searching(ctx)
	defer b.searched()
	if err == nil {
		err = meterOf(ctx).spend(b.queue.Len(), 1)
	}
	switch {
	case err != nil:
	case b.tx != nil:
		err = sendIn(ctx, *b.tx, &b.queue)
	default:
		err = b.share(ctx)
	}
	if err != nil {
		err = fmt.Errorf("read from the database: %w", err)
		for _, fail := range b.unfilled {
			fail(err)
		}
	}
	return err
}

// share reads on a connection of the pool, once it is the caller's turn.
func (b *Batch) share(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, longestRead)
	defer cancel()
	return b.readers.read(ctx, func() error {
		if err := ctx.Err(); err != nil {
			return err // the caller has given up
		}
		ctx, cancel := lasting(ctx)
		defer cancel()
		return b.read(ctx)
	})
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

// NewQuery makes a query from the text of one that db.Select started.
func NewQuery[T any](sql string) *Query[T] { return &Query[T]{sql: sql} }

// QueryCache caches the queries of one read by key, so that Bun writes each text once. Callers' requests
// determine the keys, which are unbounded: the cache is emptied when it reaches mostTexts.
type QueryCache[T any] struct {
	byKey sync.Map
	known atomic.Int64
}

// mostTexts bounds a cache. It is more than a connection keeps prepared (mostPrepared); real programs need a
// few dozen.
const mostTexts = 1000

// Get returns the query of a key, and builds it for the first caller. A key is a comparable struct of
// everything that the text depends on.
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

// PerParentWindow is the form of a window that a read applies to the list of each parent. It belongs to the
// key of the query.
type PerParentWindow struct{ single, from, skip, back bool }

// WindowOf returns the window that a read applies to the list of each parent, and adds its values to p, after
// the tenant and the scope's value. Each parent gets limit rows: those after the UID cursor or, if backward,
// before it (0: from that end of the list), skipping offset rows.
//
// A single parent, as in the hottest reads, is compared directly. The query contains only what the window
// uses.
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

// Text completes a query of children, given the columns of their parent and UID, and the condition that the
// caller may see the parent. $1 is the tenant, and $2 the value in that condition. The rows of one parent are
// in order of UID.
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

// target says where a column is in the struct, and as which type to scan it: the plain type of its kind, or
// the field's own type if that is a Scanner.
type target struct {
	offset uintptr
	as     reflect.Type
	none   bool // a zero value is written as NULL
}

// in returns a pointer to the field, into which the driver can scan. It uses unsafe for speed: a row of 20
// columns takes 0.5 µs; with reflect.Value.Field and Convert it takes 1.5 µs, a millisecond more for a page
// of 1,000.
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

// scan reads all rows. Typed ids and enums are scanned as their underlying plain type, for which the driver
// has a fast path.
func (t *Query[T]) scan(rows pgx.Rows, each func(*T)) error {
	var fields []any
	var room []T // rows are allocated in chunks, as a list is read and freed as a whole
	for n := 1; rows.Next(); {
		if fields == nil { // not before the first row: a read that failed has no columns
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

// Rows is the result of one read, filled by Send.
type Rows[T any] struct {
	Items []*T
	Err   error
}

// One returns the only row; nil if there is none.
func (r *Rows[T]) One() (*T, error) {
	if r.Err != nil || len(r.Items) == 0 {
		return nil, r.Err
	}
	return r.Items[0], nil
}

// Queue adds a read of rows to the batch.
func Queue[T any](b *Batch, text *Query[T], values ...any) *Rows[T] {
	rows := &Rows[T]{Err: errNotSent}
	queue(b, text, func(item *T) { rows.Items = append(rows.Items, item) },
		func(err error) { rows.Err = err },
		values)
	b.whenUndone(func() { rows.Items = nil })
	return rows
}

// Many is the result of one read for many parents, filled by Send.
type Many[K comparable, T any] struct {
	Of  map[K][]*T // the rows of each parent that has any
	Err error
}

// QueueMany adds a read to the batch. key returns the parent to which a row belongs.
func QueueMany[K comparable, T any](b *Batch, text *Query[T], key func(*T) K, values ...any) *Many[K, T] {
	many := &Many[K, T]{Of: map[K][]*T{}, Err: errNotSent}
	queue(b, text, func(item *T) { k := key(item); many.Of[k] = append(many.Of[k], item) },
		func(err error) { many.Err = err }, values)
	b.whenUndone(func() { clear(many.Of) })
	return many
}

// Refuse returns the result of a read that was not queued, because the request was refused.
func Refuse[K comparable, T any](err error) *Many[K, T] { return &Many[K, T]{Err: err} }

// RefuseRows is Refuse for a read of rows.
func RefuseRows[T any](err error) *Rows[T] { return &Rows[T]{Err: err} }

// whenUndone registers how to clear the result of a read.
func (b *Batch) whenUndone(clear func()) {
	if b.replica != nil {
		b.clear = append(b.clear, clear)
	}
}

var errNotSent = fmt.Errorf("db: the batch of this read was not sent")

func queue[T any](b *Batch, text *Query[T], each func(*T), done func(error), values []any) {
	values, by := b.seek(values)
	if b.tx != nil {
		for i, value := range values {
			values[i] = plainValue(value)
		}
	}
	finished := false
	b.unfilled = append(b.unfilled, func(err error) {
		if !finished {
			done(err)
		}
	})
	b.queue.Queue(text.sql, values...).Query(func(rows pgx.Rows) error {
		found := false
		err := text.scan(rows, func(row *T) { found = found || finds(row); each(row) })
		if err != nil {
			return err
		}
		for _, s := range by {
			s.answered, s.found = true, s.found || found
		}
		finished = true
		done(nil)
		return nil
	})
}

// ReadPrimary sends one read to the primary, and returns its rows. The server plans it once for each
// connection; a read through Bun is planned each time, which costs more than it does where it mostly finds
// nothing, as what jobs look for each second. It is sent once more, over another connection, if it was lost
// with one whose server has gone.
func ReadPrimary[T any](ctx context.Context, d *DB, text *Query[T], values ...any) ([]*T, error) {
	for again := false; ; again = true {
		b := d.PrimaryBatch()
		rows := Queue(b, text, values...)
		err := b.Send(ctx)
		if err == nil {
			return rows.Items, rows.Err
		}
		if again || !pgconn.SafeToRetry(err) {
			return nil, err
		}
		d.fresh.Reset() // the others may be as old
	}
}

// Params collects the values of a query while its text is built.
type Params []any

// Add appends a value and returns its placeholder.
func (p *Params) Add(value any) string {
	*p = append(*p, value)
	return "$" + strconv.Itoa(len(*p))
}

// Texts returns the values of an enum as an array of text that Add takes; none as NULL.
func Texts[T ~string](list []T) []string {
	if list == nil {
		return nil
	}
	all := make([]string, len(list))
	for i, word := range list {
		all[i] = string(word)
	}
	return all
}

// Conditions narrow a query, which must meet all of them.
type Conditions []string

// Key returns the conditions for the key of a QueryCache. They contain placeholders, never values.
func (c Conditions) Key() string { return strings.Join(c, " AND ") }

// On adds the conditions to a query.
func (c Conditions) On(q *bun.SelectQuery) *bun.SelectQuery {
	for _, condition := range c {
		q = q.Where(condition)
	}
	return q
}

// Count is a row of a counting read.
type Count struct {
	Of int64 `bun:"of"` // the parent, if the read counts for each parent
	N  int64 `bun:"n"`
}

// CountOf returns the count of one parent; 0 if it has none.
func CountOf[K comparable](counts *Many[K, Count], parent K) int64 {
	if rows := counts.Of[parent]; len(rows) > 0 {
		return rows[0].N
	}
	return 0
}
