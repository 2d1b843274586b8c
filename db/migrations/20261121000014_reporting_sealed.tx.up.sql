-- What regulators ask for of a contact is sealed: {"key", "sealed", "hash", "last4"}. It was {"key", "value"}. Workers find
-- here what is left of that (core/contacts); the next migration may forbid it, once there is nothing.
CREATE INDEX contacts_plain_reporting ON contacts (tenant, uid) WHERE regulatory_reporting @@ 'exists($[*].value)';
--bun:split
-- The program before this one reads a sealed entry as one without a value. Were it to write that back in an upgrade,
-- the value would be lost.
ALTER TABLE contacts ADD CONSTRAINT contacts_reporting_kept CHECK (NOT regulatory_reporting @@ '$[*].value == ""') NOT VALID;
