-- A webhook that was disabled while it was behind is told of what had happened until then once it is enabled again.
ALTER TABLE webhooks ADD COLUMN behind_to bigint;
