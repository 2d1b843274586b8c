-- What brings money of an account above a mark away, or fills it up below one, on certain days.
CREATE TABLE sweeps (
  tenant         bigint NOT NULL,
  account        bigint NOT NULL,
  direction      text NOT NULL CHECK (direction IN ('in', 'out', 'both')),
  balance_type   text NOT NULL CHECK (balance_type IN ('Target', 'Range', 'Zero')),
  currency       text NOT NULL,                           -- the account's
  target_balance bigint CHECK (target_balance >= 0),      -- minor units, as all amounts; of Target and Zero
  range_from     bigint CHECK (range_from >= 0),          -- of Range: the low mark, below which money comes in
  range_to       bigint CHECK (range_to > range_from),    -- and the high mark, above which it goes out
  from_contact   bigint,                                  -- where money comes from
  from_method    text NOT NULL DEFAULT '' CHECK (from_method IN ('', 'AchDebit', 'WireDrawdown', 'InstantRFP')),
  to_contact     bigint,                                  -- where it goes
  to_method      text NOT NULL DEFAULT '' CHECK (to_method IN ('', 'AchCredit', 'WirePayment', 'InstantPayment')),
  frequency      text NOT NULL CHECK (frequency IN ('Daily', 'Weekly', 'Monthly')),
  day_of_week    text NOT NULL DEFAULT '',                -- of Weekly: MONDAY to SUNDAY
  day_of_month   smallint NOT NULL DEFAULT 0 CHECK (day_of_month BETWEEN 0 AND 31), -- of Monthly
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  version        int NOT NULL DEFAULT 1,
  PRIMARY KEY (tenant, account, direction),
  FOREIGN KEY (tenant, account) REFERENCES accounts (tenant, uid),
  FOREIGN KEY (tenant, from_contact) REFERENCES contacts (tenant, uid),
  FOREIGN KEY (tenant, to_contact) REFERENCES contacts (tenant, uid),
  CHECK ((direction <> 'out') = (from_contact IS NOT NULL)),
  CHECK ((direction <> 'in') = (to_contact IS NOT NULL)),
  CHECK ((balance_type = 'Range') = (range_from IS NOT NULL AND range_to IS NOT NULL)),
  CHECK ((balance_type = 'Range') = (target_balance IS NULL))
);
--bun:split
-- An originator has one account that takes the offsets of its files where none is named.
CREATE UNIQUE INDEX accounts_default_offset ON accounts (tenant, customer, ach_company_id)
  WHERE default_offset AND ach_company_id <> '' AND deleted_at IS NULL;
--bun:split
-- What may not end while it is referred to is found by these.
CREATE INDEX accounts_fbo_number ON accounts (tenant, fbo_number_hash) WHERE fbo_number_hash IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX fee_tiers_account ON fee_tiers (tenant, account) WHERE account IS NOT NULL;
CREATE INDEX sweeps_from_contact ON sweeps (tenant, from_contact) WHERE from_contact IS NOT NULL;
CREATE INDEX sweeps_to_contact ON sweeps (tenant, to_contact) WHERE to_contact IS NOT NULL;
--bun:split
SELECT row_security('sweeps');
