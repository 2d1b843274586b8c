CREATE INDEX customers_words ON customers USING gin (to_tsvector('simple', legal_name));
--bun:split
DROP INDEX customers_name_words;
--bun:split
DROP FUNCTION name_search(bigint, text);
--bun:split
DROP FUNCTION name_words(bigint, text);
