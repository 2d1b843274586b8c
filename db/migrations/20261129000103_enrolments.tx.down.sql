ALTER TABLE payment_details DROP COLUMN IF EXISTS benefit_sealed;
--bun:split
ALTER TABLE payment_details DROP COLUMN IF EXISTS benefit;
--bun:split
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_amount;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_amount CHECK (amount > 0) NOT VALID;
