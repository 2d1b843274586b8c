DROP TABLE IF EXISTS ach_notices;
