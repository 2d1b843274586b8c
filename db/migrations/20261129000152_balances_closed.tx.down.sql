DROP INDEX balances_stranded;
ALTER TABLE balances DROP COLUMN stranded, DROP COLUMN closed;
