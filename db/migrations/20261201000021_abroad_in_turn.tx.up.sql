-- Of payments abroad that leave on a day, each customer gets its turn, as of those of other networks.
CREATE INDEX payments_leaving_in_turn ON payments (tenant, send_at, customer, uid)
  WHERE state = 'SCHEDULED' AND send_at IS NOT NULL;
--bun:split
DROP INDEX payments_leaving;
