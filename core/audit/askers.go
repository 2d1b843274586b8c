package audit

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/db"
)

// Asker is who asked for a change: an API key and, where one is known, the login of its person.
type Asker struct {
	Client  string `bun:"client"`
	LoginID string `bun:"login_id"`
}

// AskersTx returns who asked for changes of an object by some actions, whatever became of those that waited
// for a second person. Who approved a change has not asked for it, although it was made in that person's
// name.
func AskersTx(
	ctx context.Context, tx bun.IDB, tenant access.Tenant, object, uid string, actions ...string,
) (all []Asker, err error) {
	err = tx.NewRaw(`SELECT DISTINCT e.client, e.login_id FROM audit_entries AS e
		WHERE e.tenant = ?0 AND e.object = ?1 AND e.uid = ?2 AND e.action IN ?3
		  AND (e.decision = ?4 OR e.decision = ?5 AND NOT EXISTS (SELECT FROM audit_entries AS a
		    WHERE a.tenant = ?0 AND a.object = ?1 AND a.uid = ?2 AND a.decision = ?6 AND a.tx = e.tx))
		ORDER BY e.client, e.login_id`, tenant, object, uid, bun.Tuple(actions), Proposed, Done, Approved).
		Scan(ctx, &all)
	if err != nil {
		return nil, fmt.Errorf("read who asked for changes of %s %s: %w", object, uid, err)
	}
	return all, nil
}

// DoneForTx reports whether an action on an object is on record as done, for a reason that begins so.
func DoneForTx(
	ctx context.Context, tx bun.IDB, tenant access.Tenant, object, uid, action, reason string,
) (done bool, err error) {
	err = tx.NewRaw(`SELECT EXISTS (SELECT FROM audit_entries AS e WHERE e.tenant = ?0 AND e.object = ?1
		AND e.uid = ?2 AND e.action = ?3 AND e.decision = ?4 AND starts_with(e.reason, ?5))`,
		tenant, object, uid, action, Done, reason).Scan(ctx, &done)
	if err != nil {
		return false, fmt.Errorf("read whether %s was done to %s %s: %w", action, object, uid, err)
	}
	return done, nil
}

// TouchedTx returns which objects of a kind, of a customer, people or programs of a legal entity have made or
// changed, asked for or approved, by what is on record; so have the customer's own people whom these made as
// users, and whom those made in turn.
func TouchedTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, object string, uids []string, customer, entity int64,
) (map[string]bool, error) {
	touched := map[string]bool{}
	if len(uids) == 0 {
		return touched, nil
	}
	theirs, err := usersOfTx(ctx, tx, tenant, customer, entity)
	if err != nil {
		return nil, err
	}
	b := db.TxBatch(tx)
	found := db.Queue(b, findingTouched, tenant, object, uids, customer, entity, theirs)
	if err := b.Send(ctx); err != nil {
		return nil, fmt.Errorf("read what entity %d has changed: %w", entity, err)
	}
	for _, one := range found.Items {
		touched[one.UID] = true
	}
	return touched, nil
}

// ofRecord is the condition on entries that they are of what was done, asked for or approved.
const ofRecord = "e.decision IN ('" + string(Proposed) + "', '" + string(Approved) + "', '" +
	string(Done) + "')"

type touchedOne struct {
	UID string `bun:"uid"`
}

var findingTouched = db.NewQuery[touchedOne](`SELECT o.uid FROM unnest($3::text[]) AS o (uid) WHERE EXISTS (
	SELECT FROM audit_entries AS e WHERE e.tenant = $1 AND e.object = $2 AND e.uid = o.uid AND ` + ofRecord + `
	AND (e.entity = $5::bigint OR e.entity = $4::bigint AND e.login_id = ANY($6::text[])))`)

type madeUser struct {
	LoginID string `bun:"login_id"`
	Entity  int64  `bun:"entity"`
	Maker   string `bun:"maker"`
}

// findingMade finds whom people or programs of the legal entity $3 have made users of the customer $2, and
// whom its own people have.
var findingMade = db.NewQuery[madeUser](`SELECT DISTINCT e.after ->> 'loginId' AS login_id, e.entity,
	CASE e.entity WHEN $2 THEN e.login_id ELSE '' END AS maker FROM audit_entries AS e
	WHERE e.tenant = $1 AND e.customer = $2 AND e.object = 'user' AND e.action = 'createUser'
	AND ` + ofRecord + ` AND e.entity IN ($2, $3) AND e.after ->> 'loginId' IS NOT NULL`)

// usersOfTx returns the logins of the users of a customer whom people or programs of a legal entity have
// made, and whom those made in turn, and so on, however long the line is.
func usersOfTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, customer, entity int64,
) (theirs []string, err error) {
	theirs = []string{} // not NULL
	b := db.TxBatch(tx)
	made := db.Queue(b, findingMade, tenant, customer, entity)
	if err := b.Send(ctx); err != nil {
		return nil, fmt.Errorf("read whom entity %d has made users of customer %d: %w", entity, customer, err)
	}
	by, known := map[string][]string{}, map[string]bool{}
	add := func(login string) {
		if !known[login] {
			known[login], theirs = true, append(theirs, login)
		}
	}
	for _, m := range made.Items {
		if m.Entity == entity {
			add(m.LoginID)
		} else {
			by[m.Maker] = append(by[m.Maker], m.LoginID)
		}
	}
	for i := 0; i < len(theirs); i++ { // grows while it is gone through
		for _, login := range by[theirs[i]] {
			add(login)
		}
	}
	return theirs, nil
}
