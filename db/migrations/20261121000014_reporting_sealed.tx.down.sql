-- What was sealed stays so: the older program shows such an entry without its value.
ALTER TABLE contacts DROP CONSTRAINT IF EXISTS contacts_reporting_kept;
--bun:split
DROP INDEX contacts_plain_reporting;
