#!/usr/bin/env bash
# client-go's informers, and a controller on them, against kopp's own API server: they sync, follow what
# changes and end as the server is, by list and by WatchList, also when the server restarts under them.
#   SERVER    kopp (the default) or real
# Nothing stays behind but the programs, in the cache of programs.sh.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
SERVER=${SERVER:-kopp}
cache=${KOPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kopp}
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
    check "A $mode informer ends with what the server has, after a list and a watch" informer "$mode" false
    check "A $mode informer ends with what the server has, after a streamed list" informer "$mode" true
  done
  check "A controller brings 100 Foos' Deployments in line" controller
  check "A controller brings them in line though the server restarts under it" controller_and_restart
  echo "# $(seconds_since "$started")"
  closing_line
}

prepare() {
  folder=$(mktemp -d)
  state=$folder/cluster seen=$folder/seen
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE
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
  build_alone 9>"$cache/cluster.lock" # that of programs.sh, which empties what Go keeps there
}

build_alone() {
  flock -n 9 || { say "Another build of such programs is running: waiting for it" && flock 9; }
  [[ ! -d $programs ]] || return 0
  say "Building client-go's programs: 1 to 2 minutes on 2 cores, this once."
  go_is_new_enough || install_go
  keep_go_in_the_cache
  rm -rf "$cache"/half-built-client-go-* # left by a build that was killed; the lock is ours
  unfinished=$(mktemp -d "$cache/half-built-client-go-XXXXXX")
  (cd "$here/client_go" && go build -ldflags '-s -w' -o "$unfinished/" ./...)
  rm -rf "$cache"/client-go-* # of former sources
  mv "$unfinished" "$programs"
}

informer() { # MODE STREAMED
  KUBE_FEATURE_WatchListClient=$2 "$programs/informer" -kubeconfig "$state/admin.kubeconfig" -mode "$1"
}

controller() { "$programs/controller" -kubeconfig "$state/admin.kubeconfig"; }

controller_and_restart() {
  process_start "$state" controller "$programs/controller" -kubeconfig admin.kubeconfig -n 300
  becomes made 20 head -n 1 "$state/controller.log"
  "$cluster" kill-apiserver "$state"
  if grep "in line" "$state/controller.log"; then
    echo "it was done before the server was away: take more Foos"
    return 1
  fi
  sleep 0.5 # away for a while: calls fail, watches end
  "$cluster" start-apiserver "$state"
  becomes "in line: 300 Deployments" 30 tail -n 1 "$state/controller.log"
}

clean_up() {
  local code=$?
  set +e
  trap '' INT TERM HUP PIPE
  end_attempt
  [[ ! -e $state/cluster ]] || "$cluster" down "$state"
  rm -rf "$folder" ${unfinished:+"$unfinished"}
  exit "$code"
}

main "$@"
