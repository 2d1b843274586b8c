-- The words of a name, each with its bank: what one bank looks for is not searched for among the words of all others, which
-- the index holds too. PostgreSQL's parser takes 'D.R.Horton' for a host, 'A/B' for a path and '9-11' for a negative number,
-- each of them one word, so that nobody found such a name by its parts. Between letters and digits there are only spaces here.
CREATE FUNCTION name_words(bank bigint, name text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN array_to_tsvector(array(SELECT bank || ':' || word FROM unnest(tsvector_to_array(
    to_tsvector('simple', translate(name, '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32))))) AS word));
--bun:split
-- What finds a name: each word of the search begins one of the name's. The search is parsed as names are, so every name is
-- found by itself. What a longer word of the search says too is left out: each is looked for by itself. Without a word it is
-- NULL, which finds nothing.
CREATE FUNCTION name_search(bank bigint, words text) RETURNS tsquery LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (WITH asked AS (SELECT unnest(tsvector_to_array(name_words(bank, words))) AS word)
    SELECT string_agg('''' || word || ''':*', ' & ')::tsquery FROM asked
    WHERE NOT EXISTS (SELECT FROM asked AS longer WHERE longer.word <> asked.word AND starts_with(longer.word, asked.word)));
--bun:split
CREATE INDEX customers_name_words ON customers USING gin (name_words(tenant, legal_name));
--bun:split
-- The previous release searches without it, slower; a second index of words would slow down every change of a customer.
DROP INDEX customers_words;
