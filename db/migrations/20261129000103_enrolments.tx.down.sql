ALTER TABLE payment_details DROP benefit_sealed;
--bun:split
ALTER TABLE payment_details DROP benefit;
--bun:split
ALTER TABLE payments DROP CONSTRAINT payments_amount;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_amount CHECK (amount > 0) NOT VALID;
