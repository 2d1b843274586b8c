DROP INDEX payments_by_state;
