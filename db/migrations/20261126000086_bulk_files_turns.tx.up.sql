-- Callers take turns with their files: whose files were worked on least recently comes first.
CREATE INDEX bulk_files_turns ON bulk_files (tenant, maker_client, worked_at);
