ALTER TABLE webhook_deliveries DROP COLUMN IF EXISTS posting;
--bun:split
ALTER TABLE virtual_postings DROP COLUMN IF EXISTS step;
--bun:split
ALTER TABLE webhooks DROP COLUMN IF EXISTS topics;
