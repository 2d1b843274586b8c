-- Virtual accounts: numbers of their own for parts of the money in an account of a customer, its master account.
CREATE SEQUENCE virtual_account_uids MINVALUE 1 MAXVALUE 99999999999;
--bun:split
CREATE SEQUENCE virtual_posting_ids;
--bun:split
CREATE TABLE virtual_accounts (
  tenant                     bigint NOT NULL,
  uid                        bigint NOT NULL,
  customer                   bigint NOT NULL,
  account                    bigint NOT NULL,           -- the master account, which has the money
  number_sealed              bytea NOT NULL,
  number_hash                bytea NOT NULL,
  number_last4               text NOT NULL,
  name                       text NOT NULL,
  product_code               text NOT NULL,
  purpose                    text NOT NULL DEFAULT '',
  external_account_reference text NOT NULL DEFAULT '',
  submitted_by               text NOT NULL DEFAULT '',
  status                     text NOT NULL CONSTRAINT virtual_accounts_status CHECK (status IN ('Active', 'Closed', 'Suspended')),
  currency                   text NOT NULL,             -- that of the master account
  balance                    bigint NOT NULL DEFAULT 0, -- minor units: the sum of its postings
  limit_period               text NOT NULL DEFAULT '' CONSTRAINT virtual_accounts_period CHECK (limit_period IN
    ('', 'Monthly', 'Quarterly', 'HalfYearly', 'Annually')),
  limit_amount               bigint CONSTRAINT virtual_accounts_limit CHECK (limit_amount > 0), -- minor units
  created_at                 timestamptz NOT NULL,
  updated_at                 timestamptz NOT NULL,
  version                    int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT virtual_accounts_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT virtual_accounts_account FOREIGN KEY (tenant, account) REFERENCES accounts (tenant, uid),
  CONSTRAINT virtual_accounts_limited CHECK ((limit_period = '') = (limit_amount IS NULL))
);
--bun:split
CREATE UNIQUE INDEX virtual_accounts_number ON virtual_accounts (tenant, number_hash);
--bun:split
CREATE INDEX virtual_accounts_of_customer ON virtual_accounts (tenant, customer, uid);
--bun:split
CREATE INDEX virtual_accounts_of_account ON virtual_accounts (tenant, account, uid);
--bun:split
SELECT row_security('virtual_accounts');
--bun:split
ALTER TABLE payments ADD COLUMN virtual_account bigint; -- that a credit of another bank names; NULL for other payments
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_virtual_account FOREIGN KEY (tenant, virtual_account)
  REFERENCES virtual_accounts (tenant, uid);
--bun:split
-- What a virtual account has of each posting on its master account.
CREATE TABLE virtual_postings (
  tenant          bigint NOT NULL,
  id              bigint NOT NULL DEFAULT nextval('virtual_posting_ids'),
  virtual_account bigint NOT NULL,
  customer        bigint NOT NULL,                      -- whose virtual account it is
  account         bigint NOT NULL,                      -- the master account
  payment         bigint NOT NULL,
  journal         bigint NOT NULL,                      -- which has a posting of the same amount on the master account
  amount          bigint NOT NULL CONSTRAINT virtual_postings_amount CHECK (amount <> 0), -- minor units: above 0 for what comes in
  fee             bigint NOT NULL DEFAULT 0 CONSTRAINT virtual_postings_fee CHECK (fee >= 0),
  currency        text NOT NULL,
  at              timestamptz NOT NULL,                 -- when the journal was booked
  client          text NOT NULL DEFAULT '',             -- who brought it about, as in the steps of the payment
  login_id        text NOT NULL DEFAULT '',
  reach           text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant, id),
  CONSTRAINT virtual_postings_once UNIQUE (tenant, virtual_account, journal),
  CONSTRAINT virtual_postings_of FOREIGN KEY (tenant, virtual_account) REFERENCES virtual_accounts (tenant, uid),
  CONSTRAINT virtual_postings_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT virtual_postings_account FOREIGN KEY (tenant, account) REFERENCES accounts (tenant, uid),
  CONSTRAINT virtual_postings_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid),
  CONSTRAINT virtual_postings_journal FOREIGN KEY (tenant, journal) REFERENCES journals (tenant, id)
);
--bun:split
CREATE INDEX virtual_postings_of_account ON virtual_postings (tenant, virtual_account, id);
--bun:split
CREATE INDEX virtual_postings_of_customer ON virtual_postings (tenant, customer, id);
--bun:split
CREATE INDEX virtual_postings_of_payment ON virtual_postings (tenant, payment, id);
--bun:split
SELECT row_security('virtual_postings', only_grows => true);
