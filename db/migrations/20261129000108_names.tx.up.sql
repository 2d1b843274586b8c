-- Two names are one if they differ in the case of A to Z alone, whatever the locale of the database: it may be another
-- one after a restore, and fold other letters, too. Names that were one in any locale stay one.
DROP INDEX customers_short_name;
--bun:split
CREATE UNIQUE INDEX customers_short_name ON customers (tenant, lower(short_name COLLATE "C"));
--bun:split
CREATE INDEX customers_short_name_former ON customers (tenant, lower(short_name)); -- the previous release reads by it; the next one drops it
--bun:split
DROP INDEX contacts_template_name;
--bun:split
CREATE UNIQUE INDEX contacts_template_name ON contacts (tenant, customer, lower(template_name COLLATE "C")) WHERE template_name <> '' AND status <> 'Refused';
--bun:split
DROP INDEX signatories_email_address;
--bun:split
CREATE UNIQUE INDEX signatories_email_address ON signatories (tenant, customer, lower(email_address COLLATE "C")) WHERE status <> 'Deleted';
--bun:split
DROP INDEX roles_name;
--bun:split
CREATE UNIQUE INDEX roles_name ON roles (tenant, customer, lower(name COLLATE "C"));
--bun:split
DROP INDEX attributes_name;
--bun:split
CREATE UNIQUE INDEX attributes_name ON attributes (tenant, level, lower(name COLLATE "C"));
--bun:split
-- Beside that of the words as this locale folds them, by which the previous release configures fees; the next one drops it.
CREATE UNIQUE INDEX fee_catalogue_names ON fee_catalogue
  (tenant, lower(application COLLATE "C"), lower(product COLLATE "C"), lower(fee_name COLLATE "C"), lower(fee_tier COLLATE "C"));
