DROP INDEX IF EXISTS positive_pay_rules_of_customer_now;
--bun:split
DROP INDEX IF EXISTS audit_entries_users_made;
