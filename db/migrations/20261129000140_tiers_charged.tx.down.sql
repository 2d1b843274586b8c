CREATE INDEX fee_tiers_account ON fee_tiers (tenant, account) WHERE account IS NOT NULL;
--bun:split
DROP INDEX fee_tiers_of_account;
--bun:split
CREATE INDEX fee_tiers_customer ON fee_tiers (tenant, customer, id);
--bun:split
DROP INDEX fee_tiers_of_customer;
--bun:split
DROP INDEX fee_tiers_charged;
