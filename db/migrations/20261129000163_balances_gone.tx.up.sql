-- An account that has left the bank's books is closed there: money that comes back to it is told to people.
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE balances AS b SET closed = true, stranded = b.ledger <> 0 FROM accounts AS a
      WHERE a.tenant = bank AND b.tenant = bank AND b.account = a.uid AND a.system_of_record <> 'Internal Core'
      AND NOT b.closed;
  END LOOP;
END $$;
