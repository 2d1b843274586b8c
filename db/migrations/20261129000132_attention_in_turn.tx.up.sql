-- What waits for people is found customer by customer, so that nobody's many things hide those of others. Failures stay
-- for ever: theirs are found by their day.
CREATE INDEX payments_failed_in_turn ON payments (tenant, ((updated_at AT TIME ZONE 'UTC')::date), customer, updated_at, uid)
  WHERE state = 'INVALID';
--bun:split
CREATE INDEX payments_repair_in_turn ON payments (tenant, customer, updated_at, uid) WHERE state = 'REPAIR';
--bun:split
DROP INDEX payments_in_repair_of;
--bun:split
CREATE INDEX payments_screening_in_turn ON payments (tenant, customer, updated_at, uid) WHERE state = 'SCREENING';
--bun:split
CREATE INDEX positive_pay_exceptions_in_turn ON positive_pay_exceptions (tenant, customer, created_at, payment)
  WHERE status = 'PENDING';
--bun:split
CREATE INDEX approvals_in_turn ON approvals (tenant, customer, made_at, uid) WHERE status = 'Open';
--bun:split
CREATE INDEX sweeps_failed_in_turn ON sweeps (tenant, customer, failed_at, account) WHERE failed_at IS NOT NULL;
--bun:split
DROP INDEX sweeps_failed;
