# Each target makes the environment that it needs.
PYTHON ?= python3
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := .venv/$(SCRIPTS)
WORKERS ?= 2
PEERS := .venv-peers/bin/python
SOURCES := pyproject.toml CMakeLists.txt $(wildcard native/*/* native/*/*/*)

# What exercises the core and the readers most, and needs no limits on memory.
SANITIZED_TESTS := $(addsuffix .py,$(addprefix tests/,io/test_fuzz io/test_score_tables io/test_score_formats \
	io/test_array_files io/test_memmap_folder counting/test_counts counting/test_column_store \
	metrics/test_psds metrics/test_invariances \
	criteria/test_criteria criteria/test_ignored_references criteria/test_kept_events criteria/test_active_time \
	criteria/test_any_overlap criteria/test_greedy_pairs criteria/test_points \
	data/test_chunks data/test_detections data/test_recordings data/test_scores \
	postprocessing/test_postprocessing postprocessing/test_peaks resampling/test_bootstrap diagnosis/test_diagnosis))

# What fails first when the core is wrong. Together at most 100 seconds of the processor.
QUICK_TESTS := tests/postprocessing $(addsuffix .py,$(addprefix tests/,test_imports test_registries counting/test_counts \
	criteria/test_criteria criteria/test_alarm criteria/test_any_overlap criteria/test_greedy_pairs criteria/test_points \
	criteria/test_exact_arithmetic criteria/test_active_time \
	data/test_scores data/test_ground_truth data/test_detections data/test_chunks \
	metrics/test_psds metrics/test_metrics metrics/test_ties metrics/test_names metrics/test_definitions))

.PHONY: demo test test-quick pytest test-sanitized test-compilers soak fuzz lint api stubs figures docs bench study \
	bench-large bench-gpu bench-tools peers wheels release-check clean FORCE

demo: .venv/ready  ## simulate two systems, evaluate and compare them, write a report of both
	rm -rf demo
	$(BIN)/sedscope demo demo

test: lint pytest  ## everything that must hold

test-quick: .venv/ready-for-tests  ## what is worth a minute at each save: style, imports, the core, samples of the oracle
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n $(WORKERS) --hypothesis-profile=quick $(QUICK_TESTS)

pytest: .venv/ready-for-tests
	$(BIN)/python -m pytest -n $(WORKERS)

test-sanitized: .venv/ready-for-tests  ## the core under AddressSanitizer and UndefinedBehaviorSanitizer
	$(PYTHON) -m venv --clear .venv-sanitized
	.venv-sanitized/bin/python -m pip install --quiet --no-deps \
		--config-settings=cmake.define.SEDSCOPE_SANITIZE=ON --config-settings=build-dir=build/sanitized .
	.venv-sanitized/bin/python -c "import site; print(site.getsitepackages()[0])" > .venv-sanitized/packages
	$(BIN)/python -c "import site; print(site.getsitepackages()[0])" \
		> "$$(cat .venv-sanitized/packages)/others.pth"  # all other packages are those of .venv
	LD_PRELOAD="$$(for name in asan stdc++; do $${CXX:-c++} -print-file-name=lib$$name.so; done | xargs)" \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		.venv-sanitized/bin/python -m pytest -p no:cacheprovider -k "not memory_grows" $(SANITIZED_TESTS)

# Random sets against a brute force and each other, on all cores, e.g. SOAK_MINUTES=60. Failures are made
# small and saved in tests/soak/cases, where the tests replay them. SOAK_SEED repeats the cases of a run.
SOAK_MINUTES ?= 5
soak: .venv/ready-for-tests
	$(BIN)/python -m tests.soak --minutes $(SOAK_MINUTES) $(if $(SOAK_SEED),--seed $(SOAK_SEED))

# The readers of text in the core, under libFuzzer and sanitizers; needs clang++. An input that breaks them is
# saved in tests/fuzz/corpus, where the next run begins. Those that only reach new code stay in build/fuzz.
FUZZ_SECONDS ?= 60
fuzz: build/fuzz/number_table
	mkdir -p build/fuzz/reached
	$< -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=10 -print_final_stats=1 -verbosity=0 \
		-dict=tests/fuzz/number_table.dict -artifact_prefix=tests/fuzz/corpus/ build/fuzz/reached tests/fuzz/corpus

build/fuzz/%: tests/fuzz/%.cpp $(wildcard native/core/* native/text/*)
	mkdir -p $(@D)
	clang++ -std=c++17 -O1 -g -Wall -Wextra -Inative -o $@ $< \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all

lint: .venv/ready-for-tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror $(filter %.hpp %.cpp,$(SOURCES)) $(wildcard tests/fuzz/*.cpp)
	$(BIN)/mypy
	$(BIN)/lint-imports

api: .venv/ready-for-tests  ## store the public names, signatures and options as they are now, in tests/api
	$(BIN)/python -m tests.api

stubs: .venv/ready-for-tests  ## store the types and docstrings of the core as its bindings state them
	$(BIN)/python -m nanobind.stubgen --quiet --module sedscope._native --output-file src/sedscope/_native.pyi

wheels: .venv-release/ready  ## dist: sources and wheels, tested where there is no compiler
	.venv-release/$(SCRIPTS)/python -m release.wheels $(WHEEL_OPTIONS)

# With warnings as errors, and with what the compiler offers of link-time optimisation.
COMPILERS ?= g++ clang++
test-compilers: $(addprefix build/compiled-by-,$(COMPILERS))  ## the core compiles cleanly with each of them
build/compiled-by-%: FORCE
	CXX=$* $(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir $@ --config-settings=build-dir=$@/build \
		--config-settings=cmake.define.SEDSCOPE_WERROR=ON .

release-check:  ## version, changelog and citation agree and are dated, e.g. TAG=v0.1.0
	$(PYTHON) -m release.check $(TAG)

figures: .venv/ready-for-tests  ## the pictures of docs/figures.md, and those that the tests compare
	$(BIN)/python docs/figures.py

docs: .venv/ready-for-docs  ## the documentation site, in build/docs
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --doctree-dir build/docs-cache \
		docs build/docs
	$(BIN)/python docs/check_links.py build/docs

bench: .venv/ready-for-tests peers  ## the side-by-side table
	$(BIN)/python -m benchmarks

study: .venv/ready-for-tests  ## how often intervals hold the value of a population; takes a quarter of an hour
	$(BIN)/python -m benchmarks.coverage $(STUDY_OPTIONS)

bench-large: .venv/ready-for-tests  ## sizes beyond which other tools do not go; some minutes
	$(BIN)/python -m benchmarks.large
	$(BIN)/python -m benchmarks.clusters
	$(BIN)/python -m benchmarks.cluster_model
	$(BIN)/python -m benchmarks.remote

bench-gpu: .venv/ready-for-tests  ## what needs 16 cores or a GPU; without them it says what it leaves out
	$(BIN)/python -m benchmarks.gpu

bench-tools: .venv/ready-for-tests peers  ## other tools, and what replaces them
	$(BIN)/python -m benchmarks.side_by_side

peers: .venv-peers/ready  ## the tools that sedscope is compared with, in their own environment

.venv/pyvenv.cfg:
	$(PYTHON) -m venv .venv

.venv/ready: .venv/pyvenv.cfg $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/ready-for-tests: .venv/ready
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

.venv-release/ready: release/requirements.txt
	$(PYTHON) -m venv .venv-release
	.venv-release/$(SCRIPTS)/python -m pip install --quiet -r release/requirements.txt
	touch $@

.venv/ready-for-docs: .venv/ready
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

# They need old versions of what they build on, and to be built against exactly those.
.venv-peers/ready: benchmarks/peers.txt
	$(PYTHON) -m venv .venv-peers
	$(PEERS) -m pip install --quiet -r benchmarks/peers.txt
	$(PEERS) -m pip install --quiet --no-build-isolation sed_scores_eval==0.0.4 psds_eval==0.5.3 \
		sed_eval==0.2.1 dcase_util==0.2.20
	touch $@

clean:
	rm -rf .venv .venv-peers .venv-release .venv-sanitized build demo dist docs/generated
