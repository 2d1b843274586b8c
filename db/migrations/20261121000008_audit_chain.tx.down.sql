DROP INDEX events_object, audit_entries_at, audit_entries_login;
DROP TABLE audit_checkpoints, audit_seals;
