-- Entries of ACH to accounts abroad, of class IAT.
ALTER TABLE ach_entries ADD purpose text NOT NULL DEFAULT '';        -- what it is for, such as SAL; '' for other classes
--bun:split
ALTER TABLE ach_entries ADD currency text NOT NULL DEFAULT '';       -- in which it is received
--bun:split
ALTER TABLE payment_details ADD bank_country text NOT NULL DEFAULT ''; -- of the bank that has the account
--bun:split
ALTER TABLE payment_details ADD abroad_sealed bytea;                 -- names, addresses and ids of banks
