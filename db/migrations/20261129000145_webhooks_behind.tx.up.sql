-- A webhook of which many deliveries wait is told of later events as those are posted: of the ones after behind_from.
ALTER TABLE webhooks ADD COLUMN behind_from bigint;
ALTER TABLE webhooks ADD COLUMN behind_at timestamptz; -- when that is looked at again
CREATE INDEX webhooks_behind ON webhooks (tenant, behind_at) WHERE behind_from IS NOT NULL;
