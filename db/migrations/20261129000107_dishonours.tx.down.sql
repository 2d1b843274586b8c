DROP INDEX ach_answers_dishonours;
--bun:split
DROP INDEX ach_received_return_trace;
