ALTER TABLE approvals DROP COLUMN former;
