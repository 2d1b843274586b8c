ALTER TABLE payment_details DROP COLUMN intermediary_name;
--bun:split
ALTER TABLE payment_details DROP COLUMN intermediary_id;
--bun:split
DROP INDEX payments_leaving;
--bun:split
ALTER TABLE payments DROP COLUMN trade;
--bun:split
ALTER TABLE payments DROP COLUMN sold;
--bun:split
ALTER TABLE payments DROP COLUMN sold_currency;
--bun:split
ALTER TABLE payments DROP COLUMN sold_returned;
--bun:split
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_rail;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_rail CHECK (rail IN ('BOOK', 'ACH', 'FEDNOW', 'RTP', 'FEDWIRE')) NOT VALID;
