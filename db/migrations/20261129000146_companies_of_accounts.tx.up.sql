-- Whose an ACH company number is, is looked up when somebody outside the bank gives it.
CREATE INDEX accounts_ach_company ON accounts (tenant, lower(ach_company_id COLLATE "C"))
  WHERE ach_company_id <> '' AND deleted_at IS NULL;
