DROP INDEX accounts_ach_company;
