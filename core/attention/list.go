package attention

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// Tables lists the tables of other domains that are read here (core/README.md, Tables).
var Tables = db.Tables{
	Reads: map[string]string{
		"approvals":               "what waits of all kinds is one statement",
		"positive_pay_exceptions": "likewise",
		"payments":                "likewise",
		"ach_answers":             "likewise",
		"ach_notices":             "likewise",
		"ach_received":            "likewise",
		"ach_reversals":           "likewise",
		"network_messages":        "likewise",
		"payment_screenings":      "until when people decide",
		"payment_details":         "whom a payment paid that has a notice of change",
		"contacts":                "whether it was changed since",
		"payment_steps":           "what the notice says, in words",
		"fx_trades":               "likewise",
		"balances":                "which accounts are overdrawn, or closed or gone with money in them",
		"accounts":                "whose an account is that is overdrawn, closed, or swept in vain",
		"sweeps":                  "what waits of all kinds is one statement",
		"postings":                "since when it is overdrawn",
		"journals":                "likewise",
		"webhooks":                "what waits of all kinds is one statement",
	},
}

// Service lists what waits for people.
type Service struct {
	db  *db.DB
	now clock.Now
}

// New makes the service.
func New(d *db.DB, now clock.Now) *Service { return &Service{d, now} }

var (
	listing  db.QueryCache[Item]
	counting db.QueryCache[Waiting]
)

// sees maps a kind to the permission that shows it, beside that to see payments. Approvals are shown by what
// they are of (changes.Listed).
var sees = map[Kind]access.Permission{
	Exception: access.ManageExceptions, Overdrawn: access.ViewAccounts, Stranded: access.ViewAccounts,
	Sweep:     access.ViewAccounts,
	Webhook:   access.ViewWebhooks,
	Trade:     access.ViewTrades,
	Screening: access.ScreenPayments,
}

// List reads things that wait, those that wait longest first, and how much waits of each kind. Where more
// waits, each kind has its share of the list, and each customer its share of a kind. It is for the bank's own
// callers who may see payments, and leaves out the kinds that they may not see. A fault names the field
// first.
func (s *Service) List(ctx context.Context, by Search, first int) (*List, error) {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err == nil && caller.Reach != access.OfBank {
		err = access.ErrDenied
	}
	if err != nil {
		return nil, err
	}
	if first < 1 || first > MostItems {
		return nil, fault.Field("list", "first", fault.Malformed, fmt.Sprintf("must be 1 to %d", MostItems))
	}
	now, err := s.now(ctx, caller.Tenant)
	if err != nil {
		return nil, err
	}
	var kinds []string
	for _, kind := range Kinds {
		need, more := sees[kind]
		if (len(by.Kind) == 0 || slices.Contains(by.Kind, kind)) && (!more || caller.May(need)) {
			kinds = append(kinds, string(kind))
		}
	}
	if len(kinds) == 0 {
		return &List{}, nil
	}
	approvals := changes.Listed(caller, "q")
	key := strings.Join(kinds, ",") + " " + approvals
	p := db.Params{caller.Tenant, now.Add(-answering), now.Add(-settling), now.Add(-working), now.Add(-failing)}
	b := s.db.Batch()
	items := db.Queue(b, listing.Get(key, func() string { return listed(kinds, approvals) }),
		append(slices.Clone(p), first, MostCounted)...)
	counted := db.Queue(b, counting.Get(key, func() string { return counted(kinds, approvals) }),
		append(p, MostCounted)...)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	return &List{Items: items.Items, Waiting: counted.Items}, errors.Join(items.Err, counted.Err)
}

// waiting is the text of what of a kind waits; of approvals, those of which a condition holds.
func waiting(kind Kind, approvals string) string {
	if kind == Approval && approvals != "" {
		return waits[kind] + " AND " + approvals
	}
	return waits[kind]
}

// turn numbers the things of each customer, those that wait longest first.
const turn = "row_number() OVER (PARTITION BY w.customer ORDER BY w.since, w.uid) AS turn"

