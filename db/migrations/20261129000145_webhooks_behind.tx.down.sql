DROP INDEX webhooks_behind;
ALTER TABLE webhooks DROP COLUMN behind_at;
ALTER TABLE webhooks DROP COLUMN behind_from;
