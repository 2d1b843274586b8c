-- Payments that come in over a network: who pays has its account at another bank, and who is credited owns the payment.
ALTER TABLE payments ADD COLUMN direction text NOT NULL DEFAULT 'OUT'
  CONSTRAINT payments_direction CHECK (direction IN ('OUT', 'IN'));
--bun:split
ALTER TABLE payments ADD COLUMN returned bigint NOT NULL DEFAULT 0;  -- of the amount, what is given back; minor units
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE payments AS p SET returned = (SELECT coalesce(sum(d.amount), 0)
      FROM journals AS j JOIN postings AS d ON d.tenant = j.tenant AND d.journal = j.id
      WHERE j.tenant = bank AND d.tenant = bank AND j.payment = p.uid AND j.kind = 'return'
        AND d.account = p.sender_account)
      WHERE p.tenant = bank AND p.state = 'RETURNED';
  END LOOP;
END $$;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_returned CHECK (returned BETWEEN 0 AND amount) NOT VALID;
--bun:split
ALTER TABLE payments ALTER COLUMN sender_account DROP NOT NULL;
--bun:split
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_sender_known; -- of a migration that was undone
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_sender_there
  CHECK ((direction = 'OUT') = (sender_account IS NOT NULL)) NOT VALID;
--bun:split
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_receiver_there;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_receiver_there
  CHECK ((rail = 'BOOK' OR direction = 'IN') = (receiver_account IS NOT NULL)) NOT VALID;
--bun:split
ALTER TABLE payments DROP CONSTRAINT payments_state;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_state CHECK (state IN ('PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED',
  'QUEUED', 'SENT', 'SETTLED', 'RECALLING', 'RECALLED', 'RETURNING', 'RETURNED', 'REVERSAL_ACCEPTED',
  'REVERSAL_PARTIALLY_ACCEPTED', 'REVERSAL_REJECTED', 'REJECTED', 'INVALID', 'CANCELLED'));
--bun:split
-- Who pays from another bank need have no account, and a message may be empty.
ALTER TABLE payment_details ALTER COLUMN number_sealed DROP NOT NULL;
--bun:split
ALTER TABLE payment_details ALTER COLUMN number_hash DROP NOT NULL;
--bun:split
ALTER TABLE network_messages ALTER COLUMN body DROP NOT NULL;
--bun:split
-- What staff see of a credit that came in, without opening its message.
ALTER TABLE network_messages ADD COLUMN amount bigint;                          -- minor units; NULL: none was read
--bun:split
ALTER TABLE network_messages ADD COLUMN currency text NOT NULL DEFAULT '';
--bun:split
ALTER TABLE network_messages ADD COLUMN bank text NOT NULL DEFAULT '';          -- the routing number of who sent it
--bun:split
ALTER TABLE network_messages ADD COLUMN number_last4 text NOT NULL DEFAULT '';  -- of the account that was to be credited
--bun:split
-- By what the bank that pays knows the credit: another message about it has none here.
ALTER TABLE network_messages ADD COLUMN transaction text NOT NULL DEFAULT '';
--bun:split
CREATE UNIQUE INDEX network_messages_transaction ON network_messages (tenant, transaction, rail) WHERE transaction <> '';
--bun:split
CREATE INDEX network_messages_refused ON network_messages (tenant, id)
  WHERE direction = 'IN' AND kind IN ('pacs.008', 'unreadable') AND payment IS NULL;
