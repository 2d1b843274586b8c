-- Approvals about a customer from before it moved to another partner: the bank alone sees them.
ALTER TABLE approvals ADD COLUMN former boolean NOT NULL DEFAULT false;
