DROP TABLE ach_reversals;
--bun:split
DROP VIEW ach_debits;
--bun:split
DO $$ DECLARE whose bigint; BEGIN
  FOR whose IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', whose::text, true);
    DELETE FROM ach_received WHERE tenant = whose AND (direction = 'CREDIT' OR amount = 0);
  END LOOP;
END $$;
--bun:split
ALTER TABLE ach_received DROP CONSTRAINT ach_received_amount;
--bun:split
ALTER TABLE ach_received ADD CONSTRAINT ach_debits_amount CHECK (amount > 0);
--bun:split
ALTER TABLE ach_received DROP COLUMN direction;
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_received_pkey TO ach_debits_pkey;
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_received_once TO ach_debits_once;
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_received_message TO ach_debits_message;
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_received_file TO ach_debits_file;
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_received_payment TO ach_debits_payment;
--bun:split
ALTER TABLE ach_received RENAME CONSTRAINT ach_received_returned TO ach_debits_returned;
--bun:split
ALTER INDEX ach_received_of_payment RENAME TO ach_debits_of_payment;
--bun:split
ALTER INDEX ach_received_waiting RENAME TO ach_debits_waiting;
--bun:split
ALTER TABLE ach_received RENAME TO ach_debits;
