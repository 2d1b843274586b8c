DROP TABLE refresh_tokens;
DROP TABLE clients;
DROP TABLE signing_keys;
DROP TABLE tenants;
