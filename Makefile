# What a person runs; each target does all of its own set-up and is safe to run again.
# `make` alone lists them.

SHELL := /bin/bash
PRESET ?= default
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

# Debian 12. What the cluster's programs need is looked at by tests/cluster/programs.sh.
LIBRARY_PACKAGES := build-essential cmake ninja-build libboost-dev libcli11-dev libcpprest-dev libfmt-dev \
  libre2-dev libsimdjson-dev libssl-dev libyaml-cpp-dev nlohmann-json3-dev prometheus-cpp-dev
BUILD_PACKAGES := $(LIBRARY_PACKAGES) ccache curl jq libgmock-dev libgtest-dev librapidcheck-dev patch
DEMO_PACKAGES := curl jq
CLUSTER_PACKAGES := ca-certificates curl jq openssl python3 util-linux
FUZZ_PACKAGES := clang-16 libclang-rt-16-dev
CHECK_PACKAGES := clang-format-16 clang-tidy-16 shellcheck
DOCS_PACKAGES := doxygen graphviz
CONTROLLER := build/$(PRESET)/controllers/sample/sample-controller
APISERVER := build/$(PRESET)/framework/apiserver/kopp-apiserver
CONFORMANCE := build/$(PRESET)/tests/apiserver/conformance/apiserver_conformance_test

.PHONY: help install build test demo test-cluster bench fuzz format check-format check-headers tidy docs
help:
	@echo "make install       build and install the libraries and programs below PREFIX=/usr/local"
	@echo "make demo          see the sample controller at work, in seconds; CLUSTER=real: on a real API server"
	@echo "make test          build everything and run the tests that need no cluster"
	@echo "make test-cluster  the sample controller, kubectl and client-go, against a real API server and kopp's own"
	@echo "make bench         the workqueue beside client-go's, and the API server beside the real one, with the budget"
	@echo "make fuzz          what the API server answers to anything at all, for SECONDS=60"
	@echo "make format        put the sources into shape;  make check-format: only look"
	@echo "make check-headers compile each public header and each source of the libraries alone"
	@echo "make tidy          clang-tidy on all sources, or on those named in FILES"
	@echo "make docs          the API reference and the pages of docs/ as HTML; warnings are errors"

