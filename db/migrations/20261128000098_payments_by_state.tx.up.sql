-- Lists of payments in one of the states in which few are: the others are passed over in no time.
CREATE INDEX payments_by_state ON payments (tenant, state, uid) WHERE state NOT IN ('QUEUED', 'SENT', 'SETTLED');
