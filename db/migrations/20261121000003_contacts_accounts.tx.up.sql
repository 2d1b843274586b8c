-- Accounts and contacts share one sequence: an accountUID in a payment never means two things.
CREATE SEQUENCE account_uids MINVALUE 100000000 MAXVALUE 99999999999;

-- Beneficiaries of a customer.
CREATE TABLE contacts (
  tenant                   bigint NOT NULL,
  uid                      bigint NOT NULL DEFAULT nextval('account_uids'),
  customer                 bigint NOT NULL,
  external_reference_id    text NOT NULL DEFAULT '',
  template_name            text NOT NULL DEFAULT '',      -- the nickname, unique for the customer
  name                     text NOT NULL CHECK (name <> ''),
  address_line1            text NOT NULL DEFAULT '',
  address_line2            text NOT NULL DEFAULT '',
  address_city             text NOT NULL DEFAULT '',
  address_state            text NOT NULL DEFAULT '',
  address_postal_code      text NOT NULL DEFAULT '',
  address_country_code     text NOT NULL DEFAULT '',
  address_country          text NOT NULL DEFAULT '',
  email_address            text NOT NULL DEFAULT '',
  phone_number             text NOT NULL DEFAULT '',
  bank_country             text NOT NULL DEFAULT '',
  bank_account_number_sealed bytea,
  bank_account_number_hash bytea,
  bank_account_number_last4 text NOT NULL DEFAULT '',
  bank_account_currency    text NOT NULL DEFAULT '',
  bank_account_type        text NOT NULL DEFAULT '',
  bank_account_sub_type    text NOT NULL DEFAULT '',
  bank_name                text NOT NULL DEFAULT '',
  bank_address_line1       text NOT NULL DEFAULT '',
  bank_address_line2       text NOT NULL DEFAULT '',
  bank_address_city        text NOT NULL DEFAULT '',
  bank_address_state       text NOT NULL DEFAULT '',
  bank_address_postal_code text NOT NULL DEFAULT '',
  bank_address_country_code text NOT NULL DEFAULT '',
  bank_address_country     text NOT NULL DEFAULT '',
  bank_national_code       text NOT NULL DEFAULT '',
  bank_swift_code          text NOT NULL DEFAULT '',
  intermediary_country     text NOT NULL DEFAULT '',
  intermediary_name        text NOT NULL DEFAULT '',
  intermediary_national_code text NOT NULL DEFAULT '',
  intermediary_swift_code  text NOT NULL DEFAULT '',
  intermediary_cover_message_required boolean NOT NULL DEFAULT false,
  intermediary_address_line1 text NOT NULL DEFAULT '',
  intermediary_address_line2 text NOT NULL DEFAULT '',
  intermediary_address_city text NOT NULL DEFAULT '',
  intermediary_address_state text NOT NULL DEFAULT '',
  intermediary_address_postal_code text NOT NULL DEFAULT '',
  intermediary_address_country_code text NOT NULL DEFAULT '',
  intermediary_address_country text NOT NULL DEFAULT '',
  beneficiary_notes        text NOT NULL DEFAULT '',
  other_bank_info          text NOT NULL DEFAULT '',
  regulatory_reporting     jsonb NOT NULL DEFAULT '[]',
  created_at               timestamptz NOT NULL DEFAULT now(),
  updated_at               timestamptz NOT NULL DEFAULT now(),
  version                  int NOT NULL DEFAULT 1,
  PRIMARY KEY (tenant, uid),
  FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);
CREATE INDEX contacts_customer ON contacts (tenant, customer, uid);
CREATE UNIQUE INDEX contacts_template_name ON contacts (tenant, customer, lower(template_name)) WHERE template_name <> '';
CREATE INDEX contacts_account_number ON contacts (tenant, bank_account_number_hash) WHERE bank_account_number_hash IS NOT NULL;

