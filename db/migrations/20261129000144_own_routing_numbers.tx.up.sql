-- Where the bank has accounts in its own books. Somebody outside the bank opens one elsewhere only if the bank agrees.
CREATE INDEX accounts_own_bank ON accounts (tenant, bank_id)
  WHERE system_of_record = 'Internal Core' AND status <> 'Pending' AND deleted_at IS NULL;
