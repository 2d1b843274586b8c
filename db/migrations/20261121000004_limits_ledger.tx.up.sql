-- Fee tiers that a customer holds.
CREATE SEQUENCE fee_tier_ids MINVALUE 1 MAXVALUE 99999999999;
CREATE TABLE fee_tiers (
  tenant      bigint NOT NULL,
  id          bigint NOT NULL DEFAULT nextval('fee_tier_ids'),
  customer    bigint NOT NULL,
  application text NOT NULL,
  fee_tier    text NOT NULL,
  fee_name    text NOT NULL,
  product     text NOT NULL,
  account     bigint,                                     -- the one account that it counts for; all of them without one
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  FOREIGN KEY (tenant, account) REFERENCES accounts (tenant, uid)
);
CREATE INDEX fee_tiers_customer ON fee_tiers (tenant, customer, id);

-- Ceilings of a customer's payments, by limit code.
CREATE TABLE limits (
  tenant      bigint NOT NULL,
  customer    bigint NOT NULL,
  code        text NOT NULL,
  application text NOT NULL,
  ceiling     bigint NOT NULL CHECK (ceiling >= 0),       -- minor units; for limits that count things, their number
  currency    text NOT NULL,
  updated_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, customer, code),
  FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);

-- What a customer's payments have used up, by day of delivery in the bank's zone.
CREATE TABLE limit_usage (
  tenant     bigint NOT NULL,
  customer   bigint NOT NULL,
  rail       text NOT NULL CHECK (rail IN ('ACH', 'FEDWIRE', 'INSTANT', 'SWIFT')),
  day        date NOT NULL,
  entry_type text NOT NULL DEFAULT '' CHECK (entry_type IN ('', 'CREDIT', 'DEBIT')),
  sec_code   text NOT NULL DEFAULT '',
  amount     bigint NOT NULL CHECK (amount >= 0),         -- minor units
  payments   int NOT NULL CHECK (payments >= 0),
  PRIMARY KEY (tenant, customer, rail, day, entry_type, sec_code),
  FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);

-- The books. An account of the books is a customer's account or one of the bank's own (house).
CREATE TABLE balances (
  tenant    bigint NOT NULL REFERENCES tenants (id),
  account   bigint NOT NULL,                              -- accounts.uid, or a house account's number from the same sequence
  house     text NOT NULL DEFAULT '',                     -- what a house account is for; '' on customers' accounts
  shard     smallint NOT NULL DEFAULT 0,                  -- house accounts that everyone touches are split
  currency  text NOT NULL,
  ledger    bigint NOT NULL DEFAULT 0,
  held      bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
  overdraft bigint NOT NULL DEFAULT 0 CHECK (overdraft >= 0),
  forced    boolean NOT NULL DEFAULT false,               -- a return or correction passed the overdraft
  version   bigint NOT NULL DEFAULT 0,                    -- the number of the last posting
  PRIMARY KEY (tenant, account),
  CONSTRAINT balances_covered CHECK (house <> '' OR forced OR ledger - held >= -overdraft)
);
CREATE UNIQUE INDEX balances_house ON balances (tenant, house, currency, shard) WHERE house <> '';

CREATE SEQUENCE journal_ids MINVALUE 1;
CREATE TABLE journals (
  tenant      bigint NOT NULL REFERENCES tenants (id),
  id          bigint NOT NULL DEFAULT nextval('journal_ids'),
  kind        text NOT NULL CHECK (kind IN ('opening')),
  value_date  date NOT NULL,
  booked_at   timestamptz NOT NULL,
  description text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant, id)
);

CREATE TABLE postings (
  tenant        bigint NOT NULL,
  account       bigint NOT NULL,
  version       bigint NOT NULL,                          -- 1, 2, 3 … for each account
  journal       bigint NOT NULL,
  amount        bigint NOT NULL CHECK (amount <> 0),      -- minor units; above zero raises the balance
  currency      text NOT NULL,
  balance_after bigint NOT NULL,
  PRIMARY KEY (tenant, account, version),
  FOREIGN KEY (tenant, account) REFERENCES balances (tenant, account),
  FOREIGN KEY (tenant, journal) REFERENCES journals (tenant, id)
);
CREATE INDEX postings_journal ON postings (tenant, journal);
