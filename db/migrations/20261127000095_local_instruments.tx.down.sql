ALTER TABLE payment_details DROP local_instrument;
