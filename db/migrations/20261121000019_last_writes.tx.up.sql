-- When each caller last wrote, on which of the server's connections. A replica that has the same of a caller has all that
-- the caller wrote (db/replica.go). caller is a hash. Connections do not write at the same time as themselves, so no
-- transaction waits for another here.
CREATE TABLE last_writes (
  tenant     bigint      NOT NULL,
  caller     bytea       NOT NULL,
  connection integer     NOT NULL,
  at         timestamptz NOT NULL,
  CONSTRAINT last_writes_pkey PRIMARY KEY (tenant, caller, connection),
  CONSTRAINT last_writes_tenant_fkey FOREIGN KEY (tenant) REFERENCES tenants (id)
) WITH (fillfactor = 50);
--bun:split
SELECT row_security('last_writes');
