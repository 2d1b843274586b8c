SELECT 1; -- how they were spelled is not known any more
