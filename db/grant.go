package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Grant gives the role of the service URL the rights that the service needs on the schema at the owner's URL,
// and revokes all others: it may read everything and write rows, but not update or delete those of
// append-only tables, such as postings and audit entries, nor change the schema or add to it. Call it after
// every migration; it may be repeated, even while the service runs. If both URLs name the same role, there is
// nothing to grant: that role owns the tables, and only row security binds it.
func Grant(ctx context.Context, ownerURL, serviceURL string) error {
	service, err := roleOf(serviceURL)
	if err != nil {
		return fmt.Errorf("grant: %w", err)
	}
	holder, _, err := lockMigrations(ctx, ownerURL) // two programs that grant at once would conflict
	if err != nil {
		return fmt.Errorf("grant: %w", err)
	}
	defer holder.Close(context.WithoutCancel(ctx))
	if err := grant(ctx, holder, service); err != nil {
		return fmt.Errorf("grant the role %q what the service needs: %w", service, err)
	}
	return nil
}

// roleOf returns the role as which statements run on connections of this URL.
func roleOf(url string) (string, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return "", err
	}
	if role := config.RuntimeParams["role"]; role != "" {
		return role, nil
	}
	return config.User, nil
}

func grant(ctx context.Context, conn *pgx.Conn, service string) error {
	var owner string
	if err := conn.QueryRow(ctx, "SELECT current_user").Scan(&owner); err != nil || owner == service {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, Grants, service)
		if err != nil {
			return err
		}
		statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, statement := range statements {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// Grants is the query that generates Grant's statements; dbtest hashes it. Who may create things in the
// schema could put a function before the bank's own; PUBLIC could until PostgreSQL 15. Each CREATE is revoked
// only where it was granted, as that takes an owner. Imports need TEMPORARY on the database, which stays. A
// table with row security but without a policy for updates is append-only. Of who moved to another partner
// the last move counts: audit_former. EXECUTE on functions is granted for databases that revoke it from
// PUBLIC.
const Grants = `
	WITH granted (oid, name) AS (SELECT oid, quote_ident(rolname) FROM pg_roles WHERE rolname = $1::text
	  UNION ALL SELECT 0, 'PUBLIC')
	SELECT format('REVOKE CREATE ON SCHEMA %I FROM %s', n.nspname, who.name)
	FROM pg_namespace AS n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS a, granted AS who
	WHERE n.nspname = current_schema() AND a.privilege_type = 'CREATE' AND a.grantee = who.oid
	UNION ALL
	SELECT format('REVOKE CREATE ON DATABASE %I FROM %s', d.datname, who.name)
	FROM pg_database AS d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) AS a, granted AS who
	WHERE d.datname = current_database() AND a.privilege_type = 'CREATE' AND a.grantee = who.oid
	UNION ALL
	SELECT format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), $1::text)
	UNION ALL
	SELECT format('REVOKE ALL ON ALL %s IN SCHEMA %I FROM %I', kind, current_schema(), $1::text)
	FROM unnest(ARRAY['TABLES', 'SEQUENCES']) AS kind
	UNION ALL
	SELECT format('GRANT %s ON %s %s TO %I',
	  CASE WHEN c.relkind = 'S' THEN 'USAGE, SELECT'
	       WHEN c.relname = 'bun_migrations' THEN 'SELECT'
	       WHEN c.relname = 'audit_former' THEN 'SELECT, INSERT, UPDATE (entry)'
	       WHEN c.relrowsecurity AND NOT EXISTS (SELECT FROM pg_policy AS p
	       	WHERE p.polrelid = c.oid AND p.polcmd IN ('w', '*')) THEN 'SELECT, INSERT'
	       ELSE 'SELECT, INSERT, UPDATE, DELETE' END,
	  CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass, $1::text)
	FROM pg_class AS c
	WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S')
	  AND c.relname <> 'bun_migration_locks'
	UNION ALL
	SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', p.oid::regprocedure, $1::text)
	FROM pg_proc AS p
	WHERE p.pronamespace = current_schema()::regnamespace AND p.proname IN ('name_words', 'name_search')`

// Weak returns, in words for the log, where the second wall between banks (row security and grants) does not
// bind the service's role; empty if it does everywhere.
func (d *DB) Weak(ctx context.Context) (ways []string, err error) {
	err = d.NewRaw(`
		SELECT 'the role ' || quote_ident(rolname) || ' bypasses row security' FROM pg_roles
		WHERE rolname = current_user AND (rolsuper OR rolbypassrls)
		UNION ALL
		SELECT 'the role ' || quote_ident(current_user) || ' owns the tables: it is bound, and could lift that'
		  FROM pg_class
		WHERE oid = to_regclass('tenants') AND pg_has_role(relowner, 'MEMBER')
		UNION ALL
		SELECT 'the role ' || quote_ident(current_user) || ' may create things in the ' || place FROM (VALUES
		  ('schema of the tables', has_schema_privilege(current_schema(), 'CREATE')),
		  ('database', has_database_privilege(current_database(), 'CREATE'))) AS v (place, may)
		WHERE may AND NOT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('tenants')
			AND pg_has_role(relowner, 'MEMBER'))`).Scan(ctx, &ways)
	if err != nil {
		return nil, fmt.Errorf("look at the rights of the service: %w", err)
	}
	return ways, nil
}
