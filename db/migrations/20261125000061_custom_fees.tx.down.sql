ALTER TABLE payments DROP COLUMN IF EXISTS custom_fee_name;
--bun:split
ALTER TABLE payments DROP COLUMN IF EXISTS custom_fee;
