package main

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"bankgraph/db"
)

// mostFiles says how many files the test binary may have open when it acts as bankgraph.
const mostFiles = "BANKGRAPH_TEST_FILES"

func limitFiles(text string) {
	if most, err := strconv.ParseUint(text, 10, 32); err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: most})
		if err != nil {
			panic(err)
		}
	}
}

// Whoever opens as many connections as the process could have files, from wherever, takes none of what it
// needs itself: operators are answered, and others are let in.
func TestConnectionsLeaveFilesForTheBankItself(t *testing.T) {
	t.Parallel()
	p := onDemo(t)
	own := sparedFiles + 3*db.PoolSize()
	files := own + 2*fewestConnections
	p.settings = append(p.settings, fmt.Sprint(mostFiles, "=", files))
	s := p.serve("--trusted-proxies", "127.0.0.0/8", "--behind-proxy")
	if said := fmt.Sprintf(`"limit":%d,"connections":%d,"set":4096`, files,
		2*fewestConnections); !strings.Contains(s.log.String(), said) {
		t.Errorf("the log does not say %s:\n%s", said, s.log)
	}
	for range files {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if status, body := s.get(strings.Replace(s.metrics, "/metrics", "/readyz", 1), ""); status != http.StatusOK {
		t.Errorf("/readyz: %d %s", status, body)
	}
	token := s.token(sandbox, "demo-staff", "demo-staff-secret")
	if status, body := s.get(s.url+"/v2/customers?page=1&limit=1", token); status != http.StatusOK {
		t.Errorf("a caller: %d %s", status, body)
	}
	if strings.Contains(s.log.String(), "too many open files") {
		t.Errorf("it ran out of files:\n%s", s.log)
	}
}

func TestServeDoesNotStartWithoutFilesForItself(t *testing.T) {
	t.Parallel()
	p := onData(t)
	p.settings = append(p.settings, mostFiles+"=64")
	_, errs, status := p.run("serve", "--addr", "127.0.0.1:0")
	if status != 1 || !strings.Contains(errs, "may have 64 files") || !strings.Contains(errs, "ulimit -n") ||
		!strings.Contains(errs, "LimitNOFILE") {
		t.Errorf("status %d, %s", status, errs)
	}
}
