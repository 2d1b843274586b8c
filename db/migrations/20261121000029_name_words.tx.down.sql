DROP INDEX customers_name_words;
--bun:split
DROP FUNCTION name_search(text);
--bun:split
DROP FUNCTION name_words(text);
