-- What was counted wrongly is not counted again.
SELECT 1;
