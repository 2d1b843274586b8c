-- The banks that a wire goes over, and the accounts that they have with each other.
ALTER TABLE payment_details ADD correspondent_id text NOT NULL DEFAULT '';   -- a routing number, over SWIFT a BIC
--bun:split
ALTER TABLE payment_details ADD correspondent_name text NOT NULL DEFAULT '';
--bun:split
ALTER TABLE payment_details ADD intermediary_account_sealed bytea;
--bun:split
ALTER TABLE payment_details ADD bank_account_sealed bytea;                   -- of the bank that is paid
