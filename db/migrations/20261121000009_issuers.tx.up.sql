-- Identity providers whose access tokens a bank accepts. One that gives tokens for two audiences has two rows.
-- That no other bank accepts the same issuer with the same audience is asked when a row is added: a
-- constraint for it could not begin with the tenant.
CREATE TABLE issuers (
  tenant        bigint NOT NULL REFERENCES tenants (id),
  url           text NOT NULL CHECK (url ~ '^https?://'),   -- the iss of its tokens, byte by byte
  audience      text NOT NULL CHECK (audience <> ''),       -- what the aud of its tokens must hold
  user_claims   text[] NOT NULL CHECK (cardinality(user_claims) > 0), -- the first that a token has names the user's login id
  partner_claim text NOT NULL DEFAULT '',                   -- holds the partner id; '': the owner of the user's customer
  entity_claim  text NOT NULL DEFAULT '',                   -- must name the user's customer; '': not looked at
  algorithms    text[] NOT NULL CHECK (cardinality(algorithms) > 0),
  created_at    timestamptz NOT NULL DEFAULT now(),
  disabled_at   timestamptz,
  PRIMARY KEY (tenant, url, audience)
);

-- An API key may speak for a user: its tokens then die with the user's suspension.
ALTER TABLE clients
  ADD COLUMN user_uid uuid,
  ADD CONSTRAINT clients_user FOREIGN KEY (tenant, user_uid) REFERENCES users (tenant, uid);
CREATE INDEX clients_user ON clients (tenant, user_uid) WHERE user_uid IS NOT NULL;
