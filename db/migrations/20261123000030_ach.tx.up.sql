-- Payments over ACH: entries of files, which settle by themselves.
ALTER TABLE payments DROP CONSTRAINT payments_rail;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_rail CHECK (rail IN ('BOOK', 'ACH', 'FEDNOW', 'RTP', 'FEDWIRE'));
--bun:split
ALTER TABLE payments ADD COLUMN settles_at timestamptz;   -- of one that was sent and settles without an answer
--bun:split
CREATE INDEX payments_settling ON payments (tenant, settles_at, uid) WHERE state = 'SENT' AND settles_at IS NOT NULL;
--bun:split
-- What an entry of ACH says beside what every payment over a network says.
CREATE TABLE ach_entries (
  tenant       bigint NOT NULL,
  payment      bigint NOT NULL,
  origin       text NOT NULL,                             -- the routing number of the bank that sends it
  class        text NOT NULL,                             -- PPD, CCD …
  company_id   text NOT NULL,                             -- of who pays, with its bank
  company_name text NOT NULL,
  description  text NOT NULL,                             -- of the batch
  account      text NOT NULL,                             -- what is credited: CHECKING, SAVINGS, GL, LOAN
  same_day     boolean NOT NULL,
  settles_on   date,                                      -- set when its money is taken
  taken_at     timestamptz,                               -- when its money was taken: from then on it waits for a file
  file         bigint,                                    -- the message that it went out in
  trace        text NOT NULL DEFAULT '',                  -- its number in that file
  PRIMARY KEY (tenant, payment),
  CONSTRAINT ach_entries_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid),
  CONSTRAINT ach_entries_file FOREIGN KEY (tenant, file) REFERENCES network_messages (tenant, id)
);
CREATE INDEX ach_entries_waiting ON ach_entries 
  (tenant, origin, company_id, company_name, class, description, same_day, settles_on, payment)
  WHERE taken_at IS NOT NULL AND file IS NULL;
CREATE INDEX ach_entries_trace ON ach_entries (tenant, trace, file) WHERE trace <> '';
SELECT row_security('ach_entries');
--bun:split
-- What came back about entries: returns and notices of change, each a line of a file.
CREATE TABLE ach_answers (
  tenant  bigint NOT NULL,
  message bigint NOT NULL,                                -- the file
  line    int NOT NULL,
  trace   text NOT NULL,                                  -- of the entry that it is about
  payment bigint,                                         -- NULL: no entry of ours has this trace
  code    text NOT NULL,                                  -- R03, C01 …
  PRIMARY KEY (tenant, message, line),
  CONSTRAINT ach_answers_message FOREIGN KEY (tenant, message) REFERENCES network_messages (tenant, id),
  CONSTRAINT ach_answers_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid)
);
CREATE INDEX ach_answers_payment ON ach_answers (tenant, payment) WHERE payment IS NOT NULL;
SELECT row_security('ach_answers');
--bun:split
-- How far each of the bank's routing numbers has come in numbering files and entries.
CREATE TABLE ach_origins (
  tenant bigint NOT NULL REFERENCES tenants (id),
  origin text NOT NULL,
  day    date NOT NULL,                                   -- of the last file, in New York
  files  int NOT NULL,                                    -- of that day
  trace  int NOT NULL,                                    -- of the last entry, the seven digits behind the bank's
  PRIMARY KEY (tenant, origin)
);
SELECT row_security('ach_origins');
