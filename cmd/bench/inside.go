package main

import (
	"net/http"
	"strconv"
	"time"

	"bankgraph/db"
	"bankgraph/graph"
	"bankgraph/rest"
)

// inside serves the bank's own faces behind the token check, without what serve puts around them. It is not
// compared: it shows how many statements a request needs and what takes the time.
func inside(t task) (http.Handler, error) {
	c, err := openCore(t.URL, t.Keyset, db.Options{})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", rest.New(c, rest.Options{}))
	mux.Handle("/graphql", graph.New(c, graph.Options{Deadline: 10 * time.Second}))
	return metered(authenticated(c.Clients, mux)), nil
}

const (
	meterHeader      = "X-Bench-Meter" // asks for the counts of a request
	statementsHeader = "X-Bench-Statements"
	roundTripsHeader = "X-Bench-Round-Trips"
)

// metered counts what a request costs the database, if the request asks for it.
func metered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(meterHeader) == "" {
			next.ServeHTTP(w, r)
			return
		}
		meter := &db.Meter{}
		next.ServeHTTP(&meteredWriter{ResponseWriter: w, meter: meter},
			r.WithContext(db.WithMeter(r.Context(), meter)))
	})
}

// meteredWriter writes the counts into the headers when the answer begins, since everything has been read by
// then.
type meteredWriter struct {
	http.ResponseWriter
	meter *db.Meter
	begun bool
}

func (w *meteredWriter) WriteHeader(status int) {
	w.begun = true
	w.Header().Set(statementsHeader, strconv.FormatInt(w.meter.Statements.Load(), 10))
	w.Header().Set(roundTripsHeader, strconv.FormatInt(w.meter.RoundTrips.Load(), 10))
	w.ResponseWriter.WriteHeader(status)
}

func (w *meteredWriter) Write(body []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(body)
}
