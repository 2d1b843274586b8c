ALTER TABLE ach_received DROP COLUMN IF EXISTS abroad_sealed;
