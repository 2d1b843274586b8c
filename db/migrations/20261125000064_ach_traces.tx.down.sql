ALTER TABLE ach_received DROP CONSTRAINT ach_received_once;
--bun:split
ALTER TABLE ach_received ADD CONSTRAINT ach_received_once UNIQUE (tenant, trace, settles_on);
