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
ALTER TABLE ach_received DROP CONSTRAINT IF EXISTS ach_received_amount;
--bun:split
ALTER TABLE ach_received ADD CONSTRAINT ach_debits_amount CHECK (amount > 0) NOT VALID;
--bun:split
ALTER TABLE ach_received DROP COLUMN direction;
--bun:split
DO $$ DECLARE named text; BEGIN
  FOR named IN SELECT conname FROM pg_constraint
    WHERE conrelid = 'ach_received'::regclass AND conname LIKE 'ach\_received\_%' LOOP
    EXECUTE format('ALTER TABLE ach_received RENAME CONSTRAINT %I TO %I', named, replace(named, 'ach_received', 'ach_debits'));
  END LOOP;
END $$;
--bun:split
ALTER INDEX ach_received_of_payment RENAME TO ach_debits_of_payment;
--bun:split
ALTER INDEX ach_received_waiting RENAME TO ach_debits_waiting;
--bun:split
ALTER TABLE ach_received RENAME TO ach_debits;
