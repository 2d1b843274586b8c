DROP INDEX ach_entries_waiting;
--bun:split
CREATE INDEX ach_entries_waiting ON ach_entries
  (tenant, origin, company_id, company_name, class, description, same_day, settles_on, entry_type, payment)
  WHERE taken_at IS NOT NULL AND file IS NULL;
--bun:split
ALTER TABLE ach_entries DROP COLUMN party;
