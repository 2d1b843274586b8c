-- The last approval of a customer that a move left to the bank leaves those before it, too.
CREATE INDEX approvals_former ON approvals (tenant, customer, uid) WHERE former;
