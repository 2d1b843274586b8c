DROP TABLE IF EXISTS virtual_postings;
--bun:split
ALTER TABLE payments DROP COLUMN IF EXISTS virtual_account;
--bun:split
DROP TABLE IF EXISTS virtual_accounts;
--bun:split
DROP SEQUENCE IF EXISTS virtual_posting_ids;
--bun:split
DROP SEQUENCE IF EXISTS virtual_account_uids;
