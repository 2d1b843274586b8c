package customers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/positivepay"
	"bankgraph/core/users"
	"bankgraph/core/webhooks"
	"bankgraph/db"
)

// recorded returns how many entries about a customer a caller reads, which is the same by every way.
func recorded(t *testing.T, bank *coretest.Bank, ctx context.Context, c customers.UID) int {
	t.Helper()
	by, of := audit.Search{Customer: int64(c)}, []customers.UID{c}
	all, err := coretest.Rows(bank, bank.Staff(), func(b *db.Batch) *db.Rows[audit.Entry] {
		return bank.Audit.List(bank.Staff(), b, by, db.Columns{}, page.First(50))
	})
	must(t, err)
	ids := make([]audit.ID, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	listed, err := coretest.Rows(bank, ctx, func(b *db.Batch) *db.Rows[audit.Entry] {
		return bank.Audit.List(ctx, b, by, db.Columns{}, page.First(50))
	})
	must(t, err)
	counted, err := coretest.Rows(bank, ctx, func(b *db.Batch) *db.Rows[db.Count] {
		return bank.Audit.CountUpTo(ctx, b, by, 50)
	})
	must(t, err)
	found, err := coretest.Many(bank, ctx, func(b *db.Batch) *db.Many[audit.ID, audit.Entry] {
		return bank.Audit.FindMany(ctx, b, ids, db.Columns{})
	})
	must(t, err)
	history, err := coretest.Many(bank, ctx, func(b *db.Batch) *db.Many[customers.UID, audit.Entry] {
		return audit.OfObjects(ctx, b, "customer", of, db.Columns{}, page.First(50))
	})
	must(t, err)
	histories, err := coretest.Many(bank, ctx, func(b *db.Batch) *db.Many[customers.UID, db.Count] {
		return audit.CountOfObjects(ctx, b, "customer", of, 50)
	})
	must(t, err)
	n := len(listed)
	if counted[0].N != int64(n) || len(found) != n || len(history[c]) != n || histories[c][0].N != int64(n) {
		t.Errorf("%d listed, %d counted, %d found, %d of the customer, %d of it counted", n, counted[0].N,
			len(found), len(history[c]), histories[c][0].N)
	}
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was recorded before a customer came to its present partner, and the move itself, the bank alone reads.
func TestTheRecordBeforeAMoveIsTheBanks(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string]bool{"at once": false, "approved": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bank := staffed(t)
			former, next := bank.DownstreamPartner(), bank.DownstreamPartner()
			c := bank.Customer(coretest.OwnedBy(former))
			neighbour := bank.Customer(coretest.OwnedBy(next))
			person := bank.PersonOf(c, bank.User(c, nil))
			n := 0
			noted := func(ctx context.Context, of *customers.Customer) {
				t.Helper()
				n++
				change(t, bank, ctx, of.UID, func(d *customers.Draft) { d.Note = given.Of(fmt.Sprint("call ", n)) })
			}
			noted(bank.Partner(former), c)
			noted(bank.Partner(next), neighbour)
			if n := recorded(t, bank, bank.Partner(former), c.UID); n != 1 {
				t.Fatalf("the former partner read %d entries", n)
			}
			bank.Exec(`UPDATE customers SET access_customer_dual_approval = ?
				WHERE tenant = ? AND uid = ?`, waits, bank.Tenant, c.UID)
			moved, err := bank.Customers.Change(bank.Staff(), c.UID,
				customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{})
			must(t, err)
			if (moved.Approval != 0) != waits {
				t.Fatalf("approval %d", moved.Approval)
			}
			if waits {
				_, err := bank.Changes.Approve(bank.Checker(), changes.UID(moved.Approval), changes.RequestOptions{})
				must(t, err)
			}
			entries := recorded(t, bank, bank.Staff(), c.UID)
			all, err := coretest.Rows(bank, bank.Staff(), func(b *db.Batch) *db.Rows[audit.Entry] {
				return bank.Audit.List(bank.Staff(), b, audit.Search{Customer: int64(c.UID)}, db.Columns{},
					page.First(50))
			})
			must(t, err)
			for _, e := range all { // the entry of the move has its time already
				if strings.Contains(string(e.After), "ovedAt") {
					t.Errorf("%s: %s", e.Action, e.After)
				}
			}
			for who, ctx := range map[string]context.Context{
				"the former partner": bank.Partner(former), "the next": bank.Partner(next), "the customer": person,
			} {
				if n := recorded(t, bank, ctx, c.UID); n != 0 {
					t.Errorf("%s reads %d of %d entries", who, n, entries)
				}
			}
			bank.Exec(`UPDATE customers SET access_customer_dual_approval = false
				WHERE tenant = ? AND uid = ?`, bank.Tenant, c.UID)
			noted(bank.Partner(next), c)
			for who, ctx := range map[string]context.Context{"partner": bank.Partner(next), "customer": person} {
				if n := recorded(t, bank, ctx, c.UID); n != 1 {
					t.Errorf("of what was done since, the %s reads %d entries", who, n)
				}
			}
			if n := recorded(t, bank, bank.Partner(next), neighbour.UID); n != 1 {
				t.Errorf("of its other customer, the partner reads %d entries", n)
			}
			if n := recorded(t, bank, bank.Staff(), c.UID); n != entries+1 {
				t.Errorf("the bank reads %d entries", n)
			}
		})
	}
}

