package graph

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

// What the books say of an account. None of these objects has a global id: each is a part of the account, or
// of another one of them.
var (
	statementPart = part("Statement", kind[accounts.UID, ledger.Statement]{
		key: func(s *ledger.Statement) accounts.UID { return s.Account },
		columns: columns{
			"opening": {"OpeningMinor"}, "closing": {"ClosingMinor"}, "debits": {"DebitsMinor"},
			"credits": {"CreditsMinor"}, "entries": {"Account"},
		},
	})
	entryPart = part("BookEntry", kind[entryKey, ledger.BookEntry]{
		key:     func(e *ledger.BookEntry) entryKey { return entryKey{e.Account, e.Number} },
		place:   func(e *ledger.BookEntry) int64 { return e.Number },
		columns: columns{"amount": {"Minor"}, "balanceAfter": {"AfterMinor"}},
	})
	journalPart = part("Journal", kind[ledger.JournalID, ledger.Journal]{
		find:    func(c *core.Core) finder[ledger.JournalID, ledger.Journal] { return c.Ledger.FindJournals },
		key:     func(j *ledger.Journal) ledger.JournalID { return ledger.JournalID(j.ID) },
		columns: columns{"postings": {"ID"}},
	})
	postingPart = part("JournalPosting", kind[entryKey, ledger.JournalPosting]{
		key:     func(p *ledger.JournalPosting) entryKey { return entryKey{p.Account, p.Number} },
		columns: columns{"amount": {"Minor"}, "balanceAfter": {"AfterMinor"}},
	})
)

// entryKey is the key of a posting.
type entryKey struct {
	account accounts.UID
	number  int64
}

func (k entryKey) String() string {
	return k.account.String() + "/" + ledger.JournalID(k.number).String()
}

func init() {
	query("proof", (*operation).proof)
	has(accountKind, "statement", queueStatement)
	has(accountKind, "balanceAt", queueBalanceAt)
	has(statementPart, "entries", queueEntries).late = true
	hasOne(entryPart, "payment", paymentKind,
		func(e *ledger.BookEntry) *payments.UID { return (*payments.UID)(e.Payment) })
	hasOne(entryPart, "journal", journalPart, func(e *ledger.BookEntry) *ledger.JournalID { return &e.Journal })
	has(journalPart, "postings", queuePostings)
	hasOne(postingPart, "account", accountKind, func(p *ledger.JournalPosting) *accounts.UID {
		if p.House != "" {
			return nil
		}
		return &p.Account
	})
	prices["Account.statement"], prices["Account.balanceAt"] = bisected, bisected
	prices["Statement.debits"], prices["Statement.credits"] = sorted, sorted
	prices["Query.proof"] = proven
	listSizes["Journal.postings"] = 4
	listSizes["Proof.invariants"], listSizes["InvariantProof.violations"] = 20, 100
}

// day reads an argument that is a day.
func (a arguments) day(name string) (time.Time, error) {
	day, err := scalar.UnmarshalDate(a[name])
	return day, on(name, err)
}

