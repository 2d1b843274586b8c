-- Verifications of which something may still come are looked at some at a time, in the order of their numbers.
CREATE INDEX contact_verifications_watched ON contact_verifications (tenant, uid) WHERE due_at IS NOT NULL;
--bun:split
-- A customer has only so many at a time whose end is not known.
CREATE INDEX contact_verifications_open_of_customer ON contact_verifications (tenant, customer)
  WHERE state IN ('PENDING', 'AWAITING_AMOUNTS');
