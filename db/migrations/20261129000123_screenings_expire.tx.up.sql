-- When a screening is decided without a person: a debit of another bank whose return has to leave by then. NULL for
-- never, and of debits that wait already.
ALTER TABLE payment_screenings ADD COLUMN expires_at timestamptz;
--bun:split
CREATE INDEX payment_screenings_expiring ON payment_screenings (tenant, expires_at)
  WHERE status = 'PENDING' AND expires_at IS NOT NULL;
