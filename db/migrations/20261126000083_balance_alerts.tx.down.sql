DROP TABLE IF EXISTS balance_alerts;
--bun:split
DROP SEQUENCE IF EXISTS balance_alert_uids;
