-- Book transfers of series were counted as ACH, where limits show what is used. ACH counts entries by their direction.
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    DELETE FROM limit_usage WHERE tenant = bank AND rail = 'ACH' AND entry_type = '';
  END LOOP;
END $$;
