-- The last answers to a payment are found, however many there are.
CREATE INDEX ach_answers_of_payment ON ach_answers (tenant, payment, message) WHERE payment IS NOT NULL;
--bun:split
DROP INDEX ach_answers_payment;
