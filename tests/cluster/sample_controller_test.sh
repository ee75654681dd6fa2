#!/usr/bin/env bash
# Runs the sample controller as a program of its own against an API server, and checks with kubectl what
# it does: under its own RBAC rules on a real etcd and kube-apiserver, or on kopp's own API server, where
# a kill is a restart that keeps the objects.
#   sample_controller_test.sh [PART...]    all parts, or some: the files of sample_controller/
#   SERVER               real (the default) or kopp
#   SAMPLE_CONTROLLER    the program under test (default: the build of preset default)
# Nothing stays behind; when a check failed, the logs are kept in build/test-cluster.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
manifests=$root/controllers/sample/manifests
built=$root/build/default/controllers/sample/sample-controller
SAMPLE_CONTROLLER=$(realpath -m "${SAMPLE_CONTROLLER:-$built}")
readonly parts=(missing_crd keeping_in_line ownership restarts audit crowd metrics rights bad_input)

# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"
# shellcheck source-path=SCRIPTDIR source=server.sh
source "$here/server.sh"
# shellcheck source-path=SCRIPTDIR source=check.sh
source "$here/check.sh"
half='' said=''
for part in foos "${parts[@]}"; do
  # shellcheck source=/dev/null
  source "$here/sample_controller/$part.sh"
done

main() {
  if [[ ! -x $SAMPLE_CONTROLLER ]]; then
    echo "There is no program $SAMPLE_CONTROLLER: build it first" >&2
    exit 1
  fi
  if [[ $server == kopp && $# == 0 ]]; then
    in_two_halves
    return
  fi
  local started=$EPOCHREALTIME part
  prepare
  for part in "${@:-${parts[@]}}"; do
    begin "$part"
    "check_$part"
  done
  echo "# $(seconds_since "$started")"
  closing_line
}

# kopp's server is there so quickly that each half can have one of its own, both at once.
in_two_halves() {
  local started=$EPOCHREALTIME code=0
  said=$(mktemp)
  trap leave EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE
  "${BASH_SOURCE[0]}" missing_crd keeping_in_line ownership metrics bad_input >"$said" 2>&1 &
  half=$!
  "${BASH_SOURCE[0]}" restarts audit crowd rights || code=$?
  wait "$half" || code=$?
  half=''
  cat "$said"
  echo "# both at once: $(seconds_since "$started")"
  return "$code"
}

leave() { # of the two halves; the other one ends what it has started
  local code=$?
  trap '' INT TERM HUP PIPE
  [[ -z $half ]] || { kill "$half" 2>/dev/null && wait "$half"; } || true
  rm -f "$said"
  exit "$code"
}

prepare() {
  KOPP_PROGRAMS=$("$here/programs.sh")
  export KOPP_PROGRAMS
  folder=$(mktemp -d)
  state=$folder/cluster seen=$folder/seen
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE
  "$cluster" up "$state" >/dev/null
  export KUBECACHEDIR=$state/kubectl
  kubectl apply -f "$manifests/rbac.yaml" >/dev/null
  "$cluster" service-account "$state" default sample-controller
}

begin() { # PART: each finds the CRD installed and the controller running, but for the one that is about that
  [[ $1 != missing_crd ]] || return 0
  kubectl get crd foos.samplecontroller.k8s.io >/dev/null 2>&1 ||
    install_crd crd-status-subresource.yaml >/dev/null
  controller_runs >/dev/null || controller_start
  disown -a # the shell need not report its end
}

after_failure() {
  echo "The end of the controller's log:"
  tail -n 12 "$state/controller.log" | cut -c1-300
}

# Comes to its end whatever fails in it, also when nobody reads what is printed any more.
clean_up() {
  local code=$?
  set +e
  trap '' INT TERM HUP PIPE
  end_attempt
  if ((failed > 0)); then
    mkdir -p "$root/build/test-cluster" && cp "$state"/*.log "$root/build/test-cluster/"
  fi
  [[ ! -e $state/cluster ]] || "$cluster" down "$state"
  rm -rf "$folder"
  ((failed == 0)) || echo "# logs: $root/build/test-cluster" >&2
  exit "$code"
}

main "$@"
