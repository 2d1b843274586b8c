DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE payment_screenings AS s SET customer = p.customer FROM payments AS p
      WHERE s.tenant = bank AND s.customer IS NULL AND p.tenant = bank AND p.uid = s.payment;
  END LOOP;
END $$;
--bun:split
ALTER TABLE payment_screenings ALTER COLUMN customer SET NOT NULL;
