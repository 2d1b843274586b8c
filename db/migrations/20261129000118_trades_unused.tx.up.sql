-- Trades whose value date has passed are listed for people, if no payment used them.
CREATE INDEX fx_trades_by_value_date ON fx_trades (tenant, value_date) WHERE status <> 'Cancelled';
