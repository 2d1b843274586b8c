DROP TABLE IF EXISTS contact_verifications;
--bun:split
DROP SEQUENCE IF EXISTS contact_verification_uids;
