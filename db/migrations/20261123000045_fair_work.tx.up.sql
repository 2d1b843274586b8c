-- Work that is fair: no file and no customer keeps those of others from their turn.
ALTER TABLE bulk_files ADD COLUMN stalled int NOT NULL DEFAULT 0; -- attempts since the checking came on
--bun:split
ALTER TABLE bulk_files ADD COLUMN worked_at timestamptz;          -- when its lines were last paid
--bun:split
CREATE INDEX payments_queued_of_customer ON payments (tenant, customer, send_at, uid) WHERE state = 'QUEUED';
