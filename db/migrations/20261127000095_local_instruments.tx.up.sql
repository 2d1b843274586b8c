ALTER TABLE payment_details ADD local_instrument text NOT NULL DEFAULT '';
