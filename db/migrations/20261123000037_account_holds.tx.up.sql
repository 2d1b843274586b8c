-- Holds that people place on accounts. While one is Active, the books hold its amount.
CREATE SEQUENCE hold_uids;
CREATE TABLE account_holds (
  tenant       bigint NOT NULL REFERENCES tenants (id),
  uid          bigint NOT NULL,
  account      bigint NOT NULL,
  customer     bigint NOT NULL,                           -- whose account it is
  amount       bigint NOT NULL CONSTRAINT account_holds_amount CHECK (amount > 0), -- minor units
  currency     text NOT NULL,
  reason       text NOT NULL,
  expires_at   timestamptz,                               -- by the bank's clock; NULL: until it is released
  status       text NOT NULL CONSTRAINT account_holds_status CHECK (status IN ('Pending', 'Active', 'Released', 'Expired', 'Refused')),
  maker_client text NOT NULL,
  maker_login  text NOT NULL DEFAULT '',
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  version      int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT account_holds_account FOREIGN KEY (tenant, account) REFERENCES balances (tenant, account),
  CONSTRAINT account_holds_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);
CREATE INDEX account_holds_expiring ON account_holds (tenant, expires_at) WHERE status = 'Active';
CREATE INDEX account_holds_of_customer ON account_holds (tenant, customer);
CREATE INDEX account_holds_of_account ON account_holds (tenant, account);
SELECT row_security('account_holds');
--bun:split
ALTER TABLE holds ALTER COLUMN payment DROP NOT NULL;
--bun:split
ALTER TABLE holds ADD COLUMN placed bigint;
--bun:split
ALTER TABLE holds ADD CONSTRAINT holds_for CHECK (num_nonnulls(payment, placed) = 1);
--bun:split
ALTER TABLE holds DROP CONSTRAINT holds_state;
--bun:split
ALTER TABLE holds ADD CONSTRAINT holds_state CHECK (state IN ('OPEN', 'CAPTURED', 'RELEASED', 'EXPIRED'));
--bun:split
CREATE UNIQUE INDEX holds_placed ON holds (tenant, placed) WHERE state = 'OPEN' AND placed IS NOT NULL;
