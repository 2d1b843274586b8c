-- Whose share a file takes is known from the file: a partner with all its customers, or another customer, as it was
-- when the file was uploaded. 0 of what the release before makes.
ALTER TABLE bulk_files ADD COLUMN party bigint NOT NULL DEFAULT 0;
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE bulk_files AS bf SET party = coalesce(nullif(c.owner, 0), c.uid) FROM customers AS c
      WHERE bf.tenant = bank AND c.tenant = bank AND c.uid = bf.customer AND bf.party = 0;
  END LOOP;
END $$;
--bun:split
-- Parties take turns with their files, and so do the callers of each.
CREATE INDEX bulk_files_of_party ON bulk_files (tenant, party, worked_at);
--bun:split
DROP INDEX bulk_files_turns;
--bun:split
CREATE INDEX bulk_files_turns ON bulk_files (tenant, party, maker_client, maker_login, worked_at);
--bun:split
-- Lines that are no payments yet count however long ago the file was worked on.
CREATE INDEX bulk_files_unpaid ON bulk_files (tenant, party)
  WHERE status IN ('VALIDATING', 'PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'APPROVED', 'PROCESSING');
