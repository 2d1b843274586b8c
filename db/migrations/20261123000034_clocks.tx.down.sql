DROP TABLE sandbox_clocks;
