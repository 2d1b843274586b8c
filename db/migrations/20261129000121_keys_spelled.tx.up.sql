-- Keys as they are spelled from now on, beside those that were kept before: a request from then is still known
-- when it is repeated, to the release before, too. Spaces around them do not count, and UUIDs are in lower case
-- (rest/CONTRACT.md, idempotency).
DO $$ DECLARE bank bigint; BEGIN
  FOR bank IN SELECT id FROM tenants ORDER BY id LOOP
    PERFORM set_config('bankgraph.tenant', bank::text, true);
    INSERT INTO idempotency_keys (tenant, client, operation, key, request, outcome, created_at)
    SELECT tenant, client, operation, spelled, request, outcome, created_at
    FROM (SELECT k.*, CASE WHEN btrim(key, ' ') ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        THEN lower(btrim(key, ' ')) ELSE btrim(key, ' ') END AS spelled
      FROM idempotency_keys AS k WHERE tenant = bank) AS n
    WHERE spelled NOT IN ('', key) ORDER BY created_at
    ON CONFLICT DO NOTHING;
  END LOOP;
END $$;
