-- Contacts that wait for a second person or were refused; a refused one is in no list and its nickname is free again.
ALTER TABLE contacts
  ADD COLUMN status text NOT NULL DEFAULT 'Active' CHECK (status IN ('Active', 'Pending', 'Refused')),
  ADD COLUMN intermediary_address_line3 text NOT NULL DEFAULT '';
--bun:split
DROP INDEX contacts_template_name;
--bun:split
CREATE UNIQUE INDEX contacts_template_name ON contacts (tenant, customer, lower(template_name)) WHERE template_name <> '' AND status <> 'Refused';
--bun:split
DROP INDEX contacts_customer;
--bun:split
CREATE INDEX contacts_customer ON contacts (tenant, customer, uid) INCLUDE (status);
--bun:split
-- What a bank reports of its customers' contacts: the keys that regulatory entries may have.
ALTER TABLE tenants ADD COLUMN reporting_keys text[] NOT NULL DEFAULT '{routingNumber,social,TaxId}';
