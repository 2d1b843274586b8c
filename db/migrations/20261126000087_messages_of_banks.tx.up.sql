-- Two banks may give their messages the same id, so it is the bank and the id that come once.
CREATE UNIQUE INDEX network_messages_once_each ON network_messages (tenant, rail, direction, message_id, bank);
--bun:split
DROP INDEX network_messages_once;
--bun:split
CREATE UNIQUE INDEX information_requests_once_each ON information_requests (tenant, rail, direction, message_id, bank);
--bun:split
DROP INDEX information_requests_once;
