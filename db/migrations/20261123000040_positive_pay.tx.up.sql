-- Rules of positive pay: which debits of other banks may be paid from an account.
CREATE SEQUENCE positive_pay_rule_uids MINVALUE 1 MAXVALUE 99999999999;
--bun:split
CREATE TABLE positive_pay_rules (
  tenant                    bigint NOT NULL,
  uid                       bigint NOT NULL,
  customer                  bigint NOT NULL,           -- whose account it is
  account                   bigint NOT NULL,
  type                      text NOT NULL CONSTRAINT positive_pay_rules_type CHECK (type IN ('ACH', 'FEDWIRE', 'INSTANT')),
  ach_company_id            text NOT NULL DEFAULT '',  -- who may debit over ACH; '' for anybody
  beneficiary_name          text NOT NULL DEFAULT '',  -- who is paid; '' where nothing is said, as below
  beneficiary_bank_id       text NOT NULL DEFAULT '',
  beneficiary_bank_name     text NOT NULL DEFAULT '',
  beneficiary_number_sealed bytea,
  beneficiary_number_hash   bytea,
  beneficiary_number_last4  text NOT NULL DEFAULT '',
  amount                    bigint NOT NULL CONSTRAINT positive_pay_rules_amount CHECK (amount > 0), -- minor units
  currency                  text NOT NULL,
  amount_type               text NOT NULL CONSTRAINT positive_pay_rules_amount_type CHECK (amount_type IN ('Exact', 'Maximum')),
  frequency                 text NOT NULL CONSTRAINT positive_pay_rules_frequency CHECK (frequency IN
    ('ON_GOING', 'ONE_TIME', 'DAILY', 'WEEKLY', 'BI_WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMI_ANNUAL', 'ANNUAL')),
  sec_code                  text NOT NULL,             -- ALL, or the one entry class
  individual_id             text NOT NULL DEFAULT '',  -- that the entry has to have; '' for any
  effective_date            date NOT NULL,             -- the first day
  expiry_date               date,                      -- the last day; NULL: until it is deleted
  number_of_payments        int CONSTRAINT positive_pay_rules_payments CHECK (number_of_payments > 0), -- NULL: no bound
  state                     text NOT NULL CONSTRAINT positive_pay_rules_state CHECK (state IN
    ('PendingApproval', 'Active', 'Suspended', 'Deleted')), -- dates make of Active Pending or Expired
  created_at                timestamptz NOT NULL,
  updated_at                timestamptz NOT NULL,
  version                   int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT positive_pay_rules_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT positive_pay_rules_account FOREIGN KEY (tenant, account) REFERENCES accounts (tenant, uid),
  CONSTRAINT positive_pay_rules_dates CHECK (expiry_date > effective_date)
);
--bun:split
CREATE INDEX positive_pay_rules_of_customer ON positive_pay_rules (tenant, customer, uid);
--bun:split
CREATE INDEX positive_pay_rules_of_account ON positive_pay_rules (tenant, account, uid);
--bun:split
SELECT row_security('positive_pay_rules');
