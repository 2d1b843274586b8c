DROP TABLE keyset_rotations;
