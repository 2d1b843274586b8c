package main

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// onKeyset makes the program with only a keyset file.
func onKeyset(t *testing.T) (p testProgram, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "keyset.json")
	p = testProgram{
		T: t, settings: []string{
			"BANKGRAPH_DATABASE_URL=postgres://nobody@127.0.0.1:1/none", "BANKGRAPH_KEYSET=" + file,
		},
	}
	p.ok("keyset", "create", file)
	return p, file
}

// aged moves the last step of a rotation into the past.
func aged(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var parts map[string]any
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sealing", "searching"} {
		if part := parts[name].(map[string]any); part["changed"] != nil {
			part["changed"] = "2026-01-01T00:00:00Z"
		}
	}
	if text, err = json.Marshal(parts); err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A whole rotation, beginning with a keyset of the first format, while a worker runs.
func TestAKeysetRotates(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	file := strings.TrimPrefix(p.settings[2], "BANKGRAPH_KEYSET=")
	p.ok("tenant", "add", "BANK1", "--name", "First Bank", "--zone", "America/New_York", "--currency", "USD",
		"--admin", "jane.doe")
	added := p.ok("client", "add", "portal", "--tenant", "BANK1", "--permissions", "readers")
	p.ok("token", "portal", "--tenant", "BANK1") // makes a signing key
	if out := p.ok("keyset", "rotate", "--hashes"); strings.Count(out, "added") < 2 ||
		!strings.Contains(out, "keyset promote") {
		t.Errorf("rotate: %s", out)
	}
	if _, errs, status := p.run("keyset", "promote"); status != 1 || !strings.Contains(errs, "try again in") {
		t.Errorf("promote at once: %d, %s", status, errs)
	}
	aged(t, file)
	p.ok("keyset", "promote")
	aged(t, file)
	if out := p.ok("keyset", "status"); !strings.Contains(out, "BANK1") ||
		!strings.Contains(out, "waits for a worker") {
		t.Errorf("before a worker: %s", out)
	}
	if _, errs, status := p.run("keyset", "retire"); status != 1 ||
		!strings.Contains(errs, "rows of signing_keys under other keys") {
		t.Errorf("retire before it is moved: %d, %s", status, errs)
	}
	worker := p.command("work")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = worker.Process.Kill(); _ = worker.Wait() }()
	for deadline := time.Now().
		Add(time.Minute); strings.Count(p.ok("keyset", "status"), "done ") < 8; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it is not moved: ", p.ok("keyset", "status"))
		}
	}
	out, errs, status := p.run("keyset", "retire")
	for deadline := time.Now().Add(time.Minute); strings.Contains(errs, "workers will move them") &&
		time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) { // the last table may be under way
		out, errs, status = p.run("keyset", "retire")
	}
	if status != 0 || !strings.Contains(out, "bank BANK1: none of") ||
		strings.Count(out, "retired") != 2 {
		t.Errorf("retire: %s", out)
	}
	aged(t, file)
	p.ok("keyset", "restore")
	aged(t, file)
	p.ok("keyset", "retire")
	aged(t, file)
	p.ok("keyset", "destroy")
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), "GiAwMTIzNDU2Nzg5MDEy") ||
		strings.Count(string(text), `"keyId"`) != 3 {
		t.Errorf("the old key is still there: %v", err)
	}
	if token := p.ok("token", "portal", "--tenant", "BANK1"); !strings.HasPrefix(token, "ey") || added == "" {
		t.Errorf("the signing key does not open: %s", token)
	}
}

