-- The number of an audit entry in its bank's record is given by sealing: whatever committed entry has no number yet gets
-- the next one. Numbers of transactions decide nothing any more: they start anew in every new cluster. Columns that hold
-- them stay for the previous release, which still writes and reads them; a later one removes audit_seals.tx and events.tx.

-- Entries that are not sealed yet. Each is written with its entry and removed with its seal. There is no foreign key: the
-- check would lock every entry once more, and whoever verifies the chain finds a row whose entry is gone.
CREATE TABLE audit_unsealed (
  tenant bigint NOT NULL,
  entry  bigint NOT NULL,                                 -- audit_entries.id
  PRIMARY KEY (tenant, entry)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
SELECT row_security('audit_unsealed');
--bun:split
-- The record went on in another database: it was restored from a backup, moved, or a replica took over.
CREATE TABLE audit_restores (
  tenant    bigint NOT NULL,
  epoch     bigint NOT NULL CHECK (epoch > 1),            -- the epoch that began with it; a bank's first one is 1
  after     bigint NOT NULL CHECK (after >= 0),           -- the last entry that was brought along
  hash      bytea NOT NULL CONSTRAINT audit_restores_hash CHECK (length(hash) = 32), -- and its hash
  was       text NOT NULL,                                -- the database that was signed in before
  "is"      text NOT NULL,                                -- the one that the record goes on in
  reason    text NOT NULL DEFAULT '',                     -- in the operator's words, where one declared it
  at        timestamptz NOT NULL,
  kid       text NOT NULL,                                -- signing_keys.kid
  signature text NOT NULL,                                -- JWS over all of it
  PRIMARY KEY (tenant, epoch),
  CONSTRAINT audit_restores_tenant FOREIGN KEY (tenant) REFERENCES tenants (id)
);
SELECT row_security('audit_restores', only_grows => true);
--bun:split
-- Up to where a bank's feed of events was purged.
CREATE TABLE events_purged (
  tenant bigint NOT NULL,
  seq    bigint NOT NULL,                                 -- of the last event that is gone
  PRIMARY KEY (tenant),
  CONSTRAINT events_purged_tenant FOREIGN KEY (tenant) REFERENCES tenants (id)
);
SELECT row_security('events_purged');
--bun:split
ALTER TABLE audit_checkpoints ADD COLUMN epoch bigint NOT NULL DEFAULT 0; -- 0: signed before epochs were counted
--bun:split
ALTER TABLE audit_checkpoints ADD COLUMN database text NOT NULL DEFAULT ''; -- that it was signed in
--bun:split
ALTER TABLE audit_seals ALTER COLUMN tx DROP NOT NULL;
--bun:split
ALTER TABLE events ADD COLUMN entry bigint;               -- the audit entry of the same change: its number is the event's
--bun:split
DROP INDEX audit_entries_feed, events_feed;
--bun:split
-- Takes over what there is: entries without a seal wait for one, and each event finds the entry of its change. The nth
-- event of an object and kind tells of the nth entry; events of approvals stand in the transaction of theirs.
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    INSERT INTO audit_unsealed (tenant, entry)
      SELECT bank, e.id FROM audit_entries AS e WHERE e.tenant = bank
        AND NOT EXISTS (SELECT FROM audit_seals AS s WHERE s.tenant = bank AND s.entry = e.id);
    UPDATE events AS v SET entry = e.id
      FROM (SELECT id, kind, object, uid, row_number() OVER (PARTITION BY kind, object, uid ORDER BY id) AS n
            FROM events WHERE tenant = bank AND object <> 'approval') AS w
      JOIN (SELECT id, action, object, uid, row_number() OVER (PARTITION BY action, object, uid ORDER BY id) AS n
            FROM audit_entries WHERE tenant = bank AND decision = 'done') AS e
        ON e.action = w.kind AND e.object = w.object AND e.uid = w.uid AND e.n = w.n
      WHERE v.tenant = bank AND v.id = w.id;
    UPDATE events AS v SET entry = e.id
      FROM (SELECT id, tx, row_number() OVER (PARTITION BY tx ORDER BY id) AS n
            FROM events WHERE tenant = bank AND object = 'approval') AS w
      JOIN (SELECT id, tx, row_number() OVER (PARTITION BY tx ORDER BY id) AS n
            FROM audit_entries WHERE tenant = bank AND decision IN ('proposed', 'approved', 'refused')) AS e
        ON e.tx = w.tx AND e.n = w.n
      WHERE v.tenant = bank AND v.id = w.id;
  END LOOP;
END $$;
--bun:split
ALTER TABLE events ALTER COLUMN entry SET DEFAULT currval('audit_ids'); -- each event follows the entry of its change
--bun:split
CREATE UNIQUE INDEX events_entry ON events (tenant, entry);
