-- What customers want to be told of the balances of their accounts.
CREATE SEQUENCE balance_alert_uids;
--bun:split
CREATE TABLE balance_alerts (
  tenant        bigint NOT NULL REFERENCES tenants (id),
  uid           bigint NOT NULL,
  account       bigint NOT NULL,
  customer      bigint NOT NULL,                          -- whose account it is
  balance       text NOT NULL CONSTRAINT balance_alerts_balance CHECK (balance IN ('AVAILABLE', 'LEDGER')),
  direction     text NOT NULL CONSTRAINT balance_alerts_direction CHECK (direction IN ('BELOW', 'ABOVE')),
  threshold     bigint NOT NULL,                          -- minor units
  currency      text NOT NULL,                            -- the account's
  status        text NOT NULL CONSTRAINT balance_alerts_status CHECK (status IN ('PENDING_APPROVAL', 'ACTIVE', 'DELETED')),
  armed         boolean NOT NULL,                         -- fires with the next crossing
  fired_at      timestamptz,                              -- last, by the bank's clock
  fired_balance bigint,                                   -- what the balance was then
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  version       int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT balance_alerts_account FOREIGN KEY (tenant, account) REFERENCES accounts (tenant, uid),
  CONSTRAINT balance_alerts_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT balance_alerts_fired CHECK ((fired_at IS NULL) = (fired_balance IS NULL))
);
--bun:split
CREATE UNIQUE INDEX balance_alerts_once ON balance_alerts (tenant, account, balance, direction, threshold) WHERE status <> 'DELETED';
--bun:split
CREATE INDEX balance_alerts_of_account ON balance_alerts (tenant, account, uid);
--bun:split
CREATE INDEX balance_alerts_of_customer ON balance_alerts (tenant, customer);
--bun:split
CREATE INDEX balance_alerts_active ON balance_alerts (tenant, uid) WHERE status = 'ACTIVE';
--bun:split
SELECT row_security('balance_alerts');
