DROP INDEX network_messages_refused;
DROP INDEX network_messages_transaction;
ALTER TABLE network_messages DROP COLUMN transaction;
ALTER TABLE network_messages DROP COLUMN number_last4;
ALTER TABLE network_messages DROP COLUMN bank;
ALTER TABLE network_messages DROP COLUMN currency;
ALTER TABLE network_messages DROP COLUMN amount;
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_state;
ALTER TABLE payments ADD CONSTRAINT payments_state CHECK (state IN ('PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED',
  'QUEUED', 'SENT', 'SETTLED', 'RETURNED', 'REJECTED', 'INVALID', 'CANCELLED')) NOT VALID;
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_receiver_there;
ALTER TABLE payments ADD CONSTRAINT payments_receiver_there CHECK ((rail = 'BOOK') = (receiver_account IS NOT NULL)) NOT VALID;
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_sender_there;
ALTER TABLE payments ADD CONSTRAINT payments_sender_known CHECK (sender_account IS NOT NULL) NOT VALID;
ALTER TABLE payments DROP COLUMN returned;
ALTER TABLE payments DROP COLUMN direction;
