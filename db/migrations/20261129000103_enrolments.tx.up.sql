-- Enrolments for benefits of the federal government: entries of ACH that move no money.
ALTER TABLE payments DROP CONSTRAINT payments_amount;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_amount CHECK (amount > 0
  OR amount = 0 AND rail = 'ACH' AND direction = 'OUT' AND entry_type = 'CREDIT') NOT VALID;
--bun:split
ALTER TABLE payment_details ADD benefit json;           -- what is asked for, its numbers masked
--bun:split
ALTER TABLE payment_details ADD benefit_sealed bytea;   -- all of it