// listed is the text of what is listed of all that waits, $6 at most: the first thing of each kind, then the
// second, and so on, and of a kind likewise the first one of each customer. So nobody's many failures hide
// the others' things. Every text uses every value.
func listed(kinds []string, approvals string) string {
	var all []string
	for _, kind := range kinds {
		all = append(all, "(SELECT '"+kind+"' AS kind, w.*, "+turn+" FROM ("+
			looked(Kind(kind), waiting(Kind(kind), approvals))+") AS w)")
	}
	return "SELECT r.kind, r.uid, r.customer, r.since, r.due_at, r.reason FROM (SELECT q.* FROM (SELECT a.*, " +
		"row_number() OVER (PARTITION BY a.kind ORDER BY a.turn, a.since, a.uid) AS place FROM (" +
		strings.Join(all, " UNION ALL ") + ") AS a) AS q " +
		"ORDER BY q.place, q.since, q.kind, q.uid LIMIT $6::bigint) AS r WHERE " + used +
		" ORDER BY r.since, r.kind, r.uid"
}

// looked is the text of what is looked at of a kind, of which another text says what waits: the first $7 and,
// where an index tells customers apart, the first of each of $7 customers, who are found by a skip over it.
// Where none does, it is the first thing of each customer, then the second, and so on, $7 of all.
func looked(kind Kind, waiting string) string {
	longest := "SELECT w.* FROM (" + waiting + ") AS w ORDER BY w.since, w.uid LIMIT $7::bigint"
	of := whose[kind]
	switch {
	case of.nobodys:
		return longest
	case of.from == "":
		return "SELECT w.uid, w.customer, w.since, w.due_at, w.reason FROM (SELECT w.*, " + turn +
			" FROM (" + waiting + ") AS w) AS w ORDER BY w.turn, w.since, w.uid LIMIT $7::bigint"
	}
	from := " " + of.from
	customer, same, order := of.alias+".customer", of.alias+".customer = whose.customer", "since, uid"
	first, next := "SELECT 1 AS number, (SELECT min("+customer+")"+from+") AS customer",
		"SELECT number + 1, (SELECT min("+customer+")"+from+" AND "+customer+" > whose.customer) FROM whose "+
			"WHERE customer IS NOT NULL AND number < $7::bigint"
	if of.day != "" {
		pair := "SELECT " + of.day + " AS day, " + customer + from + " AND (" + of.day + ", " +
			customer + ") > "
		pairs := " ORDER BY " + of.day + ", " + customer + " LIMIT 1) AS f"
		order = of.day + ", since, uid" // as the index has them; the server does not know that the day is one
		same = of.day + " = whose.day AND " + same
		first = "SELECT 1 AS number, f.day, f.customer FROM (" + pair + "(" +
			dayOf("$5::timestamptz") + ", -1)" +
			pairs
		next = "SELECT number + 1, f.day, f.customer FROM whose CROSS JOIN LATERAL (" + pair +
			"(whose.day, whose.customer)" + pairs + " WHERE number < $7::bigint"
	}
	return "(" + longest + ") UNION (WITH RECURSIVE whose AS (" + first + " UNION ALL " + next + ") " +
		"SELECT w.* FROM whose CROSS JOIN LATERAL (" + waiting + " AND " + same + " ORDER BY " + order +
		" LIMIT " + ofEach + ") AS w)"
}

// ofEach is how many things of each customer are looked at: as many as are listed, but some ten thousand of
// all.
const ofEach = "(SELECT least($6::bigint, greatest(10, 10000 / greatest(1, count(*)))) FROM whose)"

// counted is the text of how much of each kind waits, $6 at most.
func counted(kinds []string, approvals string) string {
	var all []string
	for _, kind := range kinds {
		all = append(all, "(SELECT '"+kind+"' AS kind, w.since FROM ("+waiting(Kind(kind),
			approvals)+") AS w LIMIT $6::bigint)")
	}
	return "SELECT r.kind, count(*) AS n, min(r.since) AS oldest FROM (" + strings.Join(all, " UNION ALL ") +
		") AS r WHERE " + used +
		" GROUP BY r.kind ORDER BY min(r.since)"
}

// used names the values that the texts of some kinds do not, so that all have the same.
const used = "($2::timestamptz, $3::timestamptz, $4::timestamptz, $5::timestamptz) IS NOT NULL"
