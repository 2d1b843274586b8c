DELETE FROM sandbox_clocks WHERE ahead < 0;
--bun:split
ALTER TABLE sandbox_clocks ADD CONSTRAINT sandbox_clocks_ahead CHECK (ahead >= 0);
