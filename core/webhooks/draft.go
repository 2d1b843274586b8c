package webhooks

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/outside"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// Draft is what a request says about a webhook. A change changes only the fields that are given.
type Draft struct {
	Name          given.Text        `json:"name,omitzero"`
	Target        given.Text        `json:"target,omitzero"`
	Topics        []Topic           `json:"topics,omitzero"`   // nil: not given; of a new one: payments
	Statuses      []payments.Status `json:"statuses,omitzero"` // nil: not given; empty: all
	Rails         []rails.Rail      `json:"rails,omitzero"`
	BasicUser     given.Text        `json:"basicUser,omitzero"`
	BasicPassword given.Text        `json:"basicPassword,omitzero"`
	Reach         access.Reach      `json:"reach,omitempty"` // of a new webhook only; '' for the widest
}

// check validates the draft of a new webhook (adding) or of a change, and puts it into stored form.
func (d *Draft) check(adding bool) error {
	c := check.Of("webhook")
	if !adding && !d.says() {
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	d.Target.Value = strings.TrimRight(strings.TrimSpace(d.Target.Value), "/")
	c.Given("name", d.Name, adding)
	c.Given("target", d.Target, adding)
	c.AtMost("name", d.Name.Value, 100)
	c.AtMost("target", d.Target.Value, 500)
	c.AtMost("basicUser", d.BasicUser.Value, 100)
	if strings.Contains(d.BasicUser.Value, ":") {
		c.Fail("basicUser", fault.Malformed, "must not contain a colon, which basic authentication does not allow")
	}
	if utf8.RuneCountInString(d.BasicPassword.Value) > 200 {
		c.Fail("basicPassword", fault.Max, "must have at most 200 characters")
	}
	if d.BasicUser.Value != "" && d.BasicPassword.Value == "" {
		c.Fail("basicPassword", fault.Required, "is required with a user")
	}
	if d.BasicPassword.Value != "" && d.BasicUser.Value == "" {
		c.Fail("basicUser", fault.Required, "is required with a password")
	}
	if adding && d.Topics == nil {
		d.Topics = []Topic{OfPayments}
	}
	if d.Topics != nil && len(d.Topics) == 0 {
		c.Fail("topics", fault.Required, "must name at least one topic")
	}
	d.Topics, d.Statuses, d.Rails = each(d.Topics), each(d.Statuses), each(d.Rails)
	return c.Err()
}

// directsTx returns a fault if the caller may not see all that the webhook is told, and so may not say where
// that goes, with which secret, or that it goes again: ErrReach for a webhook with a wider reach than the
// caller's, access.ErrDenied for one that is told of transactions, which name the numbers of virtual accounts
// in full, if the caller may not see accounts. It is asked of who makes a change, and not of who approves it.
func (w *Webhook) directsTx(ctx context.Context, tx *changes.Tx) error {
	switch {
	case tx.Approved():
		return nil
	case !tx.Caller.Reach.AtLeast(w.Reach):
		return ErrReach
	case !slices.Contains(w.Topics, OfTransactions):
		return nil
	}
	_, err := access.Require(ctx, access.ViewAccounts)
	return err
}

// each returns every value once, sorted; nil for nil.
func each[T ~string](all []T) []T {
	slices.Sort(all)
	return slices.Compact(all)
}

// says reports whether a change changes anything.
func (d *Draft) says() bool {
	return d.Name.Given || d.Target.Given || d.Topics != nil || d.Statuses != nil || d.Rails != nil ||
		d.BasicUser.Given ||
		d.BasicPassword.Given
}

// to writes the given fields into a webhook.
func (d *Draft) to(w *Webhook) {
	d.Name.To(&w.Name)
	d.Target.To(&w.Target)
	d.BasicUser.To(&w.BasicUser)
	if d.Topics != nil {
		w.Topics = d.Topics
	}
	if d.Statuses != nil {
		w.Statuses = d.Statuses
	}
	if d.Rails != nil {
		w.Rails = d.Rails
	}
}

// ErrTarget is returned for an address that nothing may be posted to.
var ErrTarget = fault.New(fault.Invalid, "webhook.target",
	"must be an address of the public network that begins with https:// and has no user, query or fragment").
	On("target")

// permitted returns ErrTarget for a target that nothing may be posted to. local says whether it may be an
// address of this machine, without TLS. What a name resolves to is checked when it is dialed.
func permitted(target string, local bool) error {
	at, err := url.Parse(target)
	if err != nil || at.Host == "" || at.Hostname() == "" || at.User != nil || at.Opaque != "" ||
		at.RawQuery != "" || !dialable(at.Port()) ||
		at.ForceQuery || at.Fragment != "" || strings.ContainsAny(target, " #\\") {
		return ErrTarget
	}
	host := strings.TrimSuffix(strings.ToLower(at.Hostname()), ".")
	ip, failed := netip.ParseAddr(host)
	if host == "localhost" || failed == nil && ip.Unmap().IsLoopback() {
		if local && (at.Scheme == "http" || at.Scheme == "https") {
			return nil
		}
		return ErrTarget
	}
	if at.Scheme != "https" || failed == nil && !outside.Public(ip) || strings.HasSuffix(host, ".localhost") ||
		!local && failed != nil && !strings.Contains(host, ".") { // a name without a dot is one of a network's own
		return ErrTarget
	}
	return nil
}

// dialable reports whether a port of a URL can be connected to; none means the scheme's own.
func dialable(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// widest returns the widest reach that a webhook of a customer may have.
func widest(of *customers.Customer) access.Reach {
	switch {
	case of.RelationshipType == customers.RelationSelf:
		return access.OfBank
	case of.Type == customers.DownstreamPartner:
		return access.OfPartner
	}
	return access.OfCustomer
}

// reachOf returns the reach of a new webhook: the one that was asked for, or the narrower one of its
// customer's and the caller's.
func reachOf(of *customers.Customer, caller access.Caller, asked access.Reach) (access.Reach, error) {
	most := widest(of)
	if !caller.Reach.AtLeast(most) {
		most = caller.Reach
	}
	switch {
	case asked == "":
		return most, nil
	case !most.AtLeast(asked):
		return "", ErrReach
	case most == access.OfBank && asked == access.OfPartner:
		return "", ErrReach // the bank is not a partner
	}
	return asked, nil
}
