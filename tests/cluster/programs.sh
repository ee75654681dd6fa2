#!/usr/bin/env bash
# Builds etcd, kube-apiserver and kubectl from the Go modules pinned here, once, and keeps them in a
# cache folder outside the repository. The last line on stdout is the folder that holds them.
#   KOPP_CACHE   where the cache is (default: $XDG_CACHE_HOME/kopp, that is ~/.cache/kopp)
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
