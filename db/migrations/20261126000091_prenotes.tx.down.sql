DROP TABLE IF EXISTS ach_prenotes;
--bun:split
DROP SEQUENCE IF EXISTS ach_prenote_ids;
--bun:split
ALTER TABLE contact_verifications DROP COLUMN IF EXISTS right_last4;
--bun:split
ALTER TABLE contact_verifications DROP COLUMN IF EXISTS right_routing;
--bun:split
ALTER TABLE contact_verifications DROP COLUMN IF EXISTS right_account;
