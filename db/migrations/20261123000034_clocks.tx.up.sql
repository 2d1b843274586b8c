-- The clocks of sandbox banks that were moved on.
CREATE TABLE sandbox_clocks (
  tenant       bigint PRIMARY KEY REFERENCES tenants (id),
  ahead        bigint NOT NULL DEFAULT 0                  -- microseconds by which it is ahead of the machine's clock
    CONSTRAINT sandbox_clocks_ahead CHECK (ahead >= 0),
  target       timestamptz,                               -- to which it is moving on
  leased_until timestamptz                                -- by the worker that moves it; by the database's clock
);
SELECT row_security('sandbox_clocks');
