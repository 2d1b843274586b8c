package audit_test

import (
	"testing"

	"bankgraph/core/coretest"
)

// Where the server keeps the number of its cluster to itself, the record goes on without it.
func TestRecordIsSealedWhereTheServerDoesNotNameItsCluster(t *testing.T) {
	t.Parallel()
	b := of(t, coretest.Alone(t))
	b.exec("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
	b.grow(3)
	b.grow(2)
}
