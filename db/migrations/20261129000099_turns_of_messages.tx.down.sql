DROP INDEX network_messages_begun;
--bun:split
DROP INDEX sandbox_messages_due_in_turn;
--bun:split
ALTER TABLE sandbox_messages DROP COLUMN customer;
