-- The books learn of payments, and remember when each account was last booked on.
ALTER TABLE balances ADD COLUMN booked_at timestamptz;    -- of the last posting; NULL: none since this column is there
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE balances AS b SET booked_at = j.booked_at
      FROM postings AS p JOIN journals AS j ON j.tenant = p.tenant AND j.id = p.journal
      WHERE b.tenant = bank AND p.tenant = bank AND j.tenant = bank AND p.account = b.account AND p.version = b.version;
  END LOOP;
END $$;
--bun:split
ALTER TABLE journals ADD COLUMN payment bigint;           -- the payment that it moved the money of
--bun:split
ALTER TABLE journals DROP CONSTRAINT journals_kind_check;
--bun:split
ALTER TABLE journals ADD CONSTRAINT journals_kind CHECK (kind IN ('opening', 'payment', 'fee'));
--bun:split
CREATE INDEX journals_payment ON journals (tenant, payment) WHERE payment IS NOT NULL;
--bun:split
-- Payments. Where the money of one is follows from its state alone.
CREATE SEQUENCE payment_uids MINVALUE 1 MAXVALUE 99999999999;
CREATE TABLE payments (
  tenant                bigint NOT NULL,
  uid                   bigint NOT NULL,
  customer              bigint NOT NULL,                  -- whose payment it is: who pays
  rail                  text NOT NULL CONSTRAINT payments_rail CHECK (rail IN ('BOOK')),
  state                 text NOT NULL CONSTRAINT payments_state
    CHECK (state IN ('PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED', 'SETTLED', 'INVALID', 'CANCELLED')),
  amount                bigint NOT NULL CONSTRAINT payments_amount CHECK (amount > 0), -- minor units
  currency              text NOT NULL,
  payment_date          date NOT NULL,                    -- on which the money moves, in the bank's zone
  fee                   bigint NOT NULL DEFAULT 0 CONSTRAINT payments_fee CHECK (fee >= 0), -- in the same currency
  fee_name              text NOT NULL DEFAULT '',
  fee_tier              text NOT NULL DEFAULT '',
  external_reference_id text NOT NULL DEFAULT '',         -- the caller's; may repeat
  notes                 text NOT NULL DEFAULT '',
  channel               text NOT NULL DEFAULT '',
  sender_account        bigint NOT NULL,
  sender_name           text NOT NULL,
  receiver_account      bigint NOT NULL,
  receiver_customer     bigint NOT NULL,
  receiver_name         text NOT NULL,
  reason                text NOT NULL DEFAULT '',         -- why it was cancelled, or could not be carried out
  maker_client          text NOT NULL,
  maker_login           text NOT NULL DEFAULT '',
  created_at            timestamptz NOT NULL,
  updated_at            timestamptz NOT NULL,
  version               int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT payments_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT payments_sender FOREIGN KEY (tenant, sender_account) REFERENCES accounts (tenant, uid),
  CONSTRAINT payments_receiver FOREIGN KEY (tenant, receiver_account) REFERENCES accounts (tenant, uid)
);
CREATE INDEX payments_of_customer ON payments (tenant, customer, uid);
CREATE INDEX payments_to_customer ON payments (tenant, receiver_customer, uid) WHERE receiver_customer <> customer;
CREATE INDEX payments_of_account ON payments (tenant, sender_account, uid);
CREATE INDEX payments_to_account ON payments (tenant, receiver_account, uid);
CREATE INDEX payments_due ON payments (tenant, payment_date, uid) WHERE state = 'SCHEDULED';
SELECT row_security('payments');
--bun:split
-- The life of each payment: one row for each state that it reached, numbered without a gap.
CREATE TABLE payment_steps (
  tenant   bigint NOT NULL,
  payment  bigint NOT NULL,
  number   int NOT NULL,                                  -- 1, 2, 3 … of each payment: its version then
  state    text NOT NULL,
  at       timestamptz NOT NULL,                          -- by the bank's clock
  client   text NOT NULL,                                 -- who brought it about; operator for the bank's own work
  login_id text NOT NULL DEFAULT '',
  reason   text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant, payment, number),
  CONSTRAINT payment_steps_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid)
);
SELECT row_security('payment_steps', only_grows => true);
--bun:split
-- What waits may need two people beside the one who asked. The first of them stands here until the second decides.
ALTER TABLE approvals ADD COLUMN approvers smallint NOT NULL DEFAULT 1;
--bun:split
ALTER TABLE approvals ADD COLUMN first_client text NOT NULL DEFAULT '';
--bun:split
ALTER TABLE approvals ADD COLUMN first_login text NOT NULL DEFAULT '';
--bun:split
ALTER TABLE approvals ADD COLUMN first_person uuid;
--bun:split
ALTER TABLE approvals ADD COLUMN first_entity bigint NOT NULL DEFAULT 0;
--bun:split
ALTER TABLE approvals ADD COLUMN first_reach text NOT NULL DEFAULT '';
--bun:split
ALTER TABLE approvals ADD COLUMN first_at timestamptz;
