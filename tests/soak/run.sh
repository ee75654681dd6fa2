#!/usr/bin/env bash
# Runs informers against an API server behind a proxy that breaks connections, then checks the
# invariants C1 to C6 of their caches. Exit code 1 if one is violated or a program fails; then
# the logs are kept.
#   run.sh PROGRAMS SECONDS [SEED]
#     PROGRAMS  the folder with the programs soak and soak_checker
#     SEED      of the writes and faults (default: random; it is printed)
#   SERVER      real: etcd and kube-apiserver; default: an API server in the process of the soak
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster=$here/../cluster/cluster.sh
export no_proxy=127.0.0.1,localhost NO_PROXY=127.0.0.1,localhost # do not use a proxy for loopback
# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"

main() { # PROGRAMS SECONDS [SEED]
  local programs=$1 seconds=$2 seed=${3:-$RANDOM$RANDOM}
  folder=$(mktemp -d)
  at_exit clean_up
  local kubeconfig=()
  if [[ ${SERVER:-} == real ]]; then
    KOPP_PROGRAMS=$("$here/../cluster/programs.sh")
    export KOPP_PROGRAMS
    "$cluster" up "$folder/cluster" >/dev/null
    kubeconfig=("$folder/cluster/admin.kubeconfig")
  fi
  echo "soak: $seconds s with seed $seed"
  if "$programs/soak" "$folder" "$seconds" "$seed" "${kubeconfig[@]}" &&
    "$programs/soak_checker" "$folder/truth.jsonl" "$folder/cache.jsonl"; then
    return
  fi
  local kept
  kept=$(mktemp -d)
  cp "$folder"/*.jsonl "$kept"
  echo "soak: the logs are in $kept" >&2
  return 1
}

clean_up() {
  [[ ! -e $folder/cluster ]] || "$cluster" down "$folder/cluster"
  rm -rf "$folder"
}

main "$@"
