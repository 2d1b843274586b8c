-- Foreign exchange: quotes, which lapse by themselves, and the trades that were booked of them.
CREATE SEQUENCE trade_uids MINVALUE 1 MAXVALUE 99999999999;
--bun:split
CREATE SEQUENCE cover_uids MINVALUE 1 MAXVALUE 99999999999;
--bun:split
CREATE TABLE fx_quotes (
  tenant           bigint NOT NULL REFERENCES tenants (id),
  uid              uuid NOT NULL,
  customer         bigint NOT NULL,
  channel          text NOT NULL,
  customer_id_type text NOT NULL,                         -- how the request named the customer
  customer_id      text NOT NULL,                         -- of an account number the last four
  product          text NOT NULL CONSTRAINT fx_quotes_product CHECK (product IN ('SPOT', 'FORWARD')),
  sell_currency    text NOT NULL,
  buy_currency     text NOT NULL CONSTRAINT fx_quotes_pair CHECK (buy_currency <> sell_currency),
  sell_amount      bigint NOT NULL CONSTRAINT fx_quotes_sells CHECK (sell_amount > 0), -- minor units
  buy_amount       bigint NOT NULL CONSTRAINT fx_quotes_buys CHECK (buy_amount > 0),   -- minor units
  worth            bigint NOT NULL CONSTRAINT fx_quotes_worth CHECK (worth >= 0),      -- minor units of the bank's currency
  spot_rate        bigint NOT NULL CONSTRAINT fx_quotes_spot CHECK (spot_rate > 0),    -- rates have ten decimals
  forward_points   bigint NOT NULL,
  all_in_rate      bigint NOT NULL CONSTRAINT fx_quotes_all_in CHECK (all_in_rate > 0),
  inverted_rate    bigint NOT NULL CONSTRAINT fx_quotes_inverted CHECK (inverted_rate > 0),
  margin           int NOT NULL,                          -- millionths of the rate
  tenor            text NOT NULL DEFAULT '',              -- '' for a date that no tenor asked for leads to
  value_date       date NOT NULL,
  trade_date       date NOT NULL,
  reference        text NOT NULL,                         -- of the price, as its source calls it
  status           text NOT NULL CONSTRAINT fx_quotes_status CHECK (status IN ('Open', 'Accepted', 'Rejected', 'Expired')),
  expires_at       timestamptz NOT NULL,                  -- by the bank's clock
  maker_client     text NOT NULL,
  maker_login      text NOT NULL DEFAULT '',
  created_at       timestamptz NOT NULL,
  updated_at       timestamptz NOT NULL,
  version          int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT fx_quotes_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid)
);
--bun:split
CREATE INDEX fx_quotes_expiring ON fx_quotes (tenant, expires_at) WHERE status = 'Open';
--bun:split
CREATE INDEX fx_quotes_of_customer ON fx_quotes (tenant, customer);
--bun:split
SELECT row_security('fx_quotes');
--bun:split
CREATE TABLE fx_trades (
  tenant           bigint NOT NULL REFERENCES tenants (id),
  uid              bigint NOT NULL,
  quote            uuid NOT NULL,
  customer         bigint NOT NULL,
  channel          text NOT NULL,
  customer_id_type text NOT NULL,
  customer_id      text NOT NULL,
  product          text NOT NULL CONSTRAINT fx_trades_product CHECK (product IN ('SPOT', 'FORWARD')),
  sell_currency    text NOT NULL,
  buy_currency     text NOT NULL CONSTRAINT fx_trades_pair CHECK (buy_currency <> sell_currency),
  sell_amount      bigint NOT NULL CONSTRAINT fx_trades_sells CHECK (sell_amount > 0),
  buy_amount       bigint NOT NULL CONSTRAINT fx_trades_buys CHECK (buy_amount > 0),
  worth            bigint NOT NULL CONSTRAINT fx_trades_worth CHECK (worth >= 0),
  spot_rate        bigint NOT NULL CONSTRAINT fx_trades_spot CHECK (spot_rate > 0),
  forward_points   bigint NOT NULL,
  all_in_rate      bigint NOT NULL CONSTRAINT fx_trades_all_in CHECK (all_in_rate > 0),
  tenor            text NOT NULL DEFAULT '',
  value_date       date NOT NULL,
  trade_date       date NOT NULL,
  reference        text NOT NULL,
  status           text NOT NULL CONSTRAINT fx_trades_status CHECK (status IN ('Booked', 'Covered', 'Cancelled')),
  cover_at         timestamptz,                           -- when it is covered by itself; NULL: it is not
  cover            bigint,                                -- the number of the trade that covers it
  covered_at       timestamptz,
  cover_rate       bigint,                                -- the market's all-in rate for the cover
  cover_reference  text NOT NULL DEFAULT '',
  maker_client     text NOT NULL,
  maker_login      text NOT NULL DEFAULT '',
  created_at       timestamptz NOT NULL,
  updated_at       timestamptz NOT NULL,
  version          int NOT NULL,
  PRIMARY KEY (tenant, uid),
  CONSTRAINT fx_trades_quote UNIQUE (tenant, quote),
  CONSTRAINT fx_trades_of_quote FOREIGN KEY (tenant, quote) REFERENCES fx_quotes (tenant, uid),
  CONSTRAINT fx_trades_customer FOREIGN KEY (tenant, customer) REFERENCES customers (tenant, uid),
  CONSTRAINT fx_trades_cover UNIQUE (tenant, cover),
  CONSTRAINT fx_trades_covered CHECK ((status = 'Covered') = (cover IS NOT NULL)
    AND num_nonnulls(cover, covered_at, cover_rate) IN (0, 3))
);
--bun:split
CREATE INDEX fx_trades_of_customer ON fx_trades (tenant, customer, uid);
--bun:split
CREATE INDEX fx_trades_valued ON fx_trades (tenant, customer, value_date) WHERE status <> 'Cancelled';
--bun:split
CREATE INDEX fx_trades_covering ON fx_trades (tenant, cover_at) WHERE status = 'Booked' AND cover_at IS NOT NULL;
--bun:split
SELECT row_security('fx_trades');
--bun:split
ALTER TABLE tenant_settings ADD COLUMN quote_seconds int NOT NULL DEFAULT 30
  CONSTRAINT tenant_settings_quote_seconds CHECK (quote_seconds BETWEEN 1 AND 3600);
