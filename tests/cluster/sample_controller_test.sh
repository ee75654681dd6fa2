#!/usr/bin/env bash
# Runs the sample-controller program against an API server and checks its behaviour with kubectl. On
# a real etcd and kube-apiserver with the admission plugins of a hardened cluster, the controller
# runs with only the permissions of rbac.yaml. On kopp-apiserver, a killed server is simulated: it
# closes its port and all connections, and keeps its objects.
#   sample_controller_test.sh [PART...]    run the named parts: the files in sample_controller/.
#                                          Without names: all parts, in several processes at the
#                                          same time, each with its own API server. These start one
#                                          after the other
#   SERVER               real (the default) or kopp
#   HTTP_TRANSPORT       the controller's --http-transport: beast (the default) or cpprestsdk
#   SAMPLE_CONTROLLER    the program under test (default: the build of preset default)
# Stops all programs and removes their folder at the end. If a check fails, the logs are kept in
# build/test-cluster.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
manifests=$root/controllers/sample/manifests
default_program=$root/build/default/controllers/sample/sample-controller
SAMPLE_CONTROLLER=$(realpath -m "${SAMPLE_CONTROLLER:-$default_program}")
readonly parts=(missing_crd reconcile ownership load_balancer restarts audit concurrent_writes metrics recovery faults leader_election api_servers connections preflight rbac bad_input)

# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"
# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"
# shellcheck source-path=SCRIPTDIR source=server.sh
source "$here/server.sh"
# shellcheck source-path=SCRIPTDIR source=check.sh
source "$here/check.sh"
background_pids=() background_folder=''
for part in foos network "${parts[@]}"; do
  # shellcheck source=/dev/null
  source "$here/sample_controller/$part.sh"
done

main() {
  if [[ ! -x $SAMPLE_CONTROLLER ]]; then
    echo "sample_controller_test.sh: $SAMPLE_CONTROLLER does not exist; run 'make test-cluster', which builds it" >&2
    exit 1
  fi
  if (($# == 0)); then
    if [[ $server == kopp ]]; then
      run_in_processes "missing_crd reconcile ownership metrics bad_input"
    else
      run_in_processes "faults leader_election" api_servers
    fi
    return
  fi
  local started=$EPOCHREALTIME part
  prepare
  for part in "$@"; do
    prepare_part "$part"
    "check_$part"
  done
  echo "# $(seconds_since "$started")"
  print_summary
}

# Runs each group of parts in the background and the other parts in the foreground. Only the real
# cluster has an etcd for the part `faults`.
run_in_processes() { # "PART..."...
  local started=$EPOCHREALTIME code=0 part group
  local -a foreground=()
  for part in "${parts[@]}"; do
    [[ " faults $* " == *" $part "* ]] || foreground+=("$part")
  done
  background_folder=$(mktemp -d)
  export START_LOCK=$background_folder/start.lock
  at_exit end_background_processes
  for group in "$@"; do
    # shellcheck disable=SC2086 # the group is a list of words
    "${BASH_SOURCE[0]}" $group >"$background_folder/${#background_pids[@]}" 2>&1 &
    background_pids+=($!)
  done
  "${BASH_SOURCE[0]}" "${foreground[@]}" || code=$?
  while ((${#background_pids[@]} > 0)); do
    wait "${background_pids[-1]}" || code=$?
    unset 'background_pids[-1]'
    cat "$background_folder/${#background_pids[@]}"
  done
  echo "# all processes: $(seconds_since "$started")"
  return "$code"
}

end_background_processes() { # each process stops its own programs
  ((${#background_pids[@]} == 0)) || { kill "${background_pids[@]}" 2>/dev/null && wait "${background_pids[@]}"; }
  rm -rf "$background_folder"
}

prepare() {
  KOPP_PROGRAMS=$("$here/programs.sh")
  export KOPP_PROGRAMS
  folder=$(mktemp -d)
  state=$folder/cluster check_output=$folder/check_output
  at_exit remove_cluster
  export CLUSTER_HARDENED=1
  flock --close "${START_LOCK:-$folder/start.lock}" "$cluster" up "$state" >/dev/null
  export KUBECACHEDIR=$state/kubectl
  kubectl apply -f "$manifests/rbac.yaml" >/dev/null
  "$cluster" service-account "$state" default sample-controller
}

# Installs the CRD and starts the controller, except for the part that does this itself.
prepare_part() { # PART
  [[ $1 != missing_crd ]] || return 0
  kubectl get crd foos.samplecontroller.k8s.io >/dev/null 2>&1 ||
    install_crd crd-status-subresource.yaml >/dev/null
  controller_is_running >/dev/null || start_controller_process
  disown -a # do not report when the controller ends
}

print_failure_context() {
  echo "End of the controller's log:"
  tail -n 12 "$state/controller.log" | cut -c1-300
}

main "$@"
