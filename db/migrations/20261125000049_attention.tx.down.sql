DROP INDEX webhooks_disabled;
--bun:split
DROP INDEX balances_forced;
--bun:split
DROP INDEX payments_failed;
--bun:split
DROP INDEX payments_recalled;
