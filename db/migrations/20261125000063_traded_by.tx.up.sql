-- what a person has traded in a day counts against that person's own limit
CREATE INDEX fx_trades_by_person ON fx_trades (tenant, maker_login, trade_date)
  WHERE maker_login <> '' AND status <> 'Cancelled';
