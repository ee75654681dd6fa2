# The commands for users and developers. Each target installs and builds everything that it needs, and can be
# run again at any time. `make` without a target lists them. tests/packages.sh installs packages, or says what to install;
# PACKAGES=installed installs none.

SHELL := /bin/bash
PRESET ?= default
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

# The version of clang for make fuzz and make tidy: that of the system.
CLANG_VERSION ?= $(shell tests/packages.sh clang)
CLANG_FORMAT ?= clang-format-16
CONTROLLER := build/$(PRESET)/controllers/sample/sample-controller
APISERVER := build/$(PRESET)/framework/apiserver/kopp-apiserver
WEBHOOK_OPERATOR := build/$(PRESET)/tests/cluster/webhooks/webhook_operator
CONFORMANCE := build/$(PRESET)/tests/apiserver/conformance/apiserver_conformance_test

.PHONY: help install build build-apiserver test test-apiserver demo verify stress test-cluster bench fuzz soak format check-format check-headers tidy docs \
  deb image image-packages image-tree test-image test-node test-charts test-platforms test-differences charts-readme generate
help:
	@echo "make install       build and install the libraries and programs below PREFIX=/usr/local"
	@echo "make demo          demonstrate the sample controller on kopp-apiserver; CLUSTER=real: on etcd and kube-apiserver"
	@echo "make test          build kopp and run the tests that need no cluster"
	@echo "make test-apiserver  build and run the tests of the API server in memory; run it if you change the server"
	@echo "make verify        run all other checks, and skip those that have passed since their inputs changed; STEPS='asan tidy': only these"
	@echo "make stress        run the tests of make test and make test-apiserver ROUNDS=5 times on a busy machine, and list each failure"
	@echo "make test-cluster  test the sample controller and kubectl on kube-apiserver and kopp-apiserver, and client-go on"
	@echo "                   kopp-apiserver; run the conformance suite, webhooks and new projects of kopp init on kube-apiserver"
	@echo "make bench         compare the workqueue and the informers with client-go's, an operator with controller-runtime,"
	@echo "                   the transports with net/http and kopp-apiserver with kube-apiserver; print the budgets"
	@echo "make fuzz          fuzz kopp-apiserver and the parsers of the client for SECONDS=60 each; RUNS=20000: with the same inputs each time"
	@echo "make soak          run informers behind a broken network for MINUTES=10 and check their caches; SERVER=real: on etcd"
	@echo "                   and kube-apiserver"
	@echo "make deb           build the packages libkopp-dev, libkopp0.1 and kopp-tools for this release of Debian or Ubuntu"
	@echo "make image         build the container image of the sample controller without Docker; IMAGE=, TAG=: its name"
	@echo "make test-image    check the image; REBUILD=1: also that a second build elsewhere gives the same digest"
	@echo "make test-node     install the chart with Helm on a node with containerd and a kubelet, where Pods run; needs root"
	@echo "make test-platforms  run make demo, make test and make deb in empty systems: SYSTEMS='trixie bookworm:clang-16', COMMANDS='demo deb'"
	@echo "make test-differences  send mutated objects to kube-apiserver and kopp-apiserver, and compare: REQUESTS=10000 SEED=1; OBJECTS=FOLDER"
	@echo "make test-charts   test the Helm charts with Helm 3 and Helm 4, on kopp-apiserver and on kube-apiserver"
	@echo "make charts-readme generate the README pages of the charts from their values"
	@echo "make generate      generate the C++ structs of Kubernetes' kinds and kopp-apiserver's data for the Kubernetes version of"
	@echo "                   tests/cluster/go.mod; KUBERNETES=v1.35.4: pin and use this version"
	@echo "make format        format the sources; make check-format only checks them, and the shell scripts"
	@echo "make check-headers compile each public header and each source of the libraries alone; build without cpprestsdk"
	@echo "make tidy          build with clang, and run clang-tidy on all sources"
	@echo "make docs          build the API reference and the pages of docs/ as HTML; warnings are errors"

# Warnings are errors where CI or WERROR=1 is set in the environment. A change of that configures the build folders again.
WARNINGS := build/warnings-$(if $(CI)$(filter-out 0,$(WERROR)),are-errors,are-allowed)
$(WARNINGS):
	@mkdir -p build && rm -f build/warnings-are-* && touch $@

