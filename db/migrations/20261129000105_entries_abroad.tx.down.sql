ALTER TABLE payment_details DROP COLUMN IF EXISTS abroad_sealed;
--bun:split
ALTER TABLE payment_details DROP COLUMN IF EXISTS bank_country;
--bun:split
ALTER TABLE ach_entries DROP COLUMN IF EXISTS currency;
--bun:split
ALTER TABLE ach_entries DROP COLUMN IF EXISTS purpose;
