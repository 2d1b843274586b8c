DROP INDEX IF EXISTS bulk_files_turns;
CREATE INDEX bulk_files_turns ON bulk_files (tenant, maker_client, worked_at);
