-- Where events of payments are posted to.
CREATE SEQUENCE webhook_uids;
CREATE TABLE webhooks (
  tenant         bigint NOT NULL REFERENCES tenants (id),
  uid            bigint NOT NULL,
  customer       bigint NOT NULL,                         -- whose it is: nobody is told more than this customer may see
  reach          text NOT NULL CONSTRAINT webhooks_reach CHECK (reach IN ('Bank', 'Partner', 'Customer')),
  name           text NOT NULL,
  target         text NOT NULL,                           -- events are posted to target/payments
  statuses       text[] NOT NULL DEFAULT '{}',            -- of payments that are told; empty: all
  rails          text[] NOT NULL DEFAULT '{}',            -- likewise
  basic_user     text NOT NULL DEFAULT '',                -- of basic authentication; '' for none
  signing_secret bigint NOT NULL,                         -- the present one, of webhook_secrets
  basic_password bigint NOT NULL DEFAULT 0,               -- likewise; 0 for none
  status         text NOT NULL CONSTRAINT webhooks_status CHECK (status IN ('Pending', 'Active', 'Disabled', 'Deleted')),
  reason         text NOT NULL DEFAULT '',                -- why it is disabled, if it did that by itself
  since_seq      bigint NOT NULL,                         -- later events than this number of the record are posted
  replay_from    bigint NOT NULL DEFAULT 0,               -- events after this number, up to replay_to, are posted again
  replay_to      bigint NOT NULL DEFAULT 0,
  replay_since   timestamptz,                             -- of these, only those since then
  claimed_at     timestamptz,                             -- when a worker last took deliveries of it
  failing_since  timestamptz,                             -- since when none has arrived
  failures       int NOT NULL DEFAULT 0,                  -- since then
  created_at     timestamptz NOT NULL,
  updated_at     timestamptz NOT NULL,
  version        int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT webhooks_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);
CREATE INDEX webhooks_of_customer ON webhooks (tenant, customer, uid);
CREATE INDEX webhooks_active ON webhooks (tenant, claimed_at NULLS FIRST, uid) WHERE status = 'Active';
SELECT row_security('webhooks');
--bun:split
-- What webhooks sign with, and the passwords of basic authentication.
CREATE SEQUENCE webhook_secret_ids;
CREATE TABLE webhook_secrets (
  tenant  bigint NOT NULL,
  id      bigint NOT NULL,
  webhook bigint NOT NULL,
  kind    text NOT NULL CONSTRAINT webhook_secrets_kind CHECK (kind IN ('SIGNING', 'PASSWORD')),
  secret  bytea NOT NULL,                                 -- sealed
  made_at timestamptz NOT NULL,
  ends_at timestamptz,                                    -- until when a former one is used too
  PRIMARY KEY (tenant, id),
  CONSTRAINT webhook_secrets_webhook FOREIGN KEY (tenant, webhook) REFERENCES webhooks (tenant, uid)
);
CREATE INDEX webhook_secrets_of_webhook ON webhook_secrets (tenant, webhook);
SELECT row_security('webhook_secrets');
--bun:split
-- One event for one webhook: what is posted, until it has arrived or is given up.
CREATE SEQUENCE webhook_delivery_uids;
CREATE TABLE webhook_deliveries (
  tenant       bigint NOT NULL,
  uid          bigint NOT NULL DEFAULT nextval('webhook_delivery_uids'),
  webhook      bigint NOT NULL,
  customer     bigint NOT NULL,                           -- the webhook's
  payment      bigint,                                    -- NULL for a test
  number       int NOT NULL DEFAULT 0,                    -- of the payment's step
  seq          bigint NOT NULL DEFAULT 0,                 -- of the event in the bank's record
  state        text NOT NULL CONSTRAINT webhook_deliveries_state CHECK (state IN ('WAITING', 'DELIVERED', 'PARKED')),
  due_at       timestamptz NOT NULL,
  leased_until timestamptz,                               -- while a worker posts it
  attempts     int NOT NULL DEFAULT 0,                    -- in all
  tries        int NOT NULL DEFAULT 0,                    -- since it was made, or asked for again
  tried_at     timestamptz,                               -- the first of these
  created_at   timestamptz NOT NULL,
  done_at      timestamptz,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT webhook_deliveries_webhook FOREIGN KEY (tenant, webhook) REFERENCES webhooks (tenant, uid),
  CONSTRAINT webhook_deliveries_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid)
);
CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (tenant, webhook, payment, number);
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (tenant, webhook, uid);
CREATE INDEX webhook_deliveries_of_payment ON webhook_deliveries (tenant, payment, uid) WHERE payment IS NOT NULL;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (tenant, webhook, due_at, uid) WHERE state = 'WAITING';
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (tenant, webhook) WHERE leased_until IS NOT NULL;
CREATE INDEX webhook_deliveries_done ON webhook_deliveries (tenant, done_at) WHERE done_at IS NOT NULL;
SELECT row_security('webhook_deliveries');
--bun:split
-- Each time that a delivery was posted, and what came of it. Nothing of the bodies is kept.
CREATE TABLE webhook_attempts (
  tenant   bigint NOT NULL,
  delivery bigint NOT NULL,
  number   int NOT NULL,
  at       timestamptz NOT NULL,
  status   int NOT NULL DEFAULT 0,                        -- of HTTP; 0: there was no answer
  error    text NOT NULL DEFAULT '',
  took     int,                                           -- milliseconds; NULL: the worker stopped before it was known
  PRIMARY KEY (tenant, delivery, number),
  CONSTRAINT webhook_attempts_delivery FOREIGN KEY (tenant, delivery) REFERENCES webhook_deliveries (tenant, uid)
);
SELECT row_security('webhook_attempts');
--bun:split
-- How far a bank's events have been made into deliveries.
CREATE TABLE webhook_cursors (
  tenant bigint PRIMARY KEY REFERENCES tenants (id),
  epoch  bigint NOT NULL,
  seq    bigint NOT NULL
);
SELECT row_security('webhook_cursors');
