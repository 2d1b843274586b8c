-- The version of the contact that an order named when it was set aside: 0 for none, and of orders before this release.
ALTER TABLE payment_repairs ADD COLUMN contact_version integer NOT NULL DEFAULT 0;
