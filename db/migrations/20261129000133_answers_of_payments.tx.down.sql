CREATE INDEX ach_answers_payment ON ach_answers (tenant, payment) WHERE payment IS NOT NULL;
--bun:split
DROP INDEX ach_answers_of_payment;
