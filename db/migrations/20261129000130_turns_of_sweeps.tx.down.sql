CREATE INDEX waterfalls_at_work ON waterfalls (tenant, uid) WHERE status IN ('RECEIVED', 'PROCESSING', 'PENDING_APPROVAL');
--bun:split
DROP INDEX waterfalls_pending;
--bun:split
DROP INDEX waterfalls_in_turn;
--bun:split
CREATE INDEX recurrences_due ON recurrences (tenant, next_date, uid) WHERE status = 'Active';
--bun:split
DROP INDEX recurrences_in_turn;
--bun:split
CREATE INDEX sweeps_next ON sweeps (tenant, next_date, account, direction);
--bun:split
DROP INDEX sweeps_due_of_customer;
--bun:split
DROP INDEX sweeps_due;
--bun:split
ALTER TABLE sweeps DROP COLUMN customer;
