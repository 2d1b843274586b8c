-- Whose those were who placed a hold: bank or partner. What the bank holds it alone releases, and the names of
-- its people are not for others to read; whose it was before is not known, and counts as the bank's.
ALTER TABLE account_holds ADD COLUMN reach text NOT NULL DEFAULT 'Bank';
