-- Sweeps run: when each does next, in whose name, and what became of each run.
ALTER TABLE sweeps ADD COLUMN maker jsonb NOT NULL DEFAULT '{}';   -- who last set it up, as far as payments are decided by that
--bun:split
ALTER TABLE sweeps ADD COLUMN next_date date;                      -- its next day; NULL where that is still to be found
--bun:split
ALTER TABLE sweeps ADD COLUMN failed_at timestamptz;               -- since when its runs fail; NULL if the last one did not
--bun:split
ALTER TABLE sweeps ADD COLUMN failure text NOT NULL DEFAULT '';    -- why the last one did
--bun:split
CREATE INDEX sweeps_next ON sweeps (tenant, next_date, account, direction);
--bun:split
CREATE INDEX sweeps_failed ON sweeps (tenant, failed_at) WHERE failed_at IS NOT NULL;
--bun:split
CREATE SEQUENCE sweep_run_uids START 8000001;
--bun:split
CREATE TABLE sweep_runs (
  tenant    bigint NOT NULL REFERENCES tenants (id),
  uid       bigint NOT NULL DEFAULT nextval('sweep_run_uids'),
  account   bigint NOT NULL,
  customer  bigint NOT NULL,                  -- whose account it is
  direction text NOT NULL,                    -- of the sweep
  day       date NOT NULL,                    -- in the bank's zone
  outcome   text NOT NULL CONSTRAINT sweep_runs_outcome CHECK (outcome IN ('PAID', 'COLLECTED', 'NOTHING_TO_DO', 'FAILED')),
  currency  text NOT NULL,
  balance   bigint,                           -- what was available, in minor units; NULL if that was not looked at
  amount    bigint NOT NULL DEFAULT 0,        -- that was to move; 0 if none was
  fee       bigint NOT NULL DEFAULT 0,        -- that its payment costs, as things were
  payment   bigint,                           -- that was made
  reason    text NOT NULL DEFAULT '',         -- why it failed, or why there was nothing to do
  at        timestamptz NOT NULL,             -- by the bank's clock
  PRIMARY KEY (tenant, uid),
  CONSTRAINT sweep_runs_account FOREIGN KEY (tenant, account) REFERENCES accounts (tenant, uid),
  CONSTRAINT sweep_runs_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT sweep_runs_made CHECK ((payment IS NOT NULL) = (outcome IN ('PAID', 'COLLECTED')))
);
--bun:split
-- A sweep runs once a day.
CREATE UNIQUE INDEX sweep_runs_of_day ON sweep_runs (tenant, account, direction, day);
--bun:split
CREATE INDEX sweep_runs_of_account ON sweep_runs (tenant, account, uid);
--bun:split
CREATE UNIQUE INDEX sweep_runs_of_payment ON sweep_runs (tenant, payment) WHERE payment IS NOT NULL;
--bun:split
SELECT row_security('sweep_runs', only_grows => true);
