-- Callers take turns with their files, and have shares: people of one identity provider, who have its address as their
-- client, each by their login.
DROP INDEX bulk_files_turns;
CREATE INDEX bulk_files_turns ON bulk_files (tenant, maker_client, maker_login, worked_at);
