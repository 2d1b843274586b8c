CREATE UNIQUE INDEX IF NOT EXISTS information_requests_once ON information_requests (tenant, rail, direction, message_id);
--bun:split
DROP INDEX IF EXISTS information_requests_once_each;
--bun:split
CREATE UNIQUE INDEX IF NOT EXISTS network_messages_once ON network_messages (tenant, rail, direction, message_id);
--bun:split
DROP INDEX IF EXISTS network_messages_once_each;
