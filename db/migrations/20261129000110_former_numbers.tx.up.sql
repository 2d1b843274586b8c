-- Which account that was deleted had a number.
CREATE INDEX accounts_former_number ON accounts (tenant, number_hash) WHERE deleted_at IS NOT NULL;
