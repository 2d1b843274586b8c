DROP INDEX approvals_room;
--bun:split
ALTER TABLE approvals DROP COLUMN maker_party;
