package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// certificate writes a pair for loopback, identified by its serial number.
func certificate(t *testing.T, folder string, serial int64) (certFile, keyFile string) {
	t.Helper()
	return certificateUntil(t, folder, serial, time.Now().Add(time.Hour))
}

func certificateUntil(t *testing.T, folder string, serial int64, until time.Time) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	draft := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, draft, draft, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	for name, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// overTLS serves a handler on a loopback port.
func overTLS(t *testing.T, c *serveCommand, handler http.Handler, log *slog.Logger) (address string) {
	t.Helper()
	_, address = doorsOverTLS(t, c, handler, log)
	return address
}

func doorsOverTLS(
	t *testing.T, c *serveCommand, handler http.Handler, log *slog.Logger,
) (doors *doors, address string) {
	t.Helper()
	config, err := c.config(log)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	doors = openDoors(listener, c, config, newMeters(nil))
	server := newServer(doors.count(&front{Handler: handler}), log)
	server.TLSConfig, server.ConnState, server.ConnContext = config, doors.state, doors.context
	go func() { _ = server.Serve(doors) }()
	t.Cleanup(func() { _ = server.Close() })
	return doors, listener.Addr().String()
}

func serialAt(t *testing.T, address string) int64 {
	t.Helper()
	conn, err := tls.Dial("tcp", address,
		&tls.Config{InsecureSkipVerify: true}) //nolint:gosec // the certificate is looked at, not trusted
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestRenewedCertificatesArePickedUpAndBadOnesAreNot(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cert, key := certificate(t, folder, 1)
	c := &serveCommand{exposure: exposure{TLSCert: cert, TLSKey: key, Connections: 100}}
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	config, err := c.config(log)
	if err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		t.Helper()
		time.Sleep(pairLook + 10*time.Millisecond)
		pair, err := config.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf.SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("certificate %d", got)
	}
	certificate(t, folder, 2)
	if got := serial(); got != 2 {
		t.Errorf("after renewal: certificate %d", got)
	}
	if err := os.WriteFile(key, []byte("half a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != 2 || !strings.Contains(text.String(), "cannot be used") {
		t.Errorf("with a bad key: certificate %d\n%s", got, text.String())
	}
	certificate(t, folder, 3)
	if got := serial(); got != 3 {
		t.Errorf("after it was mended: certificate %d", got)
	}
}

func TestAnExpiredCertificateTakesNoOthersPlace(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cert, key := certificate(t, folder, 1)
	c := &serveCommand{exposure: exposure{TLSCert: cert, TLSKey: key, Connections: 100}}
	config, err := c.config(newLog(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	certificateUntil(t, folder, 2, time.Now().Add(-time.Minute))
	time.Sleep(pairLook + 10*time.Millisecond)
	if pair, err := config.GetCertificate(nil); err != nil || pair.Leaf.SerialNumber.Int64() != 1 {
		t.Errorf("after a copy of last year's: certificate %v, %v", pair.Leaf.SerialNumber, err)
	}
}

// A pipe stands for a disk that hangs: reading it waits for a writer.
func TestFilesThatCannotBeReadNowHoldUpNobody(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cert, key := certificate(t, folder, 1)
	c := &serveCommand{exposure: exposure{TLSCert: cert, TLSKey: key, Connections: 100}}
	config, err := c.config(newLog(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(key), syscall.Mkfifo(key, 0o600)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(pairLook + 10*time.Millisecond)
	answered := make(chan int64, 2)
	for range cap(answered) {
		go func() {
			pair, _ := config.GetCertificate(nil)
			answered <- pair.Leaf.SerialNumber.Int64()
		}()
	}
	for range cap(answered) {
		select {
		case got := <-answered:
			if got != 1 {
				t.Errorf("certificate %d", got)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("who connects waits for the disk")
		}
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	certificate(t, folder, 2)
	time.Sleep(pairLook + 10*time.Millisecond)
	if pair, err := config.GetCertificate(nil); err != nil || pair.Leaf.SerialNumber.Int64() != 2 {
		t.Errorf("after the disk came back: certificate %v, %v", pair.Leaf.SerialNumber, err)
	}
}

func TestTLSSpeaksBothVersionsOfHTTPAndNoOldTLS(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t, t.TempDir(), 7)
	c := &serveCommand{exposure: exposure{TLSCert: cert, TLSKey: key, Connections: 100}}
	address := overTLS(t, c,
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }),
		newLog(io.Discard))
	if got := serialAt(t, address); got != 7 {
		t.Errorf("certificate %d", got)
	}
	for _, protocol := range []string{"h2", "http/1.1"} {
		transport := &http.Transport{
			ForceAttemptHTTP2: protocol == "h2",
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}},
		} //nolint:gosec // a certificate of the test's own
		defer transport.CloseIdleConnections()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if want := map[string]string{"h2": "HTTP/2.0", "http/1.1": "HTTP/1.1"}[protocol]; string(body) != want {
			t.Errorf("%s: %s", protocol, body)
		}
	}
	old := &tls.Config{
		InsecureSkipVerify: true, MinVersion: tls.VersionTLS10,
		MaxVersion: tls.VersionTLS11,
	} //nolint:gosec // refused is what it should be
	if conn, err := (&tls.Dialer{Config: old}).DialContext(t.Context(), "tcp", address); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 is spoken")
	}
}

// Many streams of one connection are many requests of one caller. A stream that is not read is cut and
// counted.
func TestUnreadStreamsOfHTTP2AreCut(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t, t.TempDir(), 7)
	c := &serveCommand{exposure: exposure{TLSCert: cert, TLSKey: key, Connections: 100}}
	room := newRoomOf(4)
	address := overTLS(t, c,
		room.unsent.deliver(func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusTooManyRequests)
		},
			never, writing(largestAnswer)), newLog(io.Discard))
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	} //nolint:gosec // a certificate of the test's own
	defer transport.CloseIdleConnections()
	for range 6 {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://"+address,
			http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() // and never read
		if held := room.unsent.held(); held > room.unsent.bytes.Caller() {
			t.Errorf("%d bytes wait", held)
		}
	}
	for began := time.Now(); room.unsent.held() > 0; time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > 3*slowestPiece {
			t.Fatalf("%d bytes still wait for who reads nothing", room.unsent.held())
		}
	}
}

