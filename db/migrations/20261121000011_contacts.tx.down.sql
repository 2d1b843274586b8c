ALTER TABLE tenants DROP COLUMN reporting_keys;
--bun:split
DROP INDEX contacts_customer;
--bun:split
CREATE INDEX contacts_customer ON contacts (tenant, customer, uid);
--bun:split
-- The older schema cannot tell refused contacts from others: they were never shown.
DELETE FROM contacts WHERE status = 'Refused';
--bun:split
DROP INDEX contacts_template_name;
--bun:split
CREATE UNIQUE INDEX contacts_template_name ON contacts (tenant, customer, lower(template_name)) WHERE template_name <> '';
--bun:split
ALTER TABLE contacts DROP COLUMN status, DROP COLUMN intermediary_address_line3;
