-- The webhooks that each event is looked up among: not those that were deleted, of which anybody may make any
-- number.
CREATE INDEX webhooks_active_of_customer ON webhooks (tenant, customer, uid) WHERE status = 'Active';
--bun:split
CREATE INDEX webhooks_active_of_bank ON webhooks (tenant, uid) WHERE reach = 'Bank' AND status = 'Active';
--bun:split
DROP INDEX webhooks_of_bank;
