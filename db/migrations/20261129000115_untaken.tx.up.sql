-- Lines of files of ACH that were not taken are messages of their own, which people see.
CREATE INDEX network_messages_not_taken ON network_messages (tenant, id)
  WHERE direction = 'IN' AND kind IN ('pacs.008', 'unreadable', 'entry') AND payment IS NULL;
--bun:split
DROP INDEX network_messages_refused;
--bun:split
-- What of that came in the last days.
CREATE INDEX network_messages_untaken ON network_messages (tenant, at)
  WHERE direction = 'IN' AND kind IN ('unreadable', 'entry') AND payment IS NULL;
