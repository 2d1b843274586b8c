DROP TABLE sandbox_messages;
DROP SEQUENCE sandbox_messages_ids;
DROP TABLE network_messages;
DROP SEQUENCE network_messages_ids;
DROP TABLE payment_details;
DROP INDEX payments_sent;
DROP INDEX payments_queued;
ALTER TABLE payments DROP COLUMN send_at;
ALTER TABLE payments DROP COLUMN speed;
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_state;
ALTER TABLE payments ADD CONSTRAINT payments_state CHECK (state IN ('PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED',
  'SETTLED', 'INVALID', 'CANCELLED')) NOT VALID;
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_receiver_there;
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_rail;
ALTER TABLE payments ADD CONSTRAINT payments_rail CHECK (rail IN ('BOOK')) NOT VALID;
ALTER TABLE payments ADD CONSTRAINT payments_receiver_known
  CHECK (receiver_account IS NOT NULL AND receiver_customer IS NOT NULL) NOT VALID;
ALTER TABLE journals DROP CONSTRAINT IF EXISTS journals_kind;
ALTER TABLE journals ADD CONSTRAINT journals_kind CHECK (kind IN ('opening', 'payment', 'fee')) NOT VALID;
DROP TABLE holds;