func ruleOf(a *accounts.Account, company string) positivepay.Draft {
	return positivepay.Draft{
		AccountNumber: given.Of(coretest.AccountNumber(a.UID)), Type: positivepay.ACH,
		BeneficiaryName: given.Of(company), BeneficiaryAccountNumber: given.Of("5550007777"),
		ACHCompanyID: given.Of("9100011223"), Amount: given.Of("50.00"), AmountType: positivepay.Maximum,
		Frequency: positivepay.OnGoing, EffectiveDate: coretest.Start.Truncate(24 * time.Hour),
		Form: positivepay.Second,
	}
}

// A former partner leaves nobody behind who reads and pays for it, and no rule that lets its debits through.
func TestWhatAFormerPartnerMadeIsSuspended(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	former, next := bank.DownstreamPartner(), bank.DownstreamPartner()
	c := bank.Customer(coretest.OwnedBy(former))
	a, held := bank.Account(c), bank.Role(c)
	person := bank.PersonOf(c, bank.User(c, nil))
	user := func(by context.Context, login string, activate context.Context) users.UID {
		t.Helper()
		made, err := bank.Users.Create(by, c.UID, users.Draft{
			LoginID: given.Of(login), FirstName: given.Of("Ada"), LastName: given.Of("Byron"),
			EmailAddress: given.Of(login + "@mail.example"), Mobile: given.Of("+1 614 555 0123"),
			Department: given.Of("Treasury"), RoleNames: given.Of([]string{held.Name}),
		}, changes.RequestOptions{})
		must(t, err)
		if activate != nil {
			_, err = bank.Users.Activate(activate, c.UID, made.Result.UID, changes.RequestOptions{})
			must(t, err)
		}
		return made.Result.UID
	}
	rule := func(by context.Context, company string) positivepay.UID {
		t.Helper()
		made, err := bank.PositivePay.Create(by, ruleOf(a, company), changes.RequestOptions{})
		must(t, err)
		return made.Result.UID
	}
	partner := bank.Partner(former)
	states := map[users.UID]users.Status{
		user(partner, "made", person):       users.Suspended,
		user(person, "let.in", partner):     users.Suspended,
		user(partner, "waits", nil):         users.Suspended,
		user(person, "own", person):         users.Active,
		user(bank.Staff(), "staff", person): users.Active,
	}
	made := func(by context.Context, login string) context.Context {
		t.Helper()
		uid := user(by, login, bank.Staff())
		states[uid] = users.Suspended
		return bank.PersonOf(c, &users.User{Tenant: bank.Tenant, UID: uid, Customer: c.UID, LoginID: login})
	}
	second := made(made(partner, "first"), "second")
	states[user(second, "third", person)] = users.Suspended
	states[user(person, "let.in.too", second)] = users.Suspended
	stopped, locked := user(partner, "stopped", person), user(partner, "locked", person)
	states[stopped], states[locked] = users.Suspended, users.Suspended
	_, stops := bank.Users.Suspend(person, c.UID, stopped, changes.RequestOptions{})
	must(t, stops)
	bank.Exec(`UPDATE users SET status = 'Locked' WHERE tenant = ? AND uid = ?`, bank.Tenant, locked.String())
	theirs, own, toos := rule(partner, "Theirs"), rule(person, "Own"), rule(second, "Of theirs")
	halted := rule(partner, "Halted")
	_, stops = bank.PositivePay.Suspend(person, halted, changes.RequestOptions{})
	must(t, stops)
	_, err := bank.Customers.Change(bank.Staff(), c.UID,
		customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{})
	must(t, err)
	for uid, want := range states {
		found, err := coretest.Many(bank, bank.Staff(), func(b *db.Batch) *db.Many[users.UID, users.User] {
			return bank.Users.FindMany(bank.Staff(), b, []users.UID{uid}, db.Columns{})
		})
		must(t, err)
		if u := found[uid][0]; u.Status != want {
			t.Errorf("%s is %s, want %s", u.LoginID, u.Status, want)
		}
		if want != users.Suspended {
			continue
		}
		if _, err := bank.Users.Activate(person, c.UID, uid, changes.RequestOptions{}); !errors.Is(err,
			users.ErrWider) {
			t.Errorf("the customer's own people activate: %v", err)
		}
		if _, err := bank.Users.Activate(bank.Partner(next), c.UID, uid, changes.RequestOptions{}); err != nil {
			t.Errorf("the new partner activates: %v", err)
		}
	}
	for uid, want := range map[positivepay.UID]positivepay.Status{
		theirs: positivepay.Suspended, toos: positivepay.Suspended, halted: positivepay.Suspended,
		own: positivepay.Active,
	} {
		found, err := coretest.Many(bank, bank.Staff(),
			func(b *db.Batch) *db.Many[positivepay.UID, positivepay.Rule] {
				return bank.PositivePay.FindMany(bank.Staff(), b, []positivepay.UID{uid}, db.Columns{})
			})
		must(t, err)
		if got := found[uid][0].State; got != want {
			t.Errorf("the rule of %s is %s, want %s", found[uid][0].BeneficiaryName, got, want)
		}
		if want != positivepay.Suspended {
			continue
		}
		if _, err := bank.PositivePay.Activate(person, uid, changes.RequestOptions{}); !errors.Is(err,
			positivepay.ErrWider) {
			t.Errorf("the customer's own people activate the rule of %s: %v", found[uid][0].BeneficiaryName, err)
		}
	}
}

