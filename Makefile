# What a person runs; each target does all of its own set-up and is safe to run again.
# `make` alone lists them.

SHELL := /bin/bash
PRESET ?= default
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

# Debian 12. What the cluster's programs need is looked at by tests/cluster/programs.sh.
BUILD_PACKAGES := build-essential cmake ninja-build ccache libboost-dev libcli11-dev libcpprest-dev \
  libgmock-dev libgtest-dev librapidcheck-dev libsimdjson-dev libssl-dev libyaml-cpp-dev nlohmann-json3-dev \
  patch prometheus-cpp-dev
CLUSTER_PACKAGES := ca-certificates curl jq openssl python3 util-linux
CHECK_PACKAGES := clang-format-16 clang-tidy-16 shellcheck
CONTROLLER := build/$(PRESET)/controllers/sample/sample-controller

.PHONY: help build test demo test-cluster bench format check-format tidy
help:
	@echo "make demo          see the sample controller at work on a real API server (no Pods run)"
	@echo "make test          build everything and run the tests that need no cluster"
	@echo "make test-cluster  the sample controller, and the API server's suite, against a real kube-apiserver"
	@echo "make bench         the workqueue's speed and memory beside client-go's, with the budget"
	@echo "make format        put the sources into shape;  make check-format: only look"
	@echo "make tidy          clang-tidy on all sources, or on those named in FILES"

# $(call packages,LIST): installs those that are missing.
define packages
	@missing=$$(for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then echo "installing:" $$missing; \
	  $(SUDO) apt-get -q update && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends $$missing; fi
endef

build/$(PRESET)/build.ninja: CMakePresets.json
	$(call packages,$(BUILD_PACKAGES))
	cmake --preset $(PRESET)

build: build/$(PRESET)/build.ninja
	cmake --build --preset $(PRESET)

# TESTS: further words for ctest, such as TESTS='-R Queue'
test: build
	ctest --preset $(PRESET) -j $$(nproc) $(TESTS)

$(CONTROLLER): build/$(PRESET)/build.ninja FORCE
	cmake --build --preset $(PRESET) --target sample-controller
FORCE:

demo: $(CONTROLLER)
	$(call packages,$(CLUSTER_PACKAGES))
	@SAMPLE_CONTROLLER=$(CURDIR)/$(CONTROLLER) tests/cluster/demo.sh

test-cluster: $(CONTROLLER)
	$(call packages,$(CLUSTER_PACKAGES))
	@SAMPLE_CONTROLLER=$(CURDIR)/$(CONTROLLER) tests/cluster/sample_controller_test.sh
	cmake --build --preset $(PRESET) --target apiserver_conformance_test
	@CONFORMANCE=$(CURDIR)/build/$(PRESET)/tests/apiserver/conformance/apiserver_conformance_test \
	  tests/cluster/conformance_test.sh

# RUNS: how often; SCENARIOS: which, such as SCENARIOS='plain wakeup'
bench: build/$(PRESET)/build.ninja
	$(call packages,$(CLUSTER_PACKAGES))
	@tests/bench/run.sh $(SCENARIOS)

SOURCES = $(shell git ls-files '*.cpp' '*.hpp')
format:
	$(call packages,$(CHECK_PACKAGES))
	@clang-format-16 -i $(SOURCES)

check-format:
	$(call packages,$(CHECK_PACKAGES))
	@clang-format-16 --dry-run -Werror $(SOURCES)
	git ls-files '*.sh' .ci/run | xargs shellcheck -x

# The nodes: what the analyzer may look at in a function; by default a test of queues takes it a minute.
TIDY = clang-tidy-16 --quiet --extra-arg=-Wno-unknown-warning-option \
  $(addprefix --extra-arg=,-Xclang -analyzer-config -Xclang max-nodes=20000) -p build/$(PRESET)
FILES = $(filter-out tests/install/%,$(shell git ls-files '*.cpp'))
tidy: build/$(PRESET)/build.ninja
	$(call packages,$(CHECK_PACKAGES))
	@printf '%s\n' $(FILES) | xargs -r -P $$(nproc) -n 1 $(TIDY)
