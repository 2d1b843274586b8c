# Each target works as the first command ever on a machine with Go and make, as root or not.
# `make` alone explains them.

.DEFAULT_GOAL := help
SHELL := /bin/bash
# With it the build cache serves every checkout on a machine: paths on disk are no part of what is compiled.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath)
tool := go tool -modfile=.tools/go.mod
# Tests end soon and there are dozens of binaries: they collect less garbage, and are linked without symbols.
tests := GOGC=400 go test -vet=off -ldflags=-s -timeout 20m

.PHONY: help
help: ## explain the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: postgresql .cache/bin/bankgraph ## build and start the bank with its own PostgreSQL and a demo bank
	@exec .cache/bin/bankgraph serve

.PHONY: test
test: postgresql pooler ## run all tests; check vets them (flags through T, e.g. T='-run Sweep ./core/accounts')
	$(tests) $(or $(T),./...)

.PHONY: race
race: postgresql pooler ## run what shares memory with the race detector (needs a C compiler)
	$(if $(T),$(tests) -race -short $(T),TESTS='$(tests)' .ci/race)

.PHONY: fuzz
fuzz: postgresql ## try every parser with inputs that nobody thought of (for how long each through T, e.g. T=10m)
	.ci/fuzz $(or $(T),1m)

.PHONY: check
check: ## generated code is up to date, the linters are content
	@before=$$($(generated)); $(MAKE) --no-print-directory generate; [ "$$before" = "$$($(generated))" ] || \
		{ echo "generated code was out of date; it is new now: commit it"; exit 1; }
	$(tool) golangci-lint run

# One hash over everything that generate may write.
generated := find graph -name '*.go' -not -path '*/node_modules/*' | LC_ALL=C sort | xargs cksum | cksum

.PHONY: generate
generate: ## write the generated code anew
	go run ./graph/generate

.PHONY: format
format: ## format the Go code
	$(tool) golangci-lint fmt

.PHONY: bench
bench: postgresql ## measure the bank beside handlers written by hand (flags through T, e.g. T='-customers 10000 -only a,b'; with -keys 1000 -copies 50: many copies of a change have one effect; with -lines 100000: a bulk file; with -changes 500: how soon changes are told; with -banks 8: what idle banks cost)
	go run ./cmd/bench $(T)

.PHONY: test-clients
test-clients: postgresql .cache/bin/bankgraph ## run the tests that need Node or Chromium
	.ci/clients

.PHONY: playground
playground: ## build the playground's committed bundle anew (needs Node)
	graph/playground/build.sh

# The program is rebuilt whenever Go thinks so.
.PHONY: .cache/bin/bankgraph
.cache/bin/bankgraph:
	@[ -e $@ ] || echo "Building bankgraph with $$(go env GOVERSION). With empty caches this takes minutes: its modules are fetched," \
		"then these packages are compiled." >&2
	go build $(if $(wildcard $@),,-v) -o $@ ./cmd/bankgraph

# Finds PostgreSQL 15 or newer, or fetches Debian's packages into a cache, without installing them.
.PHONY: postgresql
postgresql:
	@db/cluster/fetch.sh >/dev/null

# Finds PgBouncer, which some tests go through, or fetches Debian's in the same way.
.PHONY: pooler
pooler:
	@db/cluster/fetch.sh pgbouncer >/dev/null