// A partner that becomes another customer of the bank has left nobody: what its own people made stays.
func TestAPartnerThatIsOneNoMoreKeepsWhatItMade(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	p := bank.DownstreamPartner()
	a, role, own := bank.Account(p), bank.Role(p), bank.Partner(p)
	user, err := bank.Users.Create(own, p.UID, users.Draft{
		LoginID: given.Of("own"), FirstName: given.Of("Ada"), LastName: given.Of("Byron"),
		EmailAddress: given.Of("own@mail.example"), Mobile: given.Of("+1 614 555 0123"),
		Department: given.Of("Treasury"), RoleNames: given.Of([]string{role.Name}),
	}, changes.RequestOptions{})
	must(t, err)
	_, err = bank.Users.Activate(bank.Staff(), p.UID, user.Result.UID, changes.RequestOptions{})
	must(t, err)
	rule, err := bank.PositivePay.Create(own, ruleOf(a, "Own"), changes.RequestOptions{})
	must(t, err)
	hook, _, err := bank.Webhooks.Create(own, p.UID,
		webhooks.Draft{Name: given.Of("Ledger"), Target: given.Of("https://partner.example/hook")},
		changes.RequestOptions{})
	must(t, err)
	_, err = bank.Customers.Change(bank.Staff(), p.UID, customers.Draft{Type: new(customers.Corporate)},
		changes.RequestOptions{})
	must(t, err)
	states := []string{}
	must(t, bank.Owner().NewRaw(`SELECT status FROM users WHERE tenant = ?0 AND uid = ?1
		UNION ALL SELECT state FROM positive_pay_rules WHERE tenant = ?0 AND uid = ?2
		UNION ALL SELECT status FROM webhooks WHERE tenant = ?0 AND uid = ?3`,
		bank.Tenant, user.Result.UID.String(), rule.Result.UID, hook.Result.UID).Scan(t.Context(), &states))
	if is := strings.Join(states, " "); is != "Active Active Active" {
		t.Error(is)
	}
}

