-- What banks ask each other about payments over instant networks, and what is answered.
CREATE TABLE information_requests (
  tenant         bigint NOT NULL,
  id             bigint NOT NULL,                         -- its message
  payment        bigint NOT NULL,
  rail           text NOT NULL CONSTRAINT information_requests_rail CHECK (rail IN ('FEDNOW', 'RTP')),
  direction      text NOT NULL CONSTRAINT information_requests_direction CHECK (direction IN ('OUT', 'IN')),
  bank           text NOT NULL,                           -- the other bank's routing number
  message_id     text NOT NULL,                           -- by which the network knows it
  codes          text NOT NULL,                           -- of what is missing or wrong: MS01 IN04
  asked_sealed   bytea NOT NULL,                          -- who asks for what, in words that may name people and accounts
  at             timestamptz NOT NULL,
  answer         bigint,                                  -- the message that answers it; NULL: none has come
  answered_at    timestamptz,
  answer_sealed  bytea NOT NULL DEFAULT '',
  PRIMARY KEY (tenant, id),
  CONSTRAINT information_requests_message FOREIGN KEY (tenant, id) REFERENCES network_messages (tenant, id),
  CONSTRAINT information_requests_answer FOREIGN KEY (tenant, answer) REFERENCES network_messages (tenant, id),
  CONSTRAINT information_requests_payment FOREIGN KEY (tenant, payment) REFERENCES payments (tenant, uid),
  CONSTRAINT information_requests_answered CHECK ((answer IS NULL) = (answered_at IS NULL))
);
--bun:split
CREATE INDEX information_requests_of_payment ON information_requests (tenant, payment, id);
--bun:split
CREATE UNIQUE INDEX information_requests_once ON information_requests (tenant, rail, direction, message_id);
--bun:split
SELECT row_security('information_requests');
