-- Customers are found by their ACH company id.
CREATE INDEX customers_ach_company ON customers (tenant, ach_company_id) WHERE ach_company_id <> '';