// However many users and rules a partner has made of a customer, the bank takes the customer from it in good
// time.
func TestNothingThatAPartnerMadeKeepsItsCustomer(t *testing.T) {
	t.Parallel()
	const many = 5_000
	b := staffed(t)
	former, next := b.DownstreamPartner(), b.DownstreamPartner()
	c := b.Customer(coretest.OwnedBy(former))
	user, err := b.Users.Create(b.Partner(former), c.UID, users.Draft{
		LoginID: given.Of("eve"), FirstName: given.Of("Eve"), LastName: given.Of("Adams"),
		EmailAddress: given.Of("eve@mail.example"), RoleNames: given.Of([]string{b.Role(c).Name}),
		PhoneNumber: given.Of("+16145550123"), Mobile: given.Of("+16145550123"), Department: given.Of("Cash"),
	}, changes.RequestOptions{})
	must(t, err)
	rule, err := b.PositivePay.Create(b.Partner(former), positivepay.Draft{
		AccountNumber: given.Of(coretest.AccountNumber(b.Account(c).UID)), Type: positivepay.ACH,
		ACHCompanyID: given.Of("9100011223"), Amount: given.Of("50.00"), AmountType: positivepay.Maximum,
		Frequency: positivepay.OnGoing, EffectiveDate: b.Now(), Form: positivepay.Second,
	}, changes.RequestOptions{})
	must(t, err)
	// Each of the others was made by the one before.
	b.Exec(`INSERT INTO users SELECT (jsonb_populate_record(u, jsonb_build_object('uid', md5(n::text)::uuid,
		'number', u.number + 1000000 + n, 'login_id', 'eve' || n))).* FROM users AS u, generate_series(1, ?) AS n
		WHERE u.tenant = ? AND u.uid = ?`, many-1, b.Tenant, user.Result.UID)
	b.Exec(`INSERT INTO audit_entries SELECT (jsonb_populate_record(e, jsonb_build_object('id',
		nextval('audit_ids'), 'uid', md5(n::text)::uuid, 'entity', e.customer, 'login_id', CASE n WHEN 1 THEN 'eve'
		ELSE 'eve' || n - 1 END, 'after', e.after::jsonb || jsonb_build_object('loginId', 'eve' || n)))).*
		FROM audit_entries AS e, generate_series(1, ?) AS n
		WHERE e.tenant = ? AND e.action = 'createUser' AND e.uid = ?`, many-1, b.Tenant, user.Result.UID.String())
	b.Exec(`INSERT INTO positive_pay_rules SELECT (jsonb_populate_record(r, jsonb_build_object('uid',
		r.uid + 1000 + n))).* FROM positive_pay_rules AS r, generate_series(1, ?) AS n
		WHERE r.tenant = ? AND r.uid = ?`, many-1, b.Tenant, rule.Result.UID)
	b.Exec(`INSERT INTO audit_entries SELECT (jsonb_populate_record(e, jsonb_build_object('id',
		nextval('audit_ids'), 'uid', (e.uid::bigint + 1000 + n)::text))).*
		FROM audit_entries AS e, generate_series(1, ?) AS n
		WHERE e.tenant = ? AND e.action = 'createPositivePayRule'`, many-1, b.Tenant)
	ctx, cancel := context.WithTimeout(b.Staff(), time.Minute) // one by one they would take longer
	defer cancel()
	_, err = b.Customers.Change(ctx, c.UID,
		customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{})
	must(t, err)
	var left struct{ Users, Rules, Told int }
	must(t, b.DB.NewRaw(`SELECT
		(SELECT count(*) FROM users WHERE tenant = ?0 AND customer = ?1 AND status = 'Suspended'
		 AND suspended_by = 'Partner' AND NOT was_active AND version > 1) AS users,
		(SELECT count(*) FROM positive_pay_rules WHERE tenant = ?0 AND customer = ?1 AND state = 'Suspended'
		 AND suspended_by = 'Partner' AND version > 1) AS rules,
		(SELECT count(*) FROM events WHERE tenant = ?0 AND customer = ?1
		 AND kind IN ('suspendUser', 'suspendPositivePayRule') AND version > 1) AS told`, b.Tenant, c.UID).
		Scan(t.Context(), &left.Users, &left.Rules, &left.Told))
	if left.Users != many || left.Rules != many || left.Told != 2*many {
		t.Errorf("suspended, of %d: %+v", many, left)
	}
}
