-- What people have made and approved on each day, counted while their roles bound that.
CREATE TABLE person_usage (
  tenant   bigint NOT NULL,
  person   uuid NOT NULL,
  act      text NOT NULL CONSTRAINT person_usage_act CHECK (act IN ('PAID', 'APPROVED')),
  day      date NOT NULL,                    -- in the bank's zone
  currency text NOT NULL,
  amount   bigint NOT NULL DEFAULT 0 CONSTRAINT person_usage_amount CHECK (amount >= 0), -- minor units
  PRIMARY KEY (tenant, person, act, currency, day),
  CONSTRAINT person_usage_person FOREIGN KEY (tenant, person) REFERENCES users (tenant, uid)
);
--bun:split
SELECT row_security('person_usage');
