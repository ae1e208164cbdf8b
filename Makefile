# Everything below needs Go and a running Docker engine; test also needs
# Chromium (or ROWPROOF_BROWSER=off). The server image is built on first use.

GO ?= go
SOAK ?= 20m

.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

prove: ## the main job: the two bugs, our engine against its broken copies
	$(GO) run ./cmd/rowproof run --subject osc,control seam-after-sync copy-split-read-write

test: lint ## everything: unit tests, servers, scenarios and their controls, and all their reports
	@rm -f reports/out/latest
	$(GO) test -timeout 30m $$($(GO) list ./... | grep -v /scenarios$$)
	ROWPROOF_PARALLEL=3 $(GO) test -count=1 -timeout 30m ./scenarios
	$(GO) run ./cmd/rowproof report reports/out/latest
	ROWPROOF_STORED=$(CURDIR)/reports/out/latest $(GO) test -count=1 -run Stored ./reports ./reports/html ./reports/schema

stress: ## every scenario and control 20 times
	$(GO) run ./cmd/rowproof run --repeat 20 --parallel 3

load: ## 2,000,000 rows under a steady write load: verdict, time, memory
	$(GO) test ./scenarios -run '^$$' -bench Load -benchtime 1x -timeout 30m

pages: ## judge and render 1,000 stored runs: seconds for each
	$(GO) test ./cmd/rowproof -run '^$$' -bench Thousand -benchtime 1x

bench: ## time osc beside the server's own ALTER and other tools (BENCH="--rows 100000 --repeat 1")
	$(GO) run ./cmd/rowproof bench $(BENCH)

kills: ## osc is killed at 50 random moments of a migration under load, and resumed
	ROWPROOF_KILLS=50 $(GO) test ./cmd/osc -run TestKilledAtRandom -v -timeout 30m

soak: ## 20 minutes of load with ten migrations in a row, and nothing left (SOAK=5m)
	ROWPROOF_SOAK=$(SOAK) $(GO) test ./cmd/osc -run TestSoak -v -timeout 90m

memory: ## osc's memory while one transaction changes 1,000,000 rows
	$(GO) test ./cmd/osc -run '^$$' -bench Transaction -benchtime 1x -timeout 15m

overhead: ## what the wire proxy and a cluster's start cost
	$(GO) test ./harness/wire ./harness/topology -run '^$$' -bench . -timeout 10m

fuzz: ## the wire protocol parsers against broken input, half a minute each
	for f in FuzzPacketReader FuzzSession FuzzEvents; do \
		$(GO) test ./harness/wire -run '^$$' -fuzz "^$$f$$" -fuzztime 30s || exit 1; done

lint: ## formatting and vet
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "gofmt these:"; echo "$$files"; exit 1; fi
	$(GO) vet ./...

build: ## bin/osc and bin/rowproof
	$(GO) build -o bin/ ./cmd/...

clean: ## remove built programs and stored runs
	rm -rf bin reports/out

.PHONY: help prove test stress load pages bench kills soak memory overhead fuzz lint build clean
