-- Payments that cannot be carried out as they were asked for, which the bank's people repair.
ALTER TABLE payments DROP CONSTRAINT payments_state;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_state CHECK (state IN ('REPAIR', 'PENDING_APPROVAL', 'PARTIALLY_APPROVED',
  'SCHEDULED', 'HOLD', 'VALIDATED', 'QUEUED', 'SENT', 'SETTLED', 'RECALLING', 'RECALLED', 'RETURNING', 'RETURNED',
  'REVERSAL_ACCEPTED', 'REVERSAL_PARTIALLY_ACCEPTED', 'REVERSAL_REJECTED', 'REJECTED', 'EXPIRED', 'INVALID', 'CANCELLED'))
  NOT VALID;
--bun:split
CREATE INDEX payments_in_repair ON payments (tenant, updated_at, uid) WHERE state = 'REPAIR';
--bun:split
CREATE TABLE payment_repairs (
  tenant       bigint NOT NULL REFERENCES tenants (id),
  payment      bigint NOT NULL,
  draft_sealed bytea NOT NULL,                            -- the order as it was asked for
  PRIMARY KEY (tenant, payment),
  CONSTRAINT payment_repairs_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid)
);
SELECT row_security('payment_repairs');
