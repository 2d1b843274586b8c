DROP TABLE approvals, idempotency_keys, events, audit_entries;
DROP SEQUENCE approval_uids, event_ids, audit_ids;
