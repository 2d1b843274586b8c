-- For whom an open approval counts: a partner with its customers, or a customer of the bank's own; 0 is the bank, whose
-- programs and people count apart. How many of one may be open is counted on the index.
ALTER TABLE approvals ADD COLUMN maker_party bigint NOT NULL DEFAULT 0;
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE approvals AS p SET maker_party = coalesce(nullif(c.owner, 0), c.uid) FROM customers AS c
    WHERE p.tenant = bank AND p.status = 'Open' AND p.maker_reach <> 'Bank' AND c.tenant = bank AND c.uid = p.maker_entity;
  END LOOP;
END $$;
--bun:split
CREATE INDEX approvals_room ON approvals (tenant, maker_party, maker_client, maker_login) WHERE status = 'Open';
