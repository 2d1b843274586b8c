-- Up to which line those of which no payment was made have been removed, once a file has ended long ago.
ALTER TABLE bulk_files ADD COLUMN cleared integer NOT NULL DEFAULT 0;
CREATE INDEX bulk_files_uncleared ON bulk_files (tenant, updated_at)
  WHERE status IN ('FAILED', 'REJECTED', 'CANCELLED', 'PARTIALLY_PROCESSED') AND cleared < checked;
