DROP TABLE user_roles, roles;
DROP SEQUENCE role_numbers;
CREATE INDEX users_customer ON users (tenant, customer, uid);
ALTER TABLE users DROP CONSTRAINT users_tenant_customer_uid_key,
  DROP COLUMN number, DROP COLUMN external_reference_id, DROP COLUMN department, DROP COLUMN phone_number, DROP COLUMN mobile,
  DROP COLUMN limits, DROP COLUMN updated_at, DROP COLUMN version;
DROP SEQUENCE user_numbers;
