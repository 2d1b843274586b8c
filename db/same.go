package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ErrOther means that two addresses lead to two databases.
var ErrOther = errors.New("the two addresses lead to two databases")

// SameDatabase compares where the owner's address and the service's lead to: the number of the cluster, which
// nobody else's has, and that of the database in it. It returns ErrOther where they differ. Where the service
// cannot connect, as before the first migration, there is nothing to compare.
func SameDatabase(ctx context.Context, ownerURL, serviceURL string) error {
	if ownerURL == serviceURL {
		return nil
	}
	service, err := identify(ctx, serviceURL)
	if _, unreachable := WhyUnreachable(err); unreachable {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look which database the service's address leads to: %w", err)
	}
	owner, err := identify(ctx, ownerURL)
	if err != nil {
		return fmt.Errorf("look which database the owner's address leads to: %w", err)
	}
	unsaid := owner.cluster == "" || service.cluster == ""
	if owner.number == service.number && (unsaid || owner.cluster == service.cluster) {
		return nil
	}
	return fmt.Errorf("%w: the owner's to %s, the service's to %s", ErrOther, owner, service)
}

// identity names a database.
type identity struct {
	cluster string // empty where the server does not say
	number  uint32
	name    string
}

func (i identity) String() string {
	return fmt.Sprintf("%q (number %d of cluster %s)", i.name, i.number, cmp.Or(i.cluster, "?"))
}

func identify(ctx context.Context, url string) (i identity, err error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return i, err
	}
	hurry(config)
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // maybe through a pooler
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return i, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	says := false
	err = conn.QueryRow(ctx, `SELECT has_function_privilege('pg_control_system()', 'EXECUTE'), oid, datname
		FROM pg_database WHERE datname = current_database()`).Scan(&says, &i.number, &i.name)
	if err == nil && says { // apart: PostgreSQL checks the right to a function before it looks at conditions
		err = conn.QueryRow(ctx, `SELECT system_identifier::text FROM pg_control_system()`).Scan(&i.cluster)
	}
	return i, err
}
