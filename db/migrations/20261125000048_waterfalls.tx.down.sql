DROP TABLE IF EXISTS waterfall_steps;
--bun:split
DROP TABLE IF EXISTS waterfalls;
--bun:split
DROP SEQUENCE IF EXISTS waterfall_numbers;
