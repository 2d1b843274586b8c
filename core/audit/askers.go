package audit

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
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

// TouchedTx returns which objects of a kind, of a customer, people or programs of a legal entity have made or
// changed, asked for or approved, by what is on record; so have the customer's own people whom these made as
// users, and whom those made in turn.
func TouchedTx(
	ctx context.Context, tx bun.IDB, tenant access.Tenant, object string, uids []string, customer, entity int64,
) (map[string]bool, error) {
	touched := map[string]bool{}
	if len(uids) == 0 {
		return touched, nil
	}
	var found []string
	err := tx.NewRaw(`
		WITH RECURSIVE made AS (
		  SELECT e.after ->> 'loginId' AS login_id, e.entity, e.login_id AS maker FROM audit_entries AS e
		  WHERE e.tenant = ?0 AND e.customer = ?3 AND e.object = 'user' AND e.action = 'createUser'
		  AND e.decision IN ?5
		), theirs AS (
		  SELECT login_id FROM made WHERE entity = ?4
		  UNION
		  SELECT m.login_id FROM theirs AS t JOIN made AS m ON m.entity = ?3 AND m.maker = t.login_id
		)
		SELECT DISTINCT e.uid FROM audit_entries AS e WHERE e.tenant = ?0 AND e.object = ?1 AND e.uid IN (?2)
		AND e.decision IN ?5
		AND (e.entity = ?4 OR e.entity = ?3 AND e.login_id IN (SELECT login_id FROM theirs))`,
		tenant, object, bun.List(uids), customer, entity, bun.Tuple([]Decision{Proposed, Approved, Done})).
		Scan(ctx, &found)
	if err != nil {
		return nil, fmt.Errorf("read what entity %d has changed: %w", entity, err)
	}
	for _, uid := range found {
		touched[uid] = true
	}
	return touched, nil
}
