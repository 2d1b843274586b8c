package rest

import (
	"time"

	"bankgraph/core/fx"
	"bankgraph/core/money"
)

// quote answers a request for one. The base currency is the one that is sold (rest/CONTRACT.md, quotes).
type quote struct {
	QuoteUUID    string         `json:"quoteUUID"`
	ExpiryTime   int64          `json:"expiryTime"` // in seconds
	InvertedRate fx.Number      `json:"invertedRate"`
	BaseCcy      money.Currency `json:"baseCcy"`
	QuoteCcy     money.Currency `json:"quoteCcy"`
	SpotRate     fx.Number      `json:"spotRate"`
	FwdPoints    fx.Number      `json:"fwdPoints"`
	AllInRate    fx.Number      `json:"allInRate"`
	QuoteAmount  money.Amount   `json:"quoteAmount"`
	BaseAmount   money.Amount   `json:"baseAmount"`
	ValueDate    string         `json:"valueDate"`
	Reference    string         `json:"externalPricingSystemRefId"`
}

func quoteOf(q *fx.Quote) quote {
	return quote{
		QuoteUUID: q.UID.String(), ExpiryTime: q.Holds(), InvertedRate: fx.Number(q.InvertedRate), BaseCcy: q.Sell,
		QuoteCcy: q.Buy, SpotRate: fx.Number(q.SpotRate), FwdPoints: fx.Number(q.ForwardPoints),
		AllInRate: fx.Number(q.AllInRate), QuoteAmount: q.BuyAmount(), BaseAmount: q.SellAmount(),
		ValueDate: q.ValueDate.Format(time.DateOnly), Reference: q.Reference,
	}
}

type quoteRejected struct {
	QuoteUUID     string         `json:"quoteUUID"`
	FxQuoteStatus fx.QuoteStatus `json:"fxQuoteStatus"`
}

// tradeFields are what all answers show of a trade.
type tradeFields struct {
	TradeDate         string         `json:"tradeDate"`
	CcyPair           string         `json:"ccyPair"`
	Direction         string         `json:"direction"`
	BaseCcy           money.Currency `json:"baseCcy"`
	BaseAmount        money.Amount   `json:"baseAmount"`
	QuoteCcy          money.Currency `json:"quoteCcy"`
	QuoteAmount       money.Amount   `json:"quoteAmount"`
	Tenor             fx.Tenor       `json:"tenor"`
	ValueDate         string         `json:"valueDate"`
	ReferenceSpotRate fx.Number      `json:"referenceSpotRate"`
}

func tradeFieldsOf(t *fx.Trade) tradeFields {
	return tradeFields{
		TradeDate: t.TradeDate.Format(time.DateOnly), CcyPair: string(t.Sell) + string(t.Buy), Direction: "Sell",
		BaseCcy: t.Sell, BaseAmount: t.SellAmount(), QuoteCcy: t.Buy, QuoteAmount: t.BuyAmount(), Tenor: t.Tenor,
		ValueDate: t.ValueDate.Format(time.DateOnly), ReferenceSpotRate: fx.Number(t.SpotRate),
	}
}

// tradeBooked answers the acceptance of a quote. Its number is a number there, and text elsewhere.
type tradeBooked struct {
	ForexContractNo fx.TradeUID `json:"forexContractNo"`
	tradeFields
	ExchangeRate       fx.Number      `json:"exchangeRate"`
	ReferenceFwdPoints fx.Number      `json:"referenceFwdPoints"`
	ExecutionTime      string         `json:"executionTime"`
	QuoteUUID          string         `json:"quoteUUID"`
	TradeStatus        fx.TradeStatus `json:"tradeStatus"`
	Reference          string         `json:"externalPricingSystemRefId"`
}

func tradeBookedOf(t *fx.Trade, zone *time.Location) tradeBooked {
	return tradeBooked{
		ForexContractNo: t.UID, tradeFields: tradeFieldsOf(t), ExchangeRate: fx.Number(t.AllInRate),
		ReferenceFwdPoints: fx.Number(t.ForwardPoints), ExecutionTime: executed(t.CreatedAt, zone),
		QuoteUUID: t.Quote.String(), TradeStatus: t.Status, Reference: t.Reference,
	}
}

// trade answers the get.
type trade struct {
	ForexContractNo string `json:"forexContractNo"`
	tradeFields
	ExchangeRate       fx.Number      `json:"exchangeRate"`
	ReferenceFwdPoints fx.Number      `json:"referenceFwdPoints"`
	ExecutionTime      string         `json:"executionTime"`
	CounterpartyID     string         `json:"counterpartyId"`
	TradeStatus        fx.TradeStatus `json:"tradeStatus"`
}

func tradeOf(t *fx.Trade, zone *time.Location) trade {
	return trade{
		ForexContractNo: t.UID.String(), tradeFields: tradeFieldsOf(t), ExchangeRate: fx.Number(t.AllInRate),
		ReferenceFwdPoints: fx.Number(t.ForwardPoints), ExecutionTime: executed(t.CreatedAt, zone),
		CounterpartyID: t.Customer.String(), TradeStatus: t.Status,
	}
}

// cover answers the cover of a trade, with what is covered.
type cover struct {
	ForexContractNo string `json:"forexContractNo"`
	CoverTradeNo    string `json:"coverTradeNo"`
	Reference       string `json:"externalPricingSystemRefId"` // of the cover's price
	Channel         string `json:"channel"`
	CustomerIDType  string `json:"customerIdType"`
	CustomerID      string `json:"customerId"`
	tradeFields
	AllInRate fx.Number `json:"allInRate"`
}

func coverOf(t *fx.Trade) cover {
	return cover{
		ForexContractNo: t.UID.String(), CoverTradeNo: t.Cover.String(), Reference: t.CoverReference,
		Channel: t.Channel, CustomerIDType: string(t.IDType), CustomerID: t.CustomerID,
		tradeFields: tradeFieldsOf(t), AllInRate: fx.Number(t.AllInRate),
	}
}

type tradeCancelled struct {
	ForexContractNo string         `json:"forexContractNo"`
	TradeStatus     fx.TradeStatus `json:"tradeStatus"`
}
