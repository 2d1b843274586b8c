-- The second wall between banks: whatever the program says, the database lets a transaction write the rows of one
-- bank only, of the one that it has set as bankgraph.tenant (db.InTx). Reads are not bound: SELECT's policy is
-- true, which the planner drops. The owner of the tables is bound too (FORCE); who bypasses row security is not.

-- row_security walls one table of a bank; every migration that adds one calls it. Rows of a table that only
-- grows can be neither changed nor removed by anybody; db.Grant reads from this which rights the service gets.
CREATE FUNCTION row_security(of regclass, only_grows boolean DEFAULT false) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  set_bank constant text := 'nullif(current_setting(''bankgraph.tenant'', true), '''')::bigint';
  of_bank  constant text := CASE of WHEN 'tenants'::regclass THEN 'id' ELSE 'tenant' END || ' = ' || set_bank;
  -- A bank has no number before it is added: that takes a transaction of no bank (0).
  new_row  constant text := CASE of WHEN 'tenants'::regclass THEN set_bank || ' = 0' ELSE of_bank END;
BEGIN
  EXECUTE format('CREATE POLICY bank_reads ON %s FOR SELECT USING (true)', of);
  EXECUTE format('CREATE POLICY bank_inserts ON %s FOR INSERT WITH CHECK (%s)', of, new_row);
  IF NOT only_grows THEN
    EXECUTE format('CREATE POLICY bank_updates ON %s FOR UPDATE USING (%s) WITH CHECK (%2$s)', of, of_bank);
    EXECUTE format('CREATE POLICY bank_deletes ON %s FOR DELETE USING (%s)', of, of_bank);
  END IF;
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', of);
END $$;
--bun:split
-- Every table of a bank that there is by now. Those that only grow, all of them, stand in this list.
SELECT row_security(c.oid, c.relname IN ('journals', 'postings', 'audit_entries', 'audit_seals', 'audit_checkpoints'))
FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
  AND (c.relname = 'tenants' OR EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped))
ORDER BY c.relname;
