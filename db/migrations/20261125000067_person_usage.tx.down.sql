DROP TABLE IF EXISTS person_usage;
