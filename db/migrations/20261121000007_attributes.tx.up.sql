-- The custom attributes that a bank has configured for its customers and accounts. What values they have stands
-- with the customer or account; one that is no longer configured keeps its old values and takes no new ones.
CREATE TABLE attributes (
  tenant     bigint NOT NULL REFERENCES tenants (id),
  level      text NOT NULL CHECK (level IN ('customer', 'account')),
  name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  type       text NOT NULL CHECK (type IN ('Text', 'Boolean', 'Date')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, level, name)
);
CREATE UNIQUE INDEX attributes_name ON attributes (tenant, level, lower(name));
