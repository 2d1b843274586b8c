-- What a file is known again by is kept sealed beside its hash, which is made anew of it where keys rotate; NULL of those
-- from before this was kept.
ALTER TABLE bulk_files ADD COLUMN content_sealed bytea;
