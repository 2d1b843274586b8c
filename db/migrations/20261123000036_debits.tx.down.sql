DROP TABLE payment_requests;
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_state;
ALTER TABLE payments ADD CONSTRAINT payments_state CHECK (state IN ('PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED',
  'QUEUED', 'SENT', 'SETTLED', 'RECALLING', 'RECALLED', 'RETURNING', 'RETURNED', 'REVERSAL_ACCEPTED',
  'REVERSAL_PARTIALLY_ACCEPTED', 'REVERSAL_REJECTED', 'REJECTED', 'INVALID', 'CANCELLED')) NOT VALID;
DROP INDEX ach_entries_waiting;
ALTER TABLE ach_entries DROP COLUMN entry_type;
CREATE INDEX ach_entries_waiting ON ach_entries
  (tenant, origin, company_id, company_name, class, description, same_day, settles_on, payment)
  WHERE taken_at IS NOT NULL AND file IS NULL;
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_receiver_there;
ALTER TABLE payments ADD CONSTRAINT payments_receiver_there
  CHECK ((rail = 'BOOK' OR direction = 'IN') = (receiver_account IS NOT NULL)) NOT VALID;
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_sender_there;
ALTER TABLE payments ADD CONSTRAINT payments_sender_there
  CHECK ((direction = 'OUT') = (sender_account IS NOT NULL)) NOT VALID;
ALTER TABLE payments DROP COLUMN entry_type;
