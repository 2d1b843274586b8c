-- Whose payment was screened stands in the payment. The previous release still writes and reads the column here:
-- a later one drops it.
ALTER TABLE payment_screenings ALTER COLUMN customer DROP NOT NULL;
