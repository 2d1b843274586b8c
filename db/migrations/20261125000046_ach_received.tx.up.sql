-- Entries of ACH that came in for accounts here: credits beside debits, and those that move no money.
ALTER TABLE ach_debits RENAME TO ach_received;
--bun:split
ALTER TABLE ach_received ADD COLUMN direction text NOT NULL DEFAULT 'DEBIT' -- what it does to the account here
  CONSTRAINT ach_received_direction CHECK (direction IN ('CREDIT', 'DEBIT'));
--bun:split
ALTER TABLE ach_received DROP CONSTRAINT ach_debits_amount;
--bun:split
ALTER TABLE ach_received ADD CONSTRAINT ach_received_amount CHECK (amount >= 0 AND (payment IS NULL OR amount > 0)); -- cents
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_debits_pkey TO ach_received_pkey;
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_debits_once TO ach_received_once;
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_debits_message TO ach_received_message;
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_debits_file TO ach_received_file;
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_debits_payment TO ach_received_payment;
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_debits_returned TO ach_received_returned;
--bun:split
ALTER INDEX ach_debits_of_payment RENAME TO ach_received_of_payment;
--bun:split
ALTER INDEX ach_debits_waiting RENAME TO ach_received_waiting;
--bun:split
-- What the release before reads and writes, until all processes are of this one. Its sequence keeps its name for the same reason.
CREATE VIEW ach_debits WITH (security_invoker = true) AS
  SELECT tenant, id, message, line, trace, settles_on, payment, bank, origin, class, company_id, company_name, description, account,
    name, individual_id, data, amount, number_sealed, number_hash, number_last4, return_code, returned_at, file, return_trace
  FROM ach_received WHERE direction = 'DEBIT';
--bun:split
-- Entries of ACH that take back credits which went out.
CREATE TABLE ach_reversals (
  tenant      bigint NOT NULL,
  payment     bigint NOT NULL,
  origin      text NOT NULL,                     -- routing number of the bank that sends it
  asked_at    timestamptz NOT NULL,              -- from then on it waits for a file
  file        bigint,                            -- the message in which it went out
  trace       text NOT NULL DEFAULT '',          -- its number in that file
  settles_at  timestamptz,
  answered_at timestamptz,                       -- when it settled or came back
  booked      boolean NOT NULL DEFAULT false,    -- its money is on the account, or was
  return_code text NOT NULL DEFAULT '',          -- why it came back, such as R01; '' if it did not
  PRIMARY KEY (tenant, payment),
  CONSTRAINT ach_reversals_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid),
  CONSTRAINT ach_reversals_file FOREIGN KEY (tenant, file) REFERENCES network_messages (tenant, id),
  CONSTRAINT ach_reversals_sent CHECK ((file IS NULL) = (settles_at IS NULL))
);
--bun:split
CREATE INDEX ach_reversals_waiting ON ach_reversals (tenant, origin, payment) WHERE file IS NULL;
--bun:split
CREATE INDEX ach_reversals_due ON ach_reversals (tenant, settles_at, payment) WHERE answered_at IS NULL;
--bun:split
CREATE INDEX ach_reversals_trace ON ach_reversals (tenant, trace) WHERE file IS NOT NULL;
--bun:split
SELECT row_security('ach_reversals');
