DROP INDEX IF EXISTS bulk_files_uncleared;
ALTER TABLE bulk_files DROP COLUMN IF EXISTS cleared;
