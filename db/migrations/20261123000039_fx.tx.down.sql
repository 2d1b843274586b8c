ALTER TABLE tenant_settings DROP COLUMN IF EXISTS quote_seconds;
--bun:split
DROP TABLE IF EXISTS fx_trades;
--bun:split
DROP TABLE IF EXISTS fx_quotes;
--bun:split
DROP SEQUENCE IF EXISTS cover_uids;
--bun:split
DROP SEQUENCE IF EXISTS trade_uids;
