-- A bank numbers its entries within a batch: another file of the same day may have the number again.
ALTER TABLE ach_received DROP CONSTRAINT ach_received_once;
--bun:split
ALTER TABLE ach_received ADD CONSTRAINT ach_received_once
  UNIQUE (tenant, trace, settles_on, direction, amount, number_last4, company_id);
