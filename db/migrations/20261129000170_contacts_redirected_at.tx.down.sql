ALTER TABLE contacts DROP COLUMN IF EXISTS redirected_at;
