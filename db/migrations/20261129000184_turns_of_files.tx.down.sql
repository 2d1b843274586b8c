DROP INDEX IF EXISTS bulk_files_checked, bulk_files_checked_of, bulk_files_paid, bulk_files_paid_of;
--bun:split
CREATE INDEX IF NOT EXISTS bulk_files_turns ON bulk_files (tenant, party, maker_client, maker_login, worked_at);
--bun:split
ALTER TABLE bulk_files DROP COLUMN IF EXISTS checked_at, DROP COLUMN IF EXISTS paid_at;
