-- Entries of ACH by which other banks debit accounts here, and what positive pay says of them.
ALTER TABLE payments DROP CONSTRAINT payments_state;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_state CHECK (state IN ('PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED',
  'HOLD', 'VALIDATED', 'QUEUED', 'SENT', 'SETTLED', 'RECALLING', 'RECALLED', 'RETURNING', 'RETURNED', 'REVERSAL_ACCEPTED',
  'REVERSAL_PARTIALLY_ACCEPTED', 'REVERSAL_REJECTED', 'REJECTED', 'EXPIRED', 'INVALID', 'CANCELLED'));
--bun:split
CREATE INDEX payments_validated ON payments (tenant, settles_at, uid) WHERE state = 'VALIDATED';
--bun:split
CREATE SEQUENCE ach_debit_ids;
--bun:split
CREATE TABLE ach_debits (
  tenant        bigint NOT NULL,
  id            bigint NOT NULL,
  message       bigint NOT NULL,                          -- the file in which it came
  line          int NOT NULL,
  trace         text NOT NULL,                            -- its number, by which the bank that sent it knows it
  settles_on    date NOT NULL,
  payment       bigint,                                   -- NULL: no account here has this number
  bank          text NOT NULL,                            -- that sent it: the routing number
  origin        text NOT NULL,                            -- the routing number here to which it was sent
  class         text NOT NULL,                            -- PPD, CCD …
  company_id    text NOT NULL,                            -- of who debits
  company_name  text NOT NULL,
  description   text NOT NULL,                            -- of the batch
  account       text NOT NULL,                            -- what is debited: CHECKING, SAVINGS, GL, LOAN
  name          text NOT NULL,                            -- of who is debited, as the entry has it
  individual_id text NOT NULL,
  data          text NOT NULL,                            -- S or R, for single or recurring, in WEB and TEL
  amount        bigint NOT NULL CONSTRAINT ach_debits_amount CHECK (amount > 0), -- cents
  number_sealed bytea NOT NULL,                           -- the account that it names
  number_hash   bytea NOT NULL,
  number_last4  text NOT NULL,
  return_code   text NOT NULL DEFAULT '',                 -- why it goes back, such as R01; '' if it does not
  returned_at   timestamptz,                              -- when that was decided: from then on it waits for a file
  file          bigint,                                   -- the message in which it went back
  return_trace  text NOT NULL DEFAULT '',                 -- its number in that file
  PRIMARY KEY (tenant, id),
  CONSTRAINT ach_debits_once UNIQUE (tenant, trace, settles_on),
  CONSTRAINT ach_debits_message FOREIGN KEY (tenant, message) REFERENCES network_messages (tenant, id),
  CONSTRAINT ach_debits_file FOREIGN KEY (tenant, file) REFERENCES network_messages (tenant, id),
  CONSTRAINT ach_debits_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid),
  CONSTRAINT ach_debits_returned CHECK ((return_code = '') = (returned_at IS NULL))
);
--bun:split
CREATE UNIQUE INDEX ach_debits_of_payment ON ach_debits (tenant, payment) WHERE payment IS NOT NULL;
--bun:split
CREATE INDEX ach_debits_waiting ON ach_debits (tenant, origin, id) WHERE returned_at IS NOT NULL AND file IS NULL;
--bun:split
SELECT row_security('ach_debits');
--bun:split
-- How often a rule has allowed a debit, and on which day the last one.
ALTER TABLE positive_pay_rules ADD COLUMN used int NOT NULL DEFAULT 0;
--bun:split
ALTER TABLE positive_pay_rules ADD COLUMN last_used date;
--bun:split
CREATE SEQUENCE positive_pay_exception_uids MINVALUE 1 MAXVALUE 99999999999;
--bun:split
-- What positive pay says of a debit: a rule allows it, or people decide.
CREATE TABLE positive_pay_exceptions (
  tenant                bigint NOT NULL,
  uid                   bigint NOT NULL,
  payment               bigint NOT NULL,
  customer              bigint NOT NULL,                  -- whose account it is
  account               bigint NOT NULL,
  type                  text NOT NULL CONSTRAINT positive_pay_exceptions_type CHECK (type IN ('ACH', 'FEDWIRE', 'INSTANT')),
  rule                  bigint,                           -- that allows it
  amount                bigint NOT NULL,                  -- minor units
  currency              text NOT NULL,
  ach_company_id        text NOT NULL,                    -- who debits
  beneficiary_name      text NOT NULL,
  beneficiary_bank_id   text NOT NULL,
  beneficiary_bank_name text NOT NULL,
  sec_code              text NOT NULL,
  individual_id         text NOT NULL,
  debit_date            date NOT NULL,                    -- on which the debit settles
  reason                text NOT NULL,                    -- the first test that it failed; '' where a rule allows it
  status                text NOT NULL CONSTRAINT positive_pay_exceptions_status CHECK (status IN
    ('PENDING', 'AUTO_MATCHED', 'APPROVED', 'REJECTED', 'DEFAULT_DECISION')),
  created_at            timestamptz NOT NULL,
  expires_at            timestamptz NOT NULL,             -- until which people may decide
  decided_at            timestamptz,
  decided_client        text NOT NULL DEFAULT '',
  decided_login         text NOT NULL DEFAULT '',
  decided_reach         text NOT NULL DEFAULT '',
  updated_at            timestamptz NOT NULL,
  version               int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT positive_pay_exceptions_once UNIQUE (tenant, payment),
  CONSTRAINT positive_pay_exceptions_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid),
  CONSTRAINT positive_pay_exceptions_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT positive_pay_exceptions_account FOREIGN KEY (tenant, account) REFERENCES accounts (tenant, uid),
  CONSTRAINT positive_pay_exceptions_rule FOREIGN KEY (tenant, rule) REFERENCES positive_pay_rules (tenant, uid),
  CONSTRAINT positive_pay_exceptions_decided CHECK ((status = 'PENDING') = (decided_at IS NULL))
);
--bun:split
CREATE INDEX positive_pay_exceptions_of_customer ON positive_pay_exceptions (tenant, customer, uid);
--bun:split
CREATE INDEX positive_pay_exceptions_pending ON positive_pay_exceptions (tenant, expires_at, uid) WHERE status = 'PENDING';
--bun:split
SELECT row_security('positive_pay_exceptions');
