# SPDX-License-Identifier: Apache-2.0
# A thin front for CMake presets and scripts/; `make help` lists the targets.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export FUZZ_SECONDS

.DEFAULT_GOAL := all
.PHONY: all help demo test quick test-clients test-fleet test-ttnn bench screenshots soak soak-serve fuzz format check-format install clean release-check golden-update asan clang
.PHONY: check-all tidy cppcheck analyzer tsan msan valgrind starve coverage
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
	@$(MAKE) --no-print-directory build/wheel/build.ninja
	cmake --build --preset wheel -j $(JOBS) # the release build; most of it stands there since the test of `pip install .`
	@rm -rf build/prefix && cmake --install build/wheel --prefix build/prefix >/dev/null
	@scripts/check-hardening build/prefix build/wheel/ttmem_native.so
	@TTMEM=$$PWD/build/prefix/bin/ttmem GEN_LOG=$$PWD/build/asan/bench/gen_log python3 tests/cli/test_bounded.py # no sanitizer lets its memory be limited
	@if command -v clang >/dev/null; then $(MAKE) --no-print-directory clang; \
	 else echo "clang is not installed: its -Werror build is left out (scripts/setup dev brings it)"; fi
	@echo "make test: all passed"

quick: ## the tests a developer runs all the time, about a minute: no sanitizers, browser, fuzzing, other programs or starved allocations
	@$(MAKE) --no-print-directory build/dev/build.ninja
	cmake --build --preset dev -j $(JOBS)
	ctest --test-dir build/dev -j $(JOBS) -LE slow --output-on-failure

test-clients: ## exports and MCP judged by the real programs: duckdb, ClickHouse, Spark, pprof, Perfetto, ...; brings them into build/clients
	@scripts/setup test
	@$(MAKE) --no-print-directory all
	@scripts/test-clients

test-fleet: ## the shipped SQL over 100,000 runs: SQLite, PostgreSQL, DuckDB, ClickHouse and Spark, the same answers; minutes, and 5 GB below /tmp
	@scripts/setup test
	@$(MAKE) --no-print-directory all
	@scripts/test-clients --bring
	@TTMEM_FLEET_RUNS=$${TTMEM_FLEET_RUNS:-100000} TTMEM_CLIENTS=$$PWD/build/clients TTMEM_SOURCE=$$PWD TTMEM=$$PWD/build/bin/ttmem \
	 GEN_LOG=$$PWD/build/release/bench/gen_log python3 tests/history/test_fleet.py

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
	@node bench/open_bench.mjs
	@build/release/bench/tracker_bench

screenshots: ## the pictures of README.md and docs/, made anew in docs/images: real browser, real terminal
	@scripts/setup test
	@$(MAKE) --no-print-directory all
	@node scripts/screenshots.mjs

soak: ## inputs far larger than life, into a pipe: bounded memory, time that grows with them; SOAK_SCALE=0.1 for less
	@$(MAKE) --no-print-directory all
	@nice -n 10 python3 bench/soak.py

soak-serve: ## two hours of serve, live --record and history under load: nothing grows; SOAK_SCALE=0.1 for less
	@$(MAKE) --no-print-directory all
	@python3 bench/soak_serve.py

fuzz: ## libFuzzer, FUZZ_SECONDS (60) of processor time per target
	@scripts/setup dev
	@$(MAKE) --no-print-directory build/fuzz/build.ninja
	cmake --build --preset fuzz -j $(JOBS)
	@JOBS=$(JOBS) scripts/fuzz

format: ## clang-format every C file in place
	@scripts/setup dev
	@scripts/c-files | xargs clang-format -i

check-format: ## fails on files that `make format` would change
	@scripts/setup dev
	@scripts/c-files | xargs clang-format --dry-run -Werror

# The checks that take too long for every change: each its own target, all of them before a release. What a tool is wrong about, and
# why, stands in one place each: .clang-tidy, .cppcheck.xml, cmake/analyzer.cmake, .valgrind.
check-all: ## every check below with msan, fuzz and the soaks; docs/checks.md keeps what each said and took
	@scripts/setup dev
	@$(MAKE) --no-print-directory all # two of the targets need it, at once
	@scripts/check-all check-format cppcheck analyzer tsan msan valgrind coverage starve tidy fuzz soak soak-serve

