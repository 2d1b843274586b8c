CREATE INDEX sweeps_failed ON sweeps (tenant, failed_at) WHERE failed_at IS NOT NULL;
--bun:split
DROP INDEX sweeps_failed_in_turn;
--bun:split
DROP INDEX approvals_in_turn;
--bun:split
DROP INDEX positive_pay_exceptions_in_turn;
--bun:split
DROP INDEX payments_screening_in_turn;
--bun:split
CREATE INDEX payments_in_repair_of ON payments (tenant, customer) WHERE state = 'REPAIR';
--bun:split
DROP INDEX payments_repair_in_turn;
--bun:split
DROP INDEX payments_failed_in_turn;
