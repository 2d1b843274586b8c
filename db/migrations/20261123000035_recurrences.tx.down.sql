DROP INDEX payments_of_recurrence;
--bun:split
ALTER TABLE payments DROP COLUMN recurrence;
--bun:split
DROP TABLE recurrences;
--bun:split
DROP SEQUENCE recurrence_uids;
