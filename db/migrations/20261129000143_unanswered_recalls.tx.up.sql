-- People are told of a recall that the other bank does not answer.
CREATE INDEX payments_recalling ON payments (tenant, updated_at) WHERE state = 'RECALLING';
