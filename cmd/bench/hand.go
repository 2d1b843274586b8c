package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"bankgraph/core/access"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// hand is the other side of the comparison: one handler for each workload, written as a good engineer would
// who needs nothing else. A request uses as few round trips as possible, with statements that pgx prepares;
// rows become structs, and encoding/json makes JSON of them. The token check is the bank's own. Every
// statement checks the caller's bank and, if rows are found by a key from outside, what a partner may see.
// There is no cache.
type hand struct {
	pool *pgxpool.Pool
	keys *seal.Keys
}

func byHand(ctx context.Context, t task) (http.Handler, error) {
	c, err := openCore(t.URL, t.Keyset, db.Options{Connections: 2}) // for the token check
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(t.URL)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(max(8, 4*runtime.GOMAXPROCS(0)))
	config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	h := hand{pool: pool, keys: c.Keys}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /customer-360/{uid}", h.customer360)
	mux.HandleFunc("GET /customers-by-name", h.customersByName)
	mux.HandleFunc("GET /account-by-number/{number}", h.accountByNumber)
	mux.HandleFunc("GET /v2/customers", h.restCustomers)
	mux.HandleFunc("GET /customers/{uid}/accounts", h.restAccountByNumber)
	mux.HandleFunc("POST /v2/customers", h.createCustomer)
	mux.HandleFunc("POST /customers-with-limits", h.createLimited)
	mux.HandleFunc("POST /v3/payments/booktransfer", h.bookTransfer)
	return authenticated(c.Clients, mux), nil
}

// callerOf is the caller, whom the token check has put into the context.
func callerOf(r *http.Request) access.Caller {
	caller, _ := access.Require(r.Context())
	return caller
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// answer writes the value as JSON.
func answer(w http.ResponseWriter, value any) {
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	buffer.Reset()
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		fail(w, err)
		return
	}
	buffer.Truncate(buffer.Len() - 1) // without the line end that Encode adds
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(buffer.Len()))
	_, _ = w.Write(buffer.Bytes())
}

func fail(w http.ResponseWriter, err error) {
	slog.Error("hand", "error", err)
	http.Error(w, "internal error", http.StatusInternalServerError)
}

// read sends a batch and waits for its end.
func (h hand) read(ctx context.Context, batch *pgx.Batch) error {
	return h.pool.SendBatch(ctx, batch).Close()
}

// reply is GraphQL's envelope, which the bank's answers have.
type reply[T any] struct {
	Data T `json:"data"`
}

// list is a page of rows.
type list[T any] struct {
	Nodes []T `json:"nodes"`
}

// masked is a value that shows only its last digits.
type masked struct {
	Masked string `json:"masked"`
}

// mask returns nil if there is no value.
func mask(last4 string) *masked {
	if last4 == "" {
		return nil
	}
	return &masked{"****" + last4}
}

// null returns nil for the empty text, which means absent in the tables.
func null(text *string) *string {
	if *text == "" {
		return nil
	}
	return text
}

// decimal writes minor units with the decimals of their currency.
func decimal(minor int64, currency string) string {
	digits := digits(currency)
	text := strconv.FormatInt(minor, 10)
	sign := ""
	if minor < 0 {
		sign, text = "-", text[1:]
	}
	if digits == 0 {
		return sign + text
	}
	for len(text) <= digits {
		text = "0" + text
	}
	point := len(text) - digits
	return sign + text[:point] + "." + text[point:]
}

// digits is how many decimals a currency has.
func digits(currency string) int {
	switch currency {
	case "JPY", "KRW":
		return 0
	case "BHD", "KWD":
		return 3
	}
	return 2
}

// day is today in the bank's time zone.
func day(caller access.Caller) time.Time {
	now := time.Now().In(caller.Location())
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
}

// words are GraphQL's forms of the tables' words.
var words = map[string]string{
	"Consumer": "CONSUMER", "Corporate": "CORPORATE", "Downstream Partner": "DOWNSTREAM_PARTNER",
	"Processing Org": "PROCESSING_ORG", "Financial Institution": "FINANCIAL_INSTITUTION",
	"Active": "ACTIVE", "Inactive": "INACTIVE", "Closed": "CLOSED", "Suspended": "SUSPENDED", "New": "NEW",
	"Pending": "PENDING", "Deceased": "DECEASED", "Deleted": "DELETED",
	"Customer": "CUSTOMER", "Bank": "BANK", "ThirdParty": "THIRD_PARTY", "Self": "SELF",
	"Deposit": "DEPOSIT", "Loan": "LOAN", "Checking": "CHECKING", "Savings": "SAVINGS",
	"Health Savings Account": "HEALTH_SAVINGS", "CD": "CD", "Money Market": "MONEY_MARKET", "Pseudo": "PSEUDO",
	"Credit Card": "CREDIT_CARD", "Heloc": "HELOC", "Line of Credit": "LINE_OF_CREDIT",
}
