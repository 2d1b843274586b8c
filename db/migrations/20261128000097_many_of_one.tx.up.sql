-- Payments that wait for their day are found by the day on which their kind is due, customer by customer. So what is
-- due is found in no time, however much waits for later days, and each customer gets its turn.
CREATE INDEX payments_scheduled ON payments (tenant, (CASE WHEN rail = 'SWIFT' THEN 'ABROAD' WHEN rail = 'BOOK' THEN 'BOOK'
  WHEN speed = 'Economy' THEN 'ECONOMY' ELSE 'OTHER' END), payment_date, customer, uid) WHERE state = 'SCHEDULED';
--bun:split
DROP INDEX payments_due;
--bun:split
-- Rules stay for the record when they are deleted: however many there were, they are not read.
CREATE INDEX positive_pay_rules_of_account_now ON positive_pay_rules (tenant, account, uid) WHERE state <> 'Deleted';
--bun:split
DROP INDEX positive_pay_rules_of_account;
--bun:split
-- For each event, the few webhooks that are told of the whole bank are found, however many others there are.
CREATE INDEX webhooks_of_bank ON webhooks (tenant, uid) WHERE reach = 'Bank';
