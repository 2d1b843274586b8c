-- Login ids are compared exactly, but for the case of the letters A to Z (core/ident). What Unicode knows beyond that is
-- no case here: lower() of another collation makes an i of U+0130, and so one person of two. Rows that were made before
-- and hold other letters stay, and are found by nobody's name.
DROP INDEX users_login_id;
CREATE UNIQUE INDEX users_login_id ON users (tenant, lower(login_id COLLATE "C"));
CREATE INDEX users_login_id_former ON users (tenant, lower(login_id)); -- the previous release reads by it; the next one drops it
--bun:split
-- What of a token counts, by issuer.
ALTER TABLE issuers ADD COLUMN subject_claim text NOT NULL DEFAULT '';            -- names somebody for good: sub, oid; '': the login id counts
ALTER TABLE issuers ADD COLUMN scope text NOT NULL DEFAULT 'roles';               -- what the scope must hold; '': nothing
ALTER TABLE issuers ADD COLUMN id_tokens boolean NOT NULL DEFAULT false;          -- its access tokens are made like id tokens
ALTER TABLE issuers ADD COLUMN longest_life int NOT NULL DEFAULT 86400;           -- seconds from iat to exp
--bun:split
-- Who is who at an issuer: the value of its subject claim, byte by byte, and the user whom the bank's staff linked it to.
CREATE TABLE subjects (
  tenant   bigint NOT NULL,
  url      text NOT NULL,                                 -- the issuer and its audience
  audience text NOT NULL,
  claim    text NOT NULL,                                 -- the subject claim; the links of another do not count
  subject  text NOT NULL CHECK (subject <> ''),
  customer bigint NOT NULL,
  user_uid uuid NOT NULL,
  linked_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, url, audience, claim, subject),
  CONSTRAINT subjects_user UNIQUE (tenant, user_uid, url, audience, claim), -- a user has one there
  CONSTRAINT subjects_issuer FOREIGN KEY (tenant, url, audience) REFERENCES issuers (tenant, url, audience),
  CONSTRAINT subjects_of FOREIGN KEY (tenant, customer, user_uid) REFERENCES users (tenant, customer, uid) ON DELETE CASCADE
);
SELECT row_security('subjects');
--bun:split
-- A token counts while its key has the generation that the token names; with an overlap the one before counts too.
ALTER TABLE clients ADD COLUMN generation int NOT NULL DEFAULT 1;
ALTER TABLE clients ADD COLUMN responsible uuid;                                  -- the person who answers for what the key does
ALTER TABLE clients ADD CONSTRAINT clients_responsible FOREIGN KEY (tenant, responsible) REFERENCES users (tenant, uid) NOT VALID;
CREATE INDEX clients_responsible ON clients (tenant, responsible) WHERE responsible IS NOT NULL;
--bun:split
-- What a bank has settled for itself; without a row, as the defaults are.
CREATE TABLE tenant_settings (
  tenant        bigint PRIMARY KEY REFERENCES tenants (id),
  people_decide boolean NOT NULL DEFAULT true             -- only a person approves or refuses a change that waits
);
SELECT row_security('tenant_settings');
-- The party that asked: the person, or who answers for the key, and the legal entity. Of what waited before, a login at most is known.
ALTER TABLE approvals ADD COLUMN maker_person uuid;
ALTER TABLE approvals ADD COLUMN maker_entity bigint NOT NULL DEFAULT 0;
