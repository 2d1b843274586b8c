-- A series can also collect from an account at another bank.
ALTER TABLE recurrences ADD COLUMN entry_type text NOT NULL DEFAULT 'CREDIT'
  CONSTRAINT recurrences_entry_type CHECK (entry_type IN ('CREDIT', 'DEBIT'));
