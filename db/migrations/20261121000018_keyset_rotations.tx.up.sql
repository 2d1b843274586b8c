-- How far the values of a bank's table have been brought under the keyset's primary keys (core/keysets).
CREATE TABLE keyset_rotations (
  tenant      bigint NOT NULL REFERENCES tenants (id),
  of          text NOT NULL,                              -- the table
  sealing     bigint NOT NULL,                            -- the ids of the keys that values are brought under
  searching   bigint NOT NULL,
  pass        integer NOT NULL,                           -- the last one finds nothing left
  after       text NOT NULL,                              -- the pass has looked at the rows up to this key
  looked      bigint NOT NULL,                            -- at rows, in this pass
  found       bigint NOT NULL,                            -- under other keys, in this pass
  left_over   bigint NOT NULL,                            -- of them: locked, or they do not open
  moved       bigint NOT NULL,                            -- in all passes
  started_at  timestamptz NOT NULL,
  updated_at  timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (tenant, of)
);
--bun:split
SELECT row_security('keyset_rotations');
