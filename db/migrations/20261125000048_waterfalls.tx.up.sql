-- Batches of book transfers that run one after the other, and what became of each.
CREATE SEQUENCE waterfall_numbers START 7000001;
--bun:split
CREATE TABLE waterfalls (
  tenant                bigint NOT NULL REFERENCES tenants (id),
  uid                   bigint NOT NULL,
  waterfall_id          uuid NOT NULL,                    -- by which callers know it
  customer              bigint NOT NULL,                  -- the institution that runs it
  external_reference_id text NOT NULL,
  status                text NOT NULL CONSTRAINT waterfalls_status CHECK (status IN ('RECEIVED', 'PROCESSING',
    'PENDING_APPROVAL', 'PROCESSED', 'STOPPED')),
  payments              int NOT NULL,
  made                  int NOT NULL DEFAULT 0,           -- payments that have moved their money
  waits_for             bigint,                           -- the payment whose approval it waits for
  maker                 jsonb NOT NULL,                   -- who asked for it, as far as payments are decided by that
  maker_client          text NOT NULL,
  maker_login           text NOT NULL DEFAULT '',
  worked_at             timestamptz,                      -- batches take turns
  created_at            timestamptz NOT NULL,
  updated_at            timestamptz NOT NULL,
  version               int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT waterfalls_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT waterfalls_waiting CHECK ((waits_for IS NOT NULL) = (status = 'PENDING_APPROVAL'))
);
--bun:split
CREATE UNIQUE INDEX waterfalls_id ON waterfalls (tenant, waterfall_id);
--bun:split
CREATE UNIQUE INDEX waterfalls_reference ON waterfalls (tenant, external_reference_id);
--bun:split
CREATE INDEX waterfalls_of_customer ON waterfalls (tenant, customer, uid);
--bun:split
CREATE INDEX waterfalls_at_work ON waterfalls (tenant, uid) WHERE status IN ('RECEIVED', 'PROCESSING', 'PENDING_APPROVAL');
--bun:split
SELECT row_security('waterfalls');
--bun:split
CREATE TABLE waterfall_steps (
  tenant        bigint NOT NULL REFERENCES tenants (id),
  id            bigint NOT NULL,                          -- the batch's number and that of the step
  waterfall     bigint NOT NULL,
  payment_index int NOT NULL,                             -- as the request numbers it
  status        text NOT NULL CONSTRAINT waterfall_steps_status CHECK (status IN ('WAITING', 'PENDING_APPROVAL', 'MADE',
    'FAILED', 'NOT_RUN')),
  amount        bigint NOT NULL,                          -- minor units
  currency      text NOT NULL,
  notes         text NOT NULL DEFAULT '',
  faults        jsonb NOT NULL DEFAULT '[]',
  draft_sealed  bytea NOT NULL,                           -- what the request says of it
  payment       bigint,                                   -- that was made of it
  PRIMARY KEY (tenant, id),
  CONSTRAINT waterfall_steps_waterfall FOREIGN KEY (tenant, waterfall) REFERENCES waterfalls (tenant, uid),
  CONSTRAINT waterfall_steps_made CHECK (payment IS NOT NULL OR status NOT IN ('PENDING_APPROVAL', 'MADE'))
);
--bun:split
CREATE UNIQUE INDEX waterfall_steps_index ON waterfall_steps (tenant, waterfall, payment_index);
--bun:split
CREATE UNIQUE INDEX waterfall_steps_of_payment ON waterfall_steps (tenant, payment) WHERE payment IS NOT NULL;
--bun:split
SELECT row_security('waterfall_steps');