build/%/build.ninja: CMakePresets.json $(WARNINGS)
	@tests/packages.sh install build
	cmake --preset $*

# Builds the libraries and programs without tests, and installs them. Respects DESTDIR. Uses sudo only if the folder is not writable.
PREFIX ?= /usr/local
install:
	@tests/packages.sh install library
	cmake --preset install
	cmake --build --preset install
	@rm -f build/install/install_manifest.txt; \
	folder='$(abspath $(DESTDIR))$(abspath $(PREFIX))'; \
	until [ -e "$$folder" ]; do folder=$$(dirname "$$folder"); done; \
	if [ -w "$$folder" ]; then sudo=; else sudo='$(SUDO)'; fi; \
	$$sudo env DESTDIR='$(abspath $(DESTDIR))' cmake --install build/install --prefix '$(abspath $(PREFIX))'
	@echo 'kopp is installed below $(abspath $(DESTDIR))$(abspath $(PREFIX)). It needs these packages:'
	@tests/packages.sh names library | sed 's/^/  /'
	@echo 'Use it with find_package(kopp), and -DCMAKE_PREFIX_PATH=$(abspath $(PREFIX)) if CMake does not search that folder.'

build: build/$(PRESET)/build.ninja
	cmake --build --preset $(PRESET)

# TESTS: additional arguments for ctest, for example TESTS='-R Queue'
test: build
	ctest --preset $(PRESET) -j $$(nproc) --label-exclude 'apiserver|verify' $(TESTS)

build-apiserver: build/$(PRESET)/build.ninja
	cmake --build --preset $(PRESET) --target tests/apiserver/all

test-apiserver: build-apiserver
	ctest --preset $(PRESET) -j $$(nproc) --label-regex apiserver $(TESTS)

# STEPS: see tests/verify.sh.
verify:
	@tests/verify.sh $(STEPS)

ROUNDS := 5
stress: build build-apiserver
	@tests/stress.sh $(PRESET) $(ROUNDS)

# CLUSTER=real runs the demo on etcd and kube-apiserver, which are built from Go modules once.
CLUSTER ?= kopp
demo: build/$(PRESET)/build.ninja
	@tests/packages.sh install $(if $(filter real,$(CLUSTER)),cluster,demo)
	cmake --build --preset $(PRESET) --target sample-controller kopp-apiserver
	@$(SCRIPT_ENVIRONMENT) CLUSTER=$(CLUSTER) tests/cluster/demo.sh

# The scripts run these programs instead of those of preset default.
SCRIPT_ENVIRONMENT = SAMPLE_CONTROLLER=$(CURDIR)/$(CONTROLLER) KOPP_APISERVER=$(CURDIR)/$(APISERVER) \
  CONFORMANCE=$(CURDIR)/$(CONFORMANCE) WEBHOOK_OPERATOR=$(CURDIR)/$(WEBHOOK_OPERATOR)
# Builds everything, because hardened_test.sh installs the build folder.
test-cluster: build/$(PRESET)/build.ninja
	@tests/packages.sh install cluster
	cmake --build --preset $(PRESET) --target all apiserver_conformance_test
	@$(SCRIPT_ENVIRONMENT) SERVER=real tests/cluster/sample_controller_test.sh
	@$(SCRIPT_ENVIRONMENT) SERVER=real HTTP_TRANSPORT=cpprestsdk tests/cluster/sample_controller_test.sh
	@$(SCRIPT_ENVIRONMENT) SERVER=kopp tests/cluster/sample_controller_test.sh
	@$(SCRIPT_ENVIRONMENT) SERVER=real tests/cluster/kubectl_test.sh
	@$(SCRIPT_ENVIRONMENT) SERVER=kopp tests/cluster/kubectl_test.sh
	@$(SCRIPT_ENVIRONMENT) SERVER=kopp tests/cluster/client_go_test.sh
	@$(SCRIPT_ENVIRONMENT) tests/cluster/conformance_test.sh
	@BUILD=$(CURDIR)/build/$(PRESET) tests/cluster/hardened_test.sh
	@BUILD=$(CURDIR)/build/$(PRESET) tests/cluster/crd_types_test.sh
	@$(SCRIPT_ENVIRONMENT) tests/cluster/webhook_test.sh
	@tests/cluster/readme_test.sh

