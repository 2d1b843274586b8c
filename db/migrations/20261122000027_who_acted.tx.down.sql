CREATE INDEX approvals_open ON approvals (tenant, uid) WHERE status = 'Open';
--bun:split
DROP INDEX approvals_status, approvals_customer_status;
--bun:split
ALTER TABLE payment_steps DROP COLUMN reach;
