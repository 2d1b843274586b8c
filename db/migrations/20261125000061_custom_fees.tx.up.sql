-- What a payment was asked to cost, in place of what the customer's fee tier says.
ALTER TABLE payments ADD COLUMN custom_fee bigint NOT NULL DEFAULT 0   -- minor units of what is debited; 0: none
  CONSTRAINT payments_custom_fee CHECK (custom_fee >= 0);
--bun:split
ALTER TABLE payments ADD COLUMN custom_fee_name text NOT NULL DEFAULT '';
