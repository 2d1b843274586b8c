-- Whom somebody made a user of a customer is found beside however much else is on record about the customer.
CREATE INDEX audit_entries_users_made ON audit_entries (tenant, customer, id)
  WHERE object = 'user' AND action = 'createUser';
--bun:split
-- The rules that a customer has are counted however many it had and deleted.
CREATE INDEX positive_pay_rules_of_customer_now ON positive_pay_rules (tenant, customer, uid)
  WHERE state <> 'Deleted';
