-- The chain over the audit entries of each bank: one row for each entry, in the order of commits. core/audit says how
-- a hash is made. The entry is no foreign key: the check would lock every entry again, and the chain proves more than
-- it could; a seal whose entry is gone is what `bankgraph audit verify` is there to find.
CREATE TABLE audit_seals (
  tenant bigint NOT NULL REFERENCES tenants (id),
  seq    bigint NOT NULL CHECK (seq > 0),                 -- 1, 2, 3 … without gaps
  entry  bigint NOT NULL,                                 -- audit_entries.id
  tx     xid8 NOT NULL,                                   -- of the entry: sealing goes on after (tx, entry)
  hash   bytea NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (tenant, seq),
  UNIQUE (tenant, entry)
);
--bun:split
-- The chain's end, signed every minute: what was sealed by then cannot be made anew without the bank's key.
CREATE TABLE audit_checkpoints (
  tenant    bigint NOT NULL REFERENCES tenants (id),
  seq       bigint NOT NULL,                              -- the last entry that is vouched for
  hash      bytea NOT NULL CHECK (length(hash) = 32),     -- and its hash
  at        timestamptz NOT NULL,
  kid       text NOT NULL,                                -- signing_keys.kid
  signature text NOT NULL,                                -- JWS over all of it
  PRIMARY KEY (tenant, seq)
);
--bun:split
-- What one person did, and what was done in a span of time.
CREATE INDEX audit_entries_login ON audit_entries (tenant, login_id, id) WHERE login_id <> '';
CREATE INDEX audit_entries_at ON audit_entries (tenant, at);
--bun:split
-- Events of one object come in the order in which they happened: each looks up the one before (core/events).
CREATE INDEX events_object ON events (tenant, object, uid, id);
