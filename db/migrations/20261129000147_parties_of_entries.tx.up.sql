-- Whose share of a file of ACH an entry takes is known from the entry: a partner with all its customers, or another
-- customer. Two of them may have the same company number. 0 of what came in, and of what the release before made.
ALTER TABLE ach_entries ADD COLUMN party bigint NOT NULL DEFAULT 0;
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE ach_entries AS ae SET party = coalesce(nullif(c.owner, 0), c.uid)
      FROM payments AS p JOIN customers AS c ON c.tenant = p.tenant AND c.uid = p.customer
      WHERE ae.tenant = bank AND p.tenant = bank AND c.tenant = bank AND p.uid = ae.payment AND ae.file IS NULL
        AND ae.trace = '' AND ae.party = 0;
  END LOOP;
END $$;
--bun:split
DROP INDEX ach_entries_waiting;
--bun:split
CREATE INDEX ach_entries_waiting ON ach_entries
  (tenant, origin, party, company_id, company_name, class, description, same_day, settles_on, entry_type, payment)
  WHERE taken_at IS NOT NULL AND file IS NULL;
