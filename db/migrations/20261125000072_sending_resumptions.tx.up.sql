-- After a restore nothing leaves for a network until an operator has compared what waits with what the networks had
-- already: this is where they said that it may, for which epoch of the record.
CREATE TABLE sending_resumptions (
  tenant bigint NOT NULL,
  epoch  bigint NOT NULL,
  reason text NOT NULL,
  at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, epoch),
  CONSTRAINT sending_resumptions_tenant FOREIGN KEY (tenant) REFERENCES tenants (id)
);
--bun:split
SELECT row_security('sending_resumptions', only_grows => true);
--bun:split
-- Restores of before are long over.
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    INSERT INTO sending_resumptions (tenant, epoch, reason)
    SELECT tenant, max(epoch), 'restored before sending waited for an operator' FROM audit_restores
    WHERE tenant = bank GROUP BY tenant;
  END LOOP;
END $$;
