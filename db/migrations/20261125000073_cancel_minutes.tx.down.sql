ALTER TABLE tenant_settings DROP COLUMN IF EXISTS cancel_minutes;
