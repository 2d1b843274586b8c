-- Lines of files of ACH that were not taken are messages of their own, which people see.
CREATE INDEX network_messages_not_taken ON network_messages (tenant, id)
  WHERE direction = 'IN' AND kind IN ('pacs.008', 'unreadable', 'entry') AND payment IS NULL;
--bun:split
DROP INDEX network_messages_refused;
--bun:split
-- What of that came in the last days.
CREATE INDEX network_messages_untaken ON network_messages (tenant, at)
  WHERE direction = 'IN' AND kind IN ('unreadable', 'entry') AND payment IS NULL;
--bun:split
-- Entries are told apart by all that they say: other banks number them anew in each batch.
ALTER TABLE ach_received ADD COLUMN batch int; -- the number of its batch; NULL: it is not known
--bun:split
ALTER TABLE ach_received ADD COLUMN alike int NOT NULL DEFAULT 1; -- the how manyth it is of those of its file that say the same
--bun:split
CREATE UNIQUE INDEX ach_received_once_each ON ach_received (tenant, trace, settles_on, direction, amount, company_id, class,
  description, batch, individual_id, name, number_hash, alike);
--bun:split
ALTER TABLE ach_received DROP CONSTRAINT ach_received_once;
