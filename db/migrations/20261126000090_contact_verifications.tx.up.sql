-- How customers find out whether the accounts of their contacts are there.
CREATE SEQUENCE contact_verification_uids;
--bun:split
CREATE TABLE contact_verifications (
  tenant       bigint NOT NULL REFERENCES tenants (id),
  uid          bigint NOT NULL,
  contact      bigint NOT NULL,
  customer     bigint NOT NULL,                           -- whose contact it is
  account      bigint NOT NULL,                           -- of the customer, from which it is done
  method       text NOT NULL CONSTRAINT contact_verifications_method CHECK (method IN ('PRENOTE', 'SMALL_DEPOSITS')),
  state        text NOT NULL CONSTRAINT contact_verifications_state CHECK
    (state IN ('PENDING', 'AWAITING_AMOUNTS', 'VERIFIED', 'CORRECTED', 'FAILED', 'EXPIRED', 'CANCELLED', 'SUPERSEDED')),
  tries        int NOT NULL DEFAULT 0,                    -- that had wrong amounts
  deposit_1    bigint,                                    -- the payments; their amounts stand nowhere else
  deposit_2    bigint,
  prenote      bigint,
  expires_at   timestamptz,                               -- until when the amounts are waited for
  due_at       timestamptz,                               -- when something is done by itself; NULL if nothing is any more
  verified_at  timestamptz,
  failure_code text NOT NULL DEFAULT '',                  -- of a return: R03 …
  failure      text NOT NULL DEFAULT '',                  -- in words
  notice_code  text NOT NULL DEFAULT '',                  -- of a notice of change: C01 …
  maker_client text NOT NULL,
  maker_login  text NOT NULL,
  maker_reach  text NOT NULL,                             -- how far who started it sees
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  version      int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT contact_verifications_contact FOREIGN KEY (tenant, contact) REFERENCES contacts (tenant, uid),
  CONSTRAINT contact_verifications_account FOREIGN KEY (tenant, account) REFERENCES accounts (tenant, uid),
  CONSTRAINT contact_verifications_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT contact_verifications_tries CHECK (tries BETWEEN 0 AND 3),
  CONSTRAINT contact_verifications_how CHECK (CASE method WHEN 'PRENOTE' THEN prenote IS NOT NULL AND deposit_1 IS NULL
    ELSE prenote IS NULL AND deposit_1 IS NOT NULL AND deposit_2 IS NOT NULL END)
);
--bun:split
-- A contact has one at a time.
CREATE UNIQUE INDEX contact_verifications_open ON contact_verifications (tenant, contact)
  WHERE state IN ('PENDING', 'AWAITING_AMOUNTS');
--bun:split
CREATE INDEX contact_verifications_of_contact ON contact_verifications (tenant, contact, uid);
--bun:split
CREATE INDEX contact_verifications_of_customer ON contact_verifications (tenant, customer);
--bun:split
CREATE INDEX contact_verifications_due ON contact_verifications (tenant, due_at, uid) WHERE due_at IS NOT NULL;
--bun:split
SELECT row_security('contact_verifications');
