DROP INDEX IF EXISTS bulk_file_lines_of_file;
