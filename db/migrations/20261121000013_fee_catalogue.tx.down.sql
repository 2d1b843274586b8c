-- The older schema cannot tell tiers that were refused from others: they were never shown.
DROP INDEX fee_tiers_fee;
--bun:split
DROP TABLE fee_catalogue;
--bun:split
DELETE FROM fee_tiers WHERE status = 'Refused';
--bun:split
ALTER TABLE fee_tiers DROP COLUMN status, DROP COLUMN version, DROP COLUMN updated_at;
--bun:split
ALTER TABLE limits DROP COLUMN version;
