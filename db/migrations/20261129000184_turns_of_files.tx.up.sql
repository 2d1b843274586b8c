-- Whose turn it is to be checked, and whose to be paid, are two things: neither waits for the other, nor for files that
-- are given up.
ALTER TABLE bulk_files ADD COLUMN checked_at timestamptz, ADD COLUMN paid_at timestamptz;
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE bulk_files SET checked_at = worked_at, paid_at = CASE WHEN paid > 0 THEN worked_at END WHERE tenant = bank;
  END LOOP;
END $$;
--bun:split
DROP INDEX bulk_files_turns;
--bun:split
CREATE INDEX bulk_files_checked ON bulk_files (tenant, party, checked_at);
--bun:split
CREATE INDEX bulk_files_checked_of ON bulk_files (tenant, party, maker_client, maker_login, checked_at);
--bun:split
CREATE INDEX bulk_files_paid ON bulk_files (tenant, party, paid_at);
--bun:split
CREATE INDEX bulk_files_paid_of ON bulk_files (tenant, party, maker_client, maker_login, paid_at);
