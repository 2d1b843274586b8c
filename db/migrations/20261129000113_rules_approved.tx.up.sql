-- Who suspended a rule, and who approved it as it is: one that pays requests allows no payment for which more
-- people would be asked by now. Which request a payment meets is asked where compliance releases it.
ALTER TABLE positive_pay_rules
  ADD COLUMN suspended_by text NOT NULL DEFAULT '',
  ADD COLUMN approvers integer NOT NULL DEFAULT 0,
  ADD COLUMN by_bank boolean NOT NULL DEFAULT false;
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE positive_pay_rules AS r SET approvers = p.approvers, by_bank = p.checker_reach = 'Bank'
      FROM (SELECT DISTINCT ON (object_uid) object_uid, approvers, checker_reach FROM approvals
        WHERE tenant = bank AND object = 'positivePayRule' AND status = 'Approved'
        ORDER BY object_uid, decided_at DESC) AS p
      WHERE r.tenant = bank AND r.uid::text = p.object_uid;
  END LOOP;
END $$;
--bun:split
CREATE INDEX payment_requests_credit ON payment_requests (tenant, credit) WHERE credit IS NOT NULL;
