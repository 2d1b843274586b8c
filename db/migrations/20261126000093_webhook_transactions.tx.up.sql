-- Webhooks may be told of the transactions of virtual accounts, beside payments or instead of them.
ALTER TABLE webhooks ADD COLUMN topics text[] NOT NULL DEFAULT '{PAYMENT}';
--bun:split
-- The step of the payment that brought it about; NULL of those from before this was kept, which nobody is told of.
ALTER TABLE virtual_postings ADD COLUMN step int;
--bun:split
ALTER TABLE virtual_postings ADD CONSTRAINT virtual_postings_step FOREIGN KEY (tenant, payment, step)
  REFERENCES payment_steps (tenant, payment, number);
--bun:split
-- A delivery tells of a step of a payment, or of a transaction, or is a test.
ALTER TABLE webhook_deliveries ADD COLUMN posting bigint;
--bun:split
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_posting FOREIGN KEY (tenant, posting)
  REFERENCES virtual_postings (tenant, id);
--bun:split
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_one CHECK (payment IS NULL OR posting IS NULL);
--bun:split
CREATE UNIQUE INDEX webhook_deliveries_posting_once ON webhook_deliveries (tenant, webhook, posting);
--bun:split
CREATE INDEX webhook_deliveries_of_posting ON webhook_deliveries (tenant, posting) WHERE posting IS NOT NULL;
