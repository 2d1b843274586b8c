DROP INDEX events_entry;
--bun:split
CREATE INDEX events_feed ON events (tenant, tx, id);
CREATE INDEX audit_entries_feed ON audit_entries (tenant, tx, id);
--bun:split
ALTER TABLE events DROP COLUMN entry;
--bun:split
-- What was sealed since takes the number of its entry's transaction.
DO $$ DECLARE bank bigint; BEGIN
  DROP POLICY IF EXISTS bank_updates ON audit_seals;
  CREATE POLICY bank_updates ON audit_seals FOR UPDATE USING (true) WITH CHECK (true);
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE audit_seals AS s SET tx = e.tx FROM audit_entries AS e
      WHERE s.tenant = bank AND e.tenant = bank AND e.id = s.entry AND s.tx IS NULL;
  END LOOP;
  DROP POLICY bank_updates ON audit_seals;
END $$;
--bun:split
ALTER TABLE audit_seals ALTER COLUMN tx SET NOT NULL;
--bun:split
ALTER TABLE audit_checkpoints DROP COLUMN epoch, DROP COLUMN database;
--bun:split
DROP TABLE events_purged, audit_restores, audit_unsealed;