# RUNS: the number of runs of each scenario. SCENARIOS: the scenarios to run, for example
# SCENARIOS='plain wakeup', 'informer', 'operator', 'transport', 'apiserver' or 'webhook' (default: all).
bench: build/$(PRESET)/build.ninja
	@tests/packages.sh install cluster
	@tests/bench/run.sh $(SCENARIOS)

# TARGETS: the fuzz targets to run, for SECONDS or with RUNS inputs each, two at a time. Findings are in build/fuzz/findings.
SECONDS := 60
TARGETS := apiserver http_response json kubeconfig selector webhook
fuzz:
	@tests/packages.sh install build fuzz
	cmake --preset fuzz -DCMAKE_CXX_COMPILER=clang++-$(CLANG_VERSION)
	nice cmake --build --preset fuzz
	tests/fuzz/run.sh build/fuzz $(or $(RUNS),$(SECONDS)s) $(TARGETS)

# The invariants that the caches of informers keep; see tests/soak/checker.hpp. SEED: of the writes and faults.
MINUTES := 10
SERVER ?= kopp
soak: build/$(PRESET)/build.ninja
	$(if $(filter real,$(SERVER)),@tests/packages.sh install cluster)
	cmake --build --preset $(PRESET) --target soak soak_checker
	@SERVER=$(SERVER) tests/soak/run.sh build/$(PRESET)/tests/soak $$(($(MINUTES) * 60)) $(SEED)

# The packages for Debian, in build/deb/packages. DEBEMAIL='NAME <ADDRESS>': their maintainer. Their version has the date and
# the commit, unless this is the commit of the release.
DEB_VERSION ?= $(VERSION)$(shell git describe --exact-match --match v$(VERSION) >/dev/null 2>&1 || \
  git log -1 --format=+git%cd.%h --date=format:%Y%m%d%H%M 2>/dev/null)
