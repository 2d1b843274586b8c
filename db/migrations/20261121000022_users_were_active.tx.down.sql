ALTER TABLE users DROP COLUMN was_active;
