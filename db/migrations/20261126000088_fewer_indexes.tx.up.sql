-- Payments of files are written by the million, and each index and each check of a reference costs as much as
-- a tenth of a row. These serve nobody: events are read in the order of the record, lines by their id, which
-- begins with the file's, and payments by an account of the bank only where one receives them.
DROP INDEX events_object, bulk_file_lines_of_file, bulk_file_lines_waiting, payments_to_account;
CREATE INDEX payments_to_account ON payments (tenant, receiver_account, uid) WHERE receiver_account IS NOT NULL;
--bun:split
-- The bank of an event and of a seal is that of the entry beside it, and the bank of a line that of its file.
ALTER TABLE events DROP CONSTRAINT events_tenant_fkey;
ALTER TABLE audit_seals DROP CONSTRAINT audit_seals_tenant_fkey;
ALTER TABLE bulk_file_lines DROP CONSTRAINT bulk_file_lines_tenant_fkey;
