-- Names that the other sides of payments are compared with, and the payments that the bank's compliance people
-- look at before they leave.
ALTER TABLE payments DROP CONSTRAINT payments_state;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_state CHECK (state IN ('REPAIR', 'PENDING_APPROVAL', 'PARTIALLY_APPROVED',
  'SCHEDULED', 'HOLD', 'VALIDATED', 'SCREENING', 'QUEUED', 'SENT', 'SETTLED', 'RECALLING', 'RECALLED', 'RETURNING', 'RETURNED',
  'REVERSAL_ACCEPTED', 'REVERSAL_PARTIALLY_ACCEPTED', 'REVERSAL_REJECTED', 'REJECTED', 'EXPIRED', 'INVALID', 'CANCELLED'))
  NOT VALID;
--bun:split
CREATE INDEX payments_in_screening ON payments (tenant, updated_at, uid) WHERE state = 'SCREENING';
--bun:split
-- Whether people look at every payment over a network, whatever its name.
ALTER TABLE tenant_settings ADD COLUMN screen_all boolean NOT NULL DEFAULT false;
--bun:split
CREATE TABLE screening_lists (
  tenant      bigint NOT NULL,
  code        text NOT NULL,
  version     bigint NOT NULL,                            -- grows with each import
  names       int NOT NULL,
  file        text NOT NULL,                              -- that was read last
  operator    text NOT NULL,                              -- who did
  imported_at timestamptz NOT NULL,
  PRIMARY KEY (tenant, code),
  CONSTRAINT screening_lists_tenant FOREIGN KEY (tenant) REFERENCES tenants (id)
);
--bun:split
SELECT row_security('screening_lists');
--bun:split
CREATE TABLE screening_names (
  tenant    bigint NOT NULL,
  list      text NOT NULL,
  line      int NOT NULL,                                 -- of the file
  name      text NOT NULL,
  program   text NOT NULL,                                -- why it is listed, in the list's own words
  reference text NOT NULL,                                -- by what the list knows it
  PRIMARY KEY (tenant, list, line),
  CONSTRAINT screening_names_list FOREIGN KEY (tenant, list) REFERENCES screening_lists (tenant, code)
);
--bun:split
SELECT row_security('screening_names');
--bun:split
CREATE TABLE payment_screenings (
  tenant         bigint NOT NULL,
  payment        bigint NOT NULL,
  customer       bigint NOT NULL,                         -- whose payment it is
  name           text NOT NULL,                           -- that was compared
  matches        jsonb NOT NULL,                          -- the listed names that it may be; none where people look at all
  status         text NOT NULL CONSTRAINT payment_screenings_status CHECK (status IN ('PENDING', 'RELEASED', 'REJECTED')),
  created_at     timestamptz NOT NULL,
  decided_at     timestamptz,
  decided_client text NOT NULL DEFAULT '',
  decided_login  text NOT NULL DEFAULT '',
  reason         text NOT NULL DEFAULT '',                -- of the decision
  PRIMARY KEY (tenant, payment),
  CONSTRAINT payment_screenings_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid),
  CONSTRAINT payment_screenings_decided CHECK ((status = 'PENDING') = (decided_at IS NULL))
);
--bun:split
SELECT row_security('payment_screenings');
