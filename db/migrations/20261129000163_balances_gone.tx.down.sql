DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE balances AS b SET closed = false, stranded = false FROM accounts AS a
      WHERE a.tenant = bank AND b.tenant = bank AND b.account = a.uid AND a.system_of_record <> 'Internal Core'
      AND a.status <> 'Closed';
  END LOOP;
END $$;
