-- Money that comes back to an account that is closed is told to people.
ALTER TABLE balances
  ADD COLUMN closed boolean NOT NULL DEFAULT false,     -- the account is
  ADD COLUMN stranded boolean NOT NULL DEFAULT false;   -- it is closed, and there is money in it
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE balances AS b SET closed = true, stranded = b.ledger <> 0 FROM accounts AS a
      WHERE a.tenant = bank AND b.tenant = bank AND b.account = a.uid AND a.status = 'Closed';
  END LOOP;
END $$;
--bun:split
CREATE INDEX balances_stranded ON balances (tenant, account) WHERE stranded;
