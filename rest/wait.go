package rest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// longestWait bounds for how long an answer waits for a network.
const longestWait = 30 * time.Second

// waitsFor returns for how long a caller prefers to wait for what the network says (RFC 7240: Prefer:
// wait=10), at most longestWait; 0 for not at all. What is not understood of a preference is ignored, as that
// text wants.
func waitsFor(h http.Header) time.Duration {
	for _, header := range h.Values("Prefer") {
		for preference := range strings.SplitSeq(header, ",") {
			preference, _, _ = strings.Cut(preference, ";") // parameters
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
			if err != nil {
				return 0
			}
			return min(time.Duration(seconds)*time.Second, longestWait)
		}
	}
	return 0
}

// waiting are the paths of the requests that may wait: those for payments over networks.
var waiting = []string{
	"/payments/creditrequest", "/v3/payments/creditrequest", "/v4/payments/credit", "/v5/payments/credit",
	"/payments/debitrequest", "/v3/payments/debitrequest", "/v4/payments/debit",
}

// Waits returns how much longer than others a request may take, because its caller prefers to wait.
func Waits(r *http.Request) time.Duration {
	if r.Method != http.MethodPost || !slices.Contains(waiting, r.URL.Path) {
		return 0
	}
	return waitsFor(r.Header)
}

// Place is what a request has of the room for requests.
type Place interface {
	Leave()
	// StepAside gives up what the request has of the room while it waits for a network, until Return. It
	// reports false if too many wait already. End is called if the wait has to end, for others; it must not
	// block.
	StepAside(end func()) bool
	// Return takes the place again. Where that fails, the request is answered without one.
	Return(ctx context.Context) error
	// Cut ends the receiving of the request's body.
	Cut()
}

type placeKey struct{}

// WithPlace returns a context for a request that has a place.
func WithPlace(ctx context.Context, p Place) context.Context {
	return context.WithValue(ctx, placeKey{}, p)
}

// PlaceOf returns the place of a request; nil if it has none.
func PlaceOf(ctx context.Context) Place {
	place, _ := ctx.Value(placeKey{}).(Place)
	return place
}

// StepAside gives up the place of a request, if it has one, until back is called. It is not ok for the
// request to wait if too many do already. End ends the wait where it gives way to those of others.
func StepAside(ctx context.Context, end func()) (back func(), ok bool) {
	place := PlaceOf(ctx)
	switch {
	case place == nil:
		return func() {}, true
	case !place.StepAside(end):
		return nil, false
	}
	return func() { _ = place.Return(ctx) }, true
}

// begun answers a request for a payment over a network, as show shows it. If the caller prefers to wait, it
// waits until the network says what becomes of the payment, and answers how that stands then.
func (a *api) begun(
	r *http.Request, out changes.Outcome[payments.Saved], err error, show func(paymentSaved) any,
) (answer, error) {
	var waited time.Duration
	if err == nil {
		waited = a.await(r, &out)
	}
	said := done(http.StatusOK, out.Receipt, show(initiatedOf(out.Result)))
	said.waited = waited
	return said, err
}

// await returns for how long it would have waited; 0 if it does not wait: where the payment waits for people
// or for its day, or goes over ACH, where nobody answers, and where too many wait already. Then, too, the
// answer is how the payment stands now (rest/CONTRACT.md, waiting for the network).
func (a *api) await(r *http.Request, out *changes.Outcome[payments.Saved]) (most time.Duration) {
	most = waitsFor(r.Header)
	if most == 0 || out.Approval != 0 || !underway(out.Result.Status) {
		return 0
	}
	ctx, cancel := context.WithTimeout(r.Context(), most)
	defer cancel()
	defer context.AfterFunc(a.Serving, cancel)()
	changed, err := a.core.Live.Payments(ctx, 0, out.Result.UID, "")
	if err != nil {
		return 0
	}
	defer changed.Close()
	waiting, end := context.WithCancelCause(ctx)
	defer end(nil)
	back, ok := StepAside(r.Context(), func() { end(errGaveWay) })
	if ok {
		defer back()
	}
	for {
		now, err := a.core.Payments.Now(ctx, out.Result.UID)
		if err == nil {
			out.Result.Status, out.Version = now.Status(), now.Version
		}
		switch {
		case !ok, err == nil && now.Rail == rails.ACH:
			return 0
		case err != nil, !underway(now.Status()):
			return most
		}
		if _, err := changed.Next(waiting); errors.Is(context.Cause(waiting), errGaveWay) {
			ok = false
		} else if err != nil {
			return most
		}
	}
}

// errGaveWay ends the wait of who has many, for others who have fewer.
var errGaveWay = errors.New("the wait gave way to those of others")

// underway reports whether a network has yet to say what becomes of a payment.
func underway(s payments.Status) bool {
	return s == payments.StatusReadyToTransmit || s == payments.StatusTransmitted
}
