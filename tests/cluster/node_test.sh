#!/usr/bin/env bash
# Installs the chart of the sample controller with Helm on a cluster with a node, where its Pods run:
# `make test-node`. Checks the operator from its installation to its removal. Needs root.
#   ARCHIVE    the OCI archive of the image, which `make image` writes
#   HELM       helm3 or helm4 (the default)
# `node_test.sh once` leaves out the checks that start and interrupt further runs.
# Stops the node and removes its folder at the end.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck disable=SC2034 # the checks use it
readonly chart=$root/charts/sample-controller
readonly release=demo operators=operators
readonly name=$release-sample-controller
ARCHIVE=$(realpath "${ARCHIVE:?must be set to the OCI archive of the image}")
HELM=${HELM:-helm4}
# shellcheck source=tests/at_exit.sh
source "$here/../at_exit.sh"
# shellcheck source-path=SCRIPTDIR source=process.sh
source "$here/process.sh"
# shellcheck source-path=SCRIPTDIR source=check.sh
source "$here/check.sh"
for part in operator releases permissions readme interruption; do
  # shellcheck source=/dev/null
  source "$here/node/checks/$part.sh"
done

main() {
  local started=$EPOCHREALTIME
  prepare
  check "Helm installs the chart in a namespace that enforces Pod Security 'restricted', and both replicas become ready" installs
  check "helm test succeeds" helm_test
  check "A Foo gets its Deployment, its Pods run, and its status shows them" foo_runs
  check "kubectl logs shows what the leader reconciled" logs_of_leader
  check "Metrics are served to a ServiceAccount that may read them, and to nobody else" metrics_need_permission
  check "A Deployment of somebody else is reported in an Event, and not changed" foreign_deployment
  check "When the leader is killed, the other replica takes over, and each Foo gets its Deployment" leader_killed
  check "An upgrade to another image and another CRD loses no Foo" upgrade
  check "A rollback restores the first image and loses no Foo" rollback
  check "No request of the operator was rejected with 401 or 403" no_request_rejected
  check "The operator used each rule of its roles" every_rule_used
  check "helm uninstall leaves the Foos, their Deployments, the CRD and the Lease, and nothing else" uninstall
  check "README.md, install with Helm: the commands install the operator, and the Foo gets its Pod" readme_commands
  echo "# $(seconds_since "$started")"
  stop_node
  check "Nothing is left of the node: no process, no mount, no control group, no interface" nothing_left
  if [[ ${1:-} != once ]]; then
    check "A run that Ctrl-C ends leaves nothing behind" interrupted INT
    check "A run that SIGTERM ends leaves nothing behind" interrupted TERM
  fi
  print_summary
}

prepare() {
  KOPP_PROGRAMS=$("$here/programs.sh" cluster)
  KOPP_NODE_PROGRAMS=$("$here/programs.sh" node)
  helm_program=$("$here/programs.sh" helm)/$HELM
  export KOPP_PROGRAMS KOPP_NODE_PROGRAMS
  folder=$(mktemp -d)
  state=$folder/node check_output=$folder/check_output
  at_exit clean_up
  create_images
  create_clients
  "$here/node/node.sh" up "$state" "$folder"/*.oci.tar "$ARCHIVE"
  node_control_group=$(<"$state/node")
  kubectl create namespace "$operators" >/dev/null
  kubectl label namespace "$operators" pod-security.kubernetes.io/enforce=restricted >/dev/null
}

# The sandbox of all Pods, the image in the Deployments of Foos, and a second version of the operator.
create_images() {
  local image
  gcc -O2 -Wl,--build-id "$here/node/pause.c" -o "$folder/pause"
  image_tool tree --program "$folder/pause" --version 1 --license "$root/LICENSE" --output "$folder/tree"
  for image in registry.k8s.io/pause:test nginx:latest; do
    image_tool archive --tree "$folder/tree" --program pause --name "$image" --output "$folder/$(basename "${image%:*}").oci.tar"
  done
  image_tool archive --tree "$(dirname "$ARCHIVE")/tree" --program sample-controller --name sample-controller:next \
    --label version=next --output "$folder/next.oci.tar"
}

image_tool() { SOURCE_DATE_EPOCH=1 python3 -B "$root/controllers/image/image.py" "$@" >/dev/null; }

# Creates the programs kubectl and helm, which run in the node.
create_clients() {
  local node=("$here/node/node.sh" exec "$state")
  mkdir "$folder/bin"
  create_program kubectl "${node[@]}" "$KOPP_PROGRAMS/kubectl" --cache-dir "$state/kubectl"
  create_program helm "${node[@]}" env HELM_CACHE_HOME="$state/helm" HELM_CONFIG_HOME="$state/helm" \
    HELM_DATA_HOME="$state/helm" "$helm_program"
}

create_program() { # NAME COMMAND...
  local -a command=("${@:2}")
  printf '#!/bin/bash\nexec %s "$@"\n' "${command[*]@Q}" >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}

inside() { "$here/node/node.sh" exec "$state" "$@"; } # COMMAND...
kubectl() { "$folder/bin/kubectl" "$@"; }
helm() { "$folder/bin/helm" --namespace "$operators" "$@"; }

print_failure_context() {
  [[ -e $state/ready ]] || return 0
  kubectl -n "$operators" get pods -o wide || true
  kubectl -n "$operators" get events --sort-by=.lastTimestamp | tail -n 8 || true
  kubectl -n "$operators" logs -l "app.kubernetes.io/instance=$release" --tail=8 --prefix || true
}

stop_node() {
  [[ -e $state/node ]] || return 0
  if ((failed > 0)); then
    mkdir -p "$root/build/test-node"
    cp "$state"/*.log "$state"/cluster/*.log "$root/build/test-node/"
    echo "# logs: $root/build/test-node" >&2
  fi
  "$here/node/node.sh" down "$state"
}

nothing_left() {
  [[ ! -e $state ]]
  equals "" find /sys/fs/cgroup -maxdepth 2 -name "$node_control_group"
  equals "" grep -F "$state" /proc/mounts
  equals "" processes_with "$state"
  equals "" find /sys/class/net/ -name cni0 -o -name node0
}

# Prints the processes with TEXT in their command line. grep reads TEXT from stdin, so that it does
# not find itself.
# shellcheck disable=SC2062 # the names of files
processes_with() { grep -lsF -f - /proc/[0-9]*/cmdline <<<"$1"; } # TEXT

clean_up() {
  kill_check
  [[ -z $check_pid ]] || wait "$check_pid" # it may have to stop a run of its own
  disown -a
  stop_node
  rm -rf "$folder"
}

main "$@"
