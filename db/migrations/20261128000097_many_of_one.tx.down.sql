DROP INDEX webhooks_of_bank;
--bun:split
DROP INDEX payments_scheduled;
--bun:split
CREATE INDEX payments_due ON payments (tenant, payment_date, uid) WHERE state = 'SCHEDULED';
--bun:split
CREATE INDEX positive_pay_rules_of_account ON positive_pay_rules (tenant, account, uid);
--bun:split
DROP INDEX positive_pay_rules_of_account_now;