tidy: ## clang-tidy over src/ and fuzz/
	@scripts/setup dev
	@mkdir -p build && cmake --preset clang >build/configure-clang.log # the list of sources as they are now
	@scripts/tidy $(JOBS)

cppcheck: ## cppcheck over src/, fuzz/ and bench/
	@scripts/setup dev
	@mkdir -p build/cppcheck # keeps what it said of files that stay the same
	@cppcheck --quiet --cppcheck-build-dir=build/cppcheck --std=c11 --library=posix,gnu --enable=warning,style,performance,portability \
	  --suppress-xml=.cppcheck.xml --error-exitcode=1 -I src -I include src fuzz bench

analyzer: ## gcc's -fanalyzer over src/
	@scripts/setup dev
	@$(MAKE) --no-print-directory build/analyzer/build.ninja
	cmake --build --preset analyzer -j $(JOBS) -- -k 0

tsan: ## the tests with threads, under ThreadSanitizer
	@scripts/setup dev
	@$(MAKE) --no-print-directory build/tsan/build.ninja
	cmake --build --preset tsan -j $(JOBS)
	ctest --preset tsan

msan: ## unit, golden and command line tests under MemorySanitizer, not those in C++ or with their own read(); its libraries in build/deps/msan
	@scripts/setup dev
	@scripts/deps msan
	@$(MAKE) --no-print-directory build/msan/build.ninja
	cmake --build --preset msan -j $(JOBS)
	ctest --preset msan -j $(JOBS)

valgrind: ## the unit tests of a plain build, under valgrind's memcheck
	@scripts/setup dev
	@$(MAKE) --no-print-directory build/dev/build.ninja
	cmake --build --preset dev -j $(JOBS)
	@scripts/valgrind $(JOBS)

starve: asan ## every allocation of every command made to fail in turn (make test leaves some out of the long ones)
	TTMEM_STARVE=all ctest --preset asan -j $(JOBS) -R _nomem

coverage: ## tests with gcov counters; fails below 85 % of the lines, 90 % in src/parse
	@scripts/setup dev
	@$(MAKE) --no-print-directory build/coverage/build.ninja
	cmake --build --preset coverage -j $(JOBS)
	@scripts/coverage $(JOBS)

golden-update: ## rewrites the expected outputs under tests/ and in examples/ from what the programs say now
	@scripts/setup test
	@$(MAKE) --no-print-directory asan
	TTMEM_UPDATE_GOLDEN=1 ctest --preset asan -j $(JOBS) -R '^(golden|cli)_|python_test_examples'

release-check: ## names what is missing from a release: version, changelog section, tag, documents
	@scripts/release-check

.PHONY: web static wheels deb dist test-dist
web: ## one page with the engine inside, for who has nothing installed: build/ttmem.html
	@scripts/setup web
	@scripts/web

static: ## one file without any library: build/dist/ttmem-*, for x86_64 and aarch64 Linux, and for macOS on arm64 (built, but not run)
	@scripts/setup dist
	@scripts/static x86_64-linux-musl aarch64-linux-musl aarch64-macos

wheels: ## wheels for PyPI: manylinux 2.17 for both machines, musllinux
	@scripts/setup dist
	@scripts/wheels

deb: ## Debian packages for this machine: ttmem, libttmem0, libttmem-dev, python3-ttmem
	@scripts/setup dist
	@scripts/deb

dist: ## a release in build/dist: static, wheels, deb, checksums, licences, CycloneDX; the same commit gives the same bytes
	@scripts/setup dist
	@scripts/dist

test-dist: ## what is in build/dist, judged: golden files, an old kernel, aarch64 under qemu, auditwheel, every Python, lintian
	@scripts/test-dist

install: all ## into PREFIX (/usr/local); DESTDIR is honoured
	cmake --install build/release --prefix $(PREFIX)

clean: ## removes build/
	rm -rf build

# Configure once; ninja itself notices changed CMake files and new sources afterwards.
build/%/build.ninja: CMakePresets.json
	@cmake --preset $* >build-$*.log 2>&1 || { cat build-$*.log; rm -f build-$*.log; exit 1; }
	@grep skipped build-$*.log || true; mkdir -p build; mv build-$*.log build/configure-$*.log; touch $@
