DROP TABLE IF EXISTS positive_pay_exceptions;
--bun:split
DROP SEQUENCE IF EXISTS positive_pay_exception_uids;
--bun:split
ALTER TABLE positive_pay_rules DROP COLUMN last_used;
--bun:split
ALTER TABLE positive_pay_rules DROP COLUMN used;
--bun:split
DROP TABLE IF EXISTS ach_debits;
--bun:split
DROP SEQUENCE IF EXISTS ach_debit_ids;
--bun:split
DROP INDEX payments_validated;
--bun:split
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_state;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_state CHECK (state IN ('PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED',
  'QUEUED', 'SENT', 'SETTLED', 'RECALLING', 'RECALLED', 'RETURNING', 'RETURNED', 'REVERSAL_ACCEPTED',
  'REVERSAL_PARTIALLY_ACCEPTED', 'REVERSAL_REJECTED', 'REJECTED', 'EXPIRED', 'INVALID', 'CANCELLED')) NOT VALID;
