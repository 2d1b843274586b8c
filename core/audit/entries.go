package audit

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Search narrows a list of entries. All fields that are not empty must match.
type Search struct {
	Customer  int64
	Object    string // the kind of thing: signatory
	ObjectUID string // the thing's number
	Action    string // addSignatory
	Client    string // the API key
	LoginID   string
	Decision  Decision
	Since     *time.Time // inclusive
	Until     *time.Time // exclusive
}

// check refuses a number without the kind of thing: no index finds it in the record.
func (by Search) check() error {
	if by.ObjectUID != "" && by.Object == "" {
		return fault.Field("audit", "filter.object", fault.Required, "is required with objectUid")
	}
	return nil
}

// where returns the conditions that narrow a query; p collects their values.
func (by Search) where(p *db.Params) (all db.Conditions) {
	if by.Customer != 0 {
		all = append(all, "e.customer = "+p.Add(by.Customer))
	}
	for _, text := range [...]struct{ column, value string }{
		{"object", by.Object},
		{"uid", by.ObjectUID},
		{"action", by.Action},
		{"client", by.Client},
		{"login_id", by.LoginID},
		{"decision", string(by.Decision)},
	} {
		if text.value != "" {
			all = append(all, "e."+text.column+" = "+p.Add(text.value))
		}
	}
	if by.LoginID != "" {
		all = append(all, "e.login_id <> ''") // the condition of the index
	}
	if by.Since != nil {
		all = append(all, "e.at >= "+p.Add(*by.Since))
	}
	if by.Until != nil {
		all = append(all, "e.at < "+p.Add(*by.Until))
	}
	return all
}

// scope returns the conditions of what the caller may see, the reach first. Callers outside the bank read
// nothing from before a customer moved to its present partner (LeaveToBankTx). $1 is the tenant and $2
// Caller.ScopeCustomer.
func scope(caller access.Caller) db.Conditions {
	all := db.Conditions{caller.Reach.Scope("e.customer")}
	if caller.Reach != access.OfBank {
		all = append(all, "NOT EXISTS (SELECT FROM audit_former AS f WHERE f.tenant = $1"+
			" AND f.customer = e.customer AND f.entry >= e.id)")
	}
	return all
}

// list returns the list of what the caller may see and the search finds.
func (by Search) list(caller access.Caller, p *db.Params) access.List {
	seen := scope(caller)
	l := access.List{
		Table: "audit_entries", Alias: "e", Key: "id", Of: []string{"e.customer = seen.uid"}, Seen: seen[0],
		Where: append(seen[1:], by.where(p)...),
	}
	switch {
	case caller.Reach == access.OfBank:
	case by.Customer != 0:
		l.Named = &access.Named{Own: caller.Reach.Scope(p.Add(by.Customer) + "::bigint")}
	case by.ObjectUID != "":
		l.Named = &access.Named{}
	}
	return l
}

// identity lists the columns that every read needs.
var identity = db.ColumnsOf[Entry]("ID", "UID")

type queryKey struct {
	want         db.Columns
	where, order string
}

var (
	listing, ofObjects, finding db.QueryCache[Entry]
	counting, countingOf        db.QueryCache[db.Count]
)

// List reads a window of the entries that the caller may see, newest first.
func (s *Service) List(
	ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window,
) *db.Rows[Entry] {
	caller, err := access.Require(ctx, access.ViewAudit)
	if err := cmp.Or(err, by.check()); err != nil {
		return db.RefuseRows[Entry](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit()}
	list := by.list(caller, &p)
	list.Most = "$3::bigint"
	order, after := newestFirst(w, &p)
	list.After, list.Newest = after, !w.Backward
	where := list.Conditions(caller.Reach)
	want = db.Or[Entry](want).And(identity)
	text := listing.Get(queryKey{want, where.Key(), order}, func() string {
		return where.On(db.Select[Entry](want, nil).Where("e.tenant = $1")).OrderExpr(order).String() +
			" LIMIT $3::bigint"
	})
	return db.Queue(b, text, p...)
}

// newestFirst returns the order of every list of entries, and the condition that continues from the window's
// cursor; empty if it has none.
func newestFirst(w page.Window, p *db.Params) (order, after string) {
	order, compare := "e.id DESC", " < "
	if w.Backward {
		order, compare = "e.id", " > "
	}
	if w.Cursor.UID != 0 {
		after = "e.id" + compare + p.Add(w.Cursor.UID)
	}
	return order, after
}

// CountUpTo counts the entries that a search finds, up to most: the record is the bank's longest list.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	caller, err := access.Require(ctx, access.ViewAudit)
	if err := cmp.Or(err, by.check()); err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	list := by.list(caller, &p)
	list.Most = p.Up(most)
	text := list.Count(caller.Reach)
	return db.Queue(b, counting.Get(text, func() string { return text }), p...)
}

