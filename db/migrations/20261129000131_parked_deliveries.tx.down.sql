DROP INDEX webhook_deliveries_parked;
