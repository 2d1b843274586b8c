DROP INDEX payment_requests_credit;
--bun:split
ALTER TABLE positive_pay_rules DROP COLUMN suspended_by, DROP COLUMN approvers, DROP COLUMN by_bank;
