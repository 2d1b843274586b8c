ALTER TABLE ach_received ADD CONSTRAINT ach_received_once
  UNIQUE (tenant, trace, settles_on, direction, amount, number_last4, company_id);
--bun:split
DROP INDEX ach_received_once_each;
--bun:split
ALTER TABLE ach_received DROP COLUMN IF EXISTS alike;
--bun:split
ALTER TABLE ach_received DROP COLUMN IF EXISTS batch;
--bun:split
DROP INDEX network_messages_untaken;
--bun:split
CREATE INDEX network_messages_refused ON network_messages (tenant, id)
  WHERE direction = 'IN' AND kind IN ('pacs.008', 'unreadable') AND payment IS NULL;
--bun:split
DROP INDEX network_messages_not_taken;
