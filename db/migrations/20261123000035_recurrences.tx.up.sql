-- Payments that repeat: a series, and the payments that were made of it.
CREATE SEQUENCE recurrence_uids MINVALUE 1 MAXVALUE 99999999999;
--bun:split
CREATE TABLE recurrences (
  tenant             bigint NOT NULL,
  uid                bigint NOT NULL,
  customer           bigint NOT NULL,                  -- who pays
  account            bigint NOT NULL,                  -- from which
  rail               text NOT NULL,                    -- of the newest payment
  speed              text NOT NULL,                    -- '' for book transfers
  amount             bigint NOT NULL CONSTRAINT recurrences_amount CHECK (amount > 0), -- minor units, of payments to come
  currency           text NOT NULL,
  frequency          text NOT NULL CONSTRAINT recurrences_frequency CHECK (frequency IN
    ('Daily', 'Weekly', 'BiWeekly', 'Monthly', 'Quarterly', 'SemiAnnually', 'Yearly')),
  pay_until          text NOT NULL CONSTRAINT recurrences_until CHECK (pay_until IN ('Cancelled', 'EndDate', 'NumberOfPayments')),
  start_date         date NOT NULL,                    -- of the first payment
  counts_from        date NOT NULL,                    -- the date from which the others are counted
  end_date           date,
  number_of_payments int,
  made               int NOT NULL CONSTRAINT recurrences_made CHECK (made >= 0), -- payments so far, without those left out
  next_date          date,                             -- of the next payment to be made; NULL: none is
  last_payment       bigint NOT NULL,                  -- the newest
  status             text NOT NULL CONSTRAINT recurrences_status CHECK (status IN ('Pending', 'Active', 'Completed', 'Cancelled')),
  reason             text NOT NULL DEFAULT '',         -- why it was cancelled
  source             text NOT NULL DEFAULT '',         -- where that was asked for
  draft_sealed       bytea NOT NULL,                   -- what each payment says
  maker_client       text NOT NULL,
  maker_login        text NOT NULL DEFAULT '',
  created_at         timestamptz NOT NULL,
  updated_at         timestamptz NOT NULL,
  version            int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT recurrences_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT recurrences_account FOREIGN KEY (tenant, account) REFERENCES accounts (tenant, uid),
  CONSTRAINT recurrences_ends CHECK ((pay_until <> 'EndDate' OR end_date IS NOT NULL)
    AND (pay_until <> 'NumberOfPayments' OR number_of_payments IS NOT NULL))
);
--bun:split
CREATE INDEX recurrences_of_customer ON recurrences (tenant, customer, uid);
--bun:split
CREATE INDEX recurrences_due ON recurrences (tenant, next_date, uid) WHERE status = 'Active';
--bun:split
SELECT row_security('recurrences');
--bun:split
ALTER TABLE payments ADD COLUMN recurrence bigint;    -- the series that it was made of; NULL for a single payment
--bun:split
CREATE INDEX payments_of_recurrence ON payments (tenant, recurrence, uid) WHERE recurrence IS NOT NULL;
