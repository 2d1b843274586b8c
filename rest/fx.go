package rest

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fx"
	"bankgraph/core/given"
)

// The families of foreign exchange differ in their codes (rest/CONTRACT.md, foreign exchange).
var (
	quotesV3 = dialect{
		success: successC1, failure: failureC1, lines: table("FXQUOTE001", notAuthorized), phrase: "Quote failed",
	}
	quotesV2 = func() dialect {
		d := quotesV3
		d.spelled = map[string]string{
			"customerUID": "customerId", "customerShortName": "customerId", "accountNumber": "customerId",
		}
		return d
	}()
	acceptancesV2 = dialect{
		success: successC1, failure: failureC1, lines: table("FXQUOTE002", notAuthorized),
		phrase: "Quote acceptance failed",
	}
	rejectionsV2 = dialect{
		success: successC1, failure: failureC1, lines: table("FXQUOTE003", notAuthorized),
		phrase: "Quote rejection failed",
	}
	tradesV2 = dialect{success: successC1, failure: failureC1, lines: table("FX001", notAuthorized)}
)

// quoteInV3 is the successor of asking for a quote in v2.
func quoteInV3(*http.Request) string { return "/v3/fx/quote" }

// quoteV2 names the customer by one member, whatever it names it by.
func (a *api) quoteV2(r *http.Request) (answer, error) {
	q := readBody(r)
	f := q.fields()
	draft := quoteDraft(f)
	switch id := f.number("customerId"); fx.IDType(draft.IDType) {
	case fx.ByUID:
		draft.UID = orZero(idIn(f, customers.ParseUID, "customerId"))
	case fx.ByShortName:
		draft.ShortName = f.text("customerId").Value
	case fx.ByAccount:
		draft.Account = orZero(idIn(f, accounts.ParseNumber, "customerId"))
	default:
		draft.ID = id.Value
	}
	draft.IDType = cmp.Or(draft.IDType, " ") // which is missing
	return a.quote(r, q, draft)
}

func (a *api) quoteV3(r *http.Request) (answer, error) {
	q := readBody(r)
	f := q.fields()
	draft := quoteDraft(f)
	draft.UID, draft.ShortName = orZero(idIn(f, customers.ParseUID, "customerUID")),
		f.text("customerShortName").Value
	draft.ID, draft.Account = f.number("customerId").Value,
		orZero(idIn(f, accounts.ParseNumber, "accountNumber"))
	return a.quote(r, q, draft)
}

// quoteDraft reads what both generations have in common.
func quoteDraft(f fields) fx.Draft {
	return fx.Draft{
		Channel: f.text("channel").Value, IDType: idType(f.text("customerIdType")),
		Sell: f.text("sellCurrency").Value, Buy: f.text("buyCurrency").Value,
		Funding: f.number("fundingAmount").Value, Transfer: f.number("transferAmount").Value,
		Product: f.text("productType").Value, Tenor: f.text("tenor").Value,
		ValueDate: orZero(wordIn(f, date, "valueDate")),
	}
}

// idType spells a word as core does; others are left for core to refuse.
func idType(word given.Text) string {
	for _, known := range []fx.IDType{fx.ByUID, fx.ByShortName, fx.ByID, fx.ByAccount} {
		if strings.EqualFold(word.Value, string(known)) {
			return string(known)
		}
	}
	return word.Value
}

func (a *api) quote(r *http.Request, q *reader, draft fx.Draft) (answer, error) {
	options := q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.FX.Quote(r.Context(), draft, options)
	return done(http.StatusOK, out.Receipt, quoteOf(&out.Result)), err
}

func (a *api) acceptQuote(r *http.Request) (answer, error) {
	q := readBody(r)
	f, options := q.fields(), q.options()
	uid := parsed(q, "quoteUUID", f.text("quoteUUID").Value, fx.ParseQuoteUID)
	draft := fx.Acceptance{AutoCover: f.flag("autoCover").Value, Delay: f.whole("autoCoverDelay")}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.FX.Accept(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, tradeBookedOf(&out.Result, zoneOf(r))), err
}

func (a *api) rejectQuote(r *http.Request) (answer, error) {
	q := read(r)
	uid, options := inPath(q, "quoteUUID", fx.ParseQuoteUID), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.FX.Reject(r.Context(), uid, options)
	return done(http.StatusOK, out.Receipt, quoteRejected{out.Result.UID.String(), out.Result.Status}), err
}

func (a *api) findTrade(r *http.Request) (answer, error) {
	q := read(r)
	uid := inPath(q, "forexContractNo", fx.ParseTradeUID)
	if q.err != nil {
		return answer{}, q.err
	}
	t, err := a.core.FX.Find(r.Context(), uid)
	if err != nil {
		return answer{}, err
	}
	return versioned(t.Version, tradeOf(t, zoneOf(r))), nil
}

// coverTrade is a GET in two of its three forms. It has its effect once, however often it is asked for.
func (a *api) coverTrade(r *http.Request) (answer, error) {
	q := read(r)
	uid, options := inPath(q, "forexContractNo", fx.ParseTradeUID), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.FX.Cover(r.Context(), uid, options)
	if err != nil {
		return answer{}, err
	}
	return done(http.StatusOK, out.Receipt, coverOf(&out.Result)), nil
}

func (a *api) cancelTrade(r *http.Request) (answer, error) {
	q := read(r)
	uid, options := inPath(q, "forexContractNo", fx.ParseTradeUID), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.FX.Cancel(r.Context(), uid, options)
	return done(http.StatusOK, out.Receipt, tradeCancelled{out.Result.UID.String(), out.Result.Status}), err
}

// executed is when a trade was made, as the customer's bank tells time.
func executed(at time.Time, zone *time.Location) string {
	return at.In(zone).Format("2006-01-02T15:04:05")
}
