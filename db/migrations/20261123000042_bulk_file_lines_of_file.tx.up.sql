-- The lines of a file are listed and counted in their order.
CREATE INDEX bulk_file_lines_of_file ON bulk_file_lines (tenant, file, id);
