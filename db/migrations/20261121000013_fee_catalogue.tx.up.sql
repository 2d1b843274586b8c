-- Versions of what a customer's limits are, and who waits for whom where fee tiers need two people.
ALTER TABLE limits ADD COLUMN version int NOT NULL DEFAULT 1;
--bun:split
ALTER TABLE fee_tiers
  ADD COLUMN status text NOT NULL DEFAULT 'Active' CHECK (status IN ('Active', 'Pending', 'Refused')),
  ADD COLUMN version int NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
--bun:split
-- What a bank takes fees for: the combinations that its customers' fee tiers may name, and their prices.
CREATE TABLE fee_catalogue (
  tenant      bigint NOT NULL REFERENCES tenants (id),
  application text NOT NULL CHECK (application <> ''),
  product     text NOT NULL CHECK (product <> ''),
  fee_name    text NOT NULL CHECK (fee_name <> ''),
  fee_tier    text NOT NULL CHECK (fee_tier <> ''),
  price       bigint NOT NULL CHECK (price >= 0),         -- minor units
  currency    text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  PRIMARY KEY (tenant, application, product, fee_name, fee_tier)
);
--bun:split
SELECT row_security('fee_catalogue');
--bun:split
CREATE UNIQUE INDEX fee_catalogue_words ON fee_catalogue (tenant, lower(application), lower(product), lower(fee_name), lower(fee_tier));
--bun:split
-- A customer has each fee once for an account, and once for all of them (0).
CREATE UNIQUE INDEX fee_tiers_fee ON fee_tiers (tenant, customer, application, product, fee_name, coalesce(account, 0)) WHERE status <> 'Refused';
