package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// exposure is how the service is reached from outside, and how much of it one caller, one bank and one
// network may use.
type exposure struct {
	TLSCert        string         `name:"tls-cert" env:"BANKGRAPH_TLS_CERT" placeholder:"FILE" help:"Certificate, with its chain, to serve TLS with; renewed files are picked up within seconds."`
	TLSKey         string         `name:"tls-key" env:"BANKGRAPH_TLS_KEY" placeholder:"FILE" help:"The key of that certificate."`
	BehindProxy    bool           `env:"BANKGRAPH_BEHIND_PROXY" help:"Serve without TLS on an address that is not loopback, because a proxy in front speaks TLS, and nobody else reaches this address."`
	TrustedProxies []netip.Prefix `env:"BANKGRAPH_TRUSTED_PROXIES" placeholder:"NETWORK" help:"Networks of the proxies in front, such as 10.0.0.0/8: where a request comes from, for limits and the log, is what they say in X-Forwarded-For."`
	TenantRate     int            `env:"BANKGRAPH_TENANT_RATE" default:"1000" help:"Requests that all callers of one bank together may send in a second; 0: as many as they like (${default})."`
	Unsent         int            `env:"BANKGRAPH_UNSENT" default:"64" placeholder:"MIB" help:"Memory for answers that their callers have not read yet; one caller has a quarter of it, and one bank half (${default})."`
	Connections    int            `env:"BANKGRAPH_CONNECTIONS" default:"4096" help:"Connections that are open at a time; one network address has a quarter of them, a trusted proxy all (${default})."`
}

func (e exposure) check() error {
	if (e.TLSCert == "") != (e.TLSKey == "") {
		return errors.New("--tls-cert (BANKGRAPH_TLS_CERT) and --tls-key (BANKGRAPH_TLS_KEY) go together")
	}
	for _, network := range e.TrustedProxies {
		switch {
		case !network.IsValid():
			return errors.New("--trusted-proxies (BANKGRAPH_TRUSTED_PROXIES) has an empty entry: " +
				"it lists networks such as 10.0.0.0/8, with commas between them")
		case network.Addr().Is4In6():
			return fmt.Errorf("--trusted-proxies (BANKGRAPH_TRUSTED_PROXIES): %s is IPv4 written as IPv6, "+
				"and matches nothing: write it as IPv4, such as 10.0.0.0/8", network)
		}
	}
	if e.TenantRate < 0 || e.Connections < 1 {
		return errors.New("--tenant-rate cannot be below zero, and --connections not below one")
	}
	if e.Unsent<<20 < 4*largestAnswer {
		return errors.New(
			"--unsent (BANKGRAPH_UNSENT) cannot be below 32: a quarter of it must hold the largest answer")
	}
	return nil
}

// permits refuses addresses where secrets and account numbers would be sent to other machines unencrypted.
func (e exposure) permits(addr string) error {
	if loopback(addr) || e.TLSCert != "" || e.BehindProxy {
		return nil
	}
	return fmt.Errorf(
		"%s is reached from other machines, and secrets would travel in the clear: name a certificate "+
			"(--tls-cert, --tls-key), or say --behind-proxy where a proxy in front speaks TLS and "+
			"nobody else reaches this address", addr)
}

// config makes the TLS configuration of the two files. It returns nil if there are none.
func (e exposure) config(log *slog.Logger) (*tls.Config, error) {
	if e.TLSCert == "" {
		return nil, nil
	}
	p := &pair{certFile: e.TLSCert, keyFile: e.TLSKey, log: log}
	if err := p.read(); err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: p.get,
	}, nil
}

// pair is a certificate with its key, from two files.
type pair struct {
	certFile, keyFile string
	log               *slog.Logger

	current  atomic.Pointer[tls.Certificate]
	state    string // of the files when current was read; only for renew
	reported string // of the files when the log last reported an error; only for renew

	mu     sync.Mutex
	looked time.Time     // when the last look began
	look   chan struct{} // closed when the running look ends; nil if none runs
}

const (
	pairLook     = time.Second            // the files are checked at most this often
	pairPatience = 200 * time.Millisecond // a connection waits this long for a check: the disk may hang
)

// get returns the certificate, renewed if there is a new one.
func (p *pair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if look := p.begin(); look != nil {
		late := time.NewTimer(pairPatience)
		defer late.Stop()
		select {
		case <-look:
		case <-late.C:
		}
	}
	return p.current.Load(), nil
}

// begin starts a look at the files if it is time for one, and else returns nil.
func (p *pair) begin() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.look != nil || time.Since(p.looked) < pairLook {
		return nil
	}
	p.looked, p.look = time.Now(), make(chan struct{})
	go p.renew(p.look)
	return p.look
}

// renew reads files that have changed. If the pair cannot be used, the old one stays: it is common to see one
// new file and one old.
func (p *pair) renew(look chan struct{}) {
	if now := p.onDisk(); now != p.state {
		if err := p.read(); err != nil && now != p.reported {
			p.reported = now
			p.log.LogAttrs(context.Background(), slog.LevelError,
				"the renewed certificate cannot be used, the old one stays", slog.Any("error", err))
		} else if err == nil {
			p.log.Info("a renewed certificate is used", "not_after", p.current.Load().Leaf.NotAfter)
		}
	}
	p.mu.Lock()
	p.look = nil
	p.mu.Unlock()
	close(look)
}

// read reads the pair from its files. A pair in use is not read again until a file changes. A pair that
// cannot be used is read again at each look, since the disk or the clock may be right by then. An expired
// pair does not replace another.
func (p *pair) read() error {
	state := p.onDisk()
	for _, name := range []string{p.certFile, p.keyFile} {
		if err := regular(name); err != nil {
			return err
		}
	}
	read, err := tls.LoadX509KeyPair(p.certFile, p.keyFile)
	if err != nil {
		return err
	}
	if until := read.Leaf.NotAfter; time.Now().After(until) {
		if p.current.Load() != nil {
			return fmt.Errorf("%s has expired, at %s", p.certFile, until.UTC().Format(time.RFC3339))
		}
		p.log.Warn("the certificate has expired: callers that check it will not connect", "file",
			p.certFile, "not_after", until)
	}
	p.current.Store(&read)
	p.state = state
	return nil
}

// regular refuses pipes and other special files: reading a pipe would wait for a writer.
func regular(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", name)
	}
	return nil // reading a missing file reports it
}

// onDisk describes the state of the files, to notice changes.
func (p *pair) onDisk() string {
	state := ""
	for _, name := range []string{p.certFile, p.keyFile} {
		if file, err := os.Stat(name); err == nil { // follows links, which many tools replace
			state += fmt.Sprint(file.ModTime().UnixNano(), " ", file.Size(), " ")
		}
	}
	return state
}
