CREATE SEQUENCE customer_uids MINVALUE 1000000 MAXVALUE 99999999999;

-- Legal entities: the bank itself, its customers, its partners and their customers.
-- Optional text is '' where absent.
CREATE TABLE customers (
  tenant                    bigint NOT NULL REFERENCES tenants (id),
  uid                       bigint NOT NULL DEFAULT nextval('customer_uids'),
  owner                     bigint NOT NULL DEFAULT 0,    -- the partner that it belongs to; a partner's own row names itself; 0: the bank's own
  external_reference_id     text NOT NULL DEFAULT '',
  legal_name                text NOT NULL CHECK (legal_name <> ''),
  short_name                text NOT NULL CHECK (short_name <> ''),
  type                      text NOT NULL CHECK (type IN ('Consumer', 'Corporate', 'Downstream Partner', 'Processing Org', 'Financial Institution')),
  tax_id_sealed             bytea,
  tax_id_hash               bytea,
  tax_id_last4              text NOT NULL DEFAULT '',
  ach_company_id            text NOT NULL DEFAULT '',
  customer_id               text NOT NULL DEFAULT '',     -- chosen by the caller; not the uid
  status                    text NOT NULL CHECK (status IN ('Active', 'Suspended', 'New', 'Pending')),
  lei                       text NOT NULL DEFAULT '',
  swift_code                text NOT NULL DEFAULT '',
  language                  text NOT NULL DEFAULT '',
  email_address             text NOT NULL DEFAULT '',
  phone_number              text NOT NULL DEFAULT '',
  fax_number                text NOT NULL DEFAULT '',
  website                   text NOT NULL DEFAULT '',
  logo_url                  text NOT NULL DEFAULT '',
  linkedin_url              text NOT NULL DEFAULT '',
  twitter_url               text NOT NULL DEFAULT '',
  legal_line1               text NOT NULL DEFAULT '',
  legal_line2               text NOT NULL DEFAULT '',
  legal_city                text NOT NULL DEFAULT '',
  legal_state               text NOT NULL DEFAULT '',
  legal_postal_code         text NOT NULL DEFAULT '',
  legal_country_code        text NOT NULL DEFAULT '',
  legal_country             text NOT NULL DEFAULT '',
  mail_address_same_as_legal boolean NOT NULL DEFAULT true,
  mailing_line1             text NOT NULL DEFAULT '',
  mailing_line2             text NOT NULL DEFAULT '',
  mailing_city              text NOT NULL DEFAULT '',
  mailing_state             text NOT NULL DEFAULT '',
  mailing_postal_code       text NOT NULL DEFAULT '',
  mailing_country_code      text NOT NULL DEFAULT '',
  mailing_country           text NOT NULL DEFAULT '',
  relationship_type         text NOT NULL DEFAULT 'Customer' CHECK (relationship_type IN ('Customer', 'Bank', 'ThirdParty', 'Self')),
  -- Short names never change, so the names of related customers stand beside their numbers.
  partner_org_short_name    text NOT NULL DEFAULT '',
  processing_org_short_name text NOT NULL DEFAULT '',
  parent                    bigint,
  parent_entity_short_name  text NOT NULL DEFAULT '',
  cost_center               text NOT NULL DEFAULT '',
  relationship_manager      text NOT NULL DEFAULT '',     -- a user's login id
  originating_officer       text NOT NULL DEFAULT '',     -- a user's login id
  profile_credit_client     boolean NOT NULL DEFAULT false,
  profile_account_analysis  boolean NOT NULL DEFAULT false,
  profile_sso               boolean NOT NULL DEFAULT false,
  profile_billing_customer  boolean NOT NULL DEFAULT false,
  profile_restricted_access boolean NOT NULL DEFAULT false,
  profile_ach_positive_pay  boolean NOT NULL DEFAULT false,
  profile_ach_whitelist     boolean NOT NULL DEFAULT false,
  profile_ach_non_prefund   boolean NOT NULL DEFAULT false,
  profile_ach_non_prefund_limit text NOT NULL DEFAULT '',
  profile_payment_file_authentication boolean NOT NULL DEFAULT false,
  profile_fx_pricing_tier   text NOT NULL DEFAULT '',
  profile_credit_value_adjustment text NOT NULL DEFAULT '',
  profile_details_of_charge text NOT NULL DEFAULT '' CHECK (profile_details_of_charge IN ('', 'OUR', 'BEN', 'SHA')),
  sec_codes                 text[] NOT NULL DEFAULT '{}',
  note                      text NOT NULL DEFAULT '',
  access_allow_online_access       boolean NOT NULL DEFAULT false,
  access_user_pin_for_new_entry    boolean NOT NULL DEFAULT false,
  access_user_dual_approval        boolean NOT NULL DEFAULT false,
  access_user_pin_for_approval     boolean NOT NULL DEFAULT false,
  access_notifications_dual_approval boolean NOT NULL DEFAULT false,
  access_customer_pin_for_new_entry boolean NOT NULL DEFAULT false,
  access_customer_dual_approval    boolean NOT NULL DEFAULT false,
  access_customer_pin_for_approval boolean NOT NULL DEFAULT false,
  access_bene_pin_for_new_entry    boolean NOT NULL DEFAULT false,
  access_bene_dual_approval        boolean NOT NULL DEFAULT false,
  access_bene_pin_for_approval     boolean NOT NULL DEFAULT false,
  access_payment_pin_for_new_entry boolean NOT NULL DEFAULT false,
  access_payment_dual_approval     boolean NOT NULL DEFAULT false,
  access_payment_pin_for_approval  boolean NOT NULL DEFAULT false,
  access_fee_tier_for_approval     boolean NOT NULL DEFAULT false,
  access_first_approver_limit      bigint NOT NULL DEFAULT 0 CHECK (access_first_approver_limit >= 0),   -- minor units of the bank's currency
  access_second_approver_limit     bigint NOT NULL DEFAULT 0 CHECK (access_second_approver_limit >= 0),
  access_number_of_approvers       int NOT NULL DEFAULT 0 CHECK (access_number_of_approvers BETWEEN 0 AND 2),
  additional_attributes     jsonb NOT NULL DEFAULT '[]',
  created_at                timestamptz NOT NULL DEFAULT now(),
  updated_at                timestamptz NOT NULL DEFAULT now(),
  version                   int NOT NULL DEFAULT 1,
  PRIMARY KEY (tenant, uid),
  FOREIGN KEY (tenant, parent) REFERENCES customers (tenant, uid)
);
CREATE UNIQUE INDEX customers_short_name ON customers (tenant, lower(short_name));
CREATE UNIQUE INDEX customers_customer_id ON customers (tenant, customer_id) WHERE customer_id <> '';
CREATE UNIQUE INDEX customers_lei ON customers (tenant, lei) WHERE lei <> '';
CREATE UNIQUE INDEX customers_institution ON customers (tenant) WHERE relationship_type = 'Self';
CREATE INDEX customers_owner ON customers (tenant, owner, uid);
CREATE INDEX customers_tax_id ON customers (tenant, tax_id_hash) WHERE tax_id_hash IS NOT NULL;
CREATE INDEX customers_parent ON customers (tenant, parent) WHERE parent IS NOT NULL;
-- Lists by name: prefix ranges and their order, byte by byte, so that the index serves both.
CREATE INDEX customers_name ON customers (tenant, (lower(legal_name) COLLATE "C"), uid);
CREATE INDEX customers_owner_name ON customers (tenant, owner, (lower(legal_name) COLLATE "C"), uid); -- a partner's own list by name
CREATE INDEX customers_status ON customers (tenant, status, uid);
CREATE INDEX customers_type ON customers (tenant, type, uid);
CREATE INDEX customers_words ON customers USING gin (to_tsvector('simple', legal_name));

-- How many customers each owner has, in shards so that writers do not wait for each other.
CREATE TABLE customer_counts (
  tenant    bigint NOT NULL REFERENCES tenants (id),
  owner     bigint NOT NULL,
  shard     smallint NOT NULL,
  customers bigint NOT NULL,
  PRIMARY KEY (tenant, owner, shard)
);

-- People of the bank and of its customers.
CREATE TABLE users (
  tenant        bigint NOT NULL REFERENCES tenants (id),
  uid           uuid NOT NULL,
  customer      bigint NOT NULL,
  login_id      text NOT NULL CHECK (login_id <> ''),
  first_name    text NOT NULL DEFAULT '',
  last_name     text NOT NULL DEFAULT '',
  email_address text NOT NULL DEFAULT '',
  status        text NOT NULL CHECK (status IN ('Active', 'Pending', 'Suspended', 'Locked')),
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, uid),
  FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);
CREATE UNIQUE INDEX users_login_id ON users (tenant, lower(login_id));
CREATE INDEX users_customer ON users (tenant, customer, uid);
