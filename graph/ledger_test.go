package graph_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
)

func init() {
	view := []access.Permission{access.ViewAccounts}
	needs["Query.proof"] = []access.Permission{access.ViewAudit}
	needs["Account.statement"], needs["Account.balanceAt"], needs["BookEntry.journal"] = view, view, view
	needs["JournalPosting.account"] = view
	needs["BookEntry.payment"] = []access.Permission{access.ViewPayments}
	required["Account.statement"] = `(from: "2026-11-01", to: "2026-11-30")`
	required["Account.balanceAt"] = `(bookedAt: "2026-11-19T00:00:00Z")`
	required["Statement.entries"] = "(first: 2)"
}

// booked is an account that pays another one several times, each on a day of its own, ahead of what the test
// asks.
func booked(t *testing.T, payments int) (*payers, []string) {
	t.Helper()
	p := newPayers(t)
	var uids []string
	for i := range payments {
		uids = append(uids, p.pays(t, fmt.Sprintf("1.%02d", i), fmt.Sprintf(`notes: "%d"`, i)))
	}
	return p, uids
}

// days are the arguments of a statement that covers today.
func days() string {
	today := time.Now().In(coretest.Zone())
	return fmt.Sprintf(`from: %q, to: %q`, today.AddDate(0, 0, -7).Format(time.DateOnly),
		today.AddDate(0, 0, 1).Format(time.DateOnly))
}

type stated struct {
	Account struct {
		Statement *struct {
			Opening, Closing, Debits, Credits string
			Entries                           *struct {
				TotalCount int
				PageInfo   struct {
					HasNextPage bool
					EndCursor   string
				}
				Nodes []struct {
					Number, Amount, BalanceAfter, Kind string
					Payment                            *struct{ UID string }
					Journal                            *struct {
						Postings []struct {
							Amount, House string
							Account       *struct{ UID string }
						}
					}
				}
			}
		}
		BalanceAt *struct{ Ledger string }
	}
}

func (p *payers) states(t *testing.T, document string) (s stated) {
	t.Helper()
	data, errors := p.asks(t, p.Staff(), document)
	if errors != nil {
		t.Fatal(document, errors)
	}
	if err := json.Unmarshal([]byte(data), &s); err != nil {
		t.Fatal(data, err)
	}
	return s
}

// A page after the other, each entry comes once, in its order, whatever is booked meanwhile.
func TestAStatementIsReadPageByPageWhileMoreIsBooked(t *testing.T) {
	t.Parallel()
	for order, first := range map[string]string{"OLDEST": "1", "NEWEST": "6"} {
		p, _ := booked(t, 5)
		var numbers []string
		after := ""
		for page := 0; ; page++ {
			s := p.states(t, fmt.Sprintf(`{ account(by: {uid: "%s"}) { statement(%s) {
				entries(first: 2, orderBy: %s%s) { pageInfo { hasNextPage endCursor } nodes { number } } } } }`,
				p.from.UID, days(), order, after))
			entries := s.Account.Statement.Entries
			for _, e := range entries.Nodes {
				numbers = append(numbers, e.Number)
			}
			if !entries.PageInfo.HasNextPage || page > 9 {
				break
			}
			after = fmt.Sprintf(`, after: %q`, entries.PageInfo.EndCursor)
			if page < 2 {
				p.pays(t, fmt.Sprintf("2.%02d", page), `notes: "meanwhile"`)
			}
		}
		want := []string{"1", "2", "3", "4", "5", "6", "7", "8"}
		if order == "NEWEST" {
			want = []string{"6", "5", "4", "3", "2", "1"}
		}
		if numbers[0] != first || !slices.Equal(numbers, want) {
			t.Errorf("%s: %v", order, numbers)
		}
	}
}

