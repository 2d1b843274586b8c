-- The words of a name. PostgreSQL's parser takes 'D.R.Horton' for a host, 'A/B' for a path and '9-11' for a negative number,
-- each of them one word, so that nobody found such a name by its parts. Between letters and digits there are only spaces here.
CREATE FUNCTION name_words(name text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN to_tsvector('simple', translate(name, '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)));
--bun:split
-- What finds a name: each word of the search begins one of the name's. The search is parsed as names are, so every name is
-- found by itself. Without a word it is NULL, which finds nothing.
CREATE FUNCTION name_search(words text) RETURNS tsquery LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (SELECT string_agg('''' || word || ''':*', ' & ')::tsquery FROM unnest(tsvector_to_array(name_words(words))) AS word);
--bun:split
-- customers_words stays for the previous release; a later one drops it.
CREATE INDEX customers_name_words ON customers USING gin (name_words(legal_name));
