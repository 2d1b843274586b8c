DROP TABLE webhook_cursors;
DROP TABLE webhook_attempts;
DROP TABLE webhook_deliveries;
DROP SEQUENCE webhook_delivery_uids;
DROP TABLE webhook_secrets;
DROP SEQUENCE webhook_secret_ids;
DROP TABLE webhooks;
DROP SEQUENCE webhook_uids;
