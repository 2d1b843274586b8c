-- What a payment costs is looked up by its account, and by its customer for all accounts: however many tiers the
-- customer's other accounts have, they are not read. Neither are those that were refused.
CREATE INDEX fee_tiers_charged ON fee_tiers (tenant, coalesce(account, -customer)) WHERE status = 'Active';
--bun:split
CREATE INDEX fee_tiers_of_customer ON fee_tiers (tenant, customer, id) WHERE status <> 'Refused';
--bun:split
DROP INDEX fee_tiers_customer;
--bun:split
CREATE INDEX fee_tiers_of_account ON fee_tiers (tenant, account) WHERE account IS NOT NULL AND status <> 'Refused';
--bun:split
DROP INDEX fee_tiers_account;
