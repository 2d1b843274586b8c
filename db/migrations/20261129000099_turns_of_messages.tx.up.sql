-- Messages that a customer has the sandbox play take their turn beside those of others; 0 is an answer to a message of
-- the bank.
ALTER TABLE sandbox_messages ADD COLUMN customer bigint NOT NULL DEFAULT 0;
--bun:split
CREATE INDEX sandbox_messages_due_in_turn ON sandbox_messages (tenant, customer, due_at, id) WHERE taken_at IS NULL;
--bun:split
-- What the bank begins is found without reading what it answers to other banks, however much that is.
CREATE INDEX network_messages_begun ON network_messages (tenant, id)
  WHERE direction = 'OUT' AND handed_at IS NULL AND kind NOT IN ('pacs.002', 'pain.014', 'nacha');