// Streams with slow bodies count like connections: a network has its share of them, and the oldest make room.
func TestDrippingStreamsOfHTTP2AreCountedAsConnections(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t, t.TempDir(), 7)
	c := &serveCommand{exposure: exposure{TLSCert: cert, TLSKey: key, Connections: 40}}
	var came, running atomic.Int64
	address := overTLS(t, c, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		came.Add(1)
		running.Add(1)
		defer running.Add(-1)
		_, _ = io.Copy(io.Discard, r.Body)
	}), newLog(io.Discard))
	send := func(through *http.Transport, body io.Reader) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+address, body)
		if err != nil {
			return err
		}
		answer, err := through.RoundTrip(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	caller := func() *http.Transport {
		transport := &http.Transport{
			ForceAttemptHTTP2: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		} //nolint:gosec // a certificate of the test's own
		t.Cleanup(transport.CloseIdleConnections)
		return transport
	}
	for range 10 {
		through := caller()
		for range 6 {
			body, drip := io.Pipe()
			defer drip.Close()
			before := came.Load()
			go func() { _ = send(through, body) }()
			for began := time.Now(); came.Load() == before; time.Sleep(time.Millisecond) {
				if time.Since(began) > 5*time.Second {
					t.Fatal("a stream does not come in")
				}
			}
		}
	}
	for began := time.Now(); running.Load() > 9; time.Sleep(time.Millisecond) {
		if time.Since(began) > 5*time.Second {
			t.Fatalf("%d streams are there beside their connections, want less than 10", running.Load())
		}
	}
	if err := send(caller(), strings.NewReader("whole")); err != nil {
		t.Errorf("one more of the same network: %v", err)
	}
}

// A stream counts until its answer is read or cut, even if the answer is so small that its handler has ended.
func TestStreamsAreCountedUntilTheirAnswersAreTaken(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t, t.TempDir(), 7)
	c := &serveCommand{exposure: exposure{TLSCert: cert, TLSKey: key, Connections: 400}}
	config, err := c.config(newLog(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	doors := openDoors(listener, c, config, newMeters(nil))
	server := newServer(doors.count(&front{Handler: http.HandlerFunc(alive)}), newLog(io.Discard))
	server.TLSConfig, server.ConnState, server.ConnContext = config, doors.state, doors.context
	go func() { _ = server.Serve(doors) }()
	t.Cleanup(func() { _ = server.Close() })

	conn, err := tls.Dial("tcp", listener.Addr().String(),
		&tls.Config{
			InsecureSkipVerify: true,
			NextProtos:         []string{"h2"},
		}) //nolint:gosec // a certificate of the test's own
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var text bytes.Buffer
	text.WriteString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	// settings: a stream's window is 0, so that no answer may be sent
	text.Write([]byte{0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0})
	const streams = 20
	for i := range byte(streams) {
		// Its headers: GET, https, / by their numbers, and the host x.
		text.Write([]byte{0, 0, 6, 1, 5, 0, 0, 0, 1 + 2*i, 0x82, 0x87, 0x84, 0x01, 1, 'x'})
	}
	if _, err := conn.Write(text.Bytes()); err != nil {
		t.Fatal(err)
	}
	wait := func(want int, atMost time.Duration) {
		t.Helper()
		for began := time.Now(); doors.taken() != want; time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > atMost {
				t.Fatalf("%d connections and streams are counted, want %d", doors.taken(), want)
			}
		}
	}
	wait(1+streams, 3*time.Second)
	wait(1, 3*slowestPiece)
}

func TestNothingIsServedInTheClearToOtherMachines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		addr string
		exposure
		ok bool
	}{
		{"127.0.0.1:80", exposure{}, true},
		{"[::1]:80", exposure{}, true},
		{"localhost:80", exposure{}, true},
		{"0.0.0.0:80", exposure{}, false},
		{":80", exposure{}, false},
		{"bank.example:80", exposure{}, false},
		{"0.0.0.0:80", exposure{BehindProxy: true}, true},
		{"0.0.0.0:80", exposure{TLSCert: "a", TLSKey: "b"}, true},
	} {
		err := c.permits(c.addr)
		if (err == nil) != c.ok ||
			err != nil &&
				(!strings.Contains(err.Error(), "--tls-cert") ||
					!strings.Contains(err.Error(), "--behind-proxy")) {
			t.Errorf("%s, %+v: %v", c.addr, c.exposure, err)
		}
	}
	if (exposure{TLSCert: "a", Connections: 1, Unsent: 64}).check() == nil {
		t.Error("a certificate without its key")
	}
}
