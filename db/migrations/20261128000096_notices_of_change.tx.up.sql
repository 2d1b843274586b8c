-- What other banks say that later entries of ACH to an account should have.
CREATE TABLE ach_notices (
  tenant          bigint NOT NULL,
  id              bigint NOT NULL,
  payment         bigint NOT NULL,
  number          integer NOT NULL,                       -- the payment's step that tells of it; 0: none does
  code            text NOT NULL CONSTRAINT ach_notices_code CHECK (code ~ '^C[0-9]{2}$'),
  data_sealed     bytea NOT NULL,                         -- what is right, as ACH carries it
  contact_version integer,                                -- of the payment's contact, when it came; NULL: it has none
  at              timestamptz NOT NULL,
  PRIMARY KEY (tenant, id),
  CONSTRAINT ach_notices_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid),
  CONSTRAINT ach_notices_once UNIQUE (tenant, payment, code)
);
--bun:split
CREATE INDEX ach_notices_lately ON ach_notices (tenant, at);
--bun:split
SELECT row_security('ach_notices');
