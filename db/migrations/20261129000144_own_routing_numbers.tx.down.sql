DROP INDEX accounts_own_bank;
