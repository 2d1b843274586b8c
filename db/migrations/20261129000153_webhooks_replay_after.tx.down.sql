ALTER TABLE webhooks DROP COLUMN replay_after;
