ALTER TABLE ach_notices DROP approval, DROP maker_client, DROP maker_login, DROP maker_reach, DROP applied_at;
