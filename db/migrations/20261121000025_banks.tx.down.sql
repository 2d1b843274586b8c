DROP TABLE bank_imports, bank_listings, banks;
--bun:split
DROP SEQUENCE bank_uids;
--bun:split
DROP FUNCTION shared_wall(regclass, boolean);
