DROP TABLE users;
DROP TABLE customer_counts;
DROP TABLE customers;
DROP SEQUENCE customer_uids;
