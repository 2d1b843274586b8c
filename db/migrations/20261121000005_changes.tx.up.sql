-- Who did what: one entry for each change, refused one, reveal and decision, written with the change itself.
-- Entries are never changed. The chain that proves it is made by the sealer, in the order of commits.
CREATE SEQUENCE audit_ids MINVALUE 1;
CREATE TABLE audit_entries (
  tenant   bigint NOT NULL REFERENCES tenants (id),
  id       bigint NOT NULL DEFAULT nextval('audit_ids'),
  at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx       xid8 NOT NULL DEFAULT pg_current_xact_id(),    -- entries are read in the order of (tx, id)
  client   text NOT NULL,                                 -- the API key or external issuer; operator for the command line
  login_id text NOT NULL DEFAULT '',                      -- the user, where one is known
  entity   bigint NOT NULL,                               -- the legal entity that the caller acts for; 0 for operators
  action   text NOT NULL,                                 -- what was done, by its GraphQL name: addSignatory
  decision text NOT NULL CHECK (decision IN ('done', 'proposed', 'approved', 'refused', 'revealed')),
  object   text NOT NULL,                                 -- the kind of thing: signatory
  uid      text NOT NULL,                                 -- which one; '' where it does not exist
  customer bigint,                                        -- whose it is
  before   json NOT NULL DEFAULT '{}',                    -- the fields that changed, masked
  after    json NOT NULL DEFAULT '{}',
  reason   text NOT NULL DEFAULT '',                      -- why, in the caller's words; of a refusal, what was wrong
  request  text NOT NULL DEFAULT '',                      -- the id of the request
  PRIMARY KEY (tenant, id)
);
CREATE INDEX audit_entries_object ON audit_entries (tenant, object, uid, id);
CREATE INDEX audit_entries_customer ON audit_entries (tenant, customer, id);
CREATE INDEX audit_entries_feed ON audit_entries (tenant, tx, id);
--bun:split
-- What others may want to hear of. Webhooks and subscriptions read it in the order of (tx, id).
CREATE SEQUENCE event_ids MINVALUE 1;
CREATE TABLE events (
  tenant   bigint NOT NULL REFERENCES tenants (id),
  id       bigint NOT NULL DEFAULT nextval('event_ids'),
  at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx       xid8 NOT NULL DEFAULT pg_current_xact_id(),
  kind     text NOT NULL,                                 -- what happened: addSignatory
  object   text NOT NULL,
  uid      text NOT NULL,
  customer bigint,
  version  int NOT NULL DEFAULT 0,                        -- of the object after it
  PRIMARY KEY (tenant, id)
);
CREATE INDEX events_feed ON events (tenant, tx, id);
--bun:split
-- Idempotency keys: one effect and one answer for each, for seven days by this clock.
CREATE TABLE idempotency_keys (
  tenant     bigint NOT NULL REFERENCES tenants (id),
  client     text NOT NULL,                               -- who chose the key
  operation  text NOT NULL,
  key        text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  request    bytea NOT NULL,                              -- keyed hash of what was asked
  outcome    json,                                        -- what was answered
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant, client, operation, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (tenant, created_at);
--bun:split
-- Changes that wait for a second person.
CREATE SEQUENCE approval_uids MINVALUE 1 MAXVALUE 99999999999;
CREATE TABLE approvals (
  tenant       bigint NOT NULL,
  uid          bigint NOT NULL DEFAULT nextval('approval_uids'),
  customer     bigint NOT NULL,                           -- whose settings ask for it
  operation    text NOT NULL,                             -- what was asked: changeSignatory
  object       text NOT NULL,
  object_uid   text NOT NULL,
  creation     boolean NOT NULL,                          -- the object was made and is Pending; otherwise it is unchanged
  draft        bytea NOT NULL,                            -- what was asked for, sealed
  version      int NOT NULL,                              -- of the object when it was asked
  before       json NOT NULL DEFAULT '{}',                -- what would change, masked, for the second person's eyes
  after        json NOT NULL DEFAULT '{}',
  reason       text NOT NULL DEFAULT '',
  status       text NOT NULL DEFAULT 'Open' CHECK (status IN ('Open', 'Approved', 'Refused')),
  maker_client text NOT NULL,
  maker_login  text NOT NULL DEFAULT '',
  made_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  checker_client text NOT NULL DEFAULT '',
  checker_login text NOT NULL DEFAULT '',
  decided_at   timestamptz,
  decision_reason text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant, uid),
  FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CHECK ((status = 'Open') = (decided_at IS NULL))
);
CREATE INDEX approvals_open ON approvals (tenant, uid) WHERE status = 'Open';
CREATE INDEX approvals_customer ON approvals (tenant, customer, uid);
CREATE INDEX approvals_object ON approvals (tenant, object, object_uid) WHERE status = 'Open';