// key is the number of an object of any kind.
type key interface {
	comparable
	fmt.Stringer
}

// OfObjects reads a window of the history of each object of a kind, newest first.
func OfObjects[K key](
	ctx context.Context, b *db.Batch, kind string, of []K, want db.Columns, w page.Window,
) *db.Many[K, Entry] {
	caller, err := access.Require(ctx, access.ViewAudit)
	if err != nil {
		return db.Refuse[K, Entry](err)
	}
	uids, byUID := texted(of)
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), kind, uids, w.Offset}
	where := append(scope(caller), "e.object = $4", "e.uid = p.uid")
	order, after := newestFirst(w, &p)
	if after != "" {
		where = append(where, after)
	}
	want = db.Or[Entry](want).And(identity)
	text := ofObjects.Get(queryKey{want, where.Key(), order}, func() string {
		return "SELECT r.* FROM unnest($5::text[]) WITH ORDINALITY AS p(uid, place) CROSS JOIN LATERAL (" +
			where.On(db.Select[Entry](want, nil).Where("e.tenant = $1")).OrderExpr(order).String() +
			" LIMIT $3::bigint OFFSET $6::bigint) AS r"
	})
	return db.QueueMany(b, text, func(e *Entry) K { return byUID[e.UID] }, p...)
}

// CountOfObjects counts the entries of each object of a kind, up to most.
func CountOfObjects[K key](
	ctx context.Context, b *db.Batch, kind string, of []K, most int64,
) *db.Many[K, db.Count] {
	caller, err := access.Require(ctx, access.ViewAudit)
	if err != nil {
		return db.Refuse[K, db.Count](err)
	}
	uids, _ := texted(of)
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), kind, uids}
	limit := p.Up(most)
	where := append(scope(caller), "e.object = $3", "e.uid = p.uid")
	text := countingOf.Get(queryKey{where: where.Key(), order: limit}, func() string {
		return db.CountEachText("unnest($4::text[]) WITH ORDINALITY AS p(uid, place)", "p.place",
			where.On(db.Select0[Entry]("1").Where("e.tenant = $1")), limit)
	})
	return db.QueueMany(b, text, func(c *db.Count) K { return of[c.Of-1] }, p...)
}

// texted returns the numbers of objects as text, which is how the record stores them.
func texted[K key](of []K) (uids []string, byUID map[string]K) {
	uids, byUID = make([]string, len(of)), make(map[string]K, len(of))
	for i, key := range of {
		uids[i] = key.String()
		byUID[uids[i]] = key
	}
	return uids, byUID
}

// FindMany reads entries by their numbers. Those that the caller may not see are absent.
func (s *Service) FindMany(ctx context.Context, b *db.Batch, ids []ID, want db.Columns) *db.Many[ID, Entry] {
	caller, err := access.Require(ctx, access.ViewAudit)
	if err != nil {
		return db.Refuse[ID, Entry](err)
	}
	where := append(scope(caller), "e.id = ANY($3)")
	want = db.Or[Entry](want).And(identity)
	text := finding.Get(queryKey{want: want, where: where.Key()}, func() string {
		return where.On(db.Select[Entry](want, nil).Where("e.tenant = $1")).String()
	})
	return db.QueueMany(b, text, func(e *Entry) ID { return e.ID }, caller.Tenant, caller.ScopeCustomer(), ids)
}
