DROP INDEX holds_placed;
--bun:split
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    UPDATE balances AS b SET held = b.held - h.sum FROM (
      SELECT account, sum(amount)::bigint AS sum FROM holds WHERE tenant = bank AND placed IS NOT NULL AND state = 'OPEN'
      GROUP BY account) AS h
    WHERE b.tenant = bank AND b.account = h.account;
    DELETE FROM holds WHERE tenant = bank AND payment IS NULL;
  END LOOP;
END $$;
--bun:split
ALTER TABLE holds DROP CONSTRAINT IF EXISTS holds_state;
--bun:split
ALTER TABLE holds ADD CONSTRAINT holds_state CHECK (state IN ('OPEN', 'CAPTURED', 'RELEASED'));
--bun:split
ALTER TABLE holds DROP CONSTRAINT IF EXISTS holds_for;
--bun:split
ALTER TABLE holds DROP COLUMN placed;
--bun:split
ALTER TABLE holds ALTER COLUMN payment SET NOT NULL;
--bun:split
DROP TABLE account_holds;
--bun:split
DROP SEQUENCE hold_uids;