# $(call packages,LIST): installs those that are missing.
define packages
	@missing=$$(for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then echo "installing:" $$missing; \
	  $(SUDO) apt-get -q update && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends $$missing; fi
endef

build/%/build.ninja: CMakePresets.json
	$(call packages,$(BUILD_PACKAGES))
	cmake --preset $*

# Builds what is installed, without tests. Respects DESTDIR. Uses sudo only if the folder is not writable.
PREFIX ?= /usr/local
install:
	$(call packages,$(LIBRARY_PACKAGES))
	cmake --preset install
	cmake --build --preset install
	@rm -f build/install/install_manifest.txt; \
	folder='$(abspath $(DESTDIR))$(abspath $(PREFIX))'; \
	until [ -e "$$folder" ]; do folder=$$(dirname "$$folder"); done; \
	if [ -w "$$folder" ]; then sudo=; else sudo='$(SUDO)'; fi; \
	$$sudo env DESTDIR='$(abspath $(DESTDIR))' cmake --install build/install --prefix '$(abspath $(PREFIX))'
	@echo 'kopp is installed below $(abspath $(DESTDIR))$(abspath $(PREFIX)). The packages that it needs:'
	@echo '  $(LIBRARY_PACKAGES)'
	@echo 'Use it with find_package(kopp), and -DCMAKE_PREFIX_PATH=$(abspath $(PREFIX)) if CMake does not look there.'

build: build/$(PRESET)/build.ninja
	cmake --build --preset $(PRESET)

# TESTS: further words for ctest, such as TESTS='-R Queue'
test: build
	ctest --preset $(PRESET) -j $$(nproc) $(TESTS)

# CLUSTER=real: on etcd and a kube-apiserver, built from Go once
CLUSTER ?= kopp
demo: build/$(PRESET)/build.ninja
	$(call packages,$(if $(filter real,$(CLUSTER)),$(CLUSTER_PACKAGES),$(DEMO_PACKAGES)))
	cmake --build --preset $(PRESET) --target sample-controller kopp-apiserver
	@$(programs) CLUSTER=$(CLUSTER) tests/cluster/demo.sh

# What the scripts run, instead of the build of preset default.
programs = SAMPLE_CONTROLLER=$(CURDIR)/$(CONTROLLER) KOPP_APISERVER=$(CURDIR)/$(APISERVER) \
  CONFORMANCE=$(CURDIR)/$(CONFORMANCE)
test-cluster: build/$(PRESET)/build.ninja
	$(call packages,$(CLUSTER_PACKAGES))
	cmake --build --preset $(PRESET) --target sample-controller kopp-apiserver apiserver_conformance_test
	@$(programs) SERVER=real tests/cluster/sample_controller_test.sh
	@$(programs) SERVER=kopp tests/cluster/sample_controller_test.sh
	@$(programs) SERVER=real tests/cluster/kubectl_test.sh
	@$(programs) SERVER=kopp tests/cluster/kubectl_test.sh
	@$(programs) SERVER=kopp tests/cluster/client_go_test.sh
	@$(programs) tests/cluster/conformance_test.sh

# RUNS: how often; SCENARIOS: which, such as SCENARIOS='plain wakeup' or 'apiserver'
bench: build/$(PRESET)/build.ninja
	$(call packages,$(CLUSTER_PACKAGES))
	@tests/bench/run.sh $(SCENARIOS)

# A finding stays in build/fuzz/findings, what is worth to begin with in build/fuzz/corpus. Without the
# short stacks, and with libFuzzer's weighing of inputs, it makes two runs for three.
SECONDS := 60
FUZZ := tests/apiserver/fuzz
fuzz:
	$(call packages,$(BUILD_PACKAGES) $(FUZZ_PACKAGES))
	cmake --preset fuzz
	cmake --build --preset fuzz
	@mkdir -p build/fuzz/corpus build/fuzz/findings
	ASAN_OPTIONS=malloc_context_size=8 build/fuzz/$(FUZZ)/apiserver_fuzz -max_total_time=$(SECONDS) \
	  -timeout=10 -rss_limit_mb=4096 -max_len=8192 -entropic=0 -print_final_stats=1 -dict=$(FUZZ)/api.dict \
	  -artifact_prefix=build/fuzz/findings/ build/fuzz/corpus $(FUZZ)/seeds

SOURCES = $(shell git ls-files '*.cpp' '*.hpp')
format:
	$(call packages,$(CHECK_PACKAGES))
	@clang-format-16 -i $(SOURCES)

check-format:
	$(call packages,$(CHECK_PACKAGES))
	@clang-format-16 --dry-run -Werror $(SOURCES)
	git ls-files '*.sh' .ci/run | xargs shellcheck -x

# Compiles each public header, and each source of informer and framework, alone: each includes what it uses.
check-headers: build/separate/build.ninja
	cmake --build --preset separate

# The nodes: what the analyzer may look at in a function; by default a test of queues takes it a minute.
# A unit of sources that are compiled together includes them, and each of them is looked at. Preset tidy:
# clang-tidy cannot read headers that GCC has precompiled.
TIDY = clang-tidy-16 --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument \
  --checks=-bugprone-suspicious-include --header-filter='$(CURDIR)/(workqueue|informer|framework|controllers|examples|tests)/' \
  $(addprefix --extra-arg=,-Xclang -analyzer-config -Xclang max-nodes=20000) -p build/tidy
FILES = $(shell git ls-files '*.cpp')
# What the build does not compile as part of kopp.
NOT_TIDIED = tests/install/% %/api_fuzz.cpp
tidy: build/tidy/build.ninja
	$(call packages,$(CHECK_PACKAGES))
	@units="$$(find $(CURDIR)/build/tidy -name 'unity_*_cxx.cxx') /dev/null"; \
	for file in $(filter-out $(NOT_TIDIED),$(FILES)); do grep -ls "\"$(CURDIR)/$$file\"" $$units || echo $$file; done | sort -u | \
	  xargs -r -P $$(nproc) -n 1 $(TIDY)

docs:
	$(call packages,$(DOCS_PACKAGES))
	@rm -rf build/docs && mkdir -p build
	@doxygen docs/Doxyfile
	@echo "open $(CURDIR)/build/docs/html/index.html"
