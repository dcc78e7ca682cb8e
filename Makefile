# SPDX-License-Identifier: BSD-3-Clause
# The door to the project: every target is one script in tools/.
.DEFAULT_GOAL := help
.PHONY: help setup build demo test bench fuzz soak lint clean
FUZZ_SECONDS ?= 600
SOAK_SEEDS ?= 20000
SOAK_SECONDS ?= 600

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-7s %s\n", $$1, $$2}' Makefile

setup: ## install what is missing: Debian packages, Python venv, hugepages
	@tools/setup.sh

build: setup ## release build: build/airpath, build/airpath-n4
	@tools/build.sh build
	@tools/build-go.sh

demo: build ## the S0 loopback beside the paper's table, then a UPF (about a minute)
	@tools/demo.sh

test: build ## unit, sanitizer, fuzz smoke, conformance and end-to-end tests
	@tools/test.sh

bench: build ## every bench; JSON, plots and docs/benchmarks.md from them
	@tools/bench.sh

fuzz: setup ## each fuzzer for FUZZ_SECONDS (600); corpora stay in build-fuzz/corpus
	@tools/fuzz.sh $(FUZZ_SECONDS)

soak: build ## long runs: SOAK_SEEDS seeds (20000) of each model test, SOAK_SECONDS (600) of UPF churn
	@tools/soak.sh $(SOAK_SEEDS) 1 $(SOAK_SECONDS)

lint: setup ## gcc and clang with -Werror, ruff, vet, staticcheck, licence lines
	@tools/lint.sh

clean: ## remove everything built; keeps .venv and .go
	@rm -rf build build-asan build-clang build-fuzz bench/out
