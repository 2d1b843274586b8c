DROP INDEX payments_queued_of_customer;
--bun:split
ALTER TABLE bulk_files DROP COLUMN worked_at;
--bun:split
ALTER TABLE bulk_files DROP COLUMN stalled;
