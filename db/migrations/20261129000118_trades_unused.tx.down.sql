DROP INDEX fx_trades_by_value_date;
