-- Whose the second person must be at least, and whose those were who asked and decided: bank, partner or customer. What
-- waited before is for the bank to decide.
ALTER TABLE approvals ADD COLUMN decides text NOT NULL DEFAULT 'Bank';
ALTER TABLE approvals ADD COLUMN maker_reach text NOT NULL DEFAULT 'Bank';
ALTER TABLE approvals ADD COLUMN checker_reach text NOT NULL DEFAULT 'Bank';
