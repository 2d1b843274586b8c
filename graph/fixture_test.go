package graph_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/limits"
	"bankgraph/core/money"
	"bankgraph/core/roles"
	"bankgraph/core/seal"
	"bankgraph/core/users"
	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/graph"
)

// The garbage collector takes a fifth of the time of these tests if it runs as often as by default.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// The customers of every bank in these tests. All their columns are set, to different values.
const (
	theBank      customers.UID = 1000000
	lone         customers.UID = 1000001 // the bank's own customer
	partner      customers.UID = 1000010
	star         customers.UID = 1000011 // the partner's customer, used by most tests
	otherPartner customers.UID = 1000020
	otherStar    customers.UID = 1000021 // the other partner's customer
	absent       customers.UID = 1999999
)

// Things of a customer have numbers that follow from the customer's number.
func accountOf(c customers.UID, n int) accounts.UID {
	return accounts.UID(int(c-theBank)*100+n) + 100_000_000
}
func contactOf(c customers.UID, n int) contacts.UID { return contacts.UID(accountOf(c, 50+n)) }

// auditOf is the first of two entries about a customer's first signatory. The entries about the other
// signatories are around it.
func auditOf(c customers.UID) audit.ID { return audit.ID(int(c-theBank)*100 + 1_000_000_007) }

func userOf(c customers.UID, n int) users.UID {
	return users.UID{UUID: uuid.NewSHA1(uuid.NameSpaceDNS, fmt.Appendf(nil, "user-%d-%d", c, n))}
}

func roleOf(c customers.UID, n int) roles.UID {
	return roles.UID{UUID: uuid.NewSHA1(uuid.NameSpaceDNS, fmt.Appendf(nil, "role-%d-%d", c, n))}
}

func approvalOf(c customers.UID) changes.UID { return changes.UID(c - theBank + 1) }

func numberOf(c customers.UID, n int) string { return fmt.Sprintf("9%011d", int64(accountOf(c, n))) }

// each is how many accounts, contacts and signatories each customer has.
const each = 3

// now is the clock of every bank in these tests: a Friday.
var now = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)

// keyset seals the values of every bank in these tests.
var keyset = seal.New()

// bank is a tenant of its own with its callers.
type bank struct {
	tenant    access.Tenant
	mark      string // is in every text of the bank that is not searched for
	core      *core.Core
	url       string // of the database
	server    http.Handler
	resolving http.Handler // answers through gqlgen's execution, for comparison; nil for none
	over      *networked
}

const requestID = "request-1"

var options = graph.Options{
	RequestID:   func(context.Context) string { return requestID },
	Unavailable: func(err error) bool { return db.IsUnavailable(err) || db.IsTimeout(err) },
}

var (
	opened sync.Once
	bench  *bank // the shared database's core and handler, without a tenant
)

// newBank makes a bank in the database that all tests share.
func newBank(t testing.TB) *bank {
	t.Helper()
	return newBankMarked(t, "Alpha")
}

func newBankMarked(t testing.TB, mark string) *bank {
	t.Helper()
	url := dbtest.Unhurried(dbtest.Shared(t)) // a busy machine fails nothing
	opened.Do(func() { bench = bankOn(t, url, db.Options{}) })
	if bench == nil {
		t.Fatal("the shared database could not be opened")
	}
	b := *bench
	b.mark, b.over = mark, new(networked)
	b.furnish(t)
	return &b
}

// ownBank makes a bank in a database that the test may break.
func ownBank(t testing.TB, o db.Options) *bank {
	t.Helper()
	b := bankOn(t, dbtest.URL(t), o)
	t.Cleanup(func() { _ = b.core.DB.Close() })
	b.mark = "Alpha"
	b.furnish(t)
	return b
}

