-- When the account of a contact, or the way to it, was last changed; NULL for never, or before this release.
ALTER TABLE contacts ADD COLUMN redirected_at timestamptz;
