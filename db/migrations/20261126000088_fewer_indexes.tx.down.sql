ALTER TABLE bulk_file_lines ADD CONSTRAINT bulk_file_lines_tenant_fkey FOREIGN KEY (tenant) REFERENCES tenants (id);
ALTER TABLE audit_seals ADD CONSTRAINT audit_seals_tenant_fkey FOREIGN KEY (tenant) REFERENCES tenants (id);
ALTER TABLE events ADD CONSTRAINT events_tenant_fkey FOREIGN KEY (tenant) REFERENCES tenants (id);
--bun:split
DROP INDEX payments_to_account;
CREATE INDEX payments_to_account ON payments (tenant, receiver_account, uid);
CREATE INDEX bulk_file_lines_waiting ON bulk_file_lines (tenant, id) WHERE status = 'VALID';
CREATE INDEX bulk_file_lines_of_file ON bulk_file_lines (tenant, file, id);
CREATE INDEX events_object ON events (tenant, object, uid, id);
