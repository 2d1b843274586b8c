DROP INDEX fee_catalogue_names;
--bun:split
DROP INDEX attributes_name;
--bun:split
CREATE UNIQUE INDEX attributes_name ON attributes (tenant, level, lower(name));
--bun:split
DROP INDEX roles_name;
--bun:split
CREATE UNIQUE INDEX roles_name ON roles (tenant, customer, lower(name));
--bun:split
DROP INDEX signatories_email_address;
--bun:split
CREATE UNIQUE INDEX signatories_email_address ON signatories (tenant, customer, lower(email_address)) WHERE status <> 'Deleted';
--bun:split
DROP INDEX contacts_template_name;
--bun:split
CREATE UNIQUE INDEX contacts_template_name ON contacts (tenant, customer, lower(template_name)) WHERE template_name <> '' AND status <> 'Refused';
--bun:split
DROP INDEX customers_short_name_former;
--bun:split
DROP INDEX customers_short_name;
--bun:split
CREATE UNIQUE INDEX customers_short_name ON customers (tenant, lower(short_name));
