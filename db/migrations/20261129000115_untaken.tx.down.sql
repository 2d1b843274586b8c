DROP INDEX network_messages_untaken;
--bun:split
CREATE INDEX network_messages_refused ON network_messages (tenant, id)
  WHERE direction = 'IN' AND kind IN ('pacs.008', 'unreadable') AND payment IS NULL;
--bun:split
DROP INDEX network_messages_not_taken;
