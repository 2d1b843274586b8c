DROP INDEX payments_recalling;
