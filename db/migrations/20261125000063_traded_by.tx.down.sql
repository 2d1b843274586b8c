DROP INDEX fx_trades_by_person;