func TestAKeysetIsWrappedByAPassphrase(t *testing.T) {
	t.Parallel()
	p, _ := onKeyset(t)
	if _, errs, status := p.run("keyset", "wrap"); status != 1 ||
		!strings.Contains(errs, "BANKGRAPH_KEYSET_PASSPHRASE_FILE") {
		t.Errorf("without a passphrase: %d, %s", status, errs)
	}
	folder := t.TempDir()
	word := filepath.Join(folder, "keyset-passphrase")
	if err := os.WriteFile(word, []byte("correct horse battery\nsecond line"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.ok("keyset", "wrap", "--new-passphrase-file", word)
	plain := p.settings
	for _, with := range []string{
		"BANKGRAPH_KEYSET_PASSPHRASE=correct horse battery", "BANKGRAPH_KEYSET_PASSPHRASE_FILE=" + word,
		"CREDENTIALS_DIRECTORY=" + folder,
	} {
		p.settings = append(plain[:len(plain):len(plain)], with)
		if out := p.ok("keyset", "status"); !strings.Contains(out, "wrapped by a passphrase") {
			t.Errorf("%s: %s", with, out)
		}
	}
	p.ok("keyset", "rotate")
	pipe := filepath.Join(folder, "pipe") // nothing is written into it
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	p.settings = append(plain[:len(plain):len(plain)], "BANKGRAPH_KEYSET_PASSPHRASE_FILE="+pipe)
	if _, errs, status := p.run("keyset", "status"); status != 1 ||
		!strings.Contains(errs, "no regular file") {
		t.Errorf("a passphrase that cannot be read again: %d, %s", status, errs)
	}
	p.settings = append(plain[:len(plain):len(plain)], "BANKGRAPH_KEYSET_PASSPHRASE=another horse battery")
	if _, errs, status := p.run("keyset",
		"status"); status != 1 || !strings.Contains(errs, "it does not open") ||
		strings.Contains(errs, "horse") {
		t.Errorf("a wrong passphrase: %d, %s", status, errs)
	}
	p.settings = append(plain[:len(plain):len(plain)], "CREDENTIALS_DIRECTORY="+folder)
	p.ok("keyset", "unwrap")
	p.settings = plain
	p.ok("keyset", "status")
}

// transit imitates Vault's transit engine as far as wrapping needs it: it does not encrypt, but remembers
// what it gave out.
func transit(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]string
		text, _ := io.ReadAll(r.Body)
		if r.Header.Get("X-Vault-Token") != "token-of-the-bank" || json.Unmarshal(text, &asked) != nil {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"errors":["permission denied"]}`)
			return
		}
		hidden := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
		answer := map[string]string{}
		switch r.URL.Path {
		case "/v1/transit/encrypt/bankgraph":
			answer["ciphertext"] = "vault:v1:" + hidden(asked["associated_data"]+"|"+asked["plaintext"])
		case "/v1/transit/decrypt/bankgraph":
			shown, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(asked["ciphertext"], "vault:v1:"))
			of, plain, _ := strings.Cut(string(shown), "|")
			if of != asked["associated_data"] {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			answer["plaintext"] = plain
		default:
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": answer})
	}))
	t.Cleanup(s.Close)
	return s
}

// endless sends an answer without an end.
func endless(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.WriteString(w, `{"data":"`)
		for piece := strings.Repeat("a", 1<<16); err == nil; {
			_, err = io.WriteString(w, piece)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestAKeysetIsWrappedByVault(t *testing.T) {
	t.Parallel()
	p, file := onKeyset(t)
	const uri = "hcvault:///transit/keys/bankgraph"
	if _, errs, status := p.run("keyset", "wrap", "--kms", "gcp-kms://key"); status != 1 ||
		!strings.Contains(errs, "hcvault://") {
		t.Errorf("an unknown KMS: %d, %s", status, errs)
	}
	plain := p.settings
	p.settings = append(plain[:len(plain):len(plain)], "VAULT_ADDR="+transit(t).URL,
		"VAULT_TOKEN=token-of-the-bank", "VAULT_MAX_RETRIES=0")
	p.ok("keyset", "wrap", "--kms", uri)
	p.ok("keyset", "rotate", "--hashes")
	if out := p.ok("keyset", "status"); !strings.Contains(out, "wrapped by "+uri) {
		t.Errorf("%s", out)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "encryptedKeyset") {
		t.Errorf("%s, %v", text, err)
	}
	p.settings = append(p.settings, "VAULT_TOKEN=another")
	if _, errs, status := p.run("keyset", "status"); status != 1 ||
		!strings.Contains(errs, "permission denied") {
		t.Errorf("a wrong token: %d, %s", status, errs)
	}
	p.settings = append(p.settings, "VAULT_ADDR="+endless(t).URL)
	if _, errs, status := p.run("keyset", "status"); status != 1 || !strings.Contains(errs, "too large") {
		t.Errorf("an answer without end: %d, %s", status, errs)
	}
}

// A program that seals does not start with the keyset of another database.
func TestNothingIsSealedUnderAForeignKeyset(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	bank := []string{"--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jane.doe"}
	p.ok(append([]string{"tenant", "add", "BANK1"}, bank...)...)
	p.ok("client", "add", "portal", "--tenant", "BANK1", "--permissions", "readers")
	p.ok("token", "portal", "--tenant", "BANK1") // makes a signing key
	foreign := filepath.Join(t.TempDir(), "foreign.json")
	p.ok("keyset", "create", foreign)
	right := p.settings[2]
	p.settings[2] = "BANKGRAPH_KEYSET=" + foreign
	for _, args := range [][]string{
		{"serve", "--addr", "127.0.0.1:0"}, {"work"}, append([]string{"tenant", "add", "BANK2"}, bank...),
	} {
		if _, errs, status := p.run(args...); status != 1 ||
			!strings.Contains(errs, "is not the one of this database") {
			t.Errorf("%v: %d, %s", args, status, errs)
		}
	}
	p.ok("audit", "verify", "--tenant", "BANK1") // needs no keys
	p.settings[2] = right
	p.serve()
}
