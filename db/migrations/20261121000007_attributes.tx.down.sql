DROP TABLE attributes;
