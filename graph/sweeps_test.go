package graph_test

import (
	"fmt"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/given"
)

// Staff follow a sweep: the run that failed stands with what waits for people, the next one paid, and its
// payment says so.
func TestARunOfASweepIsFollowed(t *testing.T) {
	t.Parallel()
	p, contact := newSender(t)
	p.from = p.Account(p.payer, coretest.Holding(1_000_00, 0), coretest.Sends)
	to := p.Contact(p.payer, func(k *contacts.Contact) { k.Bank.NationalCode = listedBank.number })
	target, method, daily := accounts.Target, accounts.ACHCredit, accounts.Daily
	_, err := p.Accounts.SetSweep(p.Staff(), 0, accounts.SweepName{Account: p.from.UID, Direction: accounts.Out},
		accounts.SweepDraft{
			BalanceType: &target, TargetBalance: given.Of("300"), ToContact: &to.UID, ToMethod: &method,
			Frequency: &daily,
		}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(contact, err)
	}
	operator := access.Operator(t.Context(), p.Tenant, p.Code, coretest.Zone())
	runs := func() {
		t.Helper()
		p.Clock.Set(p.Clock.Now().AddDate(0, 0, 1))
		if _, err := p.Sweeps.Work(operator); err != nil {
			t.Fatal(err)
		}
	}
	says := func(document, want string) {
		t.Helper()
		if data, errors := p.asks(t, p.Staff(), document); errors != nil || data != want {
			t.Errorf("%s %v\nwant %s", data, errors, want)
		}
	}
	p.Exec(`UPDATE accounts SET enable_ach = false WHERE tenant = ? AND uid = ?`, p.Tenant, p.from.UID)
	runs()
	const why = "method: the account may not send payments of this speed: ACH is off for the account"
	says(`{ attention(filter: {kind: SWEEP}) { items { kind subject customer reason } } }`, fmt.Sprintf(
		`{"attention":{"items":[{"kind":"SWEEP","subject":"acc_%s","customer":"%s","reason":"%s"}]}}`,
		p.from.UID, p.payer.UID, why))
	account := fmt.Sprintf(`account(by: {uid: "%s"})`, p.from.UID)
	says(`{ `+account+` { sweeps { failure failingSince nextSweepDate } } }`, fmt.Sprintf(
		`{"account":{"sweeps":[{"failure":"%s","failingSince":"2026-11-19T15:00:00Z",`+
			`"nextSweepDate":"2026-11-20"}]}}`, why))
	p.Exec(`UPDATE accounts SET enable_ach = true WHERE tenant = ? AND uid = ?`, p.Tenant, p.from.UID)
	runs()
	says(`{ `+account+
		` { sweeps { failure failingSince } sweepRuns(first: 5) { totalCount
		nodes { direction day outcome currency
		available amount reason payment { status amount externalReferenceId
		sweep { direction day } } } } } }`, fmt.Sprintf(
		`{"account":{"sweeps":[{"failure":null,"failingSince":null}],"sweepRuns":{"totalCount":2,"nodes":[`+
			`{"direction":"OUT","day":"2026-11-20","outcome":"PAID","currency":"USD","available":"1000.00",`+
			`"amount":"700.00","reason":null,`+
			`"payment":{"status":"READY_TO_TRANSMIT","amount":"700.00","externalReferenceId":"SWEEP-%s-20261120-OUT",`+
			`"sweep":{"direction":"OUT","day":"2026-11-20"}}},`+
			`{"direction":"OUT","day":"2026-11-19","outcome":"FAILED","currency":"USD",`+
			`"available":"1000.00","amount":"700.00",`+
			`"reason":"%s","payment":null}]}}}`, p.from.UID, why))
	says(`{ `+account+` { sweepRuns(first: 5, filter: {outcome: FAILED}) { nodes { day } } } }`,
		`{"account":{"sweepRuns":{"nodes":[{"day":"2026-11-19"}]}}}`)
	says(`{ attention(filter: {kind: SWEEP}) { items { kind } } }`, `{"attention":{"items":[]}}`)
	data, _ := p.asks(t, p.Partner(p.DownstreamPartner()), `{ `+account+` { sweepRuns { nodes { day } } } }`)
	if data != `{"account":null}` {
		t.Error("another partner:", data)
	}
}
