DROP TABLE ach_answers;
DROP TABLE ach_entries;
DROP TABLE ach_origins;
DROP INDEX payments_settling;
ALTER TABLE payments DROP COLUMN settles_at;
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_rail;
ALTER TABLE payments ADD CONSTRAINT payments_rail CHECK (rail IN ('BOOK', 'FEDNOW', 'RTP', 'FEDWIRE')) NOT VALID;
