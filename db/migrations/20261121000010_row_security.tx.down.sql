DO $$
DECLARE
  policy record;
BEGIN
  FOR policy IN SELECT polname AS name, polrelid::regclass AS of FROM pg_policy
    WHERE polname IN ('bank_reads', 'bank_inserts', 'bank_updates', 'bank_deletes') AND polrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
  LOOP
    EXECUTE format('DROP POLICY %I ON %s', policy.name, policy.of);
    EXECUTE format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY', policy.of);
  END LOOP;
END $$;
--bun:split
DROP FUNCTION row_security(regclass, boolean);
