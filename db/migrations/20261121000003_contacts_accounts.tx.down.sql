DROP TABLE signatories;
DROP SEQUENCE signatory_uids;
DROP TABLE accounts;
DROP TABLE contacts;
DROP SEQUENCE account_uids;
