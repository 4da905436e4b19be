# What a person does with this repository; `make` alone lists it.

SHELL := /bin/bash
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
RESET ?=
ARGS ?=
SCENARIO ?= bench
SEED ?= 1
MINUTES ?= 10

.DEFAULT_GOAL := help
.PHONY: help dev test campaign soak prove bench fmt lint

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

dev: ## run a hub here with all it needs until Ctrl-C; RESET=1 starts anew, HUB_PORT=0 takes a free port
	@deploy/dev/prepare
	@cargo build -p ma2h-hub
	@exec $(TARGET_DIR)/debug/ma2h-hub dev $(if $(filter-out 0,$(RESET)),--reset)

# All targets leave the examples in docs out: there are none, and looking for them takes minutes.
test: ## run every test against a private PostgreSQL and NATS; ARGS are passed to cargo test
	@deploy/dev/prepare test
	@cargo build $(if $(CI),-q) --workspace --all-targets
	@exec $(TARGET_DIR)/debug/with-services cargo test --workspace --all-targets --no-fail-fast $(ARGS)

campaign: ## let everything fail under load for MINUTES, as SEED says, and prove that nothing is lost or untrue; ARGS as of campaign
	@deploy/dev/prepare test
	@cargo build -q -p ma2h-hub -p hub-testkit
	@exec $(TARGET_DIR)/debug/with-services $(TARGET_DIR)/debug/campaign --seed $(SEED) --minutes $(MINUTES) $(ARGS)

soak: ## hold an old snapshot open under load for MINUTES, and report what the queues cost then; ARGS as of soak
	@deploy/dev/prepare
	@cargo build -q -p ma2h-hub -p hub-testkit
	@exec $(TARGET_DIR)/debug/with-services $(TARGET_DIR)/debug/soak --minutes $(MINUTES) $(ARGS)

prove: ## hold a hub of its own to the protocol, clause by clause; ARGS are passed to ma2h-conformance
	@deploy/dev/prepare
	@cargo build -q -p ma2h-hub -p ma2h-conformance
	@conformance/prove $(ARGS)

# A hub of its own, so that nothing else is measured and the limits of a rate do not limit it.
bench: ## measure submit, resolve and push with their processor time; SCENARIO=hang, mailbox-depth, held-polls: see README; ARGS as of ma2h-loadtest
	@deploy/dev/prepare
	@cargo build --release -p ma2h-hub -p ma2h-loadtest
	@HUB_DEV_DIR=$(TARGET_DIR)/bench-hub HUB_PORT=0 \
		HUB_RATE_LIMIT_REQUESTS_PER_MINUTE=0 HUB_RATE_LIMIT_INBOX_DEPTH=0 HUB_GATEWAY_HELD_REQUESTS_MAX=100000 \
		exec $(TARGET_DIR)/release/ma2h-hub dev --reset -- \
		$(TARGET_DIR)/release/ma2h-loadtest $(SCENARIO) --hub $(TARGET_DIR)/bench-hub/dev.json $(ARGS)

fmt: ## format the code
	@cargo fmt --all

lint: ## check format and lints, as continuous integration does
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets -- -D warnings
