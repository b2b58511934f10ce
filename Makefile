# SPDX-License-Identifier: Apache-2.0
# A thin front for CMake presets and scripts/; `make help` lists the targets.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export FUZZ_SECONDS

.DEFAULT_GOAL := all
.PHONY: all help demo test test-ttnn bench fuzz coverage format check-format tidy install clean golden-update asan clang
.NOTPARALLEL: # ninja and ctest use the cores; two presets at once would only fight for them

all: ## release build: build/bin/ttmem and build/bin/tt-memory-profiler
	@scripts/setup --check build
	@$(MAKE) --no-print-directory build/release/build.ninja
	cmake --build --preset release -j $(JOBS)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | awk -F'\t' '{ printf "  make %-14s %s\n", $$1, $$2 }'

demo: ## set-up, release build, then the shipped sample
	@scripts/setup build
	@$(MAKE) --no-print-directory all
	@scripts/demo

test: ## set-up, every test under ASan + UBSan, static checks, -Werror builds with gcc and clang
	@scripts/setup test
	@$(MAKE) --no-print-directory asan
	ctest --preset asan -j $(JOBS)
	@$(MAKE) --no-print-directory all
	@if command -v clang >/dev/null; then $(MAKE) --no-print-directory clang; \
	 else echo "clang is not installed: its -Werror build is left out (scripts/setup dev brings it)"; fi
	@echo "make test: all passed"

test-ttnn: ## the tests that real ttnn judges, on mock boards; brings ttnn into build/ttnn
	@scripts/setup test
	@scripts/test-ttnn

asan: build/asan/build.ninja
	cmake --build --preset asan -j $(JOBS)

clang: build/clang/build.ninja
	cmake --build --preset clang -j $(JOBS)

bench: ## ratios on a generated 1 GiB log, as a markdown table
	@scripts/setup test
	@$(MAKE) --no-print-directory all
	@python3 bench/run.py
	@node bench/html_bench.mjs
	@build/release/bench/tracker_bench

fuzz: ## libFuzzer, FUZZ_SECONDS (60) per target
	@scripts/setup dev
	@$(MAKE) --no-print-directory build/fuzz/build.ninja
	cmake --build --preset fuzz -j $(JOBS)
	@scripts/fuzz

coverage: ## tests with gcov counters, then gcovr's table
	@scripts/setup dev
	@$(MAKE) --no-print-directory build/coverage/build.ninja
	cmake --build --preset coverage -j $(JOBS)
	ctest --preset coverage -j $(JOBS)
	gcovr --root . --filter src/ --object-directory build/coverage --sort-percentage

format: ## clang-format every C file in place
	@scripts/setup dev
	@scripts/c-files | xargs clang-format -i

check-format: ## fails on files that `make format` would change
	@scripts/setup dev
	@scripts/c-files | xargs clang-format --dry-run -Werror

tidy: ## clang-tidy over src/
	@scripts/setup dev
	@$(MAKE) --no-print-directory build/clang/build.ninja
	@find src fuzz -name '*.c' | sort | xargs -P $(JOBS) -n 4 clang-tidy --quiet -p build/clang

golden-update: ## rewrites the expected outputs under tests/ from what the programs say now
	@scripts/setup test
	@$(MAKE) --no-print-directory asan
	TTMEM_UPDATE_GOLDEN=1 ctest --preset asan -j $(JOBS) -R '^(golden|cli)_'

install: all ## into PREFIX (/usr/local); DESTDIR is honoured
	cmake --install build/release --prefix $(PREFIX)

clean: ## removes build/
	rm -rf build

# Configure once; ninja itself notices changed CMake files and new sources afterwards.
build/%/build.ninja: CMakePresets.json
	@cmake --preset $* >build-$*.log 2>&1 || { cat build-$*.log; rm -f build-$*.log; exit 1; }
	@grep -E 'skipped|wait for' build-$*.log || true; mkdir -p build; mv build-$*.log build/configure-$*.log; touch $@
