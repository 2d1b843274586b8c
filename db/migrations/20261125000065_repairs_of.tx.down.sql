DROP INDEX payments_in_repair_of;
