-- Where a remittance is found: by e-mail or by a reference of its own (rest/CONTRACT.md, remittances elsewhere).
ALTER TABLE payment_details ADD remittance_method text NOT NULL DEFAULT '',
  ADD remittance_address text NOT NULL DEFAULT '';
