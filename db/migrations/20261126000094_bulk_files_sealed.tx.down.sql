ALTER TABLE bulk_files DROP COLUMN IF EXISTS content_sealed;
