-- The directory of banks: which banks there are, where, and on which rails they are reached. It is the same for every bank
-- that is kept here, so its tables have no tenant, and only transactions of no bank write them.
CREATE SEQUENCE bank_uids;
--bun:split
-- The banks, each as its listings together describe it. ref names a bank: its country and national id, such as US:611090001,
-- or its BIC where it has no national id. It is compared byte by byte, so that a prefix is a range of the index.
CREATE TABLE banks (
  uid                      bigint NOT NULL DEFAULT nextval('bank_uids') PRIMARY KEY,
  ref                      text COLLATE "C" NOT NULL CHECK (ref <> ''),
  country                  text COLLATE "C" NOT NULL CHECK (country ~ '^[A-Z]{2}$'),
  national_id_type         text NOT NULL,                        -- ABA, BLZ
  national_id              text COLLATE "C" NOT NULL,
  bic                      text COLLATE "C" NOT NULL,            -- 8 characters, or 11 of a branch; never with XXX
  name                     text NOT NULL,
  record_type              text NOT NULL,
  successor                text NOT NULL,                        -- the national id that has taken over
  address_line1            text NOT NULL,
  address_line2            text NOT NULL,
  address_city             text NOT NULL,
  address_state            text NOT NULL,
  address_postal_code      text NOT NULL,
  address_country_code     text NOT NULL,
  address_country          text NOT NULL,
  ach                      boolean NOT NULL,
  fedwire_transfer         boolean NOT NULL,
  fedwire_settlement_only  boolean NOT NULL,
  fedwire_securities       boolean NOT NULL,
  rtp_participant          text NOT NULL,
  rtp_services             text NOT NULL,                        -- separated by spaces
  rtp_receiving_connection text NOT NULL,
  rtp_sign_on_status       text NOT NULL,
  rtp_activated_on         text NOT NULL,
  rtp_status               text NOT NULL,
  rtp_connection_status    text NOT NULL,
  fednow_services          text NOT NULL,                        -- separated by spaces
  fednow_status            text NOT NULL,
  fednow_connection_status text NOT NULL
);
--bun:split
CREATE UNIQUE INDEX banks_ref ON banks (ref);
--bun:split
CREATE INDEX banks_bic ON banks (bic, ref) WHERE bic <> '';
--bun:split
CREATE INDEX banks_country ON banks (country, ref);
--bun:split
CREATE INDEX banks_city ON banks (lower(address_city) COLLATE "C", ref);
--bun:split
CREATE INDEX banks_name_words ON banks USING gin (name_words(0, name));
--bun:split
-- What one directory says of one bank. Where several say something, that of the lowest rank counts.
CREATE TABLE bank_listings (
  source text NOT NULL CHECK (source ~ '^[a-z0-9-]{1,40}$'),
  rank   smallint NOT NULL,
  LIKE banks INCLUDING CONSTRAINTS,
  PRIMARY KEY (source, ref)
);
--bun:split
ALTER TABLE bank_listings DROP COLUMN uid;
--bun:split
CREATE INDEX bank_listings_ref ON bank_listings (ref);
--bun:split
-- What was read into the directory, and by whom.
CREATE TABLE bank_imports (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at       timestamptz NOT NULL,
  operator text NOT NULL,
  source   text NOT NULL,
  format   text NOT NULL,
  file     text NOT NULL,
  added    bigint NOT NULL,
  changed  bigint NOT NULL,
  same     bigint NOT NULL,
  gone     bigint NOT NULL,
  refused  bigint NOT NULL,
  skipped  bigint NOT NULL
);
--bun:split
CREATE INDEX bank_imports_source ON bank_imports (source, id);
--bun:split
-- shared_wall lets only transactions of no bank write a table that all banks share.
CREATE FUNCTION shared_wall(of regclass, only_grows boolean DEFAULT false) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  no_bank constant text := 'nullif(current_setting(''bankgraph.tenant'', true), '''')::bigint = 0';
BEGIN
  EXECUTE format('CREATE POLICY shared_reads ON %s FOR SELECT USING (true)', of);
  EXECUTE format('CREATE POLICY shared_inserts ON %s FOR INSERT WITH CHECK (%s)', of, no_bank);
  IF NOT only_grows THEN
    EXECUTE format('CREATE POLICY shared_updates ON %s FOR UPDATE USING (%s) WITH CHECK (%2$s)', of, no_bank);
    EXECUTE format('CREATE POLICY shared_deletes ON %s FOR DELETE USING (%s)', of, no_bank);
  END IF;
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', of);
END $$;
--bun:split
SELECT shared_wall('banks'), shared_wall('bank_listings'), shared_wall('bank_imports', only_grows => true);