// An entry leads to its payment, and for the bank's own people to the other side.
func TestAnEntryLeadsToItsPaymentAndToItsJournal(t *testing.T) {
	t.Parallel()
	p, uids := booked(t, 1)
	document := fmt.Sprintf(`{ account(by: {uid: "%s"}) { statement(%s) { opening closing debits credits
		entries(last: 1) { totalCount nodes { number amount balanceAfter kind payment { uid }
		  journal { postings { amount house account { uid } } } } } } } }`, p.from.UID, days())
	got := p.states(t, document).Account.Statement
	if got.Opening != "0.00" || got.Closing != "99.00" || got.Debits != "1.00" || got.Credits != "100.00" ||
		got.Entries.TotalCount != 2 || len(got.Entries.Nodes) != 1 {
		t.Fatalf("%+v", got)
	}
	e := got.Entries.Nodes[0]
	if e.Number != "2" || e.Amount != "-1.00" || e.BalanceAfter != "99.00" || e.Kind != "PAYMENT" ||
		e.Payment == nil || e.Payment.UID != uids[0] || e.Journal == nil || len(e.Journal.Postings) != 2 {
		t.Fatalf("%+v", e)
	}
	var sides []string
	for _, posting := range e.Journal.Postings {
		sides = append(sides, posting.Amount+" "+posting.Account.UID)
	}
	slices.Sort(sides)
	if want := []string{"-1.00 " + p.from.UID.String(), "1.00 " +
		p.to.UID.String()}; !slices.Equal(sides, want) {
		t.Errorf("%v, want %v", sides, want)
	}
	opening := p.states(t, strings.Replace(document, "last: 1", "first: 1",
		1)).Account.Statement.Entries.Nodes[0]
	if opening.Payment != nil || opening.Kind != "OPENING" ||
		!slices.ContainsFunc(opening.Journal.Postings, func(posting struct {
			Amount, House string
			Account       *struct{ UID string }
		},
		) bool {
			return posting.House == "opening" && posting.Account == nil
		}) {
		t.Errorf("%+v", opening)
	}

	// The partner sees its own entries and payments, and no journal.
	data, errors := p.asks(t, p.Partner(p.payer), document)
	if errors != nil || !strings.Contains(data, `"journal":null`) || !strings.Contains(data, uids[0]) ||
		strings.Contains(data, p.to.UID.String()) {
		t.Error(data, errors)
	}
	// The other side's partner does not see the account at all.
	if data, errors = p.asks(t, p.Partner(p.paid), document); errors != nil || data != `{"account":null}` {
		t.Error(data, errors)
	}
	// Without the right to see payments only these are missing.
	data, errors = p.asks(t, p.As(access.ViewAccounts), document)
	if !slices.Equal(errors, []string{"DENIED API901"}) || !strings.Contains(data, `"payment":null`) ||
		!strings.Contains(data, `"closing":"99.00"`) {
		t.Error(data, errors)
	}
}

func TestABalanceIsToldAsItWas(t *testing.T) {
	t.Parallel()
	p, _ := booked(t, 2)
	today := time.Now().In(coretest.Zone())
	for argument, want := range map[string]string{
		`bookedAt: "2001-01-01T00:00:00Z"`: "0.00", `bookedAt: "9999-12-31T23:59:59Z"`: "97.99",
		`bookedAt: "0000-01-01T00:00:00Z"`: "0.00", `valueDate: "1900-01-01"`: "0.00",
		`valueDate: "9999-12-31"`: "97.99",
		fmt.Sprintf(`bookedAt: %q`, today.AddDate(0, 0, 1).Format(time.RFC3339)): "97.99",
	} {
		s := p.states(t, fmt.Sprintf(`{ account(by: {uid: "%s"}) { balanceAt(%s) { ledger currency } } }`,
			p.from.UID, argument))
		if s.Account.BalanceAt == nil || s.Account.BalanceAt.Ledger != want {
			t.Errorf("%s: %+v, want %s", argument, s.Account.BalanceAt, want)
		}
	}
	elsewhere := p.Account(p.Customer(), func(a *accounts.Account) { a.SystemOfRecord = accounts.External })
	s := p.states(t,
		fmt.Sprintf(`{ account(by: {uid: "%s"}) { balanceAt(valueDate: "2026-11-20") { ledger }
			statement(%s) { opening } } }`,
			elsewhere.UID, days()))
	if s.Account.BalanceAt != nil || s.Account.Statement != nil {
		t.Errorf("%+v", s)
	}
}

