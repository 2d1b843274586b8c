DROP INDEX clients_user;
ALTER TABLE clients DROP CONSTRAINT clients_user, DROP COLUMN user_uid;
DROP TABLE issuers;
