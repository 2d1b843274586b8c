DROP INDEX IF EXISTS bulk_files_turns;