func TestHostileRangesAreRefused(t *testing.T) {
	t.Parallel()
	p := newPayers(t)
	entries := func(arguments string) string {
		return `statement(from: "2026-11-20", to: "2026-11-20") { entries(` + arguments + `) { nodes { number } } }`
	}
	for selection, want := range map[string]string{
		`balanceAt { ledger }`: "bookedAt",
		`balanceAt(bookedAt: "2026-11-20T00:00:00Z", valueDate: "2026-11-20") { ledger }`: "bookedAt",
		`balanceAt(bookedAt: "yesterday") { ledger }`:                                     "bookedAt",
		`balanceAt(valueDate: "2026-02-30") { ledger }`:                                   "valueDate",
		`statement(from: "2026-11-20", to: "2026-11-19") { opening }`:                     "to",
		`statement(from: "2025-11-20", to: "2026-11-21") { opening }`:                     "to",
		`statement(from: "1900-01-01", to: "9999-12-31") { opening }`:                     "to",
		`statement(from: "0001-01-01", to: "0001-01-02") { opening }`:                     "from",
		`statement(from: "2026-11-20", to: "2026-11-32") { opening }`:                     "to",
		entries(`first: 0`):          "first",
		entries(`first: 201`):        "first",
		entries(`after: "1abc"`):     "after",
		entries(`first: 1, last: 1`): "last",
		entries(`before: "1abc"`):    "before",
	} {
		data, errors := p.asks(t, p.Staff(), fmt.Sprintf(`{ account(by: {uid: "%s"}) { uid %s } }`,
			p.from.UID, selection))
		if !slices.Equal(errors, []string{"INVALID VALIDATION_ERROR " + want}) ||
			!strings.Contains(data, `"uid"`) {
			t.Errorf("%s: %s %v", selection, data, errors)
		}
	}
	for _, fine := range []string{
		`statement(from: "2024-01-01", to: "2024-12-31") { opening }`,
		`statement(from: "9999-12-31", to: "9999-12-31") { opening closing entries { nodes { number } } }`,
	} {
		if data, errors := p.asks(t, p.Staff(), fmt.Sprintf(`{ account(by: {uid: "%s"}) { %s } }`, p.from.UID,
			fine)); errors != nil {
			t.Errorf("%s: %s %v", fine, data, errors)
		}
	}
}

func TestTheBankProvesItsBooks(t *testing.T) {
	t.Parallel()
	p, _ := booked(t, 1)
	const document = `{ proof(maxAge: 60) { holds milliseconds startedAt finishedAt
		invariants { name says holds violationCount violations { subject what } } } }`
	data, errors := p.asks(t, p.Staff(), document)
	if errors != nil || !strings.HasPrefix(data, `{"proof":{"holds":true`) ||
		!strings.Contains(data, `"name":"I12"`) {
		t.Error(data, errors)
	}
	if data, errors = p.asks(t, p.Partner(p.payer), document); !slices.Equal(errors,
		[]string{"DENIED API901"}) ||
		data != `{"proof":null}` {
		t.Error(data, errors)
	}
	if data, errors = p.asks(t, p.Staff(), `{ proof(maxAge: 59) { holds } }`); !slices.Equal(errors,
		[]string{"INVALID VALIDATION_ERROR maxAge"}) {
		t.Error(data, errors)
	}
	_, errors = p.asks(t, p.Staff(),
		`{ a: proof { invariants { violations { what } } } b: proof { invariants { violations { what } } } }`)
	if len(errors) != 1 || !strings.Contains(errors[0], "PRICE_LIMIT") {
		t.Error("two proofs in a request are too dear:", errors)
	}
}
