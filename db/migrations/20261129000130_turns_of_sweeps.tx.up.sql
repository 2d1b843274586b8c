-- Sweeps, series and waterfalls that are due are found customer by customer, or by who asked for them: however many one
-- has, the others get their turn. 0 is a sweep that the release before set up: its customer is found with its next day.
ALTER TABLE sweeps ADD COLUMN customer bigint NOT NULL DEFAULT 0;
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE sweeps AS w SET customer = a.customer FROM accounts AS a
      WHERE w.tenant = bank AND a.tenant = bank AND a.uid = w.account AND w.customer = 0;
  END LOOP;
END $$;
--bun:split
CREATE INDEX sweeps_due ON sweeps (tenant, next_date, customer);
--bun:split
CREATE INDEX sweeps_due_of_customer ON sweeps (tenant, customer, next_date, account, direction);
--bun:split
DROP INDEX sweeps_next;
--bun:split
CREATE INDEX recurrences_in_turn ON recurrences (tenant, (CASE WHEN speed = '' THEN 'BOOK'
  WHEN speed = 'Economy' THEN 'ECONOMY' ELSE 'OTHER' END), next_date, customer, uid) WHERE status = 'Active';
--bun:split
DROP INDEX recurrences_due;
--bun:split
CREATE INDEX waterfalls_in_turn ON waterfalls (tenant, maker_client, maker_login, worked_at NULLS FIRST, uid)
  WHERE status IN ('RECEIVED', 'PROCESSING');
--bun:split
CREATE INDEX waterfalls_pending ON waterfalls (tenant, waits_for) WHERE status = 'PENDING_APPROVAL';
--bun:split
DROP INDEX waterfalls_at_work;
