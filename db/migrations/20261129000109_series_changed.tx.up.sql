-- A change of a series that waits is stale once people have changed the series, and not by its own payments.
ALTER TABLE recurrences ADD COLUMN changed_version int NOT NULL DEFAULT 0;
