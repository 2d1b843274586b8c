package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Who may import whom. Of this module, a folder imports only what its row lists. The transports may also
// import db, for batches of reads and names of columns; without bun they cannot write SQL. No other folder
// imports the packages whose paths begin with a prefix in alone. depguard in .golangci.yml says the same
// while you type.
var folders = map[string]struct{ ours, alone []string }{
	"cmd": {
		ours:  []string{"cmd", "graph", "rest", "core", "db"},
		alone: []string{"flag", "os/signal", "github.com/alecthomas/kong"},
	},
	"graph": {
		ours: []string{"graph", "core"},
		alone: []string{
			"github.com/99designs/gqlgen",
			"github.com/vektah/gqlparser", "github.com/graph-gophers/dataloader",
			"github.com/coder/websocket",
		},
	},
	"rest": {ours: []string{"rest", "core"}, alone: []string{"github.com/go-chi/chi"}},
	"core": {ours: []string{"core", "db"}},
	"db": {
		ours:  []string{"db"},
		alone: []string{"github.com/uptrace/bun/dialect", "github.com/uptrace/bun/migrate", "github.com/jackc/pgx"},
	},
}

// bun is used by two folders.
const bun = "github.com/uptrace/bun"

// domains are listed in their order: each imports only earlier ones. A cycle means that a thing is in the
// wrong domain. The package core, made of all domains, comes after them; demo and coretest, which fill a
// core, come last.
var domains = []string{
	"fault", "ident", "money", "page", "postal", "given", "check", "states", "outside", "fair",
	"access", "seal", "probes", "rails", "audit", "events",
	"clock", "changes", "customers", "roles", "users", "tenants",
	"issuers", "clients", "banks", "contacts", "accounts", "signatories", "positivepay",
	"fees", "limits", "ledger", "holds", "alerts", "virtualaccounts", "fx", "screening", "payments",
	"sandbox", "files", "waterfalls", "sweeps", "verifications", "webhooks", "attention",
	"live", "keysets",
}

const module = "bankgraph/"

// rival contains handlers written by hand directly on the driver, for comparison with the bank, and clients
// of its faces.
const rival = module + "cmd/bench"

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestFoldersImportOnlyWhatTheyMay(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		folder := folderOf(p.ImportPath)
		rule, known := folders[folder]
		if !known {
			t.Errorf("%s: no rule for the folder %s", p.ImportPath, folder)
			continue
		}
		for _, imported := range p.Imports {
			switch {
			case strings.HasPrefix(imported, module):
				batches := imported == module+"db" && (folder == "graph" || folder == "rest")
				if !slices.Contains(rule.ours, folderOf(imported)) && !batches {
					t.Errorf("%s imports %s: %s may import of ours only %v", p.ImportPath, imported, folder, rule.ours)
				}
				if isForTests(imported) && !isForTests(p.ImportPath) {
					t.Errorf("%s imports %s, which is for tests", p.ImportPath, imported)
				}
			case imported == bun || strings.HasPrefix(imported, bun+"/schema"):
				if folder != "core" && folder != "db" {
					t.Errorf("%s imports %s, which only core and db may", p.ImportPath, imported)
				}
			case imported == "net/http" && folder == "core" && p.ImportPath != module+"core/webhooks":
				t.Errorf("%s imports net/http, which of core only webhooks may", p.ImportPath)
			}
			for other, theirs := range folders {
				if p.ImportPath == rival && (other == "db" || other == "graph") {
					continue
				}
				if other != folder &&
					slices.ContainsFunc(theirs.alone, func(prefix string) bool { return within(imported, prefix) }) {
					t.Errorf("%s imports %s, which only %s may", p.ImportPath, imported, other)
				}
			}
		}
	}
}

// Tests may also import the packages that make banks and databases for them. Tests in cmd may import
// everything.
func TestTestsOfAFolderImportOnlyWhatItMay(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		rule := folders[folderOf(p.ImportPath)]
		for _, imported := range append(p.TestImports, p.XTestImports...) {
			if strings.HasPrefix(imported, module) && !slices.Contains(rule.ours, folderOf(imported)) &&
				imported != module+"db" && !isForTests(imported) {
				t.Errorf("the tests of %s import %s: they may import of ours %v, db, core/coretest "+
					"and db/dbtest", p.ImportPath, imported, rule.ours)
			}
		}
	}
}

func TestDomainsImportOnlyEarlierOnes(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		domain, is := domainOf(p.ImportPath)
		if !is || domain == "demo" || isForTests(p.ImportPath) {
			continue
		}
		at := slices.Index(domains, domain)
		if at < 0 {
			t.Errorf("%s is not in the list of domains", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			if imported == module+"core" {
				t.Errorf("%s imports %s, which is built from it", p.ImportPath, imported)
			}
			if other, is := domainOf(imported); is && other != domain &&
				!slices.Contains(domains[:at], other) {
				t.Errorf("%s imports %s, which does not come before it in the list", p.ImportPath, imported)
			}
		}
	}
}

func packages(t *testing.T) []listed {
	t.Helper()
	command := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports",
		module+"...")
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		t.Fatal("go list found no packages")
	}
	return all
}

// folderOf is the first folder of a package below the module: "core" for bankgraph/core/accounts.
func folderOf(path string) string {
	folder, _, _ := strings.Cut(strings.TrimPrefix(path, module), "/")
	return folder
}

// domainOf is "accounts" for bankgraph/core/accounts and packages below it.
func domainOf(path string) (string, bool) {
	rest, is := strings.CutPrefix(path, module+"core/")
	domain, _, _ := strings.Cut(rest, "/")
	return domain, is
}

func isForTests(path string) bool {
	return within(path, module+"core/coretest") || within(path, module+"db/dbtest")
}

func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
