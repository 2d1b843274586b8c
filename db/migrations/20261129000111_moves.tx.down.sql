ALTER TABLE customers DROP COLUMN moved_at;
