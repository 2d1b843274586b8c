package db

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// A server that panics at COMMIT, as when its disk is full or fails, may have written the commit before: it
// is there after the recovery then. What it refuses otherwise is not.
func TestACommitThatTheServerPanicsAtIsUnknown(t *testing.T) {
	t.Parallel()
	for said, unknown := range map[pgconn.PgError]bool{
		{Severity: "PANIC", Code: "53100"}: true,
		{Severity: "PANIC", Code: "XX000"}: true,
		{Severity: "ERROR", Code: "53100"}: false,
		{Severity: "FATAL", Code: "25P03"}: false, // the transaction had waited for too long
		{Severity: "FATAL", Code: "57P01"}: true,
	} {
		err := committed(&said)
		if errors.Is(err, ErrUnknownOutcome) != unknown || !errors.Is(err, &said) {
			t.Errorf("%v", err)
		}
	}
}
