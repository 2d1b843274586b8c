-- The numbers that accounts in the bank's own books have given up. Others go on paying to them, so that only the
-- bank gives one to another customer.
CREATE SEQUENCE account_former_number_ids;
--bun:split
CREATE TABLE account_former_numbers (
  tenant        bigint NOT NULL,
  id            bigint NOT NULL,
  customer      bigint NOT NULL,                          -- whose account it is
  account       bigint NOT NULL,
  number_sealed bytea NOT NULL,
  number_hash   bytea NOT NULL,
  number_last4  text NOT NULL,
  at            timestamptz NOT NULL,                     -- by the bank's clock
  PRIMARY KEY (tenant, id),
  CONSTRAINT account_former_numbers_account FOREIGN KEY (tenant, account) REFERENCES accounts (tenant, uid)
);
--bun:split
SELECT row_security('account_former_numbers');
--bun:split
CREATE INDEX account_former_numbers_hash ON account_former_numbers (tenant, number_hash);
--bun:split
CREATE INDEX account_former_numbers_of ON account_former_numbers (tenant, account);
