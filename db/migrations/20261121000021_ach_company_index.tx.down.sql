DROP INDEX customers_ach_company;
