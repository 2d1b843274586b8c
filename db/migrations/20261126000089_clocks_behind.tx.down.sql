DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    DELETE FROM sandbox_clocks WHERE tenant = bank AND ahead < 0;
  END LOOP;
END $$;
--bun:split
ALTER TABLE sandbox_clocks ADD CONSTRAINT sandbox_clocks_ahead CHECK (ahead >= 0);
