DROP TABLE IF EXISTS sweep_runs;
--bun:split
DROP SEQUENCE IF EXISTS sweep_run_uids;
--bun:split
DROP INDEX IF EXISTS sweeps_failed;
--bun:split
DROP INDEX IF EXISTS sweeps_next;
--bun:split
ALTER TABLE sweeps DROP COLUMN IF EXISTS failure;
--bun:split
ALTER TABLE sweeps DROP COLUMN IF EXISTS failed_at;
--bun:split
ALTER TABLE sweeps DROP COLUMN IF EXISTS next_date;
--bun:split
ALTER TABLE sweeps DROP COLUMN IF EXISTS maker;
