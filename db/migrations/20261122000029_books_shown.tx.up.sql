-- How far the value dates of a bank's journals are from their booking days, counted in UTC: the least and the most
-- bound which postings can count for a day.
CREATE INDEX journals_shift ON journals (tenant, (value_date - (booked_at AT TIME ZONE 'UTC')::date));
--bun:split
-- What the last proof of each bank's books has found.
CREATE TABLE proofs (
  tenant      bigint PRIMARY KEY REFERENCES tenants (id),
  started_at  timestamptz NOT NULL,                       -- by the database's clock
  finished_at timestamptz NOT NULL,
  invariants  jsonb NOT NULL                              -- each with the rows that break it
);
SELECT row_security('proofs');
