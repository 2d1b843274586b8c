CREATE INDEX IF NOT EXISTS payments_leaving ON payments (tenant, send_at, uid)
  WHERE state = 'SCHEDULED' AND send_at IS NOT NULL;
--bun:split
DROP INDEX IF EXISTS payments_leaving_in_turn;
