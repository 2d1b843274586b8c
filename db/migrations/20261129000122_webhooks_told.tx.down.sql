CREATE INDEX webhooks_of_bank ON webhooks (tenant, uid) WHERE reach = 'Bank';
--bun:split
DROP INDEX webhooks_active_of_bank;
--bun:split
DROP INDEX webhooks_active_of_customer;
