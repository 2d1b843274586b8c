DROP INDEX network_messages_unfinished;
--bun:split
ALTER TABLE network_messages DROP COLUMN unfinished_since;
