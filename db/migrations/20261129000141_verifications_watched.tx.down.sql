DROP INDEX contact_verifications_open_of_customer;
--bun:split
DROP INDEX contact_verifications_watched;
