# goodfleet. `make help` lists the targets and what each of them needs.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
OUT      ?= out
BIN      := bin/goodfleet
CACHE    := $(or $(GOODFLEET_CI_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/goodfleet-ci)
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
STATICCHECK := $(CACHE)/staticcheck-$(shell sed -n 's/.*honnef.co\/go\/tools \(v[0-9.]*\).*/\1/p' .ci/tools/staticcheck/go.mod)

# Packages that start goroutines, or guard against those of others: these run under the race detector.
RACY  = $(shell grep -rlE --include='*.go' '\bgo func|errgroup|sync\.(Mutex|RWMutex|WaitGroup)|sync/atomic' autoscale cmd planner pricing provider test 2>/dev/null | xargs -rn1 dirname | sort -u | sed 's|^|./|')
RAPID = $(shell grep -rl --include='*_test.go' 'pgregory.net/rapid' autoscale cmd planner pricing provider test 2>/dev/null | xargs -rn1 dirname | sort -u | sed 's|^|./|')
OUTSIDE = $(shell grep -rlE --include='*_test.go' '^//go:build data$$' autoscale cmd planner pricing provider test 2>/dev/null | xargs -rn1 dirname | sort -u | sed 's|^|./|')
FUZZ  = $(shell grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' autoscale cmd planner pricing provider test 2>/dev/null | sed -E 's|^(.*)/[^/]*:[0-9]+:func (.*)|./\1:\2|' | sort)

# What is drawn at random is drawn from SOAK_SEED where that is set, as in ci: a change is judged by the same draws each time.
DRAWS   = $(if $(SOAK_SEED),-rapid.seed=$(SOAK_SEED))

.PHONY: help build run test check ci bench soak soak-tenth test-data test-highs test-browser test-focus test-crash test-budget replay replay-quick bench-highs clean fmt vet staticcheck arrows test-race test-rest

help: ## list the targets; needs make
	@sed -nE 's/^([a-z][a-z-]*):.*## (.*)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'

build: ## the program, as bin/goodfleet; needs Go
	$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o $(BIN) ./cmd/goodfleet

run: build ## a week of training jobs on real prices, with its cost report in ./out; needs Go
	./$(BIN) simulate gavel-week --burn-cap "25 USD/h" --out $(OUT)

test: ## every test that needs only Go
	$(GO) test ./...

check: fmt vet staticcheck arrows test-race test-rest ## what each commit must pass; needs Go, a C compiler for the race detector, the module proxy for staticcheck

fmt: ## gofmt changes nothing; needs Go
	@files=$$(gofmt -l autoscale cmd planner pricing provider test); \
	if [ -n "$$files" ]; then echo "gofmt would change:"; echo "$$files"; exit 1; fi

vet: ## go vet finds nothing, behind build tags too; needs Go
	$(GO) vet ./...
	$(GO) vet -tags browser,focus ./test/...
	$(GO) vet -tags data ./planner/... ./autoscale/...

staticcheck: $(STATICCHECK) ## staticcheck finds nothing; needs Go and, once, the module proxy
	$(STATICCHECK) ./...

$(STATICCHECK): # named by its version, so never stale
	mkdir -p $(CACHE)
	cd .ci/tools/staticcheck && GOFLAGS=-mod=readonly $(GO) build -o $@ honnef.co/go/tools/cmd/staticcheck

arrows: ## packages import along the allowed arrows only; needs Go
	$(GO) test -count=1 ./test/imports

test-race: ## tests of packages with goroutines under the race detector; needs Go and a C compiler, which apt brings
	@.ci/need cc gcc libc6-dev
	CGO_ENABLED=1 $(GO) test -race -timeout 40m $(filter-out $(RAPID),$(RACY))
	CGO_ENABLED=1 $(GO) test -race -timeout 40m $(filter $(RAPID),$(RACY)) $(DRAWS)

test-rest: ## tests of all other packages; needs Go
	$(GO) test -timeout 20m $$(comm -23 <($(GO) list ./... | sort) <($(GO) list $(RACY) $(RAPID) | sort))
	$(GO) test -timeout 20m $(filter-out $(RACY),$(RAPID)) $(DRAWS)

test-data: ## tests on public data that may not be redistributed; needs Go, GOODFLEET_DATA (its folder) and GOODFLEET_EXAMPLES (that of goodput.json, allocate.json and assign.json)
	@for name in GOODFLEET_DATA GOODFLEET_EXAMPLES; do \
		if [ ! -d "$${!name:-}" ]; then echo "test-data: $$name must name a folder, and is \"$${!name:-}\"" >&2; exit 1; fi; done
	$(GO) test -tags data -v -count=1 -timeout 20m $(filter-out $(RAPID),$(OUTSIDE))
	$(GO) test -tags data -v -count=1 -timeout 20m $(filter $(RAPID),$(OUTSIDE)) $(DRAWS)

test-browser: build ## the report in a real browser; needs Go and Chromium, which apt brings
	@.ci/need chromium chromium
	$(GO) test -tags browser -count=1 -timeout 10m ./test/browser

# The official validator of FOCUS, by version, from PyPI.
FOCUS := $(CACHE)/focus-validator-2.0.1

$(FOCUS)/installed:
	@.ci/need python3 python3 python3-venv
	mkdir -p $(CACHE)
	.ci/focus $(FOCUS)

test-focus: build $(FOCUS)/installed ## our export against the official validator of FOCUS; needs Go, Python 3.10 to 3.12 and, once, PyPI
	GOODFLEET_FOCUS_VALIDATOR=$(FOCUS) $(GO) test -tags focus -v -count=1 -timeout 10m ./test/focus

bench: ## sizes and speeds, as benchmarks; needs Go
	$(GO) test -run '^$$' -bench . -benchmem -timeout 60m ./...
	@$(MAKE) --no-print-directory bench-highs

# HiGHS as WebAssembly, by version, from npm's registry.
HIGHS := $(CACHE)/highs-1.15.3/highs.wasm

$(HIGHS):
	@.ci/need npm npm
	mkdir -p $(@D)
	cd $(@D) && npm pack --silent highs@1.15.3 >/dev/null && tar xzf highs-1.15.3.tgz package/build/highs.wasm package/LICENSE && mv package/build/highs.wasm package/LICENSE . && rm -r package highs-1.15.3.tgz
	@touch $@

test-highs: $(HIGHS) ## every sharing policy against an independent solver, 500 random problems each, the same in every run (HIGHS_SEED=N: others); needs Go, npm and, once, their registries
	cd test/highs && GOFLAGS=-mod=readonly GOODFLEET_HIGHS=$(HIGHS) GOODFLEET_CI_CACHE=$(CACHE) $(GO) test -count=1 -timeout 20m . -seed $(or $(HIGHS_SEED),1)

# Native HiGHS, by version, from PyPI.
HIGHSPY := $(CACHE)/highspy-1.16.0

$(HIGHSPY)/installed:
	@.ci/need python3 python3 python3-venv
	mkdir -p $(CACHE)
	.ci/highspy $(@D) 1.16.0

bench-highs: $(HIGHS) $(HIGHSPY)/installed ## CPU seconds of the solver, beside native HiGHS and its WebAssembly build, with ratios; needs what test-highs needs, Python 3 and, once, PyPI
	cd test/highs && GOFLAGS=-mod=readonly GOODFLEET_HIGHS=$(HIGHS) GOODFLEET_HIGHSPY=$(HIGHSPY) GOODFLEET_CI_CACHE=$(CACHE) $(GO) test -run '^$$' -bench '$(or $(BENCH),.)' -benchtime 1x -timeout 60m .

test-crash: ## a thousand crashes of the loop at random calls, from a printed seed; needs Go
	@.ci/crash 1000

test-month: ## a month of demand three times its budget on real prices, from a printed seed; needs Go
	@.ci/month 1

test-budget: ## five hundred random histories under budget policies, from a printed seed; needs Go
	@.ci/budget 500

soak: $(HIGHS) ## ten thousand crashes, five thousand histories under budgets, ten months of demand beyond their budget, larger assignments beside HiGHS, then properties and fuzzing at full length (hours); needs what test-highs needs
	@.ci/crash 10000
	@.ci/budget 5000
	@.ci/month 10
	cd test/highs && GOFLAGS=-mod=readonly GOODFLEET_HIGHS=$(HIGHS) GOODFLEET_CI_CACHE=$(CACHE) $(GO) test -count=1 -timeout 0 -run Assignments . -instances 5000 -larger 500 -seed $(or $(SOAK_SEED),2)
	@.ci/soak 1000 10m "$(RAPID)" "$(FUZZ)"

soak-tenth: ## a tenth of soak, with a printed seed; needs Go
	@.ci/soak 100 5s "$(RAPID)" "$(FUZZ)"

ci: ## what .ci/run calls: all of check, the outside data, published experiments, the browser and a tenth of soak, with seconds; needs what these need
	@.ci/table fmt vet staticcheck arrows test-race test-rest test-crash test-budget test-month test-data replay-quick test-highs test-browser test-focus soak-tenth

replay: ## published experiments against their published numbers, into test/replay (hours of CPU; ONLY=NAME: those with that in their name); needs Go and GOODFLEET_DATA (the folder of public data)
	$(GO) run ./test/replay -out test/replay $(if $(ONLY),-only $(ONLY))

replay-quick: ## a few of them, twice, with equal bytes and near what test/replay/replay.csv has, into $(OUT)/replay; needs Go and GOODFLEET_DATA (the folder of public data)
	@if [ ! -d "$${GOODFLEET_DATA:-}" ]; then echo "replay-quick: GOODFLEET_DATA must name a folder, and is \"$${GOODFLEET_DATA:-}\"" >&2; exit 1; fi
	$(GO) build -o bin/replay ./test/replay
	./bin/replay -quick -out $(OUT)/replay -against test/replay/replay.csv
	./bin/replay -quick -out $(OUT)/replay-again
	diff -r $(OUT)/replay $(OUT)/replay-again

clean: ## remove what the targets built; needs make
	rm -rf bin $(OUT)
