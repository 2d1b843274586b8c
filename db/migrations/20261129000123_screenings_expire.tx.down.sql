ALTER TABLE payment_screenings DROP COLUMN expires_at;
