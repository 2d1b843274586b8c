-- Whether the bank's own people have disabled a webhook, which only they enable again then.
ALTER TABLE webhooks ADD COLUMN disabled_by_bank boolean NOT NULL DEFAULT false;
