-- How far those see who suspended a user: nobody of narrower reach activates that user again. Who suspended a
-- user before is not known, and binds nobody.
ALTER TABLE users ADD COLUMN suspended_by text NOT NULL DEFAULT '';
