-- Whose those were who took a payment from state to state: bank, partner or customer. The names of the bank's own are not for
-- others to read; whose it was before is not known, and counts as the bank's.
ALTER TABLE payment_steps ADD COLUMN reach text NOT NULL DEFAULT 'Bank';
--bun:split
-- Approvals are listed by any status, in their order. A partial index of one status serves no statement that names it by a
-- parameter.
CREATE INDEX approvals_status ON approvals (tenant, status, uid);
CREATE INDEX approvals_customer_status ON approvals (tenant, customer, status, uid);
--bun:split
DROP INDEX approvals_open;
