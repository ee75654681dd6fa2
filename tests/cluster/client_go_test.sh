#!/usr/bin/env bash
# Runs client-go's informers, and a controller that uses them, against an API server. Checks that
# they sync, receive all changes and finally hold the objects of the server. Runs these checks with
# list and watch, with WatchList, and across a restart of the server.
#   SERVER    kopp (the default) or real
# Stops the server and removes its folder at the end. The built programs stay in the cache folder of
# programs.sh.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
SERVER=${SERVER:-kopp}
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"
# shellcheck source=tests/go.sh
source "$here/../go.sh"
# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"
# shellcheck source-path=SCRIPTDIR source=server.sh
source "$here/server.sh"
# shellcheck source-path=SCRIPTDIR source=check.sh
source "$here/check.sh"

main() {
  local started=$EPOCHREALTIME mode
  prepare
  for mode in typed dynamic metadata; do
    check "A $mode informer that lists and watches finally holds the objects of the server" informer "$mode" false
    check "A $mode informer that uses WatchList finally holds the objects of the server" informer "$mode" true
  done
  check "The typed clientset writes, lists, watches and elects a leader in protobuf" typed
  check "A client-go controller reconciles the Deployments of 100 Foos" controller
  check "A client-go controller reconciles 1000 Foos while the server restarts" controller_during_restart
  echo "# $(seconds_since "$started")"
  print_summary
}

prepare() {
  folder=$(mktemp -d)
  state=$folder/cluster check_output=$folder/check_output
  at_exit clean_up
  build
  "$cluster" up "$state" >/dev/null
  curl --silent --show-error --fail --cacert "$state/ca.crt" --cert "$state/admin.crt" --key "$state/admin.key" \
    --output /dev/null --header 'Content-Type: application/yaml' \
    --data-binary "@$root/controllers/sample/manifests/crd-status-subresource.yaml" \
    "https://127.0.0.1:$(<"$state/port")/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
}

build() {
  local fingerprint
  fingerprint=$(cd "$here/client_go" && cat go.mod go.sum ./*/*.go | sha256sum | cut -c1-12)
  programs=$cache/client-go-$fingerprint
  [[ ! -d $programs ]] || return 0
  mkdir -p "$cache"
  build_while_locked 9>"$cache/cluster.lock" # the lock of programs.sh, which removes Go's caches
}

build_while_locked() {
  flock -n 9 || { say "Waiting for another build of cluster programs" && flock 9; }
  [[ ! -d $programs ]] || return 0
  say "Building the client-go programs: 1 to 2 minutes on 2 cores, only the first time."
  go_is_new_enough || install_go
  use_go_cache_folder
  rm -rf "$cache"/half-built-client-go-* # left by a killed build; this script holds the lock
  unfinished=$(mktemp -d "$cache/half-built-client-go-XXXXXX")
  (cd "$here/client_go" && go build -ldflags '-s -w' -o "$unfinished/" ./...)
  rm -rf "$cache"/client-go-* # built from older sources
  mv "$unfinished" "$programs"
}

informer() { # MODE USE-WATCHLIST
  KUBE_FEATURE_WatchListClient=$2 "$programs/informer" -kubeconfig "$state/admin.kubeconfig" -mode "$1"
}

typed() { matches "all responses were protobuf" "$programs/typed" -kubeconfig "$state/admin.kubeconfig"; }

controller() { "$programs/controller" -kubeconfig "$state/admin.kubeconfig"; }

controller_during_restart() {
  process_start "$state" controller "$programs/controller" -kubeconfig admin.kubeconfig -n 1000 -hold
  eventually_equals holding tail -n 1 "$state/controller.log"
  "$cluster" kill-apiserver "$state"
  kill -s USR1 "$(process_id "$state" controller)"
  eventually_matches '^retrying: create Foo' cat "$state/controller.log"
  "$cluster" start-apiserver "$state"
  eventually_equals "converged: 1000 Deployments" tail -n 1 "$state/controller.log"
}

clean_up() {
  remove_cluster
  rm -rf ${unfinished:+"$unfinished"}
}

main "$@"
