-- Which return of ours another bank does not take, and which payments of the last days that concerns.
CREATE INDEX ach_received_return_trace ON ach_received (tenant, return_trace) WHERE file IS NOT NULL;
--bun:split
CREATE INDEX ach_answers_dishonours ON ach_answers (tenant, message) WHERE code >= 'R61' AND code <= 'R70';
