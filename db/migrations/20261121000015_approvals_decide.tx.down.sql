ALTER TABLE approvals DROP COLUMN checker_reach;
ALTER TABLE approvals DROP COLUMN maker_reach;
ALTER TABLE approvals DROP COLUMN decides;