-- Bank accounts of customers. What is in them stands in balances.
CREATE TABLE accounts (
  tenant                bigint NOT NULL,
  uid                   bigint NOT NULL DEFAULT nextval('account_uids'),
  customer              bigint NOT NULL,
  external_reference_id text NOT NULL DEFAULT '',
  name                  text NOT NULL CHECK (name <> ''),
  number_sealed         bytea NOT NULL,
  number_hash           bytea NOT NULL,
  number_last4          text NOT NULL,
  fbo_number_sealed     bytea,
  fbo_number_hash       bytea,
  fbo_number_last4      text NOT NULL DEFAULT '',
  type                  text NOT NULL CHECK (type IN ('Deposit', 'Loan')),
  sub_type              text NOT NULL CHECK (sub_type IN ('Checking', 'Savings', 'Health Savings Account', 'CD', 'Money Market', 'Pseudo', 'Credit Card', 'Heloc', 'Line of Credit')),
  system_of_record      text NOT NULL CHECK (system_of_record IN ('Internal Core', 'Other Core', 'External')),
  balance_type          text NOT NULL DEFAULT '',
  currency              text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  country_code          text NOT NULL DEFAULT 'US',
  country               text NOT NULL DEFAULT '',
  bank_id               text NOT NULL,                    -- routing number or BIC
  bank_name             text NOT NULL DEFAULT '',
  bank_id_type          text NOT NULL CHECK (bank_id_type IN ('NID', 'BIC')),
  master_gl             text NOT NULL DEFAULT '',
  cost_center           text NOT NULL DEFAULT '',
  reason                text NOT NULL DEFAULT '',
  status                text NOT NULL CHECK (status IN ('Active', 'Inactive', 'Closed', 'Pending', 'New', 'Suspended', 'Deceased')),
  enable_wires          boolean NOT NULL DEFAULT true,
  enable_domestic_wires boolean NOT NULL DEFAULT true,
  enable_international_wires boolean NOT NULL DEFAULT false,
  enable_callbacks      boolean NOT NULL DEFAULT false,
  callback_limit        bigint CHECK (callback_limit >= 0),     -- minor units of the account's currency
  enable_ach            boolean NOT NULL DEFAULT false,
  enable_offset         boolean NOT NULL DEFAULT false,
  default_offset        boolean NOT NULL DEFAULT false,
  underwritten          boolean NOT NULL DEFAULT false,
  ach_prefund           boolean NOT NULL DEFAULT false,
  debit_exposure_limit  bigint CHECK (debit_exposure_limit >= 0),
  credit_exposure_limit bigint CHECK (credit_exposure_limit >= 0),
  ach_company_id        text NOT NULL DEFAULT '',
  sec_codes             text[] NOT NULL DEFAULT '{}',
  enable_fednow         boolean NOT NULL DEFAULT false,
  fednow_send           boolean NOT NULL DEFAULT false,
  fednow_rfp_send       boolean NOT NULL DEFAULT false,
  enable_rtp            boolean NOT NULL DEFAULT false,
  rtp_send              boolean NOT NULL DEFAULT false,
  rtp_rfp_send          boolean NOT NULL DEFAULT false,
  rfp_receive           boolean NOT NULL DEFAULT false,
  rfp_send              boolean NOT NULL DEFAULT false,
  enable_swift          boolean NOT NULL DEFAULT false,
  enable_positive_pay   boolean NOT NULL DEFAULT false,
  account_analysis      boolean NOT NULL DEFAULT false,
  fee_account           boolean NOT NULL DEFAULT false,
  return_account        boolean NOT NULL DEFAULT false,
  external_provider     text NOT NULL DEFAULT '',
  external_id           text NOT NULL DEFAULT '',
  external_token_sealed bytea,
  external_token_hash   bytea,
  external_token_last4  text NOT NULL DEFAULT '',
  additional_attributes jsonb NOT NULL DEFAULT '[]',
  created_at            timestamptz NOT NULL DEFAULT now(),
  updated_at            timestamptz NOT NULL DEFAULT now(),
  deleted_at            timestamptz,                      -- gone from every answer; the number may be used again, the uid never
  version               int NOT NULL DEFAULT 1,
  PRIMARY KEY (tenant, uid),
  FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);
CREATE INDEX accounts_customer ON accounts (tenant, customer, uid) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX accounts_number ON accounts (tenant, number_hash) WHERE deleted_at IS NULL;

-- People who may act for a customer.
CREATE SEQUENCE signatory_uids MINVALUE 1 MAXVALUE 99999999999;
CREATE TABLE signatories (
  tenant         bigint NOT NULL,
  uid            bigint NOT NULL DEFAULT nextval('signatory_uids'),
  customer       bigint NOT NULL,
  full_name      text NOT NULL CHECK (full_name <> ''),
  email_address  text NOT NULL CHECK (email_address <> ''),
  title          text NOT NULL DEFAULT '',
  phone_number   text NOT NULL CHECK (phone_number <> ''),
  approval_limit bigint CHECK (approval_limit >= 0),      -- minor units of the bank's currency
  currency       text NOT NULL,
  status         text NOT NULL CHECK (status IN ('Active', 'Pending', 'Deleted')),
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  version        int NOT NULL DEFAULT 1,
  PRIMARY KEY (tenant, uid),
  FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);
CREATE INDEX signatories_customer ON signatories (tenant, customer, uid) WHERE status <> 'Deleted';
CREATE UNIQUE INDEX signatories_email_address ON signatories (tenant, customer, lower(email_address)) WHERE status <> 'Deleted';
