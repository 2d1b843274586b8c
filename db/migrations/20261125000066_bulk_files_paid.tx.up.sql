-- Where the paying of a file goes on, so that it does not pass again what earlier transactions left behind.
ALTER TABLE bulk_files ADD COLUMN paid int NOT NULL DEFAULT 0; -- lines up to this one are dealt with
