-- A demo bank lives through its past: its clock is behind then, and never otherwise.
ALTER TABLE sandbox_clocks DROP CONSTRAINT sandbox_clocks_ahead;
