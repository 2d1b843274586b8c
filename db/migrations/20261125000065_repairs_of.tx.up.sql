-- how many payments of a customer wait for repair is bounded
CREATE INDEX payments_in_repair_of ON payments (tenant, customer) WHERE state = 'REPAIR';
