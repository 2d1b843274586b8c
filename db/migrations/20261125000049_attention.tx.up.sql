-- What waits for a person is found without a look at what does not.
CREATE INDEX payments_recalled ON payments (tenant, updated_at, uid) WHERE state = 'RECALLED';
--bun:split
CREATE INDEX payments_failed ON payments (tenant, updated_at, uid) WHERE state = 'INVALID';
--bun:split
CREATE INDEX balances_forced ON balances (tenant, account) WHERE forced;
--bun:split
CREATE INDEX webhooks_disabled ON webhooks (tenant, uid) WHERE status = 'Disabled';
