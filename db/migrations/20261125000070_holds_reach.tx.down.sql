ALTER TABLE account_holds DROP COLUMN reach;
