-- Files of payments that customers upload: their sealed text, what they say, and what became of each line.
CREATE SEQUENCE file_numbers START 6000001;
CREATE TABLE bulk_files (
  tenant         bigint NOT NULL REFERENCES tenants (id),
  uid            bigint NOT NULL,                         -- the file number
  customer       bigint NOT NULL,                         -- whose accounts the payments are of
  name           text NOT NULL,
  type           text NOT NULL CONSTRAINT bulk_files_type CHECK (type IN ('NACHA', 'FEDWIRE', 'RTP', 'CSV')),
  status         text NOT NULL CONSTRAINT bulk_files_status CHECK (status IN ('RECEIVED', 'VALIDATING', 'FAILED',
    'PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'APPROVED', 'REJECTED', 'CANCELLED', 'PROCESSING', 'PARTIALLY_PROCESSED',
    'PROCESSED')),
  channel        text NOT NULL,
  size           bigint NOT NULL,                         -- bytes
  content_hash   bytea NOT NULL,                          -- tells the same file again
  checked        int NOT NULL DEFAULT 0,                  -- lines up to this one are checked
  position       bigint NOT NULL DEFAULT 0,               -- and so many bytes read
  valid          int NOT NULL DEFAULT 0,                  -- payments that can be made
  failed         int NOT NULL DEFAULT 0,                  -- lines with faults
  made           int NOT NULL DEFAULT 0,                  -- payments that were made
  credits        bigint NOT NULL DEFAULT 0,               -- of what can be paid, minor units
  debits         bigint NOT NULL DEFAULT 0,
  largest        bigint NOT NULL DEFAULT 0,               -- payment
  payment_date   date,                                    -- of the first payment
  offset_account bigint,                                  -- that the batches of ACH are paid from; NULL: each line says
  faults         jsonb NOT NULL DEFAULT '[]',             -- of the file as a whole
  reject_reason  text NOT NULL DEFAULT '',
  approvers      int NOT NULL DEFAULT 0,                  -- people who have to approve it beside the maker
  by_bank        boolean NOT NULL DEFAULT false,          -- they must be the bank's own
  maker          jsonb NOT NULL,                          -- who has uploaded it, as far as payments are decided by that
  maker_client   text NOT NULL,
  maker_login    text NOT NULL DEFAULT '',
  approved_by    text NOT NULL DEFAULT '',
  approved_at    timestamptz,
  updated_by     text NOT NULL DEFAULT '',
  attempt        int NOT NULL DEFAULT 0,                  -- counts who has worked on it
  leased_until   timestamptz,                             -- by the clock of the database
  created_at     timestamptz NOT NULL,
  updated_at     timestamptz NOT NULL,
  version        int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT bulk_files_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);
CREATE INDEX bulk_files_of_customer ON bulk_files (tenant, customer, uid);
CREATE INDEX bulk_files_same ON bulk_files (tenant, customer, content_hash);
CREATE INDEX bulk_files_unfinished ON bulk_files (tenant, customer)
  WHERE status IN ('RECEIVED', 'VALIDATING', 'PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'APPROVED', 'PROCESSING');
CREATE INDEX bulk_files_at_work ON bulk_files (tenant, uid)
  WHERE status IN ('RECEIVED', 'VALIDATING', 'APPROVED', 'PROCESSING');
SELECT row_security('bulk_files');
--bun:split
CREATE TABLE bulk_file_parts (
  tenant     bigint NOT NULL REFERENCES tenants (id),
  id         bigint NOT NULL,                             -- the file's number and that of the part
  file       bigint NOT NULL,
  content    bytea NOT NULL,                              -- sealed
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant, id)
);
CREATE INDEX bulk_file_parts_age ON bulk_file_parts (tenant, created_at);
SELECT row_security('bulk_file_parts');
--bun:split
CREATE TABLE bulk_file_batches (
  tenant         bigint NOT NULL REFERENCES tenants (id),
  file           bigint NOT NULL,
  number         int NOT NULL,                            -- in the order of the file, from 1
  id             text NOT NULL,                           -- a UUID
  batch_number   int NOT NULL,                            -- as the file says it
  service_class  text NOT NULL,
  originator     text NOT NULL,                           -- routing number of its bank, eight digits
  company_name   text NOT NULL,
  company_id     text NOT NULL,
  class          text NOT NULL,
  description    text NOT NULL,
  effective_on   date,
  entry_hash     bigint NOT NULL,
  entries        int NOT NULL,                            -- and addenda
  credits        bigint NOT NULL,                         -- minor units
  debits         bigint NOT NULL,
  offset_account bigint,
  balanced       boolean NOT NULL,                        -- the file has the other side of the batch
  fault          text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant, file, number),
  CONSTRAINT bulk_file_batches_file FOREIGN KEY (tenant, file) REFERENCES bulk_files (tenant, uid)
);
SELECT row_security('bulk_file_batches');
--bun:split
CREATE TABLE bulk_file_lines (
  tenant       bigint NOT NULL REFERENCES tenants (id),
  id           bigint NOT NULL,                           -- the file's number and that of the line
  file         bigint NOT NULL,
  number       int NOT NULL,                              -- of the line in the file, from 1
  batch        int NOT NULL DEFAULT 0,                    -- in the order of the file; 0 for none
  status       text NOT NULL CONSTRAINT bulk_file_lines_status CHECK (status IN ('VALID', 'FAILED', 'MADE')),
  entry_type   text NOT NULL,
  rail         text NOT NULL,                             -- '' where none was found
  amount       bigint NOT NULL,                           -- minor units
  currency     text NOT NULL,
  sender_name  text NOT NULL DEFAULT '',
  faults       jsonb NOT NULL DEFAULT '[]',
  draft_sealed bytea,                                     -- what the line says; NULL where it could not be read
  payment      bigint,                                    -- that was made of it
  PRIMARY KEY (tenant, id),
  CONSTRAINT bulk_file_lines_made CHECK ((payment IS NOT NULL) = (status = 'MADE')),
  CONSTRAINT bulk_file_lines_file FOREIGN KEY (tenant, file) REFERENCES bulk_files (tenant, uid)
);
CREATE UNIQUE INDEX bulk_file_lines_of_payment ON bulk_file_lines (tenant, payment) WHERE payment IS NOT NULL;
CREATE INDEX bulk_file_lines_waiting ON bulk_file_lines (tenant, id) WHERE status = 'VALID';
SELECT row_security('bulk_file_lines');
