package main

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/httprate"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"bankgraph/core/access"
	"bankgraph/db"
	"bankgraph/rest"
)

// recorder notes how a request was answered, and who asked.
type recorder struct {
	http.ResponseWriter
	status   int
	bytes    int64
	tenant   string
	client   string
	refused  access.TokenRefusal // why its token was refused
	answered time.Time           // when the answer was complete and sending began
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(body []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	written, err := r.ResponseWriter.Write(body)
	r.bytes += int64(written)
	return written, err
}

// Unwrap lets http.ResponseController set deadlines and flush, and WebSockets take over the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func recorderOf(w http.ResponseWriter) *recorder {
	if a := answerOf(w); a != nil {
		w = a.to
	}
	seen, _ := w.(*recorder)
	return seen
}

// meters are the metrics of /metrics.
type meters struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refused  *prometheus.CounterVec
	cut      prometheus.Counter
	untold   prometheus.Counter
	answered prometheus.Counter // answers of subscriptions

	streamsEnded *prometheus.CounterVec

	surplus *httprate.RateLimiter // log lines, by caller
}

// mostSurplusTold is how many refused requests of a caller are logged a second. Nothing else limits these
// lines, which could fill the disk.
const mostSurplusTold = 10

// newMeters makes the metrics of a process. pools may be nil.
func newMeters(pools *db.DB) *meters {
	m := &meters{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bankgraph_requests_total", Help: "Requests answered.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "bankgraph_request_seconds", Help: "Time to answer a request.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bankgraph_refused_total",
			Help: "Requests turned away: a caller's or a bank's surplus, or the house was full.",
		}, []string{"whose", "of"}),
		cut: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bankgraph_answers_cut_total", Help: "Answers whose callers read too slowly, or went away.",
		}),
		untold: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bankgraph_requests_untold_total",
			Help: "Requests that were turned away as surplus, and are not in the log.",
		}),
		answered: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bankgraph_stream_answers_total", Help: "Answers that subscriptions have sent.",
		}),
		streamsEnded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bankgraph_streams_ended_total",
			Help: "Subscriptions that the server ended: slow readers, stops, callers whose token " +
				"or right has ended, failures.",
		}, []string{"why"}),
		surplus: perSecond(mostSurplusTold, httprate.ResponseHeaders{}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.refused, m.cut, m.untold, m.answered, m.streamsEnded,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if pools != nil {
		m.pools(pools)
		m.replica(pools)
	}
	return m
}

// pools adds metrics of the connections.
func (m *meters) pools(pools *db.DB) {
	m.gauge("bankgraph_pool_connections", "Connections to the database that are in use.",
		prometheus.Labels{"pool": "writes"}, func() float64 {
			writes, _ := pools.Pools()
			return float64(writes.InUse)
		})
	m.gauge("bankgraph_pool_connections", "Connections to the database that are in use.",
		prometheus.Labels{"pool": "reads"}, func() float64 {
			_, reads := pools.Pools()
			return float64(reads.AcquiredConns())
		})
	m.gauge("bankgraph_database_shortage",
		"1 from when the database lacked disk, memory or connections for a write until a write succeeds.", nil,
		func() float64 {
			if _, is := pools.Shortage(); is {
				return 1
			}
			return 0
		})
}

// replica adds metrics of the replica, if there is one.
func (m *meters) replica(pools *db.DB) {
	if _, there := pools.Replica(); !there {
		return
	}
	of := func(value func(db.ReplicaState) float64) func() float64 {
		return func() float64 {
			state, _ := pools.Replica()
			return value(state)
		}
	}
	m.gauge("bankgraph_replica_used", "1 while reads go to the replica.", nil,
		of(func(s db.ReplicaState) float64 {
			if s.Used {
				return 1
			}
			return 0
		}))
	m.gauge("bankgraph_replica_behind_seconds", "How far the replica is behind, at most.", nil,
		of(func(s db.ReplicaState) float64 { return s.Behind.Seconds() }))
	m.registry.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "bankgraph_replica_reads_total", Help: "Batches of reads that the replica answered.",
		}, of(func(s db.ReplicaState) float64 { return float64(s.Reads) })),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "bankgraph_replica_fallbacks_total",
			Help: "Batches of reads that the database answered in the replica's place.",
		}, of(func(s db.ReplicaState) float64 { return float64(s.Fallbacks) })))
}

