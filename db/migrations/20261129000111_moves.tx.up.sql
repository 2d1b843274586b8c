-- When a customer last came to another partner, or to the bank: of what was done until then, nobody outside the
-- bank reads who of the former partner did it.
ALTER TABLE customers ADD COLUMN moved_at timestamptz;
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE customers AS c SET moved_at = coalesce((SELECT e.at FROM audit_entries AS e
        WHERE e.tenant = bank AND e.id = f.entry), now())
      FROM audit_former AS f WHERE c.tenant = bank AND f.tenant = bank AND f.customer = c.uid;
  END LOOP;
END $$;
