-- For how many minutes a trade can be cancelled from outside the bank. Without an end a customer who has booked
-- a rate gives it back when the market is better.
ALTER TABLE tenant_settings ADD COLUMN cancel_minutes int NOT NULL DEFAULT 15
  CONSTRAINT tenant_settings_cancel_minutes CHECK (cancel_minutes BETWEEN 0 AND 1440);
