-- Entries of ACH that come from abroad, of class IAT.
ALTER TABLE ach_received ADD abroad_sealed bytea; -- who pays whom, and at which banks: their returns repeat it
