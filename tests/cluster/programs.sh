#!/usr/bin/env bash
# Builds etcd, kube-apiserver and kubectl from the Go modules pinned in this folder. Later runs
# reuse the programs from a cache folder outside the repository. Prints their folder as the last
# line of stdout.
#   KOPP_CACHE   the cache folder (default: $XDG_CACHE_HOME/kopp, usually ~/.cache/kopp)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
# shellcheck source=tests/go.sh
source "$here/../go.sh"
kubernetes=$(awk '$1 == "k8s.io/kubernetes" {print $2}' "$here/go.mod")

fingerprint() {
  (cd "$here" && { uname -m && cat go.mod go.sum etcd/go.mod etcd/go.sum; }) | sha256sum | cut -c1-12
}

build() { # FOLDER PACKAGE OUTPUT
  local started=$SECONDS
  # Without these flags the programs report version v0.0.0.
  local component=k8s.io/component-base/version
  local minor=${kubernetes#v*.}
  (cd "$here/$1" && go build -o "$3" -ldflags "-s -w -X $component.gitVersion=$kubernetes
    -X $component.gitMajor=1 -X $component.gitMinor=${minor%%.*}" "$2" >&2)
  say "  ${3##*/}: $((SECONDS - started)) s"
}

build_all() { # DESTINATION
  local unfinished
  say "Building etcd, kube-apiserver and kubectl ${kubernetes#v}: 6 to 12 minutes on 2 cores, only the first time."
  say "The programs are stored in $1"
  rm -rf "$cache"/unfinished-* # left by a killed build; this script holds the lock
  unfinished=$(mktemp -d "$cache/unfinished-XXXXXX")
  # shellcheck disable=SC2064  # expand the folder's name now
  trap "rm -rf '$unfinished'" EXIT
  build etcd go.etcd.io/etcd/server/v3 "$unfinished/etcd"
  build . k8s.io/kubernetes/cmd/kubectl "$unfinished/kubectl"
  build . k8s.io/kubernetes/cmd/kube-apiserver "$unfinished/kube-apiserver"
  chmod 755 "$unfinished"
  mv "$unfinished" "$1"
  # Removes Go's caches (3 GB), which only another build would need. A failed build keeps them for
  # the next attempt.
  rm -rf "$cache/go"
  say "Built in $SECONDS s"
}

main() {
  local programs
  programs=$cache/cluster-$(fingerprint)
  if [[ ! -d $programs ]]; then
    mkdir -p "$cache"
    exec 9>"$cache/cluster.lock"
    flock -n 9 || { say "Waiting for another build of these programs"; flock 9; }
    if [[ ! -d $programs ]]; then
      go_is_new_enough || install_go
      use_go_cache_folder
      build_all "$programs"
    fi
  fi
  echo "$programs"
}

main
