-- Of two replays of a webhook at once, one since a time and one after a place, each keeps to its own events.
ALTER TABLE webhooks ADD COLUMN replay_after bigint; -- events after it are posted again, also those before replay_since
