package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/alerts"
	"bankgraph/core/audit"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/events"
)

func init() {
	view := []access.Permission{access.ViewAccounts}
	declare("BalanceAlert", node{
		needs: access.ViewAccounts, rows: balanceAlertRows,
		id: func(c customers.UID, n int) string { return "bal_" + balanceAlertOf(c, n).String() },
	})
	needs["Account.balanceAlerts"], required["Account.balanceAlerts"] = view, "(first: 2)"
	needs["BalanceAlert.account"] = view
	const shown = `balanceAlert { id uid balance direction threshold currency status armed
		version customer { uid } account { uid } } approval { uid }`
	mutations["createBalanceAlert"] = tried{access.ManageAccounts, func(c customers.UID) string {
		return fmt.Sprintf(`account: "%s", balance: LEDGER, direction: ABOVE, threshold: "12.50"`,
			accountOf(activeOf(c), 0))
	}, shown}
	mutations["changeBalanceAlert"] = tried{access.ManageAccounts, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", balance: AVAILABLE, direction: BELOW, threshold: "-100"`,
			balanceAlertOf(activeOf(c), 0))
	}, shown}
	mutations["deleteBalanceAlert"] = tried{access.ManageAccounts, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s"`, balanceAlertOf(activeOf(c), 0))
	}, `uid approval { uid }`}
}

func balanceAlertOf(c customers.UID, n int) alerts.UID {
	return alerts.UID(int(c-theBank)*100 + n + 980_000_000)
}

// balanceAlertRows are three alerts for each account of each customer.
func balanceAlertRows(b *bank, of []customers.UID) any {
	var all []alerts.Alert
	for _, c := range of {
		for n := range 3 * each {
			a := alerts.Alert{UID: balanceAlertOf(c, n), Customer: c}
			b.fill(&a, int64(a.UID))
			fired, at := int64(a.UID)-7, now.Add(-time.Duration(n)*time.Hour)
			a.Tenant, a.Account, a.Status, a.Currency, a.Version = b.tenant, accountOf(c, n%each),
				alerts.Active, "USD", 2
			a.Balance, a.Direction, a.Minor, a.FiredBalance, a.FiredAt = alerts.Available, alerts.Below,
				int64(a.UID), &fired, &at
			all = append(all, a)
		}
	}
	return &all
}

// A portal asks to be told of a balance, hears when it falls, and sees what was told.
func TestABalanceAlertIsMadeFiredAndShown(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	staff := p.Staff()
	made, errors := p.asks(t, staff,
		fmt.Sprintf(`mutation { createBalanceAlert(input: {account: "%s", balance: AVAILABLE, direction: BELOW,
		threshold: "1999990"}) { balanceAlert { status threshold armed firedAt firedBalance version }
		approval { uid } } }`, p.from.UID))
	want := `{"createBalanceAlert":{"balanceAlert":{"status":"ACTIVE","threshold":"1999990.00",` +
		`"armed":true,"firedAt":null,"firedBalance":null,"version":1},"approval":null}}`
	if made != want || errors != nil {
		t.Fatalf("%s %v\nwant %s", made, errors, want)
	}
	if data, errors := p.asks(t, staff, fmt.Sprintf(
		`mutation { placeHold(input: {account: "%s", amount: "10.01", reason: "Garnishment 12"}) { uid } }`,
		p.from.UID)); errors != nil {
		t.Fatal(data, errors)
	}
	if _, err := p.Alerts.Fire(access.Operator(t.Context(), p.Tenant, "test", coretest.Zone())); err != nil {
		t.Fatal(err)
	}
	document := fmt.Sprintf(`{ account(by: {uid: "%s"}) { balanceAlerts { totalCount
		nodes { balance direction armed firedBalance
		history(first: 5) { nodes { action changes { field after } } } } } } }`, p.from.UID)
	want = `{"account":{"balanceAlerts":{"totalCount":1,` +
		`"nodes":[{"balance":"AVAILABLE","direction":"BELOW","armed":false,` +
		`"firedBalance":"1999989.99","history":{"nodes":[{"action":"fireBalanceAlert","changes":[`
	data, errors := p.asks(t, staff, document)
	if !strings.HasPrefix(data, want) || errors != nil ||
		!strings.Contains(data, `{"field":"firedBalance","after":"1999989.99"}`) ||
		!strings.Contains(data, `{"action":"createBalanceAlert"`) {
		t.Errorf("%s %v\nwant %s", data, errors, want)
	}
}

// Who listens hears of each alert that fires, for the accounts that it sees, and of nothing else.
func TestWhoListensHearsOfBalanceAlerts(t *testing.T) {
	t.Parallel()
	l := newLively(t)
	const fired = `subscription { balanceAlertFired%s { action version account { uid
		balanceAlerts(first: 1) { totalCount } } } }`
	staff, partners := l.listens(t, "staff", fmt.Sprintf(fired, "")),
		l.listens(t, "partner", fmt.Sprintf(fired, ""))
	one := l.listens(t, "staff", fmt.Sprintf(fired, fmt.Sprintf(`(account: "%d")`, accountOf(star, 1))))
	l.write(t, func(ctx context.Context, tx bun.Tx) error {
		for _, change := range []struct {
			of      customers.UID
			account int
			kind    string
		}{
			{otherStar, 0, alerts.EventKind},
			{star, 0, alerts.EventKind},
			{star, 1, "changeAccount"},
			{star, 1, alerts.EventKind},
		} {
			customer, uid := int64(change.of), accountOf(change.of, change.account).String()
			entry := audit.Entry{
				Tenant: l.tenant, Client: "test", Entity: 1, Action: change.kind, Decision: audit.Done,
				Object: "account", UID: uid,
				Customer: &customer,
			}
			if err := events.RecordTx(ctx, tx, entry, events.Event{
				Tenant: l.tenant, Kind: change.kind, Object: "account", UID: uid, Customer: &customer, Version: 7,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	l.seals(t)
	of := func(c customers.UID, n int) string {
		return fmt.Sprintf(`{"balanceAlertFired":{"action":"balanceAlert","version":7,`+
			`"account":{"uid":"%d","balanceAlerts":{"totalCount":3}}}}`,
			accountOf(c, n))
	}
	staff.hears(of(otherStar, 0))
	for _, h := range []*heard{staff, partners} {
		h.hears(of(star, 0))
		h.hears(of(star, 1))
	}
	one.hears(of(star, 1))
}
