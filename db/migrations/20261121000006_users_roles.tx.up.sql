-- What users are beside their names. number is the order of lists: uids are random.
CREATE SEQUENCE user_numbers MINVALUE 1 MAXVALUE 99999999999;
ALTER TABLE users
  ADD COLUMN number                bigint NOT NULL DEFAULT nextval('user_numbers'),
  ADD COLUMN external_reference_id text NOT NULL DEFAULT '',
  ADD COLUMN department            text NOT NULL DEFAULT '',
  ADD COLUMN phone_number          text NOT NULL DEFAULT '',  -- E.164
  ADD COLUMN mobile                text NOT NULL DEFAULT '',  -- E.164
  ADD COLUMN limits                jsonb NOT NULL DEFAULT '[]', -- by application: amounts, none above those of the roles
  ADD COLUMN updated_at            timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN version               int NOT NULL DEFAULT 1;
UPDATE users SET updated_at = created_at;
CREATE UNIQUE INDEX users_number ON users (tenant, customer, number);
DROP INDEX users_customer;
--bun:split
-- What a user may do is what its roles grant. A role belongs to one legal entity and is for its users alone.
CREATE SEQUENCE role_numbers MINVALUE 1 MAXVALUE 99999999999;
CREATE TABLE roles (
  tenant                bigint NOT NULL,
  uid                   uuid NOT NULL,
  number                bigint NOT NULL DEFAULT nextval('role_numbers'),
  customer              bigint NOT NULL,
  external_reference_id text NOT NULL DEFAULT '',
  name                  text NOT NULL CHECK (name <> ''),
  description           text NOT NULL DEFAULT '',
  type                  text NOT NULL CHECK (type IN ('CUSTOMER', 'BANK')),   -- BANK: of the bank's own people
  owner                 text NOT NULL CHECK (owner IN ('Bank', 'Customer')),  -- who made it
  status                text NOT NULL CHECK (status IN ('Active', 'Pending')),
  applications          jsonb NOT NULL,                   -- each with its entitlements and limits
  created_at            timestamptz NOT NULL DEFAULT now(),
  updated_at            timestamptz NOT NULL DEFAULT now(),
  version               int NOT NULL DEFAULT 1,
  PRIMARY KEY (tenant, uid),
  UNIQUE (tenant, customer, uid),
  FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);
CREATE UNIQUE INDEX roles_name ON roles (tenant, customer, lower(name));
CREATE UNIQUE INDEX roles_number ON roles (tenant, customer, number);
--bun:split
-- Who has which role: both are of the same legal entity.
ALTER TABLE users ADD UNIQUE (tenant, customer, uid);
CREATE TABLE user_roles (
  tenant    bigint NOT NULL,
  customer  bigint NOT NULL,
  user_uid  uuid NOT NULL,
  role_uid  uuid NOT NULL,
  PRIMARY KEY (tenant, user_uid, role_uid),
  FOREIGN KEY (tenant, customer, user_uid) REFERENCES users (tenant, customer, uid),
  FOREIGN KEY (tenant, customer, role_uid) REFERENCES roles (tenant, customer, uid)
);
CREATE INDEX user_roles_role ON user_roles (tenant, role_uid);
