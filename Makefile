# What a person does with this repository; `make` alone lists it.

SHELL := /bin/bash
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
RESET ?=
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help dev test bench fmt lint

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

dev: ## run a hub here with all it needs until Ctrl-C; RESET=1 starts anew, HUB_PORT=0 takes a free port
	@deploy/dev/prepare
	@cargo build -p ma2h-hub
	@exec cargo run -q -p ma2h-hub -- dev $(if $(filter-out 0,$(RESET)),--reset)

test: ## run every test against a private PostgreSQL and NATS; ARGS are passed to cargo test
	@deploy/dev/prepare test
	@cargo build -q --workspace --all-targets
	@exec $(TARGET_DIR)/debug/with-services cargo test --workspace $(ARGS)

bench: ## measure submit, resolve and push against a hub of release-built processes
	@deploy/dev/prepare
	@cargo build --release -p ma2h-hub -p ma2h-loadtest
	@exec $(TARGET_DIR)/release/ma2h-loadtest $(ARGS)

fmt: ## format the code
	@cargo fmt --all

lint: ## what clippy has to say, as continuous integration asks it
	@cargo clippy --workspace --all-targets -- -D warnings