func queueStatement(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (func(accounts.UID) (*ledger.Statement, error), step) {
	a := argumentsOf(ctx, f)
	from, err := a.day("from")
	to, bad := a.day("to")
	if err == nil {
		err = bad
	}
	if err != nil {
		return func(accounts.UID) (*ledger.Statement, error) { return nil, err }, nil
	}
	want, relations := statementPart.wants(ctx, f.Selections)
	keys := s.keys.([]accounts.UID)
	found := o.core.Ledger.Statements(ctx, b, keys, ledger.Days{From: from, To: to}, want)
	of := func(key accounts.UID) (*ledger.Statement, error) { return oneOf(found, key) }
	if len(relations) == 0 {
		return of, nil
	}
	return of, arrivals(statementPart, o, keys, found, relations)
}

var errMoment = fault.Field("balance", "bookedAt", fault.Malformed,
	"give exactly one of bookedAt and valueDate")

func queueBalanceAt(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (func(accounts.UID) (*ledger.PastBalance, error), step) {
	a, keys := argumentsOf(ctx, f), s.keys.([]accounts.UID)
	refused := func(err error) (func(accounts.UID) (*ledger.PastBalance, error), step) {
		return func(accounts.UID) (*ledger.PastBalance, error) { return nil, err }, nil
	}
	var found *db.Many[accounts.UID, ledger.PastBalance]
	switch {
	case (a["bookedAt"] == nil) == (a["valueDate"] == nil):
		return refused(errMoment)
	case a["bookedAt"] != nil:
		at, err := scalar.UnmarshalDateTime(a["bookedAt"])
		if err != nil {
			return refused(on("bookedAt", err))
		}
		found = o.core.Ledger.BookedBefore(ctx, b, keys, at)
	default:
		day, err := a.day("valueDate")
		if err != nil {
			return refused(err)
		}
		found = o.core.Ledger.ValuedBy(ctx, b, keys, day)
	}
	return func(key accounts.UID) (*ledger.PastBalance, error) { return oneOf(found, key) }, nil
}

// queueEntries queues a page of the entries of each statement. They are those up to the last one that the
// statement counts, whatever is booked meanwhile.
func queueEntries(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (func(accounts.UID) (*model.Connection[ledger.BookEntry], error), step) {
	a := argumentsOf(ctx, f)
	newest := a["orderBy"] == string(model.NewestEntries)
	named := entryPart.orderOf(string(model.OldestEntries))
	if newest {
		named = entryPart.orderOf(string(model.NewestEntries))
	}
	w, err := a.window(ctx, f, named)
	if err != nil {
		return func(accounts.UID) (*model.Connection[ledger.BookEntry], error) { return nil, err }, nil
	}
	keys, spans := s.keys.([]accounts.UID), map[accounts.UID]ledger.Span{}
	var of []ledger.Span
	for _, statement := range s.rows.([]*ledger.Statement) {
		spans[statement.Account] = statement.Span()
		of = append(of, statement.Span())
	}
	asked := inConnection(ctx, entryPart.objectType, f.Selections)
	rows := o.core.Ledger.EntriesOf(ctx, b, of, newest, asked.want, w)
	answer := func(key accounts.UID) (*model.Connection[ledger.BookEntry], error) {
		return &model.Connection[ledger.BookEntry]{
			Page: page.Cut(rows.Of[key], w), Window: w,
			Cursor: func(e *ledger.BookEntry) page.Cursor { return page.Cursor{Order: named, UID: e.Number} },
			Count:  func(context.Context) (int64, error) { return spans[key].Len(), nil },
		}, rows.Err
	}
	if len(asked.further) == 0 {
		return answer, nil
	}
	return answer, func(ctx context.Context, next *db.Batch) []step {
		var shown []*ledger.BookEntry
		for _, key := range keys {
			shown = append(shown, page.Cut(rows.Of[key], w).Items...)
		}
		return entryPart.under(ctx, o, next, shown, asked.further)
	}
}

func queuePostings(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (func(ledger.JournalID) ([]*ledger.JournalPosting, error), step) {
	keys := s.keys.([]ledger.JournalID)
	found := o.core.Ledger.PostingsOf(ctx, b, keys)
	of := func(key ledger.JournalID) ([]*ledger.JournalPosting, error) {
		return append([]*ledger.JournalPosting{}, found.Of[key]...), found.Err
	}
	_, relations := postingPart.wants(ctx, f.Selections)
	if len(relations) == 0 {
		return of, nil
	}
	return of, arrivals(postingPart, o, keys, found, relations)
}

// proof answers Query.proof.
func (o *operation) proof(ctx context.Context, f graphql.CollectedField) (*ledger.Proof, error) {
	seconds, err := scalar.UnmarshalInt(argumentsOf(ctx, f)["maxAge"])
	if err == nil && seconds < leastProofAge {
		err = fault.Field("proof", "maxAge", fault.Min, "must be at least 60")
	}
	if err != nil {
		return nil, on("maxAge", err)
	}
	return o.core.Ledger.Proof(ctx, time.Duration(seconds)*time.Second)
}

// leastProofAge is how young a proof callers can ask for, in seconds, so that nobody keeps the database busy
// with them.
const leastProofAge = 60