func bankOn(t testing.TB, url string, o db.Options) *bank {
	t.Helper()
	o.Tracer = dbtest.Watch(t)
	d, err := db.Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	c := core.New(core.Options{DB: d, Keys: keyset, Now: func() time.Time { return now }})
	if err := coretest.Ahead(dbtest.Owner(url)); err == nil { // some tests have no database
		listBank(t, c)
	}
	return &bank{
		core: c, url: url, over: new(networked), server: graph.New(c, options),
		resolving: graph.Resolving(c, options),
	}
}

// The callers.

func (b *bank) staff() *access.Caller {
	return &access.Caller{
		Tenant: b.tenant, TenantCode: "bank", Client: "staff", ClientName: "Staff portal", Entity: int64(theBank),
		Partner: int64(theBank), Reach: access.OfBank, Permissions: access.All,
	}
}

func (b *bank) partner() *access.Caller {
	caller := b.staff()
	caller.Client, caller.Entity, caller.Partner, caller.Reach = "partner", int64(partner), int64(partner),
		access.OfPartner
	return caller
}

// somebodyOf is a user of a customer as a caller.
func (b *bank) somebodyOf(of customers.UID) *access.Caller {
	caller := b.staff()
	caller.Client, caller.LoginID, caller.Entity, caller.Reach = "portal", "somebody", int64(of),
		access.OfCustomer
	return caller
}

// without takes away a permission and those that imply it.
func without(caller *access.Caller, lost access.Permission) *access.Caller {
	less := *caller
	less.Permissions = nil
	for _, p := range caller.Permissions {
		if !(access.Caller{Permissions: []access.Permission{p}}).May(lost) {
			less.Permissions = append(less.Permissions, p)
		}
	}
	return &less
}

// furnish writes the tenant and its customers.
func (b *bank) furnish(t testing.TB) {
	t.Helper()
	err := b.core.DB.InTx(context.Background(), 0, func(ctx context.Context, tx bun.Tx) error {
		return tx.NewRaw(
			"INSERT INTO tenants (code, name, zone, currency, sandbox) "+
				"VALUES (?, 'A bank', 'America/New_York', 'USD', true) RETURNING id", rand.Text()).
			Scan(ctx, &b.tenant)
	})
	if err != nil {
		t.Fatal(err)
	}
	bankUID, partnerUID, otherUID := theBank, partner, otherPartner
	b.add(t,
		customers.Customer{UID: theBank, Type: customers.ProcessingOrg, RelationshipType: customers.RelationSelf},
		customers.Customer{
			UID: lone, Type: customers.Consumer, RelationshipType: customers.RelationCustomer, Parent: &bankUID,
		},
		customers.Customer{
			UID: partner, Owner: partner, Type: customers.DownstreamPartner,
			RelationshipType: customers.RelationCustomer, Parent: &bankUID,
		},
		customers.Customer{
			UID: star, Owner: partner, Type: customers.Corporate, RelationshipType: customers.RelationThirdParty,
			Parent: &partnerUID,
		},
		customers.Customer{
			UID: otherPartner, Owner: otherPartner, Type: customers.DownstreamPartner,
			RelationshipType: customers.RelationCustomer, Parent: &bankUID,
		},
		customers.Customer{
			UID: otherStar, Owner: otherPartner, Type: customers.Corporate,
			RelationshipType: customers.RelationThirdParty, Parent: &otherUID,
		},
	)
}

