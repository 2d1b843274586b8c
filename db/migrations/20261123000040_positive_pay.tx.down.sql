DROP TABLE IF EXISTS positive_pay_rules;
--bun:split
DROP SEQUENCE IF EXISTS positive_pay_rule_uids;
