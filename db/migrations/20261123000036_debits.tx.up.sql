-- Payments that who is paid starts: an entry of ACH that debits an account at another bank. Who starts one owns it.
ALTER TABLE payments ADD COLUMN entry_type text NOT NULL DEFAULT 'CREDIT'
  CONSTRAINT payments_entry_type CHECK (entry_type IN ('CREDIT', 'DEBIT'));
--bun:split
-- One side of a payment over a network has its account here: that of the customer whose payment it is.
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_sender_there;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_sender_there
  CHECK (((direction = 'OUT') = (entry_type = 'CREDIT')) = (sender_account IS NOT NULL)) NOT VALID;
--bun:split
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_receiver_there;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_receiver_there
  CHECK ((rail = 'BOOK' OR (direction = 'IN') = (entry_type = 'CREDIT')) = (receiver_account IS NOT NULL)) NOT VALID;
--bun:split
ALTER TABLE ach_entries ADD COLUMN entry_type text NOT NULL DEFAULT 'CREDIT';  -- that of its payment
--bun:split
DROP INDEX ach_entries_waiting;
--bun:split
CREATE INDEX ach_entries_waiting ON ach_entries
  (tenant, origin, company_id, company_name, class, description, same_day, settles_on, entry_type, payment)
  WHERE taken_at IS NOT NULL AND file IS NULL;
--bun:split
ALTER TABLE payments DROP CONSTRAINT payments_state;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_state CHECK (state IN ('PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED',
  'QUEUED', 'SENT', 'SETTLED', 'RECALLING', 'RECALLED', 'RETURNING', 'RETURNED', 'REVERSAL_ACCEPTED',
  'REVERSAL_PARTIALLY_ACCEPTED', 'REVERSAL_REJECTED', 'REJECTED', 'EXPIRED', 'INVALID', 'CANCELLED'));
--bun:split
-- Requests for payment: the debtor is asked over an instant network, and pays by a credit of its own. When one that was
-- sent expires, its payment says in settles_at.
CREATE TABLE payment_requests (
  tenant            bigint NOT NULL,
  payment           bigint NOT NULL,
  execution_date    date NOT NULL,                        -- on which the debtor is asked to pay
  expiry_date       date NOT NULL,                        -- the last day on which it may, in New York
  amount_modifiable boolean NOT NULL,                     -- it may pay another amount
  early             boolean NOT NULL,                     -- it may pay before that day
  guaranteed        boolean NOT NULL,                     -- its bank is asked to guarantee a later payment
  credit            bigint,                               -- the payment by which it paid
  PRIMARY KEY (tenant, payment),
  CONSTRAINT payment_requests_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid),
  CONSTRAINT payment_requests_credit FOREIGN KEY (tenant, credit) REFERENCES payments (tenant, uid)
);
SELECT row_security('payment_requests');