deb: export SOURCE_DATE_EPOCH := $(SOURCE_DATE_EPOCH)
deb:
	@tests/packages.sh install deb
	cmake --preset deb -DKOPP_DEBIAN_VERSION=$(DEB_VERSION)
	cmake --build --preset deb
	rm -f build/deb/packages/*.deb
	cpack --preset deb

# The container image: see controllers/image/README.md. All time stamps in it are SOURCE_DATE_EPOCH.
IMAGE ?= sample-controller
VERSION := $(shell awk '/^project.kopp VERSION/ {print $$3}' CMakeLists.txt)
TAG ?= $(VERSION)
# The address of the sources, for the label org.opencontainers.image.source.
SOURCE ?=
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
IMAGE_TOOL = SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) python3 -B controllers/image/image.py
ARCHIVE = build/image/sample-controller-$(TAG).oci.tar
image-packages:
	@tests/packages.sh install image

# Collects the files of the image; also used by the Dockerfile.
image-tree: image-packages
	cmake --preset image
	cmake --build --preset image
	$(IMAGE_TOOL) tree --program build/image/controllers/sample/sample-controller --build build/image \
	  --version $(VERSION) --license LICENSE --debug build/image/debug --output build/image/tree --limit 30

image: image-tree
	$(IMAGE_TOOL) archive --tree build/image/tree --program sample-controller --name $(IMAGE):$(TAG) --output $(ARCHIVE) \
	  --limit 30 --label title=sample-controller --label 'description=Creates a Deployment for every Foo' \
	  --label licenses=Apache-2.0 --label version=$(VERSION) --label revision=$(REVISION) $(addprefix --label source=,$(SOURCE)) \
	  --label created=$$(date --utc --date=@$(SOURCE_DATE_EPOCH) +%FT%TZ)

test-image: image build/$(PRESET)/build.ninja
	cmake --build --preset $(PRESET) --target kopp-apiserver
	KOPP_APISERVER=$(CURDIR)/$(APISERVER) REBUILD=$(REBUILD) python3 -B tests/controllers/image/image_test.py $(CURDIR) $(CURDIR)/$(ARCHIVE)

# HELM: helm3 or helm4.
HELM ?= helm4
# SEED, REQUESTS, OBJECTS, KIND, SHOW: see tests/differences/differences_test.sh.
test-differences: build/$(PRESET)/build.ninja
	@tests/packages.sh install cluster
	cmake --build --preset $(PRESET) --target kopp-apiserver website-operator
	@$(SCRIPT_ENVIRONMENT) WEBSITE_OPERATOR=$(CURDIR)/build/$(PRESET)/examples/website/website-operator \
	  SEED='$(SEED)' REQUESTS='$(REQUESTS)' OBJECTS='$(OBJECTS)' KIND='$(KIND)' SHOW='$(SHOW)' tests/differences/differences_test.sh

# SYSTEMS: RELEASE has the g++ of this release of Debian, RELEASE:PACKAGE another compiler. COMMANDS: see tests/platforms/platform_test.sh.
SYSTEMS := bookworm trixie trixie:g++-13 bookworm:clang-16 trixie:clang-19
test-platforms:
	@tests/packages.sh install platforms
	@failed=0; for system in $(SYSTEMS); do $(SUDO) env COMMANDS="$(COMMANDS)" DEBIAN_MIRROR="$(DEBIAN_MIRROR)" tests/platforms/platform_test.sh $$(echo $$system | tr : ' ') || failed=1; done; exit $$failed

test-node: image
	@tests/packages.sh install node
	@$(SUDO) env KOPP_CACHE='$(or $(KOPP_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kopp)' ARCHIVE=$(CURDIR)/$(ARCHIVE) HELM=$(HELM) \
	  tests/cluster/node_test.sh

# CHARTS: only the tests whose names contain one of these words, for example CHARTS='kube_score helm_docs'.
test-charts: build/$(PRESET)/build.ninja
	@tests/packages.sh install cluster
	cmake --build --preset $(PRESET) --target sample-controller kopp-apiserver webhook_operator
	@$(SCRIPT_ENVIRONMENT) tests/charts/run.sh $(CHARTS)

charts-readme:
	@"$$(tests/cluster/programs.sh charts)/helm-docs" --chart-search-root charts --template-files ../operator/README.md.gotmpl \
	  --sort-values-order file --log-level warning

# KUBERNETES: pins and uses this version; without it, the pinned one is used. See informer/k8s/generate/README.md.
generate:
	@tests/packages.sh install cluster
	@KUBERNETES=$(KUBERNETES) tests/cluster/generate.sh

SOURCES = $(shell git ls-files '*.cpp' '*.hpp')
format:
	@tests/packages.sh install format
	@$(CLANG_FORMAT) -i $(SOURCES)

check-format:
	@tests/packages.sh install format
	@$(CLANG_FORMAT) --dry-run -Werror $(SOURCES)
	git ls-files '*.sh' .ci | xargs shellcheck -x

# Compiles each public header, and each source of informer and framework, alone: each includes what it uses.
# Then builds a program without cpprestsdk; ccache has most of its objects.
check-headers: build/separate/build.ninja build/without-cpprest/build.ninja
	cmake --build --preset separate
	cmake --build --preset without-cpprest
	! readelf --dynamic build/without-cpprest/controllers/sample/sample-controller | grep cpprest

# Sources that the build does not compile.
NOT_TIDIED := tests/install/project/% tests/subproject/project/% tests/compile_errors/% tests/cluster/% %/marker_errors.cpp \
  tests/apiserver/fuzz/api_fuzz.cpp tests/fuzz/main.cpp
# Builds everything with clang. clang-tidy checks each source before it is compiled: cmake/clang_tidy.sh. ccache and
# ninja skip the sources that passed before.
tidy:
	@tests/packages.sh install build tidy
	cmake --preset tidy -DCMAKE_CXX_COMPILER=clang++-$(CLANG_VERSION)
	cmake --build --preset tidy --target all tests/apiserver/all -- -k 0
	@ninja -C build/tidy -t inputs all tests/apiserver/all >build/tidy/inputs
	@units=$$(grep '/unity_.*cxx$$' build/tidy/inputs); failed=0; \
	for file in $(filter-out $(NOT_TIDIED),$(shell git ls-files '*.cpp')); do \
	  grep -qF "$(CURDIR)/$$file" build/tidy/inputs $$units || \
	    { echo "make tidy: no target compiles $$file, so clang-tidy did not check it" >&2; failed=1; }; \
	done; exit $$failed

docs:
	@tests/packages.sh install docs
	@rm -rf build/docs && mkdir -p build
	@doxygen docs/Doxyfile
	@echo "open $(CURDIR)/build/docs/html/index.html"
