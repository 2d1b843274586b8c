ALTER TABLE payment_details DROP remittance_method, DROP remittance_address;
