-- The customers that moved to another partner, each with the last audit entry from before that: the bank alone reads the
-- entries up to it.
CREATE TABLE audit_former (
  tenant   bigint NOT NULL,
  customer bigint NOT NULL,
  entry    bigint NOT NULL,                               -- audit_entries.id
  PRIMARY KEY (tenant, customer) INCLUDE (entry),
  CONSTRAINT audit_former_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);
SELECT row_security('audit_former');
--bun:split
-- Moves that were made already stand in the record, as changes of the owner; an approved one has an entry of the approval beside it.
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    INSERT INTO audit_former (tenant, customer, entry)
      SELECT c.tenant, c.uid, max(beside.id) FROM audit_entries AS moved
      JOIN customers AS c ON c.tenant = bank AND c.uid = moved.customer
      JOIN audit_entries AS beside ON beside.tenant = bank AND beside.customer = c.uid AND beside.tx = moved.tx
      WHERE moved.tenant = bank AND moved.object = 'customer' AND moved.decision = 'done' AND moved.action <> 'createCustomer'
        AND (moved.before ->> 'owner' IS NOT NULL OR moved.after ->> 'owner' IS NOT NULL)
      GROUP BY c.tenant, c.uid;
    UPDATE approvals AS p SET former = true
      FROM audit_former AS f JOIN audit_entries AS e ON e.tenant = f.tenant AND e.id = f.entry
      WHERE p.tenant = bank AND f.tenant = bank AND p.customer = f.customer AND p.made_at < e.at AND NOT p.former;
  END LOOP;
END $$;
