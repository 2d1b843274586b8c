-- Money that is held: it stays on the account, and nobody can spend it.
CREATE TABLE holds (
  tenant    bigint NOT NULL,
  id        bigint NOT NULL,                              -- from the sequence of journals
  account   bigint NOT NULL,
  amount    bigint NOT NULL CONSTRAINT holds_amount CHECK (amount > 0), -- minor units
  currency  text NOT NULL,
  payment   bigint NOT NULL,                              -- for which it is held
  state     text NOT NULL CONSTRAINT holds_state CHECK (state IN ('OPEN', 'CAPTURED', 'RELEASED')),
  placed_at timestamptz NOT NULL,
  closed_at timestamptz,                                  -- when it was captured or released
  PRIMARY KEY (tenant, id),
  CONSTRAINT holds_account FOREIGN KEY (tenant, account) REFERENCES balances (tenant, account)
);
CREATE INDEX holds_of_account ON holds (tenant, account) WHERE state = 'OPEN';
CREATE UNIQUE INDEX holds_of_payment ON holds (tenant, payment) WHERE state = 'OPEN';
SELECT row_security('holds');
--bun:split
ALTER TABLE journals DROP CONSTRAINT journals_kind;
--bun:split
ALTER TABLE journals ADD CONSTRAINT journals_kind CHECK (kind IN ('opening', 'payment', 'fee', 'settlement', 'return'));
--bun:split
-- Payments over networks: who is paid has no account here, and the money moves in steps.
ALTER TABLE payments DROP CONSTRAINT IF EXISTS payments_receiver_known; -- of a migration that was undone
--bun:split
ALTER TABLE payments ALTER COLUMN receiver_account DROP NOT NULL;
--bun:split
ALTER TABLE payments ALTER COLUMN receiver_customer DROP NOT NULL;
--bun:split
ALTER TABLE payments DROP CONSTRAINT payments_rail;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_rail CHECK (rail IN ('BOOK', 'FEDNOW', 'RTP', 'FEDWIRE'));
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_receiver_there CHECK ((rail = 'BOOK') = (receiver_account IS NOT NULL));
--bun:split
ALTER TABLE payments DROP CONSTRAINT payments_state;
--bun:split
ALTER TABLE payments ADD CONSTRAINT payments_state CHECK (state IN ('PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED',
  'QUEUED', 'SENT', 'SETTLED', 'RETURNED', 'REJECTED', 'INVALID', 'CANCELLED'));
--bun:split
ALTER TABLE payments ADD COLUMN speed text NOT NULL DEFAULT '';   -- as it was asked for; '' for book transfers
--bun:split
ALTER TABLE payments ADD COLUMN send_at timestamptz;              -- when it may be sent to its network
--bun:split
CREATE INDEX payments_queued ON payments (tenant, send_at, uid) WHERE state = 'QUEUED';
--bun:split
CREATE INDEX payments_sent ON payments (tenant, updated_at, uid) WHERE state = 'SENT';
--bun:split
-- What a payment over a network says beside what every payment says.
CREATE TABLE payment_details (
  tenant                 bigint NOT NULL,
  payment                bigint NOT NULL,
  contact                bigint,                          -- the contact that was named
  number_sealed          bytea NOT NULL,                  -- the account that is credited
  number_hash            bytea NOT NULL,
  number_last4           text NOT NULL,
  type                   text NOT NULL DEFAULT '',        -- of that account
  sub_type               text NOT NULL DEFAULT '',
  address_line1          text NOT NULL DEFAULT '',        -- of who is paid
  address_line2          text NOT NULL DEFAULT '',
  address_city           text NOT NULL DEFAULT '',
  address_state          text NOT NULL DEFAULT '',
  address_postal_code    text NOT NULL DEFAULT '',
  address_country_code   text NOT NULL DEFAULT '',
  address_country        text NOT NULL DEFAULT '',
  email_address          text NOT NULL DEFAULT '',
  phone_number           text NOT NULL DEFAULT '',
  bank_id                text NOT NULL,                   -- the routing number of the bank that is paid
  bank_name              text NOT NULL DEFAULT '',
  remittance             text NOT NULL DEFAULT '',
  reference              text NOT NULL DEFAULT '',        -- for who is paid
  originator_information text NOT NULL DEFAULT '',        -- from who pays, to who is paid
  bank_information       text NOT NULL DEFAULT '',        -- from bank to bank
  charges                text NOT NULL DEFAULT '',        -- who bears them: OUR, BEN, SHA
  cost_center            text NOT NULL DEFAULT '',
  request_method         text NOT NULL DEFAULT '',
  operation_note         text NOT NULL DEFAULT '',
  route                  text NOT NULL DEFAULT '',        -- why this network
  uetr                   text NOT NULL,                   -- the UUID by which every bank on the way knows it
  return_code            text NOT NULL DEFAULT '',        -- why the network or the other bank gave it back
  PRIMARY KEY (tenant, payment),
  CONSTRAINT payment_details_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid),
  CONSTRAINT payment_details_contact FOREIGN KEY (tenant, contact) REFERENCES contacts (tenant, uid)
);
CREATE INDEX payment_details_number ON payment_details (tenant, number_hash);
CREATE INDEX payment_details_contact ON payment_details (tenant, contact) WHERE contact IS NOT NULL;
SELECT row_security('payment_details');
--bun:split
-- The messages of payments, to and from the networks. Those to a network are its outbox: handed_at is empty until
-- the network has taken one.
CREATE SEQUENCE network_messages_ids;
CREATE TABLE network_messages (
  tenant     bigint NOT NULL,
  id         bigint NOT NULL DEFAULT nextval('network_messages_ids'),
  rail       text NOT NULL,
  direction  text NOT NULL CONSTRAINT network_messages_direction CHECK (direction IN ('OUT', 'IN')),
  kind       text NOT NULL,                               -- pacs.008, pacs.002 …
  message_id text NOT NULL,                               -- by its sender; the same message comes once
  payment    bigint,                                      -- NULL: no payment of ours is known by what it says
  code       text NOT NULL DEFAULT '',                    -- of an answer: the network's word, and its reason
  body       bytea NOT NULL,                              -- sealed
  at         timestamptz NOT NULL,
  handed_at  timestamptz,
  PRIMARY KEY (tenant, id),
  CONSTRAINT network_messages_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid)
);
CREATE UNIQUE INDEX network_messages_once ON network_messages (tenant, rail, direction, message_id);
CREATE INDEX network_messages_of_payment ON network_messages (tenant, payment, id) WHERE payment IS NOT NULL;
CREATE INDEX network_messages_outbox ON network_messages (tenant, id) WHERE direction = 'OUT' AND handed_at IS NULL;
SELECT row_security('network_messages');
--bun:split
-- The networks that a sandbox bank is connected to: what they will answer, and when.
CREATE SEQUENCE sandbox_messages_ids;
CREATE TABLE sandbox_messages (
  tenant   bigint NOT NULL,
  id       bigint NOT NULL DEFAULT nextval('sandbox_messages_ids'),
  rail     text NOT NULL,
  asked    text NOT NULL,                                 -- the message that it answers
  answer   int NOT NULL,                                  -- 1, 2, 3 … of that message; 0: that nothing is answered
  due_at   timestamptz NOT NULL,
  body     bytea NOT NULL,                                -- sealed
  taken_at timestamptz,
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX sandbox_messages_once ON sandbox_messages (tenant, rail, asked, answer);
CREATE INDEX sandbox_messages_due ON sandbox_messages (tenant, due_at, id) WHERE taken_at IS NULL;
SELECT row_security('sandbox_messages');
