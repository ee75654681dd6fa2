#!/usr/bin/env bash
# Runs a cluster with one node, on which Pods really run: the API server of ../cluster.sh,
# kube-controller-manager, kube-scheduler, containerd and a kubelet. Needs root.
#   node.sh up STATE ARCHIVE...      start it; its registry serves the images in these OCI archives
#   node.sh exec STATE COMMAND...    run a command in the node's namespaces, as the administrator
#   node.sh down STATE               stop all programs and Pods, and remove the folder
# The node has a process namespace, a mount namespace and a network namespace of its own. When its
# first process ends, the kernel ends all other processes and removes mounts and interfaces, so
# nothing is left even if a program fails or hangs. Control groups are removed by `down`.
# STATE holds a log of each program, and the folder of ../cluster.sh as STATE/cluster.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../process.sh
source "$here/../process.sh"

main() {
  local command=${1:-}
  shift || true
  case $command in
    up) up "$@" ;;
    exec) inside "$@" ;;
    down) down "$1" ;;
    *) sed -n '2,/^set /{/^# /s/^# //p}' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
  esac
}

up() { # STATE ARCHIVE...
  [[ $(id -u) == 0 ]] || { echo "node.sh: a node needs root: run it with sudo" >&2 && exit 1; }
  mkdir -p "$1"
  local state
  local -a archives
  state=$(cd "$1" && pwd)
  mapfile -t archives < <(realpath -e "${@:2}")
  [[ -z $(ls -A "$state") ]] || { echo "node.sh: the folder $state is not empty; choose an empty or a new folder" >&2 && exit 1; }
  KOPP_PROGRAMS=${KOPP_PROGRAMS:-$("$here/../programs.sh" cluster)}
  KOPP_NODE_PROGRAMS=${KOPP_NODE_PROGRAMS:-$("$here/../programs.sh" node)}
  export KOPP_PROGRAMS KOPP_NODE_PROGRAMS
  echo "kopp-node-$(basename "$state" | tr -c 'A-Za-z0-9\n' -)-$$" >"$state/node" # the name of its control group
  # shellcheck disable=SC2064  # expand the folder's name now
  trap "disown -a; down '$state'" EXIT # do not report the killed programs
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  process_start "$state" init unshare --mount --propagation private --pid --mount-proc --net --fork --kill-child \
    "$here/init.sh" "$state" "$(<"$state/node")" "${archives[@]}"
  await_ready "$state"
  trap - EXIT INT TERM HUP
}

await_ready() { # STATE
  local tenths
  for ((tenths = 0; tenths < 6000; ++tenths)); do
    [[ ! -e $1/ready ]] || return 0
    process_id "$1" init >/dev/null || break
    sleep 0.1
  done
  { echo "node.sh: the node did not become ready. End of its logs:" && tail -n 8 "$1"/*.log; } >&2
  return 1
}

# Prints the first process of the node, which is the child of `unshare`.
first_process() { # STATE
  local id
  id=$(process_id "$1" init) && tr -d ' ' <"/proc/$id/task/$id/children"
}

inside() { # STATE COMMAND...
  local state=$1 id
  shift
  id=$(first_process "$state") || { echo "node.sh: no node runs in $state" >&2 && exit 1; }
  exec nsenter --target "$id" --mount --pid --net --wdns="$PWD" env KUBECONFIG="$state/cluster/admin.kubeconfig" "$@"
}

down() { # STATE
  [[ -e $1/node ]] || { echo "node.sh: 'node.sh up' did not create the folder $1; nothing is removed" >&2 && exit 1; }
  local first tenths
  first=$(first_process "$1" || true)
  process_stop "$1" init
  for ((tenths = 0; tenths < 600; ++tenths)); do
    process_start_time "${first:-none}" >/dev/null || break
    sleep 0.1
  done
  remove_control_groups "$(<"$1/node")"
  rm -rf "$1"
}

remove_control_groups() { # NAME
  local tenths
  for ((tenths = 0; tenths < 600; ++tenths)); do
    find /sys/fs/cgroup -depth -type d -path "*/$1*" -exec rmdir {} + 2>/dev/null || true
    [[ -n $(find /sys/fs/cgroup -maxdepth 2 -type d -name "$1") ]] || return 0
    sleep 0.1
  done
  echo "node.sh: cannot remove the control groups $1 below /sys/fs/cgroup" >&2
}

main "$@"