// add writes customers and what belongs to them. It keeps given names.
func (b *bank) add(t testing.TB, legal ...customers.Customer) {
	t.Helper()
	var (
		held     []accounts.Account
		paid     []contacts.Contact
		people   []users.User
		offered  []roles.Role
		given    []users.RoleOf
		ceilings []limits.Limit
		uids     []customers.UID
	)
	for i := range legal {
		c := &legal[i]
		uid, name := c.UID, c.LegalName
		uids = append(uids, uid)
		b.fill(c, int64(uid))
		c.Tenant, c.Status, c.Version = b.tenant, customers.Active, 1
		c.ShortName, c.CustomerID, c.LEI = "short-"+uid.String(), "cif-"+uid.String(), "LEI"+uid.String()
		c.ACHCompanyID = "ACH" + uid.String()
		c.Profile.DetailsOfCharge, c.Access.NumberOfApprovers = "SHA", 2
		c.TaxID = keyset.Seal("99"+uid.String(),
			seal.Place{Tenant: int64(b.tenant), Column: customers.TaxIDColumn, Row: int64(uid)})
		if name != "" {
			c.LegalName = name
		}
		for n := range each {
			a := accounts.Account{UID: accountOf(uid, n), Customer: uid}
			b.fill(&a, int64(a.UID))
			a.Tenant, a.Type, a.SubType, a.Status, a.Version = b.tenant, accounts.Deposit, accounts.Pseudo,
				accounts.Active, 1
			a.SystemOfRecord, a.BankIDType = accounts.InternalCore, accounts.NID
			a.BankID, a.CountryCode = listedBank.number, "US"
			a.Number = keyset.Seal(numberOf(uid, n),
				seal.Place{Tenant: int64(b.tenant), Column: accounts.NumberColumn, Row: int64(a.UID)})
			a.FBONumber = keyset.Seal("77"+numberOf(uid, n),
				seal.Place{Tenant: int64(b.tenant), Column: "accounts.fbo_number", Row: int64(a.UID)})
			held = append(held, a)

			k := contacts.Contact{UID: contactOf(uid, n), Customer: uid}
			b.fill(&k, int64(k.UID))
			k.Tenant, k.Status, k.Version = b.tenant, contacts.Active, 1
			k.Bank.SWIFTCode, k.Intermediary.SWIFTCode = listedBank.bic, listedBank.bic
			k.Bank.AccountNumber = keyset.Seal("55"+numberOf(uid, n),
				seal.Place{Tenant: int64(b.tenant), Column: contacts.NumberColumn, Row: int64(k.UID)})
			k.RegulatoryReporting = contacts.Report{
				k.Reported(keyset, "Purpose", fmt.Sprintf("%s purpose %s", b.mark, k.UID)),
			}
			paid = append(paid, k)

			number := int64(signatoryOf(uid, n)) // users and roles are numbered like signatories
			u := users.User{UID: userOf(uid, n), Customer: uid}
			b.fill(&u, number)
			u.Tenant, u.Number, u.Status, u.Version = b.tenant, users.Number(number), users.Active, 1
			u.PhoneNumber = fmt.Sprint("+1614", number)
			u.Limits = []access.ApplicationLimits{
				{
					Name:   "Foreign_Exchange",
					Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: int64(u.Number), Currency: "USD"}},
				},
			}
			people = append(people, u)

			r := roles.Role{UID: roleOf(uid, n), Customer: uid}
			b.fill(&r, number)
			r.Tenant, r.Number, r.Type, r.Owner, r.Status, r.Version = b.tenant, roles.Number(number), roles.Customer,
				roles.OwnerCustomer, roles.Active, 1
			r.Applications = []roles.Grant{
				{
					Name: "Foreign_Exchange", Entitlements: []string{"View_Trades"},
					Limits: []access.Limit{
						{Name: "Daily_Payment_Limits", Minor: 100_000_000 + int64(r.Number), Currency: "USD"},
					},
				},
			}
			offered = append(offered, r)
			given = append(given, users.RoleOf{Tenant: b.tenant, Customer: uid, User: u.UID, Role: r.UID})
		}
		for n, code := range []string{
			"ACH_PAYMENT_LIMIT_PER_TRANSACTION", "ACH_PAYMENT_LIMIT_PER_DAY", "ACH_PAYMENT_LIMIT_PER_WEEK",
			"ACH_PAYMENT_LIMIT_PER_MONTH",
			"ACH_PPD_CREDIT_TRANSACTION_LIMIT",
			"FEDWIRE_PAYMENT_LIMIT_PER_DAY", "INSTANT_PAYMENT_LIMIT_PER_DAY",
		} {
			ceilings = append(ceilings, limits.Limit{
				Tenant: b.tenant, Customer: uid, Code: code, Application: "Payments", Currency: "USD", Version: 1,
				Ceiling: 5_000_000 + 1000*int64(n) + int64(uid-theBank),
			})
		}
	}
	b.write(t, func(ctx context.Context, tx bun.Tx) error {
		all := []any{&legal, &held, &paid, &ceilings, &people, &offered, &given}
		for _, name := range slices.Sorted(maps.Keys(nodes)) { // quotes before their trades
			if rows := nodes[name].rows; rows != nil {
				all = append(all, rows(b, uids))
			}
		}
		for _, rows := range all {
			if _, err := tx.NewInsert().Model(rows).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	statements := append([]string{
		insertExceptions,
		`INSERT INTO balances (tenant, account, currency, ledger, held, version, booked_at)
		 SELECT tenant, uid, currency, 100000 + uid % 1000, 500 + uid % 100, 4, '2026-11-20 14:00Z' FROM accounts
		 	  WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
		`INSERT INTO journals (tenant, id, kind, value_date, booked_at, description, payment)
		 SELECT tenant, 4 * uid + n, CASE n WHEN 0 THEN 'payment' ELSE 'fee' END, at, at + interval '14 hours',
		   ?3 || ' booked ' || uid, (customer - 1000000) * 100 + 500000000
		 FROM accounts, (VALUES (0, DATE '2026-10-15'), (1, '2026-11-18'), (2, '2026-11-19'),
		   (3, '2026-11-20')) AS d(n, at)
		 WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
		`INSERT INTO postings (tenant, account, version, journal, amount, currency, balance_after)
		 SELECT tenant, uid, n + 1, 4 * uid + n, CASE n WHEN 0 THEN 100400 + uid % 1000 WHEN 3 THEN 100
		   ELSE -250 END, currency, 100000 + uid % 1000 + CASE n WHEN 0 THEN 400 WHEN 1 THEN 150 WHEN 2 THEN -100
		   ELSE 0 END
		 FROM accounts, generate_series(0, 3) AS n WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
		insertVirtualTransactions,
		`INSERT INTO sweeps (tenant, account, direction, balance_type, currency, range_from, range_to, from_contact,
		   from_method, to_contact, to_method, frequency, day_of_week, day_of_month, created_at, updated_at,
		   failed_at, failure)
		 SELECT tenant, uid, 'both', 'Range', currency, 4000 + uid % 1000, 9000 + uid % 1000, uid + 50, 'AchDebit',
		   uid + 50, 'AchCredit', 'Weekly', 'MONDAY', 1 + uid % 28, created_at, updated_at, updated_at,
		   ?3 || ' failure ' || uid
		 FROM accounts WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
		`INSERT INTO sweep_runs (tenant, uid, account, customer, direction, day, outcome, currency, balance, amount,
			fee, payment, reason, at)
		 SELECT tenant, 10 * uid + n, uid, customer, 'both', DATE '2026-01-01' + (uid % 100 + n)::int, 'PAID',
		   currency, 7000 + uid % 1000, 5000 + uid % 1000, 1,
		   (customer - 1000000) * 100 + 500000000 + 2 * (uid % 100) + n - 1,
		   ?3 || ' run ' || uid, updated_at
		 FROM accounts, generate_series(1, 2) AS n WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
		`INSERT INTO limit_usage (tenant, customer, rail, day, entry_type, amount, payments)
		 SELECT tenant, uid, rail, DATE '2026-11-20', 'CREDIT', 1000 + uid % 1000, 1
		   FROM customers, (VALUES ('ACH'), ('FEDWIRE'), ('INSTANT')) AS r(rail)
		 WHERE tenant = ?0 AND uid BETWEEN ?1 AND ?2`,
		`INSERT INTO fee_tiers (tenant, id, customer, application, fee_tier, fee_name, product, account)
		 SELECT tenant, uid - 1000000, customer, 'Payments ' || ?3, 'Tier ' || uid || ?3, 'Fee ' || uid || ?3,
		   'Wires ' || uid || ?3, uid
		 FROM accounts WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
		`INSERT INTO audit_entries (tenant, id, at, client, login_id, entity, action, decision, object, uid,
			customer, before, after, reason, request)
		 SELECT tenant, 1000000000 + (uid - 1000000) * 100 + 10 * twice + k, created_at, ?3 || ' client ' || uid,
		   ?3 || ' login ' || uid, 1000000, ?3 || ' action ' || uid, 'done',
		   object, (CASE object WHEN 'customer' THEN uid ELSE (uid - 1000000) * 100 + n END)::text, uid,
		   json_build_object('title', ?3 || uid), json_build_object('title', 'B'), ?3 || ' reason ' || uid,
		   'request ' || uid
		 FROM customers, (VALUES (0, 'customer', 0), (1, 'account', 100000000), (2, 'account', 100000001),
		   (3, 'account', 100000002),
		   (4, 'contact', 100000050), (5, 'contact', 100000051), (6, 'contact', 100000052), (7, 'signatory', 1),
		   (8, 'signatory', 2), (9, 'signatory', 3)) AS o(k, object, n), generate_series(0, 1) AS twice
		 WHERE tenant = ?0 AND uid BETWEEN ?1 AND ?2`,
		`INSERT INTO audit_entries (tenant, id, at, client, login_id, entity, action, decision, object, uid,
			customer, before, after, reason, request)
		 SELECT o.tenant, 2000000000 + (o.customer - 1000000) * 200 + 100 * twice + row_number() OVER
		   (PARTITION BY o.customer, twice ORDER BY o.object, o.uid), c.created_at,
		   ?3 || ' client ' || o.uid, ?3 || ' login ' || o.uid, 1000000, ?3 || ' did ' || o.uid, 'done', o.object,
		   o.uid, o.customer, json_build_object('title', ?3 || o.uid), json_build_object('title', 'B'),
		   ?3 || ' reason ' || o.uid, 'request ' || o.uid
		 FROM (SELECT tenant, customer, 'user' AS object, uid::text FROM users
		   UNION ALL SELECT tenant, customer, 'role', uid::text FROM roles
		   UNION ALL SELECT tenant, customer, 'payment', uid::text FROM payments
		   UNION ALL SELECT tenant, customer, 'webhook', uid::text FROM webhooks
		   UNION ALL SELECT tenant, customer, 'positivePayRule', uid::text FROM positive_pay_rules
		   UNION ALL SELECT tenant, customer, 'virtualAccount', uid::text FROM virtual_accounts
		   UNION ALL SELECT tenant, customer, 'balanceAlert', uid::text FROM balance_alerts
		   UNION ALL SELECT tenant, customer, 'contactVerification', uid::text FROM contact_verifications
		   UNION ALL SELECT tenant, customer, 'positivePayException', uid::text
		   FROM positive_pay_exceptions) AS o
		 JOIN customers AS c ON c.tenant = o.tenant AND c.uid = o.customer, generate_series(0, 1) AS twice
		 WHERE o.tenant = ?0 AND o.customer BETWEEN ?1 AND ?2`,
		`INSERT INTO payment_steps (tenant, payment, number, state, at, client, login_id, reason)
		 SELECT tenant, uid, n, CASE n WHEN 1 THEN 'PENDING_APPROVAL' ELSE state END, created_at,
		   ?3 || ' client ' || uid, ?3 || ' login ' || uid,
		   ?3 || ' step ' || uid FROM payments, generate_series(1, 2) AS n
		   	WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
		`INSERT INTO payment_details (tenant, payment, contact, number_sealed, number_hash, number_last4, type,
		   sub_type, address_line1, address_line2, address_city, address_state, address_postal_code,
		   address_country_code, address_country, email_address, phone_number, bank_id, bank_name, remittance,
		   reference, originator_information, bank_information, charges, cost_center, request_method,
		   operation_note, route, uetr, return_code, intermediary_id,
		   intermediary_name, correspondent_id, correspondent_name, local_instrument, bank_country,
		   remittance_method, remittance_address, benefit)
		 SELECT tenant, uid, sender_account + 50, '', '', '0042', 'Deposit', 'Checking', ?3 || ' line1 ' || uid,
		   ?3 || ' line2 ' || uid, ?3 || ' city ' || uid, 'OH', '43215', 'US', 'United States',
		   ?3 || ' email ' || uid, ?3 || ' phone ' || uid, '611090001', ?3 || ' bank ' || uid,
		   ?3 || ' remittance ' || uid, ?3 || ' reference ' || uid,
		   ?3 || ' from ' || uid, ?3 || ' to ' || uid, 'SHA', ?3 || ' center ' || uid, ?3 || ' method ' || uid,
		   ?3 || ' note ' || uid, ?3 || ' route ' || uid, 'uetr ' || uid, 'AC03',
		   ?3 || ' between ' || uid, ?3 || ' name between ' || uid, ?3 || ' correspondent ' || uid,
		   ?3 || ' name correspondent ' || uid, ?3 || ' instrument ' || uid, 'DE',
		   ?3 || ' found by ' || uid, ?3 || ' found at ' || uid,
		   json_build_object('federalBenefitType', 'Social Security', 'accountNumber', '****0042',
		     'socialSecurityNumber', '****4200', 'firstName', ?3 || ' first ' || uid,
		     'lastName', ?3 || ' last ' || uid, 'subAccountType', 'Savings', 'representativePayee', true)
		 FROM payments WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
		`INSERT INTO ach_entries (tenant, payment, origin, class, company_id, company_name, description, account,
			same_day, purpose, currency, trace)
		 SELECT tenant, uid, '611090001', 'CCD', ?3 || ' company ' || uid, ?3 || ' name ' || uid,
		   ?3 || ' batch ' || uid, 'SAVINGS', false, ?3 || ' purpose ' || uid, 'EUR', ?3 || ' trace ' || uid
		 FROM payments WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
		`WITH t AS MATERIALIZED (
		   SELECT uid, customer, row_number() OVER (PARTITION BY customer ORDER BY uid) AS n
		   FROM fx_trades WHERE tenant = ?0 AND status = 'Covered'),
		 o AS MATERIALIZED (
		   SELECT uid, customer, row_number() OVER (PARTITION BY customer ORDER BY uid) AS n
		   FROM payments WHERE tenant = ?0)
		 UPDATE payments AS p SET trade = t.uid, sold = p.uid + 7, sold_currency = 'EUR'
		 FROM t JOIN o USING (customer, n)
		 WHERE p.tenant = ?0 AND p.uid = o.uid AND p.customer BETWEEN ?1 AND ?2`,
		`UPDATE payments SET settles_at = created_at WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
		`INSERT INTO network_messages (tenant, rail, direction, kind, message_id, payment, code, body, at,
			handed_at)
		 SELECT tenant, rail, d, 'pacs.008', ?3 || d || uid, uid, ?3 || ' code ' || uid, '', created_at, updated_at
		 FROM payments, (VALUES ('OUT'), ('IN')) AS w(d) WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2
		 	  ORDER BY uid, d`,
		`INSERT INTO webhook_deliveries (tenant, uid, webhook, customer, payment, number, state, due_at, attempts,
			created_at, done_at)
		 SELECT tenant, uid + 200000000 + 10 * (n - 1), (customer - 1000000) * 100 + 600000000, customer, uid, n,
		   'WAITING', created_at, 1, created_at, updated_at
		 FROM payments, generate_series(1, 2) AS n WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2
		 	  ORDER BY uid, n`,
		`INSERT INTO webhook_deliveries (tenant, uid, webhook, customer, posting, state, due_at, attempts,
			created_at, done_at)
		 SELECT tenant, id + 5000000000, (customer - 1000000) * 100 + 600000001, customer, id, 'WAITING', at, 1, at,
		   at
		 FROM virtual_postings WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2 ORDER BY id`,
		`INSERT INTO webhook_attempts (tenant, delivery, number, at, status, error, took)
		 SELECT tenant, uid, 1, created_at, 500, ?3 || ' error ' || uid, 17 FROM webhook_deliveries
		 	  WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
		`INSERT INTO approvals (tenant, uid, customer, operation, object, object_uid, creation, draft, version,
		   before, after, reason, status, maker_client, maker_login, made_at, checker_client, checker_login,
		   decided_at, decision_reason, approvers, first_client, first_login, first_at)
		 SELECT tenant, uid - 999999, uid, 'changeSignatory ' || ?3, 'signatory', uid || '1', true, '', 1,
		   json_build_object('title', ?3 || uid), json_build_object('title', 'B'), ?3 || ' reason ' || uid,
		   'Refused', 'maker ' || uid, 'login ' || uid, created_at, 'checker ' || uid,
		   'checking ' || uid, updated_at, 'no ' || uid, 2, 'first ' || uid, 'agreeing ' || uid, updated_at
		   	FROM customers WHERE tenant = ?0 AND uid BETWEEN ?1 AND ?2`,
	}, append(furnishFiles, furnishWaterfalls...)...)
	b.write(t, func(ctx context.Context, tx bun.Tx) error {
		// The tables hold hundreds of banks, and no statistics know of this one.
		if _, err := tx.ExecContext(ctx, "SET LOCAL enable_seqscan = off"); err != nil {
			return err
		}
		for _, statement := range statements {
			_, err := tx.ExecContext(ctx, statement, b.tenant, legal[0].UID, legal[len(legal)-1].UID, b.mark)
			if err != nil {
				return err
			}
		}
		return nil
	})
	b.insertInformation(t, legal[0].UID, legal[len(legal)-1].UID)
	b.insertScreenings(t, legal[0].UID, legal[len(legal)-1].UID)
	b.exec(t, `INSERT INTO customer_counts (tenant, owner, shard, customers)
		SELECT tenant, owner, 0, count(*) FROM customers WHERE tenant = ? AND uid BETWEEN ? AND ?
		  GROUP BY tenant, owner
		ON CONFLICT (tenant, owner, shard) DO UPDATE
			  SET customers = customer_counts.customers + EXCLUDED.customers`,
		b.tenant, legal[0].UID, legal[len(legal)-1].UID)
}

func (b *bank) exec(t testing.TB, statement string, values ...any) {
	t.Helper()
	b.write(t, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, statement, values...)
		return err
	})
}

// write runs fn in a transaction of the bank.
func (b *bank) write(t testing.TB, fn func(context.Context, bun.Tx) error) {
	t.Helper()
	if err := b.core.DB.InTx(context.Background(), int64(b.tenant), fn); err != nil {
		t.Fatal(err)
	}
}

// asOwner runs a statement that only the owner of the tables may run.
func (b *bank) asOwner(t testing.TB, statement string) {
	t.Helper()
	owner, err := db.Open(dbtest.Owner(b.url), db.Options{Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if _, err := owner.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// fill sets every plain field of a row to a value that identifies the field and the row.
func (b *bank) fill(row any, uid int64) {
	f := filler{mark: b.mark, uid: uid, n: uid % 1_000_000}
	f.value(reflect.ValueOf(row).Elem(), "")
}

type filler struct {
	mark   string
	uid, n int64
}

// keys are fields that fill leaves alone: the caller sets them, or they belong to the ledger.
var keys = map[string]bool{
	"BaseModel": true, "Tenant": true, "UID": true, "Owner": true, "Customer": true, "Parent": true,
	"Version": true,
	"Balance": true, "DeletedAt": true, "ExternalToken": true, "Limits": true, "Applications": true,
}

func (f *filler) value(v reflect.Value, path string) {
	f.n++
	switch target := v.Addr().Interface().(type) {
	case *string:
		*target = fmt.Sprintf("%s %s %d", f.mark, strings.TrimPrefix(path, "."), f.uid)
	case *money.Currency:
		*target = "USD"
	case *time.Time:
		*target = now.Add(-time.Duration(f.n) * time.Minute)
	case **int64:
		n := f.n * 100
		*target = &n
	case *[]string:
		*target = []string{"PPD", "CCD"}
	case *[]customers.Attribute:
		*target = []customers.Attribute{{Name: "Region", Value: fmt.Sprintf("%s region %d", f.mark, f.uid)}}
	case *seal.Value, *contacts.Report:
	default:
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if field := v.Type().Field(i); field.IsExported() && !keys[field.Name] {
					f.value(v.Field(i), path+"."+field.Name)
				}
			}
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int64, reflect.Int32:
			v.SetInt(f.n)
		}
	}
}

// answer is an answer and its cost.
type answer struct {
	status            int
	body              string
	data              map[string]any
	errors            []shown
	statements, trips int64
}

type shown struct {
	Message    string
	Path       []any
	Extensions struct {
		Kind, Code, Field, RequestID string
		Limit, Requested             int64
		State                        string
		Permissions                  []string
	}
}

// ask sends a document as a caller; nil is a stranger.
func (b *bank) ask(t testing.TB, caller *access.Caller, query string, variables ...any) answer {
	t.Helper()
	request := map[string]any{"query": b.over.named(t, b, query)}
	if len(variables) > 0 {
		given := map[string]any{}
		for i := 0; i < len(variables); i += 2 {
			given[variables[i].(string)] = variables[i+1]
		}
		request["variables"] = given
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return b.send(t, caller, string(body))
}

// send posts a body and compares the two ways of execution.
func (b *bank) send(t testing.TB, caller *access.Caller, body string) answer {
	t.Helper()
	direct := through(t, b.server, caller, body)
	if b.resolving != nil {
		resolved := through(t, b.resolving, caller, body)
		if !same(direct, resolved) {
			t.Errorf("%.2000s\nwritten directly  %.3000s\nthrough resolvers %.3000s", body, direct, resolved)
		}
	}
	return direct
}

// same reports whether two answers say the same and cost the same.
func same(a, b answer) bool {
	return alike(a, b) && a.statements == b.statements && a.trips == b.trips
}

// alike compares what answers say without the order of errors, since fields are read concurrently.
func alike(a, b answer) bool {
	lines := func(errors []shown) (all []string) {
		for _, e := range errors {
			all = append(all, fmt.Sprint(e))
		}
		slices.Sort(all)
		return all
	}
	if len(a.errors) == 0 && a.body != b.body {
		return false
	}
	return a.status == b.status && reflect.DeepEqual(a.data, b.data) &&
		slices.Equal(lines(a.errors), lines(b.errors))
}

func (a answer) String() string {
	return fmt.Sprintf("%d with %d statements in %d round trips: %s", a.status, a.statements, a.trips, a.body)
}

func through(t testing.TB, server http.Handler, caller *access.Caller, body string) answer {
	t.Helper()
	ctx := context.Background()
	if caller != nil {
		ctx = access.With(ctx, *caller)
	}
	meter := &db.Meter{}
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/graphql-response+json")
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r.WithContext(db.WithMeter(ctx, meter)))
	got := answer{
		status: w.Code, body: w.Body.String(), statements: meter.Statements.Load(), trips: meter.RoundTrips.Load(),
	}
	var parts struct {
		Data   map[string]any
		Errors []shown
	}
	if err := json.Unmarshal(w.Body.Bytes(), &parts); err != nil {
		t.Fatalf("%v: %s", err, got.body)
	}
	got.data, got.errors = parts.Data, parts.Errors
	return got
}

// fine fails the test if the answer has errors.
func (a answer) fine(t testing.TB) answer {
	t.Helper()
	if a.status != 200 || len(a.errors) > 0 {
		t.Fatalf("%d %.2000s", a.status, a.body)
	}
	return a
}

// at returns a value in an answer's data by its path: names of fields and indexes of lists.
func (a answer) at(path ...any) any {
	var value any = a.data
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}
