ALTER TABLE recurrences DROP COLUMN IF EXISTS entry_type;
