ALTER TABLE payment_repairs DROP COLUMN IF EXISTS contact_version;