func (m *meters) gauge(name, help string, labels prometheus.Labels, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: name, Help: help, ConstLabels: labels,
	}, value))
}

// watch adds metrics of the room.
func (m *meters) watch(room *room) {
	m.gauge("bankgraph_requests_running", "Requests that are worked on.", nil, func() float64 {
		running, _ := room.full()
		return float64(running)
	})
	m.gauge("bankgraph_requests_waiting", "Requests that wait for room.", nil, func() float64 {
		_, waiting := room.full()
		return float64(waiting)
	})
	m.gauge("bankgraph_unsent_bytes", "Memory of answers that wait to be read.", nil,
		func() float64 { return float64(room.unsent.held()) })
}

// refuse counts a request that was turned away, by who had too much and of what.
func (m *meters) refuse(why error) {
	for _, one := range refusals {
		if errors.Is(why, one.why) {
			m.refused.WithLabelValues(one.whose, one.of).Inc()
		}
	}
}

var refusals = []struct {
	why       error
	whose, of string
}{
	{errBusy, "house", "room"},
	{errCrowd, "caller", "room"},
	{errBankCrowd, "bank", "room"},
	{errSlowBody, "caller", "room"},
	{errGaveWay, "bank", "room"},
	{errUnread, "caller", "unsent"},
	{errBankUnread, "bank", "unsent"},
	{errTooFast, "caller", "rate"},
	{errEntityTooFast, "entity", "rate"},
	{errBankTooFast, "bank", "rate"},
	{errNoDoor, "network", "connections"},
	{errNetTooFast, "network", "rate"},
	{errStreams, "caller", "streams"},
	{errBankStreams, "bank", "streams"},
}

// handler serves /metrics and, if ready is given, what keeps each bank from being ready. Only operators can
// reach its address.
func (m *meters) handler(ready http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.Handle("GET /readyz", ready)
	return mux
}

// observe counts and logs every request by its route, since paths contain ids and query strings contain
// account numbers. site knows the routes that rest does not serve.
func (m *meters) observe(site *site, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		seen := &recorder{ResponseWriter: w}
		routed, pattern := rest.Routed(r)
		defer func() {
			route := pattern()
			if route == "" {
				route, _ = site.find(r)
			}
			if seen.answered.IsZero() {
				seen.answered = time.Now()
			}
			m.record(r, seen, route, seen.answered.Sub(started))
		}()
		next.ServeHTTP(seen, routed)
	})
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

func (m *meters) record(r *http.Request, seen *recorder, route string, took time.Duration) {
	status, method := seen.status, r.Method
	if status == 0 {
		status = http.StatusOK
	}
	if !slices.Contains(methods, method) {
		method = "other"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
	thinned := status == http.StatusTooManyRequests || status == http.StatusUnauthorized ||
		status == http.StatusServiceUnavailable || probes(route)
	if thinned && m.surplus.OnLimit(nil, r, callerOf(r, seen)) {
		m.untold.Inc()
		return
	}
	line := [...]slog.Attr{
		slog.String("method", method), slog.String("route", route),
		slog.Int("status", status), slog.Int64("bytes", seen.bytes),
		slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("tenant", seen.tenant), slog.String("client", seen.client),
		slog.String("address", rest.Address(r)),
		slog.String("refused", seen.refused.Why), slog.String("issuer", seen.refused.Issuer),
	}
	shown := len(line)
	if seen.refused.Why == "" {
		shown -= 2
	}
	slog.LogAttrs(r.Context(), slog.LevelInfo, "request", line[:shown]...)
}

// callerOf is the caller of a request: the API key, or the network if the request was turned away before its
// token was checked.
func callerOf(r *http.Request, seen *recorder) string {
	if seen.client == "" {
		return rest.Network(r)
	}
	return seen.tenant + "/" + seen.client
}
