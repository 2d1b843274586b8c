-- Since when a file of ACH has lines that could not be taken in; people are told of one that stays so.
ALTER TABLE network_messages ADD COLUMN unfinished_since timestamptz;
--bun:split
CREATE INDEX network_messages_unfinished ON network_messages (tenant, unfinished_since) WHERE unfinished_since IS NOT NULL;
