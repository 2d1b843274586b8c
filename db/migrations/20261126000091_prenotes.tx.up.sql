-- Entries of ACH without money, which ask whether an account of another bank is there.
CREATE SEQUENCE ach_prenote_ids;
--bun:split
CREATE TABLE ach_prenotes (
  tenant        bigint NOT NULL REFERENCES tenants (id),
  id            bigint NOT NULL,
  customer      bigint NOT NULL,
  contact       bigint NOT NULL,                          -- whose account number it has when its file is made
  origin        text NOT NULL,                            -- the routing number of the bank that sends it
  class         text NOT NULL,                            -- PPD, CCD …
  company_id    text NOT NULL,
  company_name  text NOT NULL,
  account       text NOT NULL,                            -- CHECKING, SAVINGS, GL, LOAN
  bank_id       text NOT NULL,                            -- the routing number of the contact's bank
  name          text NOT NULL,                            -- of the contact
  reference     text NOT NULL,
  settles_on    date NOT NULL,
  send_at       timestamptz NOT NULL,                     -- from then on it waits for a file
  withdrawn     boolean NOT NULL DEFAULT false,
  file          bigint,                                   -- the message that it went out in
  trace         text NOT NULL DEFAULT '',                 -- its number in that file
  return_code   text NOT NULL DEFAULT '',                 -- R03 …
  notice_code   text NOT NULL DEFAULT '',                 -- C01 …
  right_last4   text NOT NULL DEFAULT '',                 -- what the notice says is right
  right_routing text NOT NULL DEFAULT '',
  right_account text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant, id),
  CONSTRAINT ach_prenotes_contact FOREIGN KEY (tenant, contact) REFERENCES contacts (tenant, uid),
  CONSTRAINT ach_prenotes_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT ach_prenotes_file FOREIGN KEY (tenant, file) REFERENCES network_messages (tenant, id)
);
--bun:split
CREATE INDEX ach_prenotes_waiting ON ach_prenotes (tenant, send_at, origin) WHERE file IS NULL AND NOT withdrawn;
--bun:split
CREATE INDEX ach_prenotes_trace ON ach_prenotes (tenant, trace, file) WHERE trace <> '';
--bun:split
CREATE INDEX ach_prenotes_of_contact ON ach_prenotes (tenant, contact);
--bun:split
CREATE INDEX ach_prenotes_of_customer ON ach_prenotes (tenant, customer);
--bun:split
CREATE INDEX ach_prenotes_of_file ON ach_prenotes (tenant, file) WHERE file IS NOT NULL;
--bun:split
SELECT row_security('ach_prenotes');
--bun:split
-- What a notice of change says is right, of a verification by prenote.
ALTER TABLE contact_verifications ADD COLUMN right_last4 text NOT NULL DEFAULT '';
--bun:split
ALTER TABLE contact_verifications ADD COLUMN right_routing text NOT NULL DEFAULT '';
--bun:split
ALTER TABLE contact_verifications ADD COLUMN right_account text NOT NULL DEFAULT '';
