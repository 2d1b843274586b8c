ALTER TABLE webhooks DROP COLUMN IF EXISTS disabled_by_bank;
