DROP INDEX IF EXISTS bulk_files_unpaid;
--bun:split
DROP INDEX IF EXISTS bulk_files_turns;
--bun:split
CREATE INDEX bulk_files_turns ON bulk_files (tenant, maker_client, maker_login, worked_at);
--bun:split
DROP INDEX IF EXISTS bulk_files_of_party;
--bun:split
ALTER TABLE bulk_files DROP COLUMN IF EXISTS party;
