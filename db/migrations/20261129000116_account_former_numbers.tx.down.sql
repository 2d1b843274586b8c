DROP TABLE account_former_numbers;
--bun:split
DROP SEQUENCE account_former_number_ids;
