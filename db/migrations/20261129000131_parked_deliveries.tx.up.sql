-- How many deliveries are parked is counted webhook by webhook, up to a bound, without reading those that arrived.
CREATE INDEX webhook_deliveries_parked ON webhook_deliveries (tenant, webhook) WHERE state = 'PARKED';
