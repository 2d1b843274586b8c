DROP TABLE proofs;
DROP INDEX journals_shift;
