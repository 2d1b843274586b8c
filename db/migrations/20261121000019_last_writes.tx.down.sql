DROP TABLE last_writes;
