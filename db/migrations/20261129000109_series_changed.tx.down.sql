ALTER TABLE recurrences DROP COLUMN changed_version;
