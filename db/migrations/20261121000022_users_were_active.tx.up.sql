-- A user who was never Active gets the rights of its roles with the first activation, also if it was suspended meanwhile.
ALTER TABLE users ADD COLUMN was_active boolean NOT NULL DEFAULT false; -- of a Suspended user: it was Active before
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE users SET was_active = true WHERE tenant = bank AND status = 'Suspended'; -- nothing says otherwise
  END LOOP;
END $$;
