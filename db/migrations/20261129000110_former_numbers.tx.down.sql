DROP INDEX accounts_former_number;
