DROP TABLE IF EXISTS bulk_file_lines;
--bun:split
DROP TABLE IF EXISTS bulk_file_batches;
--bun:split
DROP TABLE IF EXISTS bulk_file_parts;
--bun:split
DROP TABLE IF EXISTS bulk_files;
--bun:split
DROP SEQUENCE IF EXISTS file_numbers;
