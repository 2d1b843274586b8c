DROP TABLE payment_steps;
DROP TABLE payments;
DROP SEQUENCE payment_uids;
DROP INDEX journals_payment;
ALTER TABLE journals DROP CONSTRAINT IF EXISTS journals_kind;
ALTER TABLE journals ADD CONSTRAINT journals_kind_check CHECK (kind IN ('opening')) NOT VALID;
ALTER TABLE journals DROP COLUMN payment;
ALTER TABLE balances DROP COLUMN booked_at;
