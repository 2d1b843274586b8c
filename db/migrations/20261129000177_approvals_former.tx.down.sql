-- The release before reads of each approval whether it was left to the bank.
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE approvals AS p SET former = true WHERE p.tenant = bank AND NOT p.former AND EXISTS (
      SELECT FROM approvals AS f WHERE f.tenant = bank AND f.customer = p.customer AND f.uid >= p.uid AND f.former);
  END LOOP;
END $$;
--bun:split
DROP INDEX approvals_former;
