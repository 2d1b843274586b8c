package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"bankgraph/core/access"
	"bankgraph/core/money"
	"bankgraph/core/seal"
)

// Workloads g, g2 and g3. What the bank sends for one create, from PostgreSQL's log, is what is sent here,
// with the statements in brackets only where there is an Idempotency-Key:
//
//	BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL bankgraph.tenant = …
//	[INSERT INTO idempotency_keys … ON CONFLICT DO NOTHING]
//	WITH people AS (…) SELECT nextval('customer_uids'), …
//	INSERT INTO customers …
//	INSERT INTO audit_entries …
//	INSERT INTO audit_unsealed …
//	INSERT INTO events …
//	INSERT INTO customer_counts … ON CONFLICT … DO UPDATE
//	[UPDATE idempotency_keys SET outcome …]
//	commit
//
// and, where a partner or a parent is named, WITH partner AS (… FOR SHARE), parent AS (… FOR SHARE) SELECT …
// before the people. Limits are no part of a create over REST: they take a second request. Over GraphQL they
// are (g3), and after the customer come
//
//	SELECT … FROM limits
//	SELECT currency FROM tenants
//	INSERT INTO limits … ON CONFLICT … DO UPDATE
//	INSERT INTO audit_entries …
//	INSERT INTO audit_unsealed …
//	INSERT INTO events …
//
// The second half needs what the first one finds, so there are two round trips.
const (
	beginWrite = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE`
	actFor     = `SELECT set_config('bankgraph.tenant', $1, true)`
	claimKey   = `INSERT INTO idempotency_keys (tenant, client, operation, key, request)
		VALUES ($1, $2, 'createCustomer', $3, $4) ON CONFLICT DO NOTHING`
	readKey = `SELECT request, outcome FROM idempotency_keys WHERE tenant = $1 AND client = $2
		AND operation = 'createCustomer' AND key = $3`

	selectRelated = `
WITH people AS (
  SELECT u.login_id FROM users AS u WHERE u.tenant = $1 AND lower(u.login_id) IN (lower($3), lower($4))
  AND u.status = 'Active' AND
    ($2 = 0::bigint OR EXISTS (SELECT FROM customers AS c WHERE c.tenant = u.tenant AND c.uid = u.customer
    	AND (c.owner = $2 OR c.relationship_type = 'Self')))
)
SELECT nextval('customer_uids'), coalesce(self.short_name, ''), coalesce(self.access_customer_dual_approval,
  false), coalesce((SELECT login_id FROM people WHERE lower(login_id) = lower($3)), ''),
  coalesce((SELECT login_id FROM people WHERE lower(login_id) = lower($4)), '')
FROM (VALUES (1)) AS one LEFT JOIN customers AS self ON self.tenant = $1 AND self.relationship_type = 'Self'`

	selectKin = `
WITH partner AS (
  SELECT uid, short_name FROM customers WHERE tenant = $1 AND type = 'Downstream Partner' AND uid = CASE
  WHEN $2 = 0::bigint
    THEN (SELECT uid FROM customers WHERE tenant = $1
      AND lower(short_name COLLATE "C") = lower($3 COLLATE "C")) ELSE $2 END
    AND ($2 = 0 OR $3 = '' OR lower(short_name COLLATE "C") = lower($3 COLLATE "C")) FOR SHARE
), parent AS (
  SELECT uid, short_name, owner FROM customers WHERE tenant = $1 AND ($2 = 0 OR owner = $2)
    AND uid = (SELECT uid FROM customers WHERE tenant = $1
      AND lower(short_name COLLATE "C") = lower($4 COLLATE "C")) FOR SHARE
)
SELECT coalesce(partner.uid, 0), coalesce(partner.short_name, ''),
  coalesce(parent.uid, 0), coalesce(parent.short_name, ''), coalesce(parent.owner, 0)
FROM (VALUES (1)) AS one LEFT JOIN partner ON true LEFT JOIN parent ON true`

	insertEntry = `
INSERT INTO audit_entries (tenant, client, login_id, entity, action, decision, object, uid, customer, before,
  after, reason, request)
VALUES ($1, $2, $3, $4, 'createCustomer', 'done', 'customer', $5, $6, '{}', $7, '', $8)`

	insertEvent = `
INSERT INTO events (tenant, kind, object, uid, customer, version)
VALUES ($1, 'createCustomer', 'customer', $2, $3, 1)`

	insertUnsealed = `INSERT INTO audit_unsealed (tenant, entry) VALUES ($1, currval('audit_ids'))`

	selectCurrency = `SELECT currency FROM tenants WHERE id = $1`
	selectLimits   = `SELECT code, ceiling, version FROM limits WHERE tenant = $1 AND customer = $2`

	insertLimit = `
INSERT INTO limits (tenant, customer, code, application, ceiling, currency, version, updated_at)
  VALUES ($1, $2, $3, 'Payments', $4, $5, 1, $6)
ON CONFLICT (tenant, customer, code) DO UPDATE SET ceiling = EXCLUDED.ceiling, version = EXCLUDED.version,
  updated_at = EXCLUDED.updated_at`

	insertLimitsEntry = `
INSERT INTO audit_entries (tenant, client, login_id, entity, action, decision, object, uid, customer, before,
  after, reason, request)
VALUES ($1, $2, $3, $4, 'changeLimits', 'done', 'limits', $5, $6, '{"limits":{}}', $7, '', $8)`

	insertLimitsEvent = `
INSERT INTO events (tenant, kind, object, uid, customer, version)
VALUES ($1, 'changeLimits', 'limits', $2, $3, $4)`

	countCustomer = `
INSERT INTO customer_counts AS n (tenant, owner, shard, customers) VALUES ($1, $2, $3, 1)
ON CONFLICT (tenant, owner, shard) DO UPDATE SET customers = n.customers + 1`

	keepAnswer = `
UPDATE idempotency_keys SET outcome = $4 WHERE tenant = $1 AND client = $2 AND operation = 'createCustomer'
  AND key = $3`
)

// The faults that callers see.
var (
	errTaken  = errors.New("another customer has this short name")
	errReused = errors.New("the idempotency key was used for another request")
	errAbsent = errors.New("the request names what is not there")
)

// createCustomer is workloads g and g2.
func (h hand) createCustomer(w http.ResponseWriter, r *http.Request) {
	if saved := h.create(w, r); saved != nil {
		answerREST(w, saved, nil)
	}
}

// createLimited is workload g3, which answers like GraphQL.
func (h hand) createLimited(w http.ResponseWriter, r *http.Request) {
	saved := h.create(w, r)
	if saved == nil {
		return
	}
	var created reply[struct {
		CreateCustomer struct {
			Customer struct {
				UID       string `json:"uid"`
				ShortName string `json:"shortName"`
				Status    string `json:"status"`
			} `json:"customer"`
			Approval *struct{} `json:"approval"`
		} `json:"createCustomer"`
	}]
	customer := &created.Data.CreateCustomer.Customer
	customer.UID, customer.ShortName, customer.Status = strconv.FormatInt(saved.UID, 10), saved.ShortName,
		"ACTIVE"
	answer(w, created)
}

// create answers refusals itself. Otherwise it returns what was created.
func (h hand) create(w http.ResponseWriter, r *http.Request) *savedCustomer {
	caller, err := access.Require(r.Context(), access.ManageCustomers)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	var c newCustomer
	if err = cmp.Or(err, json.Unmarshal(body, &c)); err == nil {
		err = c.check()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil
	}
	id := make([]byte, 12)
	_, _ = rand.Read(id)
	caller.Request = hex.EncodeToString(id)
	key := onceKey{caller: caller, key: r.Header.Get("Idempotency-Key")}
	if key.key != "" {
		key.request = h.keys.Secret(fmt.Sprintf("idempotency/%d", caller.Tenant), string(body))
	}
	saved, err := h.insertCustomer(r.Context(), &c, key)
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return &saved
	case errors.As(err, &refused) && refused.ConstraintName == "customers_short_name":
		http.Error(w, errTaken.Error(), http.StatusConflict)
	case errors.Is(err, errReused), errors.Is(err, errAbsent):
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		fail(w, err)
	}
	return nil
}

// savedCustomer is the answer.
type savedCustomer struct {
	UID       int64  `json:"customerUID,string"`
	ShortName string `json:"shortName"`
	Status    string `json:"customerEntityStatus"`
}

// onceKey is an idempotency key with its request. The empty key is none.
type onceKey struct {
	caller  access.Caller
	key     string
	request []byte
}

// insertCustomer runs the transaction. If its connection is released inside the transaction, the pool closes
// it, which undoes the transaction.
func (h hand) insertCustomer(
	ctx context.Context, c *newCustomer, once onceKey,
) (saved savedCustomer, err error) {
	conn, err := h.pool.Acquire(ctx)
	if err != nil {
		return saved, err
	}
	defer conn.Release()
	related, mine, err := readRelated(ctx, conn, c, once)
	if err == nil && !mine {
		return h.keptAnswer(ctx, conn, once)
	}
	if err == nil {
		err = related.to(c)
	}
	if err == nil {
		saved = savedCustomer{related.next, c.ShortName, "New"}
		err = h.writeCustomer(ctx, conn, c, saved, once)
	}
	if err != nil {
		_, undone := conn.Exec(ctx, "ROLLBACK")
		err = errors.Join(err, undone)
	}
	return saved, err
}

// keptAnswer is the answer to an earlier copy of the request.
func (h hand) keptAnswer(
	ctx context.Context, conn *pgxpool.Conn, once onceKey,
) (saved savedCustomer, err error) {
	var request, outcome []byte
	if err = conn.QueryRow(ctx, readKey, once.caller.Tenant, once.caller.Party(), once.key).Scan(&request,
		&outcome); err == nil && !seal.SameSecret(request, once.request) {
		err = errReused
	}
	if err == nil {
		err = json.Unmarshal(outcome, &saved)
	}
	_, undone := conn.Exec(ctx, "ROLLBACK")
	return saved, errors.Join(err, undone)
}

// related is what a new customer refers to.
type related struct {
	next, partner, parent, parentOwner                        int64
	bank, partnerName, parentName, manager, officer, currency string
	dual                                                      bool
}

// readRelated begins the transaction, takes the key and reads, in one round trip. mine reports whether the
// key was free.
func readRelated(
	ctx context.Context, conn *pgxpool.Conn, c *newCustomer, once onceKey,
) (r related, mine bool, err error) {
	tenant := once.caller.Tenant
	var batch pgx.Batch
	batch.Queue(beginWrite)
	batch.Queue(actFor, strconv.FormatInt(int64(tenant), 10))
	mine = true
	if once.key != "" {
		batch.Queue(claimKey, tenant, once.caller.Party(), once.key, once.request).
			Exec(func(taken pgconn.CommandTag) error {
				mine = taken.RowsAffected() > 0
				return nil
			})
	}
	owner := once.caller.ScopeCustomer()
	if c.Partner != "" || c.Parent != "" || owner != 0 {
		batch.Queue(selectKin, tenant, owner, c.Partner, c.Parent).QueryRow(func(row pgx.Row) error {
			return row.Scan(&r.partner, &r.partnerName, &r.parent, &r.parentName, &r.parentOwner)
		})
	}
	if c.Limits != nil {
		batch.Queue(selectCurrency, tenant).QueryRow(func(row pgx.Row) error { return row.Scan(&r.currency) })
	}
	batch.Queue(selectRelated, tenant, owner, c.Manager, c.Officer).QueryRow(func(row pgx.Row) error {
		return row.Scan(&r.next, &r.bank, &r.dual, &r.manager, &r.officer)
	})
	return r, mine, conn.SendBatch(ctx, &batch).Close()
}

// to writes the found values into the customer.
func (r *related) to(c *newCustomer) error {
	for _, one := range [][2]string{
		{c.Partner, r.partnerName}, {c.Parent, r.parentName}, {c.Manager, r.manager}, {c.Officer, r.officer},
	} {
		if one[0] != "" && one[1] == "" {
			return errAbsent
		}
	}
	if r.dual {
		return errors.New("approval by a second person is no part of this comparison")
	}
	c.bank, c.Partner, c.Parent, c.Manager, c.Officer, c.currency = r.bank, r.partnerName, r.parentName,
		r.manager, r.officer, r.currency
	if r.parent != 0 {
		c.parent = &r.parent
	}
	usual := "Customer"
	switch c.owner = r.parentOwner; {
	case c.Type == "Downstream Partner":
		c.owner = r.next
	case r.partner != 0:
		c.owner, usual = r.partner, "ThirdParty"
	}
	c.Relationship = cmp.Or(c.Relationship, usual)
	return nil
}

// writeCustomer writes all rows of a new customer and commits, in one round trip.
func (h hand) writeCustomer(
	ctx context.Context, conn *pgxpool.Conn, c *newCustomer, saved savedCustomer, once onceKey,
) error {
	caller, uid := once.caller, strconv.FormatInt(saved.UID, 10)
	tax := h.keys.Seal(c.TaxID,
		seal.Place{Tenant: int64(caller.Tenant), Column: "customers.tax_id", Row: saved.UID})
	columns := c.columns()
	values := append(make([]any, 0, 8+len(columns)), caller.Tenant, saved.UID, c.owner, c.parent, tax.Sealed,
		tax.Hash, tax.Last4, time.Now())
	after := map[string]any{
		"uid": saved.UID, "version": 1, "taxId": tax.Masked(), "secCodes": []string{},
		"additionalAttributes": []string{},
	}
	if c.owner != 0 {
		after["owner"] = c.owner
	}
	if c.parent != nil {
		after["parent"] = *c.parent
	}
	for _, column := range columns {
		values = append(values, column.value)
		if column.value != "" && column.value != false {
			after[column.recorded] = column.value
		}
	}
	text, err := json.Marshal(after)
	if err != nil {
		return err
	}
	var batch pgx.Batch
	batch.Queue(insertCustomer, values...)
	if err := c.limitsTo(&batch, caller, saved.UID); err != nil {
		return err
	}
	batch.Queue(insertEntry, caller.Tenant, caller.Client, caller.LoginID, caller.Entity, uid,
		saved.UID, text, caller.Request)
	batch.Queue(insertUnsealed, caller.Tenant)
	batch.Queue(insertEvent, caller.Tenant, uid, saved.UID)
	batch.Queue(countCustomer, caller.Tenant, c.owner, saved.UID%4)
	if once.key != "" {
		outcome, err := json.Marshal(saved)
		if err != nil {
			return err
		}
		batch.Queue(keepAnswer, caller.Tenant, caller.Party(), once.key, outcome)
	}
	batch.Queue("COMMIT")
	return conn.SendBatch(ctx, &batch).Close()
}

// limitsTo queues the limits of a new customer.
func (c *newCustomer) limitsTo(batch *pgx.Batch, caller access.Caller, uid int64) error {
	if c.Limits == nil {
		return nil
	}
	ceilings := map[string]string{}
	batch.Queue(selectLimits, caller.Tenant, uid)
	for _, l := range c.Limits {
		ceiling, err := money.Parse(l.Value, money.Currency(c.currency))
		if err != nil {
			return err
		}
		ceilings[l.Code] = ceiling.String()
		batch.Queue(insertLimit, caller.Tenant, uid, l.Code, ceiling.Minor, c.currency, time.Now())
	}
	text, err := json.Marshal(map[string]any{"limits": ceilings})
	if err != nil {
		return err
	}
	number := strconv.FormatInt(uid, 10)
	batch.Queue(insertLimitsEntry, caller.Tenant, caller.Client, caller.LoginID, caller.Entity, number, uid,
		text, caller.Request)
	batch.Queue(insertUnsealed, caller.Tenant)
	batch.Queue(insertLimitsEvent, caller.Tenant, number, uid, len(c.Limits))
	return nil
}
