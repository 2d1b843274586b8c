ALTER TABLE payment_details DROP bank_account_sealed;
--bun:split
ALTER TABLE payment_details DROP intermediary_account_sealed;
--bun:split
ALTER TABLE payment_details DROP correspondent_name;
--bun:split
ALTER TABLE payment_details DROP correspondent_id;
