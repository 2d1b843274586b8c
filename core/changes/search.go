package changes

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Search narrows a list of approvals.
type Search struct {
	Status   Status // '' for any
	Customer int64  // 0 for all that the caller may see
}

var (
	listing  db.QueryCache[Approval]
	counting db.QueryCache[db.Count]
	finding  db.QueryCache[Approval]
)

type queryKey struct {
	want  db.Columns
	reach access.Reach
	shown string
	where string
	order string
}

// sees maps each kind of object to the permission that shows its approvals, with their fields. ViewCustomers
// shows the approvals of all kinds, but not their fields. Those of a kind that is missing here nobody is
// shown.
var sees = map[string]access.Permission{
	"customer": access.ViewCustomers, "limits": access.ViewCustomers, "feeTier": access.ViewCustomers,
	"account": access.ViewAccounts, "sweep": access.ViewAccounts, "hold": access.ViewAccounts,
	"virtualAccount": access.ViewAccounts, "balanceAlert": access.ViewAccounts, "contact": access.ViewContacts,
	"signatory": access.ViewSignatories, "user": access.ViewUsers, "role": access.ViewUsers,
	"payment": access.ViewPayments, "recurrence": access.ViewPayments, "file": access.ViewFiles,
	"positivePayRule": access.ViewPositiveRules, "webhook": access.ViewWebhooks,
}

// reading starts a query of approvals. It blanks the changed fields of objects that the caller may not see,
// and, for callers outside the bank, the names and reasons of the bank's own people.
func reading(caller access.Caller, s queryKey) (queryKey, func() *bun.SelectQuery) {
	s.want, s.reach, s.shown = db.Or[Approval](s.want).And(identity), caller.Reach, kinds(caller)
	return s, func() *bun.SelectQuery {
		from := map[string]string{}
		for _, column := range []string{"before", "after"} {
			from[column] = "CASE WHEN p.object IN (" + s.shown + ") THEN p." + column + " ELSE '{}'::json END"
		}
		if s.reach != access.OfBank {
			for column, whose := range map[string]string{
				"reason": "maker", "maker_client": "maker", "maker_login": "maker",
				"first_client": "first", "first_login": "first",
				"decision_reason": "checker", "checker_client": "checker", "checker_login": "checker",
			} {
				from[column] = s.reach.OfPeople("p."+column, "p."+whose+"_reach", "p.customer", "p.made_at")
			}
		}
		return db.Select[Approval](s.want, from).Where("p.tenant = $1")
	}
}

// seers lists the permissions of which each shows some approvals.
var seers = slices.Compact(slices.Sorted(maps.Values(sees)))

// mayLook returns the caller if it may see approvals of some kind.
func mayLook(ctx context.Context) (access.Caller, error) {
	return access.Require(ctx, seers...)
}

// kinds returns the kinds whose fields the caller may see, as a list in SQL. It is for callers that mayLook.
func kinds(caller access.Caller) string {
	var all []string
	for _, object := range slices.Sorted(maps.Keys(sees)) {
		if caller.May(sees[object]) {
			all = append(all, "'"+object+"'")
		}
	}
	return strings.Join(all, ", ")
}

// Listed is the condition that a caller that may see some approvals sees one of the table with this alias;
// empty where it sees those of all kinds.
func Listed(caller access.Caller, alias string) string {
	if caller.May(access.ViewCustomers) {
		return ""
	}
	return alias + ".object IN (" + kinds(caller) + ")"
}

// list returns the list of what the caller may see and the search finds.
func (by Search) list(caller access.Caller, p *db.Params) access.List {
	l := access.List{
		Table: "approvals", Alias: "p", Key: "uid", Of: []string{"p.customer = seen.uid"},
		Seen: caller.Reach.Scope("p.customer"), Where: where(caller),
	}
	if by.Status != "" {
		l.Indexed = "p.status = " + p.Add(string(by.Status))
	}
	if by.Customer != 0 {
		at := p.Add(by.Customer)
		l.Where = append(l.Where, "p.customer = "+at)
		l.Named = &access.Named{Own: caller.Reach.Scope(at + "::bigint")}
	}
	return l
}

// where returns the conditions of every read beside the caller's scope.
func where(caller access.Caller) (all db.Conditions) {
	if caller.Reach != access.OfBank {
		all = append(all, notFormer("$1"))
	}
	if listed := Listed(caller, "p"); listed != "" {
		all = append(all, listed)
	}
	return all
}

var identity = db.ColumnsOf[Approval]("UID", "Customer")

// List reads a window of the approvals that the caller may see, in order of UID.
func (s *Service) List(
	ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window,
) *db.Rows[Approval] {
	caller, err := mayLook(ctx)
	if err != nil {
		return db.RefuseRows[Approval](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset}
	list := by.list(caller, &p)
	list.Most, list.Newest = "$3::bigint + $4::bigint", w.Backward
	order, compare := "p.uid", " > "
	if w.Backward {
		order, compare = "p.uid DESC", " < "
	}
	if w.Cursor.UID != 0 {
		list.After = "p.uid" + compare + p.Add(w.Cursor.UID)
	}
	found := list.Conditions(caller.Reach)
	key, selecting := reading(caller, queryKey{want: want, where: found.Key(), order: order})
	text := listing.Get(key, func() string {
		return found.On(selecting()).OrderExpr(order).String() + " LIMIT $3::bigint OFFSET $4::bigint"
	})
	return db.Queue(b, text, p...)
}

// CountUpTo counts the approvals that a search finds, up to most.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	caller, err := mayLook(ctx)
	if err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	list := by.list(caller, &p)
	list.Most = p.Up(most)
	text := list.Count(caller.Reach)
	return db.Queue(b, counting.Get(text, func() string { return text }), p...)
}

// FindMany reads approvals by UID. Those that the caller may not see are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Approval] {
	caller, err := mayLook(ctx)
	if err != nil {
		return db.Refuse[UID, Approval](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), uids}
	found := append(where(caller), caller.Reach.Scope("p.customer"), "p.uid = ANY($3)")
	key, selecting := reading(caller, queryKey{want: want, where: found.Key()})
	text := finding.Get(key, func() string {
		return found.On(selecting()).String()
	})
	return db.QueueMany(b, text, func(a *Approval) UID { return a.UID }, p...)
}

// Find reads one approval.
func (s *Service) Find(ctx context.Context, uid UID) (*Approval, error) {
	b := s.db.Batch()
	found := s.FindMany(ctx, b, []UID{uid}, db.Columns{})
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if found.Err != nil {
		return nil, found.Err
	}
	if len(found.Of[uid]) == 0 {
		return nil, ErrNoApproval
	}
	return found.Of[uid][0], nil
}
