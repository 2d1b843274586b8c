-- The older schema cannot tell tiers that were refused from others: they were never shown.
DROP INDEX fee_tiers_fee;
--bun:split
DROP TABLE fee_catalogue;
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    DELETE FROM fee_tiers WHERE tenant = bank AND status = 'Refused';
  END LOOP;
END $$;
--bun:split
ALTER TABLE fee_tiers DROP COLUMN status, DROP COLUMN version, DROP COLUMN updated_at;
--bun:split
ALTER TABLE limits DROP COLUMN version;
