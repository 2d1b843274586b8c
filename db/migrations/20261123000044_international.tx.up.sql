-- International payments: over SWIFT, in a currency that may be exchanged for that of the account.
ALTER TABLE payments DROP CONSTRAINT payments_rail;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_rail CHECK (rail IN ('BOOK', 'ACH', 'FEDNOW', 'RTP', 'FEDWIRE', 'SWIFT')) NOT VALID;
--bun:split
ALTER TABLE payments ADD COLUMN trade bigint;                     -- by which the amount was exchanged; NULL: it was not
--bun:split
ALTER TABLE payments ADD COLUMN sold bigint NOT NULL DEFAULT 0;   -- what the account pays for the amount; 0: the amount
--bun:split
ALTER TABLE payments ADD COLUMN sold_currency text NOT NULL DEFAULT '';
--bun:split
ALTER TABLE payments ADD COLUMN sold_returned bigint NOT NULL DEFAULT 0; -- of that, what is given back
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_exchanged CHECK (trade IS NULL = (sold = 0) AND trade IS NULL = (sold_currency = '')
  AND sold_returned BETWEEN 0 AND sold) NOT VALID;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_of_trade FOREIGN KEY (tenant, trade) REFERENCES fx_trades (tenant, uid);
--bun:split
-- A trade pays one payment: another one only if that moved nothing.
CREATE UNIQUE INDEX payments_one_of_trade ON payments (tenant, trade)
  WHERE trade IS NOT NULL AND state NOT IN ('REJECTED', 'INVALID', 'CANCELLED');
--bun:split
CREATE INDEX payments_of_trade ON payments (tenant, trade, uid) WHERE trade IS NOT NULL;
--bun:split
-- Payments that leave before their day.
CREATE INDEX payments_leaving ON payments (tenant, send_at, uid) WHERE state = 'SCHEDULED' AND send_at IS NOT NULL;
--bun:split
ALTER TABLE payment_details ADD COLUMN intermediary_id text NOT NULL DEFAULT '';   -- its BIC; bank_id is one, too
--bun:split
ALTER TABLE payment_details ADD COLUMN intermediary_name text NOT NULL DEFAULT '';
